//! Tests of contracts and calls.

mod bounds;
mod build;
mod explain;
mod host_call;
mod questionnaire;
mod route;
mod unnamed;
