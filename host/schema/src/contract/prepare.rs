//! Completes and validates the parameters of a call.

use loggia_facade::{Action, Failure, Object, code};
use serde_json::Value;

use crate::{
    contract::{
        build::Contract,
        coerce,
        explain::{
            context::{ErrorContext, OWNERS},
            failure,
        },
        rules::ActionRules,
    },
    model::{
        compiled::{CompiledSchema, CostLimit},
        limits, nesting,
        secrets::{REDACTED, ValueVisibility},
        view::ToolView,
        work::{self, WorkOverrun},
    },
    text::show,
};

/// Parameters that are valid by an action's schema.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedParams {
    /// The parameters, with defaults and coercions applied.
    pub params: Object,
    /// The parameters that a default or a coercion changed: long values cut, secrets redacted.
    pub resolved: Object,
}

/// Parameters in `resolved`: more than a schema defines, fewer than a caller can send.
const REPORTED: usize = 128;
/// Characters of the signature in a failure.
const EXPECTED: usize = 1000;
/// Bytes of the example in a failure; longer ones are left out.
const EXAMPLE: usize = 1000;
/// Characters of a value in `resolved`.
const RESOLVED: usize = 200;

impl Contract {
    /// Completes and validates the parameters of an action: fills in defaults, coerces harmless slips (a number sent
    /// as a string, an array sent as JSON text, …), and validates strictly.
    ///
    /// # Errors
    ///
    /// A failure that explains how to fix the call.
    pub fn prepare(&self, action: &Action, params: Object) -> Result<PreparedParams, Failure> {
        self.prepare_in_view(action, params, &ToolView::all_actions())
    }

    /// Completes and validates the parameters of a call to a tool of this view. Failures do not mention actions that
    /// the caller may not call.
    ///
    /// # Errors
    ///
    /// A failure that explains how to fix the call.
    pub fn prepare_in_view(
        &self,
        action: &Action,
        params: Object,
        view: &ToolView,
    ) -> Result<PreparedParams, Failure> {
        let Some(rules) = self.rules_of(action) else {
            return Err(self.unknown_action(&action.name, view));
        };
        let mut params = params;
        self.drop_foreign_nulls(rules, &mut params, view);
        complete(action, rules, params, |value| {
            let mut failure = self.explain(action, rules, value, (false, view));
            failure.expected = Some(show::cut(&rules.signature, EXPECTED));
            failure.example = rules.example(action).filter(|example| show::fits(example, EXAMPLE)).cloned();
            failure
        })
    }

    /// Explains why parameters are invalid. `value` is an object.
    pub(crate) fn explain(
        &self,
        action: &Action,
        rules: &ActionRules,
        value: &Value,
        (discreet, view): (bool, &ToolView),
    ) -> Failure {
        let owners = |name: &str| {
            let known = self.owners().of(name).filter(|index| !view.withholds(*index));
            let known = known.map(|index| self.surface().actions[index].name.as_str());
            let host_actions = self.host_actions().map(|host_action| self.host_rules(host_action));
            let host_actions = host_actions.filter(|host| host.rules.has(name));
            let names = known.chain(host_actions.map(|host| host.action.name.as_str()));
            names.filter(|other| *other != action.name).take(OWNERS).collect()
        };
        failure::explain(&ErrorContext {
            rules,
            action: &action.name,
            instance: value,
            owners: &owners,
            discreet,
        })
    }

    /// All parameters of a prepared call: long values cut, secrets redacted. Runs show these, because their caller may
    /// be another turn, or another person, than the one who started them.
    pub fn resolved_inputs(&self, action: &Action, params: &Object) -> Object {
        let Some(rules) = self.rules_of(action) else { return Object::new() };
        let mut all = ChangedParams::default();
        params.keys().for_each(|name| all.add(name));
        all.into_resolved(params, rules)
    }
}

/// Completes and validates parameters. If they are invalid, `refuse` explains why.
pub(crate) fn complete(
    action: &Action,
    rules: &ActionRules,
    params: Object,
    refuse: impl FnOnce(&Value) -> Failure,
) -> Result<PreparedParams, Failure> {
    if nesting::nesting(params.values()) > limits::NESTING {
        let message = format!("the parameters nest deeper than {} levels", limits::NESTING);
        let failure = Failure::new(code::INVALID_PARAMS, message).hint("Send less deeply nested values.");
        // Other problems are not searched for, but the expected form is the same.
        let Failure { expected, example, .. } = refuse(&Value::Object(Object::new()));
        return Err(Failure { expected, example, ..failure });
    }
    let compiled = rules.compiled().map_err(|problem| {
        Failure::new(code::INTERNAL, format!("the schema of `{}` cannot be used: {problem}", action.name))
    })?;
    let _bound = work::limit(limits::WORK);
    if let Some(limit) = compiled.check_cost(&params) {
        return Err(cost_failure(&limit));
    }
    let mut changed = ChangedParams::default();
    let mut params = params;
    rules.defaults.fill(&mut params, &mut |name| changed.add(name));
    // The validator accepts only whole values; the object is moved in and out, not copied.
    let mut value = Value::Object(params);
    if !is_valid(compiled, &value)? {
        if let (Value::Object(params), Some(schema)) = (&mut value, rules.schema.as_object()) {
            coerce::coerce_members(schema, params, &mut |name| changed.add(name));
            rules.defaults.fill(params, &mut |name| changed.add(name));
        }
        if !is_valid(compiled, &value)? {
            let failure = refuse(&value);
            // Results after the budget was spent are meaningless.
            return Err(work::overrun().map_or(failure, |spent| match_overrun(&spent, &value)));
        }
    }
    let Value::Object(params) = value else {
        return Err(Failure::new(code::INTERNAL, "the parameters are not an object"));
    };
    let resolved = changed.into_resolved(&params, rules);
    Ok(PreparedParams { params, resolved })
}

/// Whether the validator accepts the parameters.
fn is_valid(compiled: &CompiledSchema, params: &Value) -> Result<bool, Failure> {
    let valid = compiled.validator.is_valid(params);
    work::overrun().map_or(Ok(valid), |spent| Err(match_overrun(&spent, params)))
}

/// The failure for a text whose matching exceeds the budget.
fn match_overrun(spent: &WorkOverrun, params: &Value) -> Failure {
    let lies_in = |value: &Value| contains_text(value, spent.text);
    let found = params.as_object().into_iter().flatten().find(|(_, value)| lies_in(value));
    let subject = found.map_or_else(|| "a name".to_owned(), |(name, _)| format!("`{}`", show::name(name)));
    let pattern = show::cut(&spent.pattern, 120);
    let message =
        format!("{subject} takes too much work to match against {pattern} (at most {} steps)", limits::WORK);
    Failure::new(code::INVALID_PARAMS, message).hint("Send a shorter text.")
}

/// Whether a value contains the string at this address.
fn contains_text(value: &Value, text: *const u8) -> bool {
    match value {
        Value::String(own) => std::ptr::eq(own.as_ptr(), text),
        Value::Array(items) => items.iter().any(|item| contains_text(item, text)),
        Value::Object(members) => members.values().any(|member| contains_text(member, text)),
        _ => false,
    }
}

/// The failure for parameters whose validation would exceed a limit.
fn cost_failure(limit: &CostLimit) -> Failure {
    let message = match limit {
        CostLimit::Names => {
            let most = limits::WORK;
            format!(
                "the parameters hold too many names to match against their patterns (at most {most} steps)"
            )
        }
        CostLimit::Values(most) => format!("the parameters hold more than {most} values, too many to check"),
    };
    Failure::new(code::INVALID_PARAMS, message).hint("Pass less at once, in several calls.")
}

/// The names of changed parameters, in the order of the changes.
#[derive(Default)]
struct ChangedParams(Vec<String>);

impl ChangedParams {
    fn add(&mut self, name: &str) {
        if self.0.len() < REPORTED && !self.0.iter().any(|known| known == name) {
            self.0.push(name.to_owned());
        }
    }

    fn into_resolved(self, params: &Object, rules: &ActionRules) -> Object {
        let mut out = Object::new();
        for name in self.0 {
            // A coerced null is absent.
            let Some(value) = params.get(&name) else { continue };
            let shown = match rules.secrets.parameter_visibility(&name) {
                ValueVisibility::Whole => shorten_value(value),
                sight => shorten_value(&sight.reveal(value).unwrap_or_else(|| REDACTED.into())),
            };
            out.insert(name, shown);
        }
        out
    }
}

/// A value, or the beginning of its JSON if it is long.
fn shorten_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(show::cut(text, RESOLVED)),
        Value::Array(_) | Value::Object(_) => {
            let json = show::json(value, RESOLVED);
            if json.ends_with('…') { Value::String(json) } else { value.clone() }
        }
        value => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::tests::fixture;

    /// Checks the parameters that `set` of the fixture gets, and those reported as resolved.
    fn check(sent: Value, params: Value, resolved: Value) {
        let contract = Contract::new(Arc::new(fixture::settings())).unwrap();
        let prepared = contract.prepare(contract.action("set").unwrap(), sent.as_object().unwrap().clone());
        let prepared = prepared.unwrap_or_else(|failure| panic!("{sent}: {failure}"));
        assert_eq!(Value::Object(prepared.params), params, "{sent}");
        assert_eq!(Value::Object(prepared.resolved), resolved, "{sent}");
    }

    #[test]
    fn defaults_are_filled_in_at_the_top_and_inside() {
        check(json!({}), json!({"limit": 10, "mode": "fast"}), json!({"limit": 10, "mode": "fast"}));
        check(
            json!({"limit": 3, "mode": "slow", "window": {"height": 4}}),
            json!({"limit": 3, "mode": "slow", "window": {"height": 4, "width": 80}}),
            json!({"window": {"height": 4, "width": 80}}),
        );
        check(
            json!({"limit": 3, "mode": "slow", "rows": [{}, {"bold": true}]}),
            json!({"limit": 3, "mode": "slow", "rows": [{"bold": false}, {"bold": true}]}),
            json!({"rows": [{"bold": false}, {"bold": true}]}),
        );
    }

    #[test]
    fn valid_parameters_are_unchanged_and_not_reported() {
        let given = json!({"limit": 3, "mode": "slow", "token": "s", "window": {"width": 1}});
        check(given.clone(), given, json!({}));
        check(json!({"limit": 5.0, "mode": "slow"}), json!({"limit": 5, "mode": "slow"}), json!({}));
    }

    #[test]
    fn slips_are_fixed_and_reported() {
        check(
            json!({"limit": "3", "mode": "SLOW", "window": "{\"width\": \"7\"}"}),
            json!({"limit": 3, "mode": "slow", "window": {"width": 7}}),
            json!({"limit": 3, "mode": "slow", "window": {"width": 7}}),
        );
        check(
            json!({"limit": null, "mode": "slow"}),
            json!({"limit": 10, "mode": "slow"}),
            json!({"limit": 10}),
        );
        check(
            json!({"limit": 1, "mode": "slow", "window": null}),
            json!({"limit": 1, "mode": "slow"}),
            json!({}),
        );
    }

    #[test]
    fn resolved_values_are_cut_and_secrets_redacted() {
        let rows: Vec<Value> = (0..100).map(|_| json!({})).collect();
        let contract = Contract::new(Arc::new(fixture::settings())).unwrap();
        let sent = json!({"limit": 1, "mode": "slow", "rows": rows, "keys": "[\"s3cret\"]"});
        let prepared =
            contract.prepare(contract.action("set").unwrap(), sent.as_object().unwrap().clone()).unwrap();
        assert_eq!(prepared.params["keys"], json!(["s3cret"]));
        assert_eq!(prepared.resolved["keys"], json!([REDACTED]));
        let rows = prepared.resolved["rows"].as_str().unwrap();
        assert!(
            rows.starts_with(r#"[{"bold":false},"#)
                && rows.ends_with('…')
                && rows.chars().count() == RESOLVED
        );
    }

    #[test]
    fn a_run_shows_all_of_its_inputs() {
        let contract = Contract::new(Arc::new(fixture::settings())).unwrap();
        let action = contract.action("set").unwrap();
        let sent = json!({"mode": "slow", "token": "s3cret"}).as_object().unwrap().clone();
        let prepared = contract.prepare(action, sent).unwrap();
        let all = contract.resolved_inputs(action, &prepared.params);
        assert_eq!(Value::Object(all), json!({"mode": "slow", "token": REDACTED, "limit": 10}));
    }

    #[test]
    fn an_action_of_another_surface_is_unknown() {
        let contract = Contract::new(Arc::new(fixture::settings())).unwrap();
        let foreign = fixture::action("nothing", json!({"type": "object"}));
        let failure = contract.prepare(&foreign, Object::new()).unwrap_err();
        assert_eq!(failure.message, "Unknown action: \"nothing\". Available actions: set, describe.");
    }
}
