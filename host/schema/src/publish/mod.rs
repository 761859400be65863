//! TABLE

pub(crate) mod budget;
pub(crate) mod clients;
pub(crate) mod describe;
pub(crate) mod description;
pub(crate) mod expose;
pub(crate) mod flat;
pub(crate) mod granular;
pub(crate) mod host_parameters;
pub(crate) mod lint;
pub(crate) mod nested;
pub(crate) mod output_schema;
pub(crate) mod parameters;
pub(crate) mod part;
pub(crate) mod raw;
pub(crate) mod render;

#[cfg(test)]
mod tests;
