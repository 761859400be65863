//! From the text of `loggia.toml` to settings, or all that is wrong with it.

use std::path::PathBuf;

use schemars::{Schema, schema_for};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::{Settings, bounds};
use crate::config::policy::{
    Problems, Setting,
    key::did_you_mean,
    tree::{Node, Table, Value, tree},
};

/// Why the file cannot be used: all that is wrong with it, each with its line. Reads after the file's name.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(Problems);

impl Settings {
    /// Reads the text of a file. `${VAR}` in its strings is filled in, and relative paths start at its folder.
    ///
    /// # Errors
    ///
    /// Names what is wrong, each with its line, and for an unknown key the nearest known one.
    pub fn parse(text: &str, setting: &Setting<'_>) -> Result<Self, SettingsError> {
        let mut problems = Problems::default();
        let table = tree(text, setting.variable, &mut problems);
        let schema = schema();
        unknown(&table, &mut Vec::new(), Grammar { root: &schema, at: &schema }, &mut problems);
        let settings = problems.is_empty().then(|| deserialized(&table, &mut problems)).flatten();
        let settings = settings.map(|settings| placed(settings, setting)).unwrap_or_default();
        if problems.is_empty() {
            for (path, said) in bounds::problems(&settings) {
                let path: Vec<&str> = path.split('.').collect();
                problems.add(line(&table, &path), format!("`{}` {said}", path.join(".")));
            }
        }
        if problems.is_empty() { Ok(settings) } else { Err(SettingsError(problems.sorted())) }
    }

    /// The grammar as a JSON Schema, for editors.
    pub fn json_schema() -> Json {
        schema()
    }
}

fn schema() -> Json {
    let mut schema = Schema::to_value(schema_for!(Settings));
    if let Some(root) = schema.as_object_mut() {
        root.insert("title".into(), json!("loggia.toml"));
    }
    schema
}

/// What may stand at some place of the file.
#[derive(Clone, Copy)]
struct Grammar<'a> {
    root: &'a Json,
    at: &'a Json,
}

impl<'a> Grammar<'a> {
    /// The same place, where it says elsewhere what it is.
    fn resolved(self) -> Self {
        let elsewhere = self.at["$ref"].as_str().or_else(|| {
            // What may be left out is this or null.
            let either = self.at["anyOf"].as_array()?;
            either.iter().find_map(|one| one["$ref"].as_str())
        });
        match elsewhere.and_then(|at| self.root.pointer(at.strip_prefix('#')?)) {
            Some(at) => Self { at, ..self },
            None => self,
        }
    }

    fn keys(self) -> Option<&'a Map<String, Json>> {
        self.at["properties"].as_object()
    }
}

/// Tells keys that do not exist, with the one that was meant.
fn unknown(table: &Table, path: &mut Vec<String>, grammar: Grammar<'_>, problems: &mut Problems) {
    let grammar = grammar.resolved();
    let Some(keys) = grammar.keys() else { return };
    for (key, line, node) in &table.0 {
        path.push(key.clone());
        match keys.get(key) {
            None => {
                let near = did_you_mean(key, keys.keys().map(String::as_str));
                let near = if near.is_empty() {
                    format!("; there are {}", keys.keys().cloned().collect::<Vec<_>>().join(", "))
                } else {
                    near
                };
                problems.add(*line, format!("unknown key `{}`{near}", path.join(".")));
            }
            Some(at) => within(node, path, Grammar { at, ..grammar }, problems),
        }
        path.pop();
    }
}

fn within(node: &Node, path: &mut Vec<String>, grammar: Grammar<'_>, problems: &mut Problems) {
    match &node.value {
        Value::Table(table) => unknown(table, path, grammar, problems),
        Value::List(items) => {
            let at = &grammar.resolved().at["items"];
            for item in items {
                within(item, path, Grammar { at, ..grammar }, problems);
            }
        }
        _ => {}
    }
}

fn deserialized(table: &Table, problems: &mut Problems) -> Option<Settings> {
    let file = json(table);
    let mut track = serde_path_to_error::Track::new();
    match Settings::deserialize(serde_path_to_error::Deserializer::new(file, &mut track)) {
        Ok(settings) => Some(settings),
        Err(error) => {
            let path = track.path();
            let steps: Vec<String> = path.iter().map(|step| step.to_string()).collect();
            let steps: Vec<&str> = steps.iter().map(|step| step.trim_matches(['[', ']'])).collect();
            let said = told(&error.to_string());
            let said = match steps.is_empty() {
                true => said,
                false => format!("`{path}`: {said}"),
            };
            problems.add(line(table, &steps), said);
            None
        }
    }
}

/// What a parser says, in the words of the file.
fn told(said: &str) -> String {
    if said == "invalid socket address syntax" {
        return "is no address: write an IP address and a port, as in \"127.0.0.1:8080\"".into();
    }
    match said.split_once("expected struct ") {
        Some((said, _)) => format!("{said}expected a table"),
        None => said.to_owned(),
    }
}

fn json(table: &Table) -> Json {
    Json::Object(table.0.iter().map(|(key, _, node)| (key.clone(), value(node))).collect())
}

fn value(node: &Node) -> Json {
    match &node.value {
        Value::Text(text) => json!(text.value),
        Value::Integer(number) => json!(number),
        Value::Float(number) => json!(number),
        Value::Flag(flag) => json!(flag),
        Value::Date(date) => json!(date),
        Value::List(items) => items.iter().map(value).collect(),
        Value::Table(table) => json(table),
        Value::Broken => Json::Null,
    }
}

/// Where that stands; where there is no such place, the nearest around it.
fn line(table: &Table, path: &[&str]) -> usize {
    let Some((first, rest)) = path.split_first() else { return 1 };
    let Some((line, node)) = table.get(first) else { return 1 };
    inside(node, rest).unwrap_or(line)
}

fn inside(node: &Node, path: &[&str]) -> Option<usize> {
    let (first, rest) = path.split_first()?;
    let (line, next) = match &node.value {
        Value::Table(table) => table.get(first)?,
        Value::List(items) => items.get(first.parse::<usize>().ok()?).map(|item| (item.line, item))?,
        _ => return None,
    };
    inside(next, rest).or(Some(line))
}

/// With its paths starting where they are meant to.
fn placed(settings: Settings, setting: &Setting<'_>) -> Settings {
    let place = |path: PathBuf| match (path.strip_prefix("~"), &setting.home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => setting.folder.join(path),
    };
    let Settings { folder, cache, state, .. } = settings.clone();
    Settings { folder: folder.map(place), cache: cache.map(place), state: state.map(place), ..settings }
}
