//! Data that a template reads.

use loggia_facade::Object;
use serde_json::Value;

/// Data that a template reads.
#[derive(Debug, Clone, Copy)]
pub struct TemplateScope<'a> {
    /// Root: `params`, `steps`, `vars`, `workflow`.
    pub base: &'a Object,
    /// `.forEach`, in the arguments of a `forEach` call.
    pub for_each: Option<&'a Value>,
}
