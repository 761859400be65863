//! TABLE

pub(crate) mod actions;
pub(crate) mod alternatives;
pub(crate) mod build;
pub(crate) mod coerce;
pub(crate) mod condition;
pub(crate) mod defaults;
pub(crate) mod example;
pub(crate) mod explain;
pub(crate) mod host_call;
pub(crate) mod host_rules;
pub(crate) mod narrow;
pub(crate) mod nulls;
pub(crate) mod phrase;
pub(crate) mod policy;
pub(crate) mod prepare;
pub(crate) mod questionnaire;
pub(crate) mod route;
pub(crate) mod routed;
pub(crate) mod rules;
pub(crate) mod violation;

#[cfg(test)]
mod tests;
