//! The lines of the reference server's file: entities and relations.

use loggia_sdk::{prelude::*, serde_json};

use crate::{keep::RELATION, words};

/// Maximum length of a title, in characters.
const TITLE: usize = 200;

/// A value with its line, from 1.
#[derive(Debug, PartialEq)]
pub struct Line<T> {
    pub number: usize,
    pub value: T,
}

/// An entity, which becomes a memory.
#[derive(Debug, PartialEq)]
pub struct Entity {
    pub name: String,
    pub kind: String,
    pub observations: Vec<String>,
}

/// A relation between two entities.
#[derive(Debug, PartialEq)]
pub struct Relation {
    pub from: String,
    pub to: String,
    pub relation: String,
}

/// All lines of a file.
#[derive(Debug, Default, PartialEq)]
pub struct Lines {
    pub entities: Vec<Line<Entity>>,
    pub relations: Vec<Line<Relation>>,
    /// Lines that are neither, with the reason.
    pub skipped: Vec<(usize, String)>,
}

/// Parses the lines; blank ones are ignored.
pub fn parse(text: &str) -> Lines {
    let mut lines = Lines::default();
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let parsed = serde_json::from_str::<Value>(line).map_err(|error| format!("not JSON: {error}"));
        let added = parsed.and_then(|value| match value["type"].as_str() {
            Some("entity") => entity(&value).map(|value| lines.entities.push(Line { number, value })),
            Some("relation") => relation(&value).map(|value| lines.relations.push(Line { number, value })),
            _ => Err("`type` is neither `entity` nor `relation`".to_owned()),
        });
        if let Err(why) = added {
            lines.skipped.push((number, why));
        }
    }
    lines
}

type Parsed<T> = std::result::Result<T, String>;

fn entity(value: &Value) -> Parsed<Entity> {
    let observations = match &value["observations"] {
        Value::Null => Vec::new(),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
        }
        _ => return Err("`observations` is not a list of strings".to_owned()),
    };
    let kind = words::kind(value["entityType"].as_str().unwrap_or_default());
    Ok(Entity { name: name(value, "name")?, kind: short(kind, "entityType")?, observations })
}

fn relation(value: &Value) -> Parsed<Relation> {
    let relation = words::relation(value["relationType"].as_str().unwrap_or_default());
    let relation = if relation.is_empty() { RELATION.to_owned() } else { relation };
    Ok(Relation {
        from: name(value, "from")?,
        to: name(value, "to")?,
        relation: short(relation, "relationType")?,
    })
}

/// A name, on one line.
fn name(value: &Value, key: &str) -> Parsed<String> {
    let name = words::relation(value[key].as_str().unwrap_or_default());
    match name.chars().count() {
        0 => Err(format!("`{key}` is missing or not a text")),
        1..=TITLE => Ok(name),
        _ => Err(format!("`{key}` has more than {TITLE} characters")),
    }
}

fn short(text: String, key: &str) -> Parsed<String> {
    if text.chars().count() > words::LENGTH {
        return Err(format!("`{key}` has more than {} characters", words::LENGTH));
    }
    Ok(text)
}
