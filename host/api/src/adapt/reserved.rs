//! Names of parameters that an action cannot have.
//!
//! A call's arguments hold the host's own (`action`, `params`, `detail`, …) beside those of the action, and clients accept
//! only plain names. As for upstreams, such parameters move under one object parameter, with their own names.

use loggia_schema::HOST_ACTIONS;

/// The parameter that holds the moved ones.
pub(super) const WRAPPERS: [&str; 3] = ["arguments", "api_arguments", "operation_arguments"];

/// What a reader sees of that parameter.
pub(super) const WRAPPER_TEXT: &str =
    "Parameters of the operation whose own names are reserved or not allowed here.";

/// Arguments of the host's own. A test compares them with the contract's.
pub(super) const HOST_ARGUMENTS: [&str; 6] = ["action", "cmd", "params", "detail", "wait", "confirm"];

/// Whether a parameter of an action can have this name.
pub(super) fn is_allowed(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
        && !HOST_ARGUMENTS.contains(&name)
}

/// Whether an action can have this alias.
pub(super) fn is_alias(name: &str) -> bool {
    (1..=32).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        && !HOST_ACTIONS.iter().any(|host| host.eq_ignore_ascii_case(name))
}
