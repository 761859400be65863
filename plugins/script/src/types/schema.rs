//! TypeScript types from JSON Schemas.

use loggia_sdk::{Object, Value, serde_json};

/// Depth of a type; deeper parts are `any`.
const DEPTH: usize = 6;
/// Bytes of a type; the rest is `any`.
const LENGTH: usize = 4000;
/// Alternatives of a union; more are shown as their common type.
const ALTERNATIVES: usize = 16;
/// Characters of a description.
const DESCRIPTION: usize = 160;

/// Renders a type. With `documented`, members have their descriptions.
pub fn render_type(schema: &Value, documented: bool) -> String {
    let mut renderer = Renderer { root: schema, left: LENGTH, documented };
    renderer.render(schema, 0)
}

/// Renders the type of an action's parameters, and tells whether all of them are optional.
pub fn render_parameters(schema: &Value, documented: bool) -> (String, bool) {
    let is_empty = schema["properties"].as_object().is_none_or(Object::is_empty);
    if is_empty && schema["additionalProperties"] == Value::Bool(false) {
        return (String::new(), true);
    }
    let is_optional = schema["required"].as_array().is_none_or(Vec::is_empty);
    (render_type(schema, documented), is_optional)
}

struct Renderer<'a> {
    root: &'a Value,
    left: usize,
    documented: bool,
}

impl Renderer<'_> {
    fn render(&mut self, schema: &Value, depth: usize) -> String {
        if depth > DEPTH || self.left == 0 {
            return "any".to_owned();
        }
        let text = self.render_any(schema, depth);
        self.left = self.left.saturating_sub(text.len() / (depth + 1));
        text
    }

    fn render_any(&mut self, schema: &Value, depth: usize) -> String {
        let Some(members) = schema.as_object() else { return "any".to_owned() };
        if let Some(target) = members.get("$ref").and_then(Value::as_str) {
            let target = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)).cloned();
            return target.map_or_else(|| "any".to_owned(), |target| self.render(&target, depth + 1));
        }
        if let Some(value) = members.get("const") {
            return literal(value);
        }
        if let Some(Value::Array(values)) = members.get("enum")
            && values.len() <= ALTERNATIVES
        {
            return union(values.iter().map(literal).collect());
        }
        for keyword in ["oneOf", "anyOf"] {
            if let Some(Value::Array(schemas)) = members.get(keyword) {
                let all: Vec<String> =
                    schemas.iter().take(ALTERNATIVES).map(|schema| self.render(schema, depth + 1)).collect();
                return union(all);
            }
        }
        if let Some(Value::Array(schemas)) = members.get("allOf") {
            let all: Vec<String> = schemas.iter().map(|schema| self.render(schema, depth + 1)).collect();
            return all.join(" & ");
        }
        match members.get("type") {
            Some(Value::String(kind)) => self.render_kind(kind, members, depth),
            Some(Value::Array(kinds)) => {
                let kinds = kinds.iter().filter_map(Value::as_str);
                union(kinds.map(|kind| self.render_kind(kind, members, depth)).collect())
            }
            _ if members.contains_key("properties") => self.render_object(members, depth),
            _ => "any".to_owned(),
        }
    }

    fn render_kind(&mut self, kind: &str, members: &Object, depth: usize) -> String {
        match kind {
            "integer" | "number" => "number".to_owned(),
            "string" | "boolean" | "null" => kind.to_owned(),
            "array" => {
                let item = members
                    .get("items")
                    .map_or_else(|| "any".to_owned(), |item| self.render(item, depth + 1));
                if item.contains([' ', '&', '|']) && !item.starts_with('{') {
                    format!("({item})[]")
                } else {
                    format!("{item}[]")
                }
            }
            "object" => self.render_object(members, depth),
            _ => "any".to_owned(),
        }
    }

    fn render_object(&mut self, members: &Object, depth: usize) -> String {
        let properties = members.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty());
        let Some(properties) = properties else {
            return match members.get("additionalProperties") {
                Some(Value::Bool(false)) => "{}".to_owned(),
                Some(schema @ Value::Object(_)) => {
                    format!("Record<string, {}>", self.render(schema, depth + 1))
                }
                _ => "Record<string, any>".to_owned(),
            };
        };
        let required = members.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|other| other == name));
        let mut parts = Vec::new();
        for (name, schema) in properties {
            let mark = if is_required(name) { "" } else { "?" };
            let text = self.render(schema, depth + 1);
            let note = if self.documented { describe(schema) } else { String::new() };
            parts.push(format!("{}{mark}: {text}{note}", member(name)));
        }
        format!("{{ {} }}", parts.join("; "))
    }
}

/// Renders a description and the default as a comment.
fn describe(schema: &Value) -> String {
    let mut notes = Vec::new();
    if let Some(text) = schema["description"].as_str() {
        notes.push(one_line(text, DESCRIPTION));
    }
    if let Some(default) = schema.get("default") {
        notes.push(format!("Default: {}.", literal(default)));
    }
    if notes.is_empty() { String::new() } else { format!(" /* {} */", notes.join(" ")) }
}

/// Makes a text fit for a comment of one line.
pub fn one_line(text: &str, chars: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace("*/", "* /");
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text,
    }
}

fn union(mut parts: Vec<String>) -> String {
    let mut seen = Vec::new();
    parts.retain(|part| {
        let is_new = !seen.contains(part);
        if is_new {
            seen.push(part.clone());
        }
        is_new
    });
    if parts.is_empty() || parts.iter().any(|part| part == "any") {
        "any".to_owned()
    } else {
        parts.join(" | ")
    }
}

fn literal(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Renders a member's name, quoted if it is no identifier.
pub fn member(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { literal(&name.into()) }
}

/// Tests whether a name can be written without quotes.
pub fn is_identifier(name: &str) -> bool {
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '$';
    name.chars().next().is_some_and(is_start) && name.chars().all(|c| is_start(c) || c.is_ascii_digit())
}
