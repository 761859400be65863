//! Known limitations of MCP clients and the model vendors behind them: the table of [`lint`](crate::lint).
//!
//! Each row was observed in a client's source or reported by its users. A row has the worst severity among its
//! clients, because one rejected tool can hide all tools of a server.

use loggia_facade::Object;
use serde_json::Value;

use crate::publish::{description::utf16_len, tool::PublishedTool};

use LintSeverity::{Confuses, Degrades, Rejects};

/// The reaction of a client to something that it does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LintSeverity {
    /// It shows everything, but models make more invalid calls.
    Confuses,
    /// It shows the model less than was published.
    Degrades,
    /// It refuses the tool, and possibly all other tools of the server.
    Rejects,
}

/// A limitation of some clients.
pub(crate) struct ClientRule<T> {
    pub(crate) scope: LintScope,
    pub(crate) breaks: T,
    pub(crate) problem: &'static str,
    pub(crate) clients: &'static [&'static str],
    pub(crate) severity: LintSeverity,
}

/// The part of a tool that a rule examines.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum LintScope {
    Name,
    Description,
    /// The root of the input schema.
    Input,
    /// The root of the output schema.
    Output,
    /// A schema inside the input schema.
    Inner,
    /// The input schema and every schema inside it.
    Every,
}

/// Whether a tool's name or description violates a rule.
pub(crate) type ToolPredicate = fn(&PublishedTool) -> bool;

/// Whether a schema violates a rule.
pub(crate) enum SchemaPredicate {
    /// It has one of these keywords.
    Keys(&'static [&'static str]),
    /// It satisfies this predicate.
    Node(fn(&Object) -> bool),
}

const fn row<T>(
    severity: LintSeverity,
    at: LintScope,
    clients: &'static [&'static str],
    breaks: T,
    problem: &'static str,
) -> ClientRule<T> {
    ClientRule { scope: at, breaks, problem, clients, severity }
}

/// Rules about a tool's name and description.
pub(crate) const TOOL: &[ClientRule<ToolPredicate>] = &[
    row(
        Rejects,
        LintScope::Name,
        &["Claude", "OpenAI", "Gemini", "Bedrock"],
        |tool| !is_tool_name(&tool.name),
        "must be 1 to 64 characters of a-z, A-Z, 0-9, `_` and `-`",
    ),
    row(
        Degrades,
        LintScope::Name,
        &["Cursor", "Claude Code", "Gemini CLI"],
        |tool| tool.name.len() > 52,
        "is longer than 52 characters: with the server's name before it, it is cut or left out",
    ),
    row(Rejects, LintScope::Description, &["Bedrock"], |tool| tool.description.trim().is_empty(), "is empty"),
    row(
        Degrades,
        LintScope::Description,
        &["VS Code with GPT-4"],
        |tool| utf16_len(&tool.description) > 1024,
        "is longer than 1024 characters: the rest is cut",
    ),
    row(
        Degrades,
        LintScope::Description,
        &["Claude Code"],
        |tool| utf16_len(&tool.description) > 2048,
        "is longer than 2048 characters: the rest is cut",
    ),
];

/// Rules about schemas.
pub(crate) const SCHEMA: &[ClientRule<SchemaPredicate>] = &[
    row(
        Rejects,
        LintScope::Input,
        &["Claude", "OpenAI", "VS Code", "Codex"],
        SchemaPredicate::Keys(&["oneOf", "anyOf", "allOf", "not", "if", "enum"]),
        "is not accepted at the root",
    ),
    row(
        Rejects,
        LintScope::Input,
        &["Claude Code", "OpenAI", "MCP's TypeScript SDK"],
        SchemaPredicate::Node(|schema| !is(schema, "object")),
        "must have the type object",
    ),
    row(
        Rejects,
        LintScope::Input,
        &["OpenAI", "Copilot CLI"],
        SchemaPredicate::Node(|schema| !schema.get("properties").is_some_and(Value::is_object)),
        "must have `properties`, even if there are none",
    ),
    row(
        Rejects,
        LintScope::Input,
        &["Claude", "Gemini", "Bedrock"],
        SchemaPredicate::Node(|schema| !properties(schema).all(|(name, _)| is_key(name))),
        "has a parameter whose name is not 1 to 64 characters of a-z, A-Z, 0-9, `_`, `-` and `.`",
    ),
    row(
        Confuses,
        LintScope::Input,
        &["all models"],
        SchemaPredicate::Node(|schema| properties(schema).count() > 20),
        "has more than 20 parameters",
    ),
    row(
        Rejects,
        LintScope::Every,
        &["Gemini", "VS Code", "Claude Desktop"],
        SchemaPredicate::Keys(&["$ref", "$dynamicRef"]),
        "is not followed, and its definitions are dropped",
    ),
    row(
        Rejects,
        LintScope::Every,
        &["Gemini"],
        SchemaPredicate::Keys(&["$defs", "definitions", "$schema", "$id", "$anchor", "const"]),
        "is not known",
    ),
    row(
        Rejects,
        LintScope::Every,
        &["Gemini"],
        SchemaPredicate::Node(|schema| schema.get("type").is_some_and(Value::is_array)),
        "has a list of types",
    ),
    row(
        Rejects,
        LintScope::Every,
        &["Gemini", "VS Code"],
        SchemaPredicate::Node(|schema| {
            is(schema, "array") && !schema.get("items").is_some_and(Value::is_object)
        }),
        "is an array without `items`",
    ),
    row(
        Rejects,
        LintScope::Every,
        &["Gemini"],
        SchemaPredicate::Node(|schema| {
            let items = schema.get("items").and_then(Value::as_object);
            items.is_some_and(|items| is(items, "object") && !items.contains_key("properties"))
        }),
        "is an array of objects without `properties`",
    ),
    row(
        Rejects,
        LintScope::Every,
        &["Gemini"],
        SchemaPredicate::Node(|schema| {
            list(schema, "enum").any(|value| value.as_str().is_none_or(str::is_empty))
        }),
        "has an `enum` of other values than non-empty strings",
    ),
    row(
        Rejects,
        LintScope::Every,
        &["Gemini CLI"],
        SchemaPredicate::Node(|schema| schema.contains_key("type") && schema.contains_key("anyOf")),
        "has both `type` and `anyOf`",
    ),
    row(
        Rejects,
        LintScope::Every,
        &["Gemini"],
        SchemaPredicate::Node(|schema| {
            let known = |name: &Value| properties(schema).any(|(known, _)| name == known);
            !list(schema, "required").all(known)
        }),
        "requires properties that it does not define",
    ),
    row(
        Rejects,
        LintScope::Every,
        &["Gemini"],
        SchemaPredicate::Node(|schema| {
            let other = schema.get("type").is_some_and(|kind| kind.is_string() && kind != "object");
            other && (schema.contains_key("properties") || schema.contains_key("required"))
        }),
        "has `properties` or `required`, but is not an object",
    ),
    row(
        Rejects,
        LintScope::Every,
        &["OpenAI", "Gemini"],
        SchemaPredicate::Node(|schema| properties(schema).any(|(_, schema)| !schema.is_object())),
        "has a property whose schema is true or false",
    ),
    row(
        Degrades,
        LintScope::Inner,
        &["Codex", "Gemini"],
        SchemaPredicate::Keys(&[
            "oneOf",
            "allOf",
            "not",
            "if",
            "prefixItems",
            "patternProperties",
            "dependentSchemas",
        ]),
        "is dropped",
    ),
    row(
        Degrades,
        LintScope::Inner,
        &["LangChain", "small models"],
        SchemaPredicate::Keys(&["anyOf"]),
        "is merged into one, or the wrong branch is taken",
    ),
    row(
        Degrades,
        LintScope::Inner,
        &["VS Code with GPT", "Gemini"],
        SchemaPredicate::Node(|schema| is(schema, "object") && properties(schema).next().is_none()),
        "is an object without known members, of which the model sees nothing",
    ),
    row(
        Degrades,
        LintScope::Inner,
        &["Gemini"],
        SchemaPredicate::Node(|schema| {
            !["type", "anyOf", "enum", "$ref"].iter().any(|key| schema.contains_key(*key))
        }),
        "has no type",
    ),
    row(
        Degrades,
        LintScope::Inner,
        &["Codex", "VS Code with GPT-4"],
        SchemaPredicate::Keys(&[
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minLength",
            "maxLength",
            "pattern",
            "format",
            "minItems",
            "maxItems",
            "uniqueItems",
            "default",
        ]),
        "is dropped: say it in the description",
    ),
    row(
        Degrades,
        LintScope::Inner,
        &["VS Code with GPT-4"],
        SchemaPredicate::Node(|schema| {
            schema.get("description").and_then(Value::as_str).is_some_and(|text| utf16_len(text) > 1024)
        }),
        "has a description of more than 1024 characters: the rest is cut",
    ),
    row(
        Rejects,
        LintScope::Output,
        &["MCP's TypeScript SDK"],
        SchemaPredicate::Node(|schema| !is(schema, "object")),
        "must have the type object, or the whole list of tools fails",
    ),
    row(
        Degrades,
        LintScope::Output,
        &["Cursor"],
        SchemaPredicate::Keys(&["oneOf", "anyOf", "allOf", "$ref"]),
        "is not supported at the root",
    ),
];

fn is(schema: &Object, kind: &str) -> bool {
    schema.get("type").is_some_and(|is| is == kind)
}

fn properties(schema: &Object) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn list<'a>(schema: &'a Object, key: &str) -> impl Iterator<Item = &'a Value> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn is_tool_name(name: &str) -> bool {
    is_key(name) && !name.contains('.')
}

/// `^[a-zA-Z0-9_.-]{1,64}$`
fn is_key(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}
