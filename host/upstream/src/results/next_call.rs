//! The call that a result proposes.
//!
//! Servers write it as `_meta.nextTool`, or under a prefixed key that ends in `/nextTool`, with the tool as `tool` or `name`
//! and its arguments as `arguments` or `parameters`.

use loggia_facade::{Next, Object};
use loggia_text::sanitise_line;
use serde_json::Value;

use crate::adapt::AdaptedTools;

/// Bytes of the reason for a proposed call.
const REASON: usize = 400;

/// Reads the proposed call. `None` if there is none, if it is malformed, or if it names no tool of this upstream: a result
/// of one server must not lead to another.
pub(super) fn read_next(meta: Option<&Value>, tools: &AdaptedTools) -> Option<Next> {
    let meta = meta?.as_object()?;
    let is_next = |key: &str| key == "nextTool" || key.ends_with("/nextTool");
    let proposed = meta.iter().find(|(key, _)| is_next(key))?.1;
    let either = |one: &str, other: &str| proposed.get(one).or_else(|| proposed.get(other));
    let (action, route) = tools.find_tool(either("tool", "name")?.as_str()?)?;
    let arguments = match either("arguments", "parameters") {
        None | Some(Value::Null) => Object::new(),
        Some(Value::Object(arguments)) => arguments.clone(),
        Some(_) => return None,
    };
    let own = action.params.get("properties").and_then(Value::as_object);
    let is_own = |name: &str| own.is_some_and(|own| own.contains_key(name));
    let reason = proposed.get("reason").and_then(Value::as_str);
    Some(Next {
        facade: tools.surface.name.clone(),
        action: action.name.clone(),
        params: route.params(arguments, is_own),
        reason: reason.map(|text| sanitise_line(text, REASON)).filter(|text| !text.is_empty()),
    })
}
