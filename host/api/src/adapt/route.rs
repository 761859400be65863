//! From a call of an action to the parts of its request.

use std::sync::Arc;

use loggia_facade::Object;
use serde_json::Value;

use crate::description::ApiOperation;

/// Where an action's calls go.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationRoute {
    /// The operation.
    pub operation: Arc<ApiOperation>,
    /// Which parameter of the action goes where.
    pub(crate) bindings: Vec<ParameterBinding>,
    /// The parameter whose members are parameters, because their own names cannot be used.
    pub(crate) wrapper: Option<&'static str>,
    /// True if the action has the parameter `cursor` that the host makes and reads.
    pub(crate) has_cursor: bool,
}

/// The way of one parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParameterBinding {
    /// Name in the call.
    pub(crate) name: String,
    /// True if it is a member of the wrapper.
    pub(crate) is_wrapped: bool,
    pub(crate) target: BindingTarget,
}

/// A place in the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BindingTarget {
    /// The operation's parameter of this index.
    Parameter(usize),
    /// A member of the body.
    Field(String),
    /// The body itself.
    Body,
}

/// The parameters of a call, by their places.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct RequestParts {
    /// Indexes of the operation's parameters, with their values.
    pub(crate) parameters: Vec<(usize, Value)>,
    /// The body.
    pub(crate) body: Option<Value>,
    /// The cursor of an earlier response.
    pub(crate) cursor: Option<String>,
}

impl OperationRoute {
    /// Sorts the parameters of a call by their places. Names that no binding has are dropped: the contract refuses them.
    pub(crate) fn parts(&self, mut params: Object) -> RequestParts {
        let mut parts = RequestParts::default();
        if self.has_cursor
            && let Some(Value::String(cursor)) = params.shift_remove(CURSOR)
        {
            parts.cursor = Some(cursor);
        }
        let mut wrapped = match self.wrapper.and_then(|wrapper| params.shift_remove(wrapper)) {
            Some(Value::Object(members)) => members,
            _ => Object::new(),
        };
        let mut fields = Object::new();
        for binding in &self.bindings {
            let from = if binding.is_wrapped { &mut wrapped } else { &mut params };
            let Some(value) = from.shift_remove(&binding.name) else { continue };
            match &binding.target {
                BindingTarget::Parameter(index) => parts.parameters.push((*index, value)),
                BindingTarget::Field(name) => {
                    fields.insert(name.clone(), value);
                }
                BindingTarget::Body => parts.body = Some(value),
            }
        }
        let has_fields = self.bindings.iter().any(|b| matches!(b.target, BindingTarget::Field(_)));
        let is_required = self.operation.body.as_ref().is_some_and(|body| body.required);
        if parts.body.is_none() && (!fields.is_empty() || (has_fields && is_required)) {
            parts.body = Some(Value::Object(fields));
        }
        parts
    }
}

/// The parameter that selects a page.
pub(crate) const CURSOR: &str = "cursor";
