//! Checks a published tool against the known limitations of MCP clients.

use std::fmt;

use loggia_facade::Object;
use serde_json::Value;

use crate::{
    model::keywords::{SubschemaLayout, subschemas},
    publish::{
        clients::{LintScope, SCHEMA, SchemaPredicate, LintSeverity, TOOL},
        tool::PublishedTool,
    },
    text::show,
};

/// A limitation that a tool meets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintFinding {
    /// The place: `name`, `description`, `inputSchema.properties.limit`.
    pub path: String,
    /// The problem.
    pub problem: String,
    /// The affected clients.
    pub clients: &'static [&'static str],
    /// Their reaction.
    pub severity: LintSeverity,
}

impl fmt::Display for LintFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let does = match self.severity {
            LintSeverity::Confuses => "more wrong calls by",
            LintSeverity::Degrades => "lost on",
            LintSeverity::Rejects => "rejected by",
        };
        write!(f, "{} {} ({does} {})", self.path, self.problem, self.clients.join(", "))
    }
}

/// Checks a tool. Findings are in the order of the tool and reproducible.
pub fn lint(tool: &PublishedTool) -> Vec<LintFinding> {
    let mut out = Vec::new();
    for rule in TOOL.iter().filter(|rule| (rule.breaks)(tool)) {
        let path = if rule.scope == LintScope::Name { "name" } else { "description" };
        out.push(LintFinding {
            path: path.to_owned(),
            problem: rule.problem.to_owned(),
            clients: rule.clients,
            severity: rule.severity,
        });
    }
    lint_schema(
        &mut out,
        &tool.input_schema,
        &mut "inputSchema".to_owned(),
        &[LintScope::Input, LintScope::Every],
    );
    if let Some(schema) = &tool.output_schema {
        check_node(&mut out, schema, "outputSchema", &[LintScope::Output]);
    }
    out
}

/// Checks a schema and its subschemas. The bounds of surfaces limit the recursion.
fn lint_schema(out: &mut Vec<LintFinding>, schema: &Object, path: &mut String, at: &[LintScope]) {
    check_node(out, schema, path, at);
    let length = path.len();
    for (keyword, value) in schema {
        let children: Vec<(String, &Value)> = match (subschemas(keyword), value) {
            (Some(SubschemaLayout::One), value) => vec![(format!(".{keyword}"), value)],
            (Some(SubschemaLayout::Map), Value::Object(map)) => {
                map.iter().map(|(name, of)| (format!(".{keyword}.{}", show::name(name)), of)).collect()
            }
            (Some(SubschemaLayout::List), Value::Array(list)) => {
                list.iter().enumerate().map(|(index, of)| (format!(".{keyword}[{index}]"), of)).collect()
            }
            _ => Vec::new(),
        };
        for (step, child) in children {
            let Value::Object(child) = child else { continue };
            path.push_str(&step);
            lint_schema(out, child, path, &[LintScope::Inner, LintScope::Every]);
            path.truncate(length);
        }
    }
}

fn check_node(out: &mut Vec<LintFinding>, schema: &Object, path: &str, at: &[LintScope]) {
    for rule in SCHEMA.iter().filter(|rule| at.contains(&rule.scope)) {
        let places: Vec<String> = match &rule.breaks {
            SchemaPredicate::Node(breaks) if breaks(schema) => vec![path.to_owned()],
            SchemaPredicate::Node(_) => Vec::new(),
            SchemaPredicate::Keys(keys) => {
                let keys = keys.iter().filter(|key| schema.contains_key(**key));
                keys.map(|key| format!("{path}.{key}")).collect()
            }
        };
        out.extend(places.into_iter().map(|path| LintFinding {
            path,
            problem: rule.problem.to_owned(),
            clients: rule.clients,
            severity: rule.severity,
        }));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::{fmt::Write as _, sync::Arc};

    use serde_json::{Value, json};

    use super::*;
    use crate::{
        model::action_policy::ActionPolicy,
        publish::expose::{ExposeOptions, SchemaForm, ToolSplit},
        tests::{
            fixture,
            forms::{contract, expose},
            surfaces,
        },
    };

    fn listed(findings: &[LintFinding]) -> String {
        findings.iter().fold(String::new(), |mut out, finding| {
            let _ = writeln!(out, "{finding}");
            out
        })
    }

    /// A tool with this input schema, unchanged.
    fn raw(schema: Value) -> PublishedTool {
        let mut surface = fixture::one(json!({}), json!([]));
        surface.actions[0].params = Arc::new(json!({"type": "object"}).as_object().unwrap().clone());
        let mut tool = contract(surface, ActionPolicy::default()).publish(&expose(SchemaForm::Raw)).remove(0);
        tool.input_schema = Arc::new(schema.as_object().unwrap().clone());
        tool
    }

    #[test]
    fn every_rule_is_violated_once() {
        let mut tool = raw(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "x", "$defs": {"D": {"type": "string"}},
            "type": ["object", "null"], "oneOf": [{"type": "string", "properties": {}}], "required": ["nothing"],
            "if": {"not": {"const": 5}}, "then": {"$ref": "#/$defs/D"},
            "patternProperties": {"^x": {"type": "array", "items": {"type": "object"}}},
        }));
        tool.name =
            "a tool.of a name that is longer than any client would ever take, and has spaces".to_owned();
        tool.description = "x".repeat(2049);
        tool.output_schema = Some(Arc::new(json!({"anyOf": []}).as_object().unwrap().clone()));
        let mut out = listed(&lint(&tool));
        let many: serde_json::Map<_, _> =
            (0..21).map(|i| (format!("p {i}"), json!({"type": "string"}))).collect();
        out.push_str("---\n");
        out.push_str(&listed(&lint(&raw(json!({"type": "object", "properties": many})))));
        out.push_str("---\n");
        tool.description = " ".to_owned();
        tool.name = "n".repeat(53);
        tool.input_schema = raw(json!({"type": "object", "properties": {
            "a": {"type": "array"}, "b": true, "c": {"enum": [1, ""]}, "d": {"type": "string", "anyOf": []},
            "e": {"type": "object"}, "f": {}, "g": {"type": "string", "format": "date", "pattern": "x", "default": 1},
            "h": {"type": "string", "description": "x".repeat(1025)}, "i": {"allOf": [{"minimum": 1}]}}})).input_schema;
        out.push_str(&listed(&lint(&tool)));
        insta::assert_snapshot!("lint_everything", out);
        for (index, rule) in SCHEMA.iter().enumerate() {
            assert!(out.contains(rule.problem), "rule {index} is not tried: {}", rule.problem);
        }
        for rule in TOOL {
            assert!(out.contains(rule.problem), "{}", rule.problem);
        }
    }

    #[test]
    fn every_form_is_linted() {
        let mut out = String::new();
        for form in SchemaForm::ALL {
            let contract = contract(surfaces::projects(), ActionPolicy { batch: true, ..ActionPolicy::default() });
            for tool in contract.publish(&ExposeOptions { output_schema: true, ..expose(form) }) {
                let findings = lint(&tool);
                if !findings.is_empty() {
                    let _ = writeln!(out, "# {} as {}\n{}", tool.name, form.as_str(), listed(&findings));
                }
            }
        }
        insta::assert_snapshot!("lint_forms", out);
    }

    #[test]
    fn no_client_rejects_any_form_but_raw() {
        let free = json!({"o": {"type": "object"}, "l": {"type": "array", "items": {"type": "object"}},
            "e": {"enum": ["", 1, null]}, "n": {"type": "null"}, "t": {"type": "array", "prefixItems": [true]}});
        let open = json!({"type": "object", "additionalProperties": {"type": "array"}});
        let surfaces = [
            fixture::notes(),
            surfaces::projects(),
            surfaces::issues(),
            surfaces::tasks(),
            fixture::settings(),
            fixture::large(60),
            fixture::one(json!({}), json!([])),
            fixture::one(free, json!([])),
            fixture::surface(&"f".repeat(32), vec![fixture::action(&"a".repeat(32), open)]),
        ];
        for surface in surfaces {
            let confirm = surface.actions.iter().map(|action| action.name.clone()).collect();
            let contract = contract(surface, ActionPolicy { confirm, batch: true, ..ActionPolicy::default() });
            accepted(&contract);
        }
    }

    /// Fails if a client rejects any form but raw.
    pub(crate) fn accepted(contract: &crate::contract::build::Contract) {
        for form in SchemaForm::ALL {
            for split in [ToolSplit::None, ToolSplit::Effect] {
                let expose = ExposeOptions { form, split, output_schema: true, ..ExposeOptions::default() };
                for tool in contract.publish(&expose) {
                    if form == SchemaForm::Raw && contract.surface().actions.len() == 1 {
                        continue;
                    }
                    let rejected: Vec<LintFinding> =
                        lint(&tool).into_iter().filter(|f| f.severity == LintSeverity::Rejects).collect();
                    let schema = &tool.input_schema;
                    assert!(rejected.is_empty(), "{}: {}\n{schema:?}", form.as_str(), listed(&rejected));
                }
            }
        }
    }
}
