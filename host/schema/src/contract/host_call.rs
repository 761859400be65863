//! Calls of host actions.

use loggia_facade::{Failure, Object};
use serde_json::{Value, json};

use crate::{
    contract::{
        build::Contract,
        host_rules::HostRules,
        prepare::complete,
        routed::{BatchMode, CallTarget, DescribeRequest},
        rules::call_arguments,
    },
    model::{host_action::HostAction, view::ToolView},
};

impl Contract {
    /// Validates the parameters of a host action and returns the target of the call.
    pub(crate) fn host_target(
        &self,
        host_action: HostAction,
        trace: bool,
        mut params: Object,
        view: &ToolView,
    ) -> Result<CallTarget, Failure> {
        let HostRules { action, rules } = match host_action {
            HostAction::Describe => HostRules::search(),
            host_action => HostRules::get(host_action),
        };
        self.drop_foreign_nulls(rules, &mut params, view);
        // The items may contain secrets; which ones is unknown before they are routed.
        let discreet = host_action == HostAction::Batch && self.has_secrets();
        let params = complete(action, rules, params, |value| {
            let mut failure = self.explain(action, rules, value, (discreet, view));
            failure.expected = Some(self.host_rules(host_action).rules.signature.clone());
            failure.example = Some(self.host_example(host_action, view));
            failure.hint = failure.hint.or_else(|| self.advice(host_action));
            failure
        })?
        .params;
        Ok(target_of_valid(host_action, trace, params))
    }

    /// The hint of an invalid call that has no other.
    fn advice(&self, host_action: HostAction) -> Option<String> {
        let text = match host_action {
            HostAction::Describe if self.is_large() => "Name an action in `of`, or give words in `query`.",
            HostAction::Describe => "Name the action in `of`.",
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// Arguments of a valid call of a host action.
    pub(crate) fn host_example(&self, host_action: HostAction, view: &ToolView) -> Value {
        let mut known = self.surface().actions.iter().enumerate();
        let first = known.find(|(index, _)| view.shows(*index));
        let params = match (host_action, first) {
            (HostAction::Describe, Some((_, action))) => json!({"of": action.name}),
            (HostAction::Batch, Some((index, action))) => {
                let item = self.rules_at(index).example(action).cloned();
                json!({"items": [item.unwrap_or_else(|| call_arguments(&action.name, &Object::new()))]})
            }
            (HostAction::RunStatus | HostAction::RunCancel, _) => {
                json!({"run_id": "run_4Zc1mT0yQ2a7Kx9vB3n5Lw"})
            }
            _ => json!({}),
        };
        params.as_object().map_or(Value::Null, |params| call_arguments(host_action.name(), params))
    }
}

/// Reads validated parameters.
fn target_of_valid(host_action: HostAction, trace: bool, mut params: Object) -> CallTarget {
    let mut text = |name: &str| match params.shift_remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    match host_action {
        HostAction::Describe => CallTarget::Describe(DescribeRequest {
            of: text("of"),
            query: text("query"),
            group: text("group"),
            cursor: text("cursor"),
        }),
        HostAction::RunStatus => CallTarget::RunStatus {
            run_id: text("run_id"),
            include_trace: params.get("include_trace").and_then(Value::as_bool).unwrap_or(trace),
        },
        HostAction::RunCancel => CallTarget::RunCancel { run_id: text("run_id").unwrap_or_default() },
        HostAction::Batch => {
            let mode = match text("mode").as_deref() {
                Some("continue") => BatchMode::Continue,
                _ => BatchMode::Stop,
            };
            let items = match params.shift_remove("items") {
                Some(Value::Array(items)) => items,
                _ => Vec::new(),
            };
            let object = |item| match item {
                Value::Object(item) => Some(item),
                _ => None,
            };
            CallTarget::Batch { items: items.into_iter().filter_map(object).collect(), mode }
        }
    }
}
