//! Removes nulls sent in place of absent parameters of other actions.
//!
//! A client that must send every parameter of a tool (OpenAI's strict mode, models generated from the schema) sends
//! null for the parameters of other actions and of the host.

use loggia_facade::Object;
use serde_json::Value;

use crate::{
    contract::{build::Contract, rules::ActionRules},
    model::{host_action::HostAction, shape::ValueShape, view::ToolView},
};

impl Contract {
    /// Removes each null whose name belongs to another action or to the host, but not to this action. Nulls of the
    /// action's own parameters are left to its schema; unknown names are errors.
    pub(crate) fn drop_foreign_nulls(&self, rules: &ActionRules, params: &mut Object, view: &ToolView) {
        if !params.values().any(Value::is_null) || accepts_any_name(rules) {
            return;
        }
        params.retain(|name, value| {
            !value.is_null()
                || rules.has(name)
                || !(self.is_host_parameter(name) || self.is_parameter_of_another(name, view))
        });
    }

    /// Actions that the caller may not call are ignored, so that their parameters stay undisclosed.
    fn is_parameter_of_another(&self, name: &str, view: &ToolView) -> bool {
        self.owners().of(name).any(|index| !view.withholds(index))
    }

    /// Whether a tool of this facade publishes a parameter of the host by this name.
    fn is_host_parameter(&self, name: &str) -> bool {
        HostAction::ALL.iter().any(|host_action| self.host_rules(*host_action).rules.has(name))
    }
}

/// Whether a null could be valid under any name.
fn accepts_any_name(rules: &ActionRules) -> bool {
    !matches!(&rules.shape, ValueShape::Record { others: None, .. })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use loggia_facade::{Effect, Failure, Surface};
    use serde_json::json;

    use super::*;
    use crate::{
        contract::routed::{CallTarget, DescribeRequest},
        model::action_policy::ActionPolicy,
        publish::expose::{ExposeOptions, SchemaForm},
        tests::fixture,
    };

    fn surface() -> Surface {
        let action = |name: &str, properties: Value, required: Value| {
            let schema = json!({"type": "object", "properties": properties, "required": required});
            fixture::action(name, schema)
        };
        let mut surface = fixture::surface(
            "nulls",
            vec![
                action(
                    "add",
                    json!({"title": {"type": "string"}, "body": {"type": "string"}}),
                    json!(["title"]),
                ),
                action("get", json!({"id": {"type": "string"}, "of": {"type": "string"}}), json!(["id"])),
            ],
        );
        surface.actions[1].effect = Effect::Read;
        surface
    }

    /// The parameters that a call leaves to its action, in the tool of this form that has the action.
    fn called(form: SchemaForm, call: &Value) -> Result<Object, Failure> {
        let contract = Contract::new(Arc::new(surface()))
            .unwrap()
            .with_policy(ActionPolicy { batch: true, ..ActionPolicy::default() })
            .unwrap();
        let tools = contract.publish(&ExposeOptions { form, ..ExposeOptions::default() });
        let index = usize::from(call["action"] == "get");
        let tool = tools.iter().find(|tool| tool.view.shows(index)).unwrap();
        let routed = contract.route(call.as_object().unwrap().clone(), &tool.view).unwrap();
        let CallTarget::Action { action, params } = routed.target else { panic!("{call}") };
        let prepared = contract.prepare_in_view(&contract.surface().actions[action], params, &tool.view)?;
        Ok(prepared.params)
    }

    #[test]
    fn nulls_of_other_actions_and_of_the_host_are_removed_in_every_form() {
        let nulls = json!({"id": null, "of": null, "run_id": null, "include_trace": null, "wait": null, "detail": null,
            "confirm": null, "items": null, "mode": null, "body": null});
        let with = |more: &Value| {
            let mut out = nulls.as_object().unwrap().clone();
            out.extend(more.as_object().unwrap().clone());
            Value::Object(out)
        };
        for form in SchemaForm::ALL {
            let flat = with(&json!({"action": "add", "title": "t"}));
            let nested = json!({"action": "add", "params": with(&json!({"title": "t"}))});
            let both = with(&json!({"action": "add", "title": null, "params": {"title": "t", "id": null}}));
            for call in [flat, nested, both] {
                let params = called(form, &call).unwrap_or_else(|failure| panic!("{call}: {failure}"));
                assert_eq!(Value::Object(params), json!({"title": "t"}), "{} {call}", form.as_str());
            }
            for (call, expected) in [
                (json!({"action": "add", "title": null}), "`title` is required (got null)"),
                (json!({"action": "get", "id": null}), "`id` is required (got null)"),
                (json!({"action": "add", "title": "t", "id": "x"}), "`id` is not a parameter of `add`"),
                (
                    json!({"action": "add", "title": "t", "nobodys": null}),
                    "`nobodys` is not a parameter of `add`",
                ),
            ] {
                let failure = called(form, &call).unwrap_err();
                assert!(failure.message.starts_with(expected), "{} {call}: {failure}", form.as_str());
            }
        }
    }

    #[test]
    fn host_actions_accept_nulls_of_other_actions() {
        let contract = Contract::new(Arc::new(surface())).unwrap();
        let sent = json!({"action": "describe", "of": null, "title": null, "id": null, "run_id": null});
        let routed = contract.route(sent.as_object().unwrap().clone(), &ToolView::all_actions()).unwrap();
        assert_eq!(routed.target, CallTarget::Describe(DescribeRequest::default()));
    }
}
