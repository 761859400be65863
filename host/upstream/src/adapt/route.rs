//! From a call of an action to a call of its tool.

use loggia_facade::Object;
use serde_json::Value;

/// Where an action's calls go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRoute {
    /// The tool's original name.
    pub tool: String,
    /// The parameter whose members are parameters of the tool, because their own names cannot be used.
    pub wrapper: Option<String>,
    /// The tool can be called only as a task of 2025-11-25.
    pub as_task: bool,
}

impl ToolRoute {
    /// Maps the parameters of a call to the arguments of the tool.
    pub fn arguments(&self, mut params: Object) -> Object {
        if let Some(wrapper) = &self.wrapper
            && let Some(Value::Object(inner)) = params.shift_remove(wrapper)
        {
            params.extend(inner);
        }
        params
    }

    /// Maps the arguments of a tool to parameters of the action: the inverse of [`arguments`](Self::arguments), for calls
    /// that the upstream itself proposes. `is_own` says which names are parameters of the action.
    pub(crate) fn params(&self, mut arguments: Object, is_own: impl Fn(&str) -> bool) -> Object {
        let Some(wrapper) = &self.wrapper else { return arguments };
        let moved: Vec<String> = arguments.keys().filter(|name| !is_own(name)).cloned().collect();
        let inner: Object =
            moved.into_iter().filter_map(|name| arguments.shift_remove_entry(&name)).collect();
        if !inner.is_empty() {
            arguments.insert(wrapper.clone(), Value::Object(inner));
        }
        arguments
    }
}
