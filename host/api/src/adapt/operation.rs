//! One operation as an action.

use std::sync::Arc;

use loggia_facade::{Action, Object};
use serde_json::Value;

use super::{parameters::flatten, reserved::is_alias, route::OperationRoute};
use crate::{description::ApiOperation, limits};

/// An action with its way to the operation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AdaptedOperation {
    pub(crate) action: Action,
    pub(crate) route: OperationRoute,
}

/// Adapts one operation.
pub(crate) fn adapt_operation(operation: &Arc<ApiOperation>) -> AdaptedOperation {
    let flat = flatten(operation);
    let mut params = Object::from_iter([("type".to_owned(), Value::from("object"))]);
    params.insert("description".into(), description(operation).into());
    params.extend(flat.schema);
    let summary = match operation.deprecated {
        true => {
            loggia_text::sanitise_text(&format!("(deprecated) {}", operation.summary), limits::SUMMARY + 16)
        }
        false => operation.summary.clone(),
    };
    let alias = operation.id.iter().filter(|id| is_alias(id) && **id != operation.action);
    let action = Action {
        name: operation.action.clone(),
        summary,
        group: operation.group.clone(),
        effect: operation.method.effect(),
        idempotent: operation.method.is_idempotent(),
        open_world: true,
        long_running: false,
        details: operation.accept.contains("json"),
        aliases: alias.cloned().collect(),
        needs: Vec::new(),
        resource: None,
        view: None,
        params: Arc::new(params),
        data: operation.data.clone(),
        examples: Vec::new(),
    };
    let route = OperationRoute {
        operation: operation.clone(),
        bindings: flat.bindings,
        wrapper: flat.wrapper,
        has_cursor: flat.has_cursor,
    };
    AdaptedOperation { action, route }
}

/// The whole text about an operation, which `describe` shows. Models know many APIs by method and path.
fn description(operation: &ApiOperation) -> String {
    let request = format!("{} {}", operation.method, operation.path);
    match &operation.description {
        Some(text) => format!("{request}\n\n{text}"),
        None => request,
    }
}
