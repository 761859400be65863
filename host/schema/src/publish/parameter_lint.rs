//! Parameters that are legal and bad for a model: types whose JSON it does not expect, and bounds that nothing satisfies.

use std::fmt;

use serde_json::Value;

use crate::{
    contract::build::Contract,
    model::keywords::{self, SubschemaLayout, subschemas},
    text::show,
};

/// A parameter that models fill in wrongly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterFinding {
    /// The place: `add.when`, `add.spec.size`.
    pub path: String,
    /// The problem, and what to do.
    pub problem: &'static str,
}

impl fmt::Display for ParameterFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path, self.problem)
    }
}

/// Tests a schema.
type ParameterTest = fn(&Value) -> bool;

/// Problems, with the test of a schema for each.
const PROBLEMS: [(ParameterTest, &str); 5] = [
    (
        |schema| has_exactly(schema, ["secs_since_epoch", "nanos_since_epoch"]),
        "is a time as two counters: take a text with the format `date-time`",
    ),
    (
        |schema| has_exactly(schema, ["secs", "nanos"]),
        "is a duration as two counters: take a number of seconds, and say so in its name",
    ),
    (
        has_alternative_objects,
        "is one of several objects, whose members models mix: make an action for each, or take plain parameters",
    ),
    (
        |schema| schema.get("prefixItems").is_some(),
        "is a list whose places mean different things: take an object, or a parameter for each",
    ),
    (is_empty, "has bounds that no value satisfies: the lower one is above the upper one"),
];

/// Checks the parameters of all actions, in their order.
pub fn lint_parameters(contract: &Contract) -> Vec<ParameterFinding> {
    let mut out = Vec::new();
    for (_, action, rules) in contract.with_rules() {
        let properties = rules.schema.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            lint_schema(&mut out, schema, &format!("{}.{}", action.name, show::name(name)));
        }
    }
    out
}

/// Checks a schema and, unless it has a problem itself, those in it. The bounds of surfaces limit the recursion.
fn lint_schema(out: &mut Vec<ParameterFinding>, schema: &Value, path: &str) {
    if let Some((_, problem)) = PROBLEMS.iter().find(|(test, _)| test(schema)) {
        out.push(ParameterFinding { path: path.to_owned(), problem });
        return;
    }
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        match (subschemas(keyword), value) {
            (Some(SubschemaLayout::One), value) if keyword == "items" => lint_schema(out, value, path),
            (Some(SubschemaLayout::Map), Value::Object(members)) if keyword == "properties" => {
                members.iter().for_each(|(name, member)| {
                    lint_schema(out, member, &format!("{path}.{}", show::name(name)));
                });
            }
            (Some(SubschemaLayout::List), Value::Array(list)) => {
                list.iter().for_each(|branch| lint_schema(out, branch, path));
            }
            _ => {}
        }
    }
}

fn has_exactly(schema: &Value, names: [&str; 2]) -> bool {
    let members = schema.get("properties").and_then(Value::as_object);
    members.is_some_and(|members| members.len() == 2 && names.iter().all(|name| members.contains_key(*name)))
}

/// Whether a schema has several alternatives, of which one at least is an object with members of its own: an enum with data.
fn has_alternative_objects(schema: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return false };
    let is_object = |branch: &&Value| {
        branch.get("properties").and_then(Value::as_object).is_some_and(|known| !known.is_empty())
    };
    let is_null = |branch: &&Value| branch.get("type").is_some_and(|kind| kind == "null");
    keywords::alternatives(schema).any(|branches| {
        let branches: Vec<&Value> = branches.iter().filter(|branch| !is_null(branch)).collect();
        branches.len() > 1 && branches.iter().any(is_object)
    })
}

fn is_empty(schema: &Value) -> bool {
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    let pairs = [
        ("minimum", "maximum"),
        ("minLength", "maxLength"),
        ("minItems", "maxItems"),
        ("minProperties", "maxProperties"),
    ];
    pairs.iter().any(
        |(least, most)| matches!((number(least), number(most)), (Some(least), Some(most)) if least > most),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::tests::fixture;

    fn check(schema: &Value, expected: &[&str]) {
        let surface = fixture::one(json!({"p": schema}), json!([]));
        let name = surface.actions[0].name.clone();
        let contract = Contract::from_checked(Arc::new(surface)).unwrap();
        let findings: Vec<String> = lint_parameters(&contract).iter().map(ToString::to_string).collect();
        let expected: Vec<String> = expected.iter().map(|text| format!("{name}.{text}")).collect();
        assert_eq!(findings, expected, "{schema}");
    }

    #[test]
    fn parameters_that_models_fill_in_wrongly_are_found() {
        let time = json!({"type": "object", "properties":
            {"secs_since_epoch": {"type": "integer"}, "nanos_since_epoch": {"type": "integer"}}});
        let duration = json!({"type": "object", "properties": {"secs": {"type": "integer"}, "nanos": {"type": "integer"}}});
        let variants = json!({"oneOf": [
            {"type": "object", "properties": {"Circle": {"type": "number"}}},
            {"type": "object", "properties": {"Square": {"type": "number"}}},
        ]});
        let [_, (_, as_duration), (_, as_objects), (_, as_places), (_, as_bounds)] = PROBLEMS;
        let as_time = PROBLEMS[0].1;
        check(&time, &[&format!("p {as_time}")]);
        check(&json!({"anyOf": [time, {"type": "null"}]}), &[&format!("p {as_time}")]);
        check(&json!({"type": "array", "items": duration}), &[&format!("p {as_duration}")]);
        check(&variants, &[&format!("p {as_objects}")]);
        check(
            &json!({"type": "object", "properties": {"shape": variants, "n": {"type": "integer", "minimum": 50, "maximum": 1}}}),
            &[&format!("p.shape {as_objects}"), &format!("p.n {as_bounds}")],
        );
        check(
            &json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "maxItems": 2}),
            &[&format!("p {as_places}")],
        );
        for fine in [
            json!({"type": "string", "format": "date-time", "minLength": 1, "maxLength": 1}),
            json!({"oneOf": [{"const": "a", "description": "A."}, {"enum": ["b"]}]}),
            json!({"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "null"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"type": "object", "properties": {"secs": {"type": "integer"}}}),
        ] {
            check(&fine, &[]);
        }
    }
}
