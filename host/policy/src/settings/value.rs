//! Parsing and description of each type of value.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::PathBuf,
};

use clap::{ValueEnum, builder::PossibleValue};
use loggia_schema::nearest;
use serde_json::{Value as Json, json};

use super::kind::ValueKind;
use crate::document::{
    PolicySetting,
    field::{Field, Fields},
    problem::Problems,
    tree::{Text, Value as Node},
};

const NOT_AN_ADDRESS: &str = "must be an IP address and a port, such as \"127.0.0.1:8080\"";

/// Type of a key's value.
pub(super) trait SettingValue: Sized {
    fn kind() -> ValueKind;

    /// Reads a value. Returns `None` after adding a problem.
    fn read(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<Self>;

    /// Converts the value to JSON, to show it as a default. `None`: it cannot be shown.
    fn to_json(&self) -> Option<Json> {
        None
    }
}

/// One of several words.
pub(super) trait SettingWord: ValueEnum {
    /// Name and description of the definition in the JSON Schema.
    const DEFINITION: (&'static str, &'static str);
}

/// Implements [`SettingWord`] for enums.
macro_rules! words {
    ($($word:ident, $means:literal;)*) => {$(
        impl $crate::settings::value::SettingWord for $word {
            const DEFINITION: (&'static str, &'static str) = (stringify!($word), $means);
        }
    )*};
}
pub(crate) use words;

/// Settings file that is being read.
pub(super) struct SettingsReader<'a> {
    pub setting: &'a PolicySetting<'a>,
    pub problems: Problems,
    /// Name of the token that is being read, for messages; empty outside tokens.
    pub token: String,
}

/// Table that is being read.
pub(super) struct TableReader<'a> {
    fields: Fields<'a>,
    /// Missing keys that are probably misspelt, so that they are not reported too.
    misspelt: Vec<String>,
}

/// Converts the name of a field to that of its key.
pub(super) fn key_name(field: &str) -> String {
    field.replace('_', "-")
}

impl SettingsReader<'_> {
    /// Adds a problem of a value.
    pub(super) fn report<T>(&mut self, field: &Field<'_>, reason: impl AsRef<str>) -> Option<T> {
        let token = Some(&self.token).filter(|name| !name.is_empty());
        let token = token.map(|name| format!("({name}) ")).unwrap_or_default();
        field.report(format!("{token}{}", reason.as_ref()), &mut self.problems);
        None
    }

    /// Adds a problem of a key, present or missing, unless it is a consequence of another problem.
    pub(super) fn report_key(&mut self, table: &Field<'_>, key: &str, reason: &str) {
        let Some(fields) = table.table() else { return };
        let path = fields.dotted(key);
        let found = fields.get(key);
        if !self.problems.affect(&path) && (found.is_some() || !self.problems.has_syntax_error()) {
            let line = found.map_or(table.line, |field| field.line);
            self.problems.add_at(line, &path, format!("`{path}` {reason}"));
        }
    }

    /// Opens a table, and adds a problem for each unknown key.
    pub(super) fn table<'a>(&mut self, field: &Field<'a>, keys: &[&str]) -> Option<TableReader<'a>> {
        let Some(fields) = field.table() else {
            // An invalid value was reported already.
            return if *field.value() == Node::Invalid {
                None
            } else {
                self.report(field, "must be a table")
            };
        };
        let known: Vec<String> = keys.iter().map(|key| key_name(key)).collect();
        let known = || known.iter().map(String::as_str);
        let mut table = TableReader { fields, misspelt: Vec::new() };
        let fields = &table.fields;
        for (key, line) in fields.keys().filter(|(key, _)| !known().any(|known| known == *key)) {
            let nearest = nearest(key, known());
            let hint = match nearest {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("known keys: {}", known().collect::<Vec<_>>().join(", ")),
            };
            let missing = nearest.filter(|name| fields.get(name).is_none());
            let path = fields.dotted(missing.unwrap_or(key));
            self.problems.add_at(line, &path, format!("unknown key `{}`; {hint}", fields.dotted(key)));
            table.misspelt.extend(missing.map(str::to_owned));
        }
        Some(table)
    }
}

impl<'a> TableReader<'a> {
    /// Reads the value of a key.
    pub(super) fn key<T, R: Into<T>>(
        &mut self,
        key: &str,
        default: Option<T>,
        read: impl FnOnce(&Field<'a>, &mut SettingsReader<'_>) -> Option<R>,
        reader: &mut SettingsReader<'_>,
    ) -> Option<T> {
        let key = key_name(key);
        let Some(field) = self.fields.get(&key) else {
            if default.is_none() && !reader.problems.has_syntax_error() && !self.misspelt.contains(&key) {
                let reason = format!("`{}` needs the key `{key}`", self.fields.path);
                reader.problems.add_at(self.fields.line, &self.fields.dotted(&key), reason);
            }
            return default;
        };
        read(&field, reader).map(Into::into).or(default)
    }
}

/// Creates a reader of strings from a parser.
pub(super) fn text<T, E: AsRef<str>>(
    parse: impl Fn(&Text) -> Result<T, E>,
) -> impl Fn(&Field<'_>, &mut SettingsReader<'_>) -> Option<T> {
    move |field, reader| match parse(field.text(&mut reader.problems)?) {
        Ok(value) => Some(value),
        Err(reason) => reader.report(field, reason),
    }
}

/// Creates a reader of lists from a reader of their items.
pub(super) fn list<T>(
    read: impl Fn(&Field<'_>, &mut SettingsReader<'_>) -> Option<T>,
) -> impl Fn(&Field<'_>, &mut SettingsReader<'_>) -> Option<Vec<T>> {
    move |field, reader| {
        let items = field.items(&mut reader.problems);
        Some(items.iter().filter_map(|item| read(item, reader)).collect())
    }
}

/// Implements [`SettingValue`] for types: kind, reader and, if it can be shown as a default, conversion to JSON.
macro_rules! values {
    ($($type:ty, $kind:expr, $read:expr $(, $to_json:expr)?;)*) => {$(
        impl $crate::settings::value::SettingValue for $type {
            fn kind() -> $crate::settings::kind::ValueKind {
                $kind
            }

            fn read(
                field: &$crate::document::field::Field<'_>,
                reader: &mut $crate::settings::value::SettingsReader<'_>,
            ) -> Option<Self> {
                $read(field, reader)
            }

            $(fn to_json(&self) -> Option<serde_json::Value> {
                Some($to_json(self))
            })?
        }
    )*};
}
pub(crate) use values;

values! {
    bool, ValueKind::Flag, |field: &Field<'_>, reader: &mut SettingsReader<'_>| field.flag(&mut reader.problems), |flag| json!(flag);
    String, ValueKind::Text, text(|text| Ok::<_, &str>(text.value.clone())), |text| json!(text);
    PathBuf, ValueKind::Text, |field, reader: &mut SettingsReader<'_>| reader.setting.path(field, &mut reader.problems);
    SocketAddr, ValueKind::Address, text(|text| text.value.parse().map_err(|_| NOT_AN_ADDRESS)), |address| json!(address);
}

impl<W: SettingWord> SettingValue for W {
    fn kind() -> ValueKind {
        let words = W::value_variants().iter().filter_map(W::to_possible_value).collect();
        ValueKind::Words(W::DEFINITION.0, W::DEFINITION.1, words)
    }

    fn read(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<Self> {
        let values: Vec<_> = W::value_variants().iter().filter_map(W::to_possible_value).collect();
        let words: Vec<_> = values.iter().map(PossibleValue::get_name).zip(W::value_variants()).collect();
        field.word(&words, &mut reader.problems).cloned()
    }

    fn to_json(&self) -> Option<Json> {
        self.to_possible_value().map(|word| json!(word.get_name()))
    }
}

impl<T: SettingValue> SettingValue for Option<T> {
    fn kind() -> ValueKind {
        ValueKind::Optional(Box::new(T::kind()))
    }

    fn read(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<Self> {
        T::read(field, reader).map(Some)
    }

    fn to_json(&self) -> Option<Json> {
        let is_defined = matches!(T::kind(), ValueKind::Words(..) | ValueKind::Table(_));
        self.as_ref().map_or((!is_defined).then_some(Json::Null), T::to_json)
    }
}

impl<T: SettingValue> SettingValue for Vec<T> {
    fn kind() -> ValueKind {
        ValueKind::List(Box::new(T::kind()))
    }

    fn read(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<Self> {
        list(T::read)(field, reader)
    }

    fn to_json(&self) -> Option<Json> {
        let items = self.iter().map(T::to_json).collect::<Option<Vec<_>>>();
        items.filter(|_| !matches!(T::kind(), ValueKind::Table(_))).map(Json::Array)
    }
}

impl<T: SettingValue> SettingValue for BTreeMap<String, T> {
    fn kind() -> ValueKind {
        ValueKind::Map(Box::new(T::kind()))
    }

    fn read(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<Self> {
        let entries = field.entries(&mut reader.problems);
        let read = entries.iter().filter_map(|(key, item)| Some(((*key).to_owned(), T::read(item, reader)?)));
        Some(read.collect())
    }
}

impl<T: SettingValue + Ord> SettingValue for BTreeSet<T> {
    fn kind() -> ValueKind {
        ValueKind::Set(Box::new(T::kind()))
    }

    fn read(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<Self> {
        Vec::read(field, reader).map(Self::from_iter)
    }

    fn to_json(&self) -> Option<Json> {
        self.iter().map(T::to_json).collect::<Option<Vec<_>>>().map(Json::Array)
    }
}
