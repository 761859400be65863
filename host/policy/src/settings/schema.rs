//! JSON Schema of the file for editors, generated from the tables.

use serde_json::{Map, Value as Json, json};

use super::{
    kind::{KeySpec, TableSpec, ValueKind},
    root_table::Settings,
    value::SettingValue as _,
};

impl Settings {
    /// Returns the JSON Schema of the file.
    pub fn json_schema() -> Json {
        let mut definitions = Map::new();
        let ValueKind::Table(table) = Self::kind() else { return Json::Null };
        let mut schema = table_schema(&table, &mut definitions);
        schema["title"] = json!("loggia.toml");
        schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
        schema["$defs"] = Json::Object(definitions);
        schema
    }
}

fn table_schema(table: &TableSpec, definitions: &mut Map<String, Json>) -> Json {
    let keys = table.keys.iter().map(|key| (key.name.clone(), key_schema(key, definitions)));
    let properties: Map<String, Json> = keys.collect();
    let required: Vec<&str> =
        table.keys.iter().filter(|key| key.is_required).map(|key| key.name.as_str()).collect();
    let mut schema = json!({"type": "object", "additionalProperties": false, "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema["description"] = json!(lines(table.means));
    schema
}

fn key_schema(key: &KeySpec, definitions: &mut Map<String, Json>) -> Json {
    let mut schema = kind_schema(&key.kind, definitions);
    schema["description"] = json!(lines(key.means));
    match (&key.default, &key.kind) {
        (Some(default), _) => schema["default"] = default.clone(),
        (None, ValueKind::Address) => schema["examples"] = json!(["127.0.0.1:9090"]),
        _ => {}
    }
    schema
}

fn kind_schema(kind: &ValueKind, definitions: &mut Map<String, Json>) -> Json {
    match kind {
        ValueKind::Text | ValueKind::Address => json!({"type": "string"}),
        ValueKind::Flag => json!({"type": "boolean"}),
        ValueKind::Number(format) => json!({"type": "integer", "format": format, "minimum": 0}),
        ValueKind::Quantity(name, units, example) => {
            let pattern = format!("^\\s*[0-9]+\\s*({units})\\s*$");
            define(
                name,
                definitions,
                |_| json!({"type": "string", "pattern": pattern, "examples": [example]}),
            )
        }
        ValueKind::Words(name, means, words) => define(name, definitions, |_| {
            let constant = |word: &clap::builder::PossibleValue| {
                let means = word.get_help()?.to_string();
                Some(json!({"type": "string", "const": word.get_name(), "description": means}))
            };
            match words.iter().map(constant).collect::<Option<Vec<_>>>() {
                Some(constants) => json!({"oneOf": constants, "description": means}),
                None => {
                    let words: Vec<&str> = words.iter().map(|word| word.get_name()).collect();
                    json!({"type": "string", "enum": words, "description": means})
                }
            }
        }),
        ValueKind::Any => json!({"type": "object"}),
        ValueKind::List(item) => json!({"type": "array", "items": kind_schema(item, definitions)}),
        ValueKind::Set(item) => {
            json!({"type": "array", "uniqueItems": true, "items": kind_schema(item, definitions)})
        }
        ValueKind::Table(table) => {
            define(table.name, definitions, |definitions| table_schema(table, definitions))
        }
        ValueKind::TextOr(table) => {
            json!({"anyOf": [{"type": "string"}, kind_schema(table, definitions)]})
        }
        ValueKind::Map(item) => {
            json!({"type": "object", "additionalProperties": kind_schema(item, definitions)})
        }
        ValueKind::Optional(kind) => {
            let mut schema = kind_schema(kind, definitions);
            match schema["type"].take() {
                Json::Null => json!({"anyOf": [{"$ref": schema["$ref"]}, {"type": "null"}]}),
                plain => {
                    schema["type"] = json!([plain, "null"]);
                    schema
                }
            }
        }
    }
}

/// Refers to a definition, which is added on its first use, before those that it uses itself.
fn define(
    name: &str,
    definitions: &mut Map<String, Json>,
    schema: impl FnOnce(&mut Map<String, Json>) -> Json,
) -> Json {
    if !definitions.contains_key(name) {
        definitions.insert(name.to_owned(), Json::Null);
        let schema = schema(definitions);
        definitions.insert(name.to_owned(), schema);
    }
    json!({"$ref": format!("#/$defs/{name}")})
}

/// Joins the lines of a doc comment.
fn lines(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n")
}
