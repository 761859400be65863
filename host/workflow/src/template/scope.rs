//! Data that a template reads.

use loggia_facade::Object;
use serde_json::Value;

/// What a template sees.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The root: `params`, `steps`, `vars`, `workflow`.
    pub base: &'a Object,
    /// `.forEach`, in the arguments of a `forEach` step's call.
    pub for_each: Option<&'a Value>,
}
