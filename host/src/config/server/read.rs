//! From the text of `loggia.toml` to settings, or all that is wrong with it.
//!
//! What cannot be used is told and taken out, and the rest is read: so each mistake is told at once, whichever step
//! finds it. What follows from one that was told is not told again.

use std::path::PathBuf;

use schemars::{Schema, schema_for};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::{
    Audit, bounds,
    grammar::Grammar,
    place::{Mistake, Place},
    settings::Settings,
};
use crate::config::policy::{
    PolicySetting, Problems, nearest,
    tree::{Node, Table, Text, Tree, Value, tree},
};

/// When there are more mistakes, no further ones are looked for.
const MANY: usize = 60;

/// Why the file cannot be used: all that is wrong with it, each with its line. Reads on one line, after the file's name.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(Problems);

impl SettingsError {
    /// Each on a line of its own, for a person.
    pub fn lines(&self) -> String {
        self.0.lines()
    }
}

/// A file as it is read.
pub struct Reading {
    /// What it says. What cannot be used is left out, or stood in for.
    pub settings: Settings,
    table: Table,
    found: Found,
}

impl Settings {
    /// Reads the text of a file. `${VAR}` in its strings is filled in, and relative paths start at its folder.
    ///
    /// # Errors
    ///
    /// Names all that is wrong, each with its line, and for an unknown key the nearest known one.
    pub fn parse(text: &str, setting: &PolicySetting<'_>) -> Result<Self, SettingsError> {
        Reading::of(text, setting).finish()
    }

    /// The grammar as a JSON Schema, for editors.
    pub fn json_schema() -> Json {
        schema()
    }
}

impl Reading {
    /// Reads the text of a file, as [`Settings::parse`] does; others may find more that is wrong.
    pub fn of(text: &str, setting: &PolicySetting<'_>) -> Self {
        let mut problems = Problems::default();
        let Tree { table, torn } = tree(text, setting.variable, &mut problems);
        let mut found = Found { problems, told: Vec::new(), torn };
        let schema = schema();
        let grammar = Grammar::of(&schema);
        let file = found.known(&table, 1, &Place::default(), grammar);
        let settings = placed(found.settings(file, &table, grammar), setting);
        let mut reading = Self { settings, table, found };
        reading.tell(bounds::mistakes(&reading.settings));
        reading
    }

    /// Tells what else is wrong, but for what follows from what was told.
    pub fn tell(&mut self, mut mistakes: Vec<Mistake>) {
        mistakes.retain(|Mistake { place, .. }| !self.found.is_echo(place, &self.table));
        for mistake in mistakes {
            let said = as_written(mistake.to_string(), &mistake.place, &self.table);
            self.found.add(mistake.place.find(&self.table).0, said);
            self.found.told.push(mistake.place);
        }
    }

    /// Tells what is wrong with several values together, of which the first has the line, if each can be used by itself.
    pub fn tell_together(&mut self, of: &[&str], said: &str) {
        let places = || of.iter().map(|place| Mistake::new(place, "").place);
        let touches =
            |place: Place| self.found.told.iter().any(|told| told.holds(&place) || place.holds(told));
        if self.found.torn.is_none() && !places().any(touches) {
            let line = places().next().map_or(1, |place| place.find(&self.table).0);
            self.found.add(line, said);
        }
    }

    /// The settings.
    ///
    /// # Errors
    ///
    /// All that was told.
    pub fn finish(self) -> Result<Settings, SettingsError> {
        let problems = self.found.problems;
        if problems.is_empty() { Ok(self.settings) } else { Err(SettingsError(problems.sorted())) }
    }
}

fn schema() -> Json {
    let mut schema = Schema::to_value(schema_for!(Settings));
    if let Some(root) = schema.as_object_mut() {
        root.insert("title".into(), json!("loggia.toml"));
    }
    schema
}

/// What is wrong, as far as it is known.
struct Found {
    problems: Problems,
    /// Where, and what is missing because its key is misspelt.
    told: Vec<Place>,
    /// The line from which on the file is no TOML: what is missing may be there.
    torn: Option<usize>,
}

impl Found {
    fn add(&mut self, line: usize, said: impl AsRef<str>) {
        self.problems.add(line, said);
    }

    /// Whether something wrong there follows from what was told.
    fn is_echo(&self, place: &Place, table: &Table) -> bool {
        let (line, there) = place.find(table);
        self.told.iter().any(|told| told.holds(place))
            || self.torn == Some(line)
            || (!there && self.torn.is_some())
    }

    /// What the known keys of a table hold. Tells the others, with the one that was meant, and what is missing.
    fn known(&mut self, table: &Table, line: usize, at: &Place, grammar: Grammar<'_>) -> Json {
        let mut known = Map::new();
        for (key, line, node) in &table.0 {
            let place = at.step(key);
            match grammar.key(key) {
                Some(grammar) => {
                    known.extend(Some(key.clone()).zip(self.value(node, *line, &place, grammar)))
                }
                None => {
                    let keys = || grammar.keys().into_iter().flatten().map(|(key, _)| key.as_str());
                    let meant = nearest(key, keys());
                    let said = match meant {
                        Some(meant) => format!("did you mean `{meant}`?"),
                        None => format!("there are {}", keys().collect::<Vec<_>>().join(", ")),
                    };
                    self.add(*line, format!("unknown key `{}`; {said}", at.dotted(key)));
                    self.told.push(place);
                    self.told.extend(meant.filter(|key| table.get(key).is_none()).map(|key| at.step(key)));
                }
            }
        }
        for key in grammar.needed().filter(|key| !known.contains_key(*key)).collect::<Vec<_>>() {
            if table.get(key).is_none() {
                let place = at.step(key);
                if self.torn.is_none() && !self.told.contains(&place) {
                    self.add(line, format!("`{at}` needs the key `{key}`"));
                }
                self.told.push(place);
            }
            known.extend(grammar.key(key).map(|grammar| (key.to_owned(), grammar.stand_in())));
        }
        Json::Object(known)
    }

    /// A value, of which unknown keys were taken out. None where it cannot be used, which is told.
    fn value(&mut self, node: &Node, line: usize, at: &Place, grammar: Grammar<'_>) -> Option<Json> {
        Some(match &node.value {
            Value::Broken => {
                self.told.push(at.clone());
                return None;
            }
            Value::Table(table) => match grammar.keys() {
                Some(_) => self.known(table, line, at, grammar),
                // No table belongs there, which is told when it is read.
                None => json!({}),
            },
            // A list would be read as the values of the keys.
            _ if grammar.keys().is_some() => {
                if self.torn != Some(line) {
                    self.add(line, format!("`{at}` must be a table"));
                }
                self.told.push(at.clone());
                return None;
            }
            Value::List(items) => {
                let grammar = grammar.item();
                let item = |(n, node): (usize, &Node)| {
                    let read = self.value(node, node.line, &at.step(n), grammar);
                    read.unwrap_or_else(|| grammar.stand_in())
                };
                items.iter().enumerate().map(item).collect()
            }
            Value::Text(text) => json!(text.value),
            Value::Integer(number) => json!(number),
            // JSON has no such numbers, and what stands for them is what stands for nothing.
            Value::Float(number) if !number.is_finite() => {
                self.add(line, format!("`{at}` must be a number that is finite"));
                self.told.push(at.clone());
                return None;
            }
            Value::Float(number) => json!(number),
            Value::Flag(flag) => json!(flag),
            Value::Date(date) => json!(date),
        })
    }

    /// Reads all of it, again and again: what is not what it has to be is told, and taken out.
    fn settings(&mut self, mut file: Json, table: &Table, grammar: Grammar<'_>) -> Settings {
        let mut taken = Vec::new();
        loop {
            let mut track = serde_path_to_error::Track::new();
            let said = match Settings::deserialize(serde_path_to_error::Deserializer::new(&file, &mut track))
            {
                Ok(settings) => return settings,
                Err(error) => told(&error.to_string()),
            };
            // No more would be shown, and each costs another reading.
            if self.problems.len() > MANY {
                return Settings::default();
            }
            let mut place = Place::from(&track.path());
            let said = as_written(said, &place, table);
            if !self.is_echo(&place, table) {
                self.add(place.find(table).0, format!("`{place}`: {said}"));
                self.told.push(place.clone());
            }
            // Where nothing can stand in, what is around it goes.
            while taken.contains(&place) {
                let Some((around, _)) = place.split() else { return Settings::default() };
                place = around;
            }
            take_out(&mut file, &place, grammar);
            taken.push(place);
        }
    }
}

/// What is said of a value, without what came from the environment: that may be a secret.
fn as_written(said: String, place: &Place, table: &Table) -> String {
    let Some(Text { value, written: Some(written) }) = place.text(table) else { return said };
    if value.is_empty() {
        return said;
    }
    let escaped = format!("{value:?}");
    said.replace(escaped.trim_matches('"'), written).replace(value.as_str(), written)
}

/// Leaves a value out, or has another stand in for it where one must be.
fn take_out(file: &mut Json, place: &Place, grammar: Grammar<'_>) {
    let Some((around, last)) = place.split() else { return };
    let stand_in = || grammar.at(place).map_or(Json::Null, Grammar::stand_in);
    let held = around.steps().try_fold(file, |at, step| match at {
        Json::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
        at => at.get_mut(step),
    });
    match held {
        Some(Json::Object(keys)) => {
            let needed = grammar.at(&around).is_some_and(|table| table.needed().any(|key| key == last));
            match needed {
                true => keys.insert(last.to_owned(), stand_in()),
                false => keys.remove(last),
            };
        }
        Some(Json::Array(items)) => {
            if let Some(item) = last.parse().ok().and_then(|n: usize| items.get_mut(n)) {
                *item = stand_in();
            }
        }
        _ => {}
    }
}

/// What a parser says, in the words of the file.
fn told(said: &str) -> String {
    if said == "invalid socket address syntax" {
        return "is no address: write an IP address and a port, as in \"127.0.0.1:8080\"".into();
    }
    // `unknown variant` is said of words, with those that there are.
    let said = said.replacen("unknown variant ", "unknown word ", 1);
    let said = said.replacen("invalid type: sequence,", "invalid type: list,", 1);
    let said = said.replacen("invalid type: map,", "invalid type: table,", 1);
    let Some((got, expected)) = said.rsplit_once(", expected ") else { return said };
    let expected = match expected {
        "path string" | "string or map" => "a string",
        "a sequence" => "a list",
        "a boolean" => "true or false",
        "u32" | "usize" => "a whole number",
        other => other,
    };
    format!("{got}, expected {expected}")
}

/// With its paths starting where they are meant to.
fn placed(settings: Settings, setting: &PolicySetting<'_>) -> Settings {
    let place = |path: PathBuf| match (path.strip_prefix("~"), &setting.home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => setting.folder.join(path),
    };
    let Settings { folder, cache, state, audit, .. } = settings.clone();
    let audit = Audit { file: audit.file.map(place) };
    Settings {
        folder: folder.map(place),
        cache: cache.map(place),
        state: state.map(place),
        audit,
        ..settings
    }
}
