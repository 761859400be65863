//! Values of the file: how each type is read from it, and described to its readers.

use std::{collections::BTreeSet, net::SocketAddr, path::PathBuf};

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

const NO_ADDRESS: &str = "is no address: write an IP address and a port, as in \"127.0.0.1:8080\"";

/// Type of a key's value.
pub(super) trait SettingValue: Sized {
    fn kind() -> ValueKind;

    /// Reads a value. Adds a problem if there is none.
    fn read(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<Self>;

    /// Returns the value as a default is shown, if it can be.
    fn shown(&self) -> Option<Json> {
        None
    }
}

/// One of several words.
pub(super) trait SettingWord: ValueEnum {
    /// Name of its definition in the JSON Schema, and the text of that.
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
    /// Missing keys of which an unknown one is a misspelling.
    meant: Vec<String>,
}

/// Returns the name of a key as the file has it.
pub(super) fn key_name(field: &str) -> String {
    field.replace('_', "-")
}

impl SettingsReader<'_> {
    /// Adds a mistake of a value.
    pub(super) fn report<T>(&mut self, field: &Field<'_>, reason: impl AsRef<str>) -> Option<T> {
        let token = Some(&self.token).filter(|name| !name.is_empty());
        let token = token.map(|name| format!("({name}) ")).unwrap_or_default();
        field.report(format!("{token}{}", reason.as_ref()), &mut self.problems);
        None
    }

    /// Adds a mistake of a key, present or missing, unless it follows from another one.
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
            // A broken value was reported already.
            return if *field.value() == Node::Invalid {
                None
            } else {
                self.report(field, "must be a table")
            };
        };
        let known: Vec<String> = keys.iter().map(|key| key_name(key)).collect();
        let known = || known.iter().map(String::as_str);
        let mut table = TableReader { fields, meant: Vec::new() };
        let fields = &table.fields;
        for (key, line) in fields.keys().filter(|(key, _)| !known().any(|known| known == *key)) {
            let meant = nearest(key, known());
            let hint = match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("there are {}", known().collect::<Vec<_>>().join(", ")),
            };
            let meant = meant.filter(|meant| fields.get(meant).is_none());
            let at = fields.dotted(meant.unwrap_or(key));
            self.problems.add_at(line, &at, format!("unknown key `{}`; {hint}", fields.dotted(key)));
            table.meant.extend(meant.map(str::to_owned));
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
            if default.is_none() && !reader.problems.has_syntax_error() && !self.meant.contains(&key) {
                let reason = format!("`{}` needs the key `{key}`", self.fields.path);
                reader.problems.add_at(self.fields.line, &self.fields.dotted(&key), reason);
            }
            return default;
        };
        read(&field, reader).map(Into::into).or(default)
    }
}

/// Reads a string that a function parses.
pub(super) fn text<T, E: AsRef<str>>(
    parse: impl Fn(&Text) -> Result<T, E>,
) -> impl Fn(&Field<'_>, &mut SettingsReader<'_>) -> Option<T> {
    move |field, reader| match parse(field.text(&mut reader.problems)?) {
        Ok(value) => Some(value),
        Err(reason) => reader.report(field, reason),
    }
}

/// Reads the items of a list.
pub(super) fn list<T>(
    read: impl Fn(&Field<'_>, &mut SettingsReader<'_>) -> Option<T>,
) -> impl Fn(&Field<'_>, &mut SettingsReader<'_>) -> Option<Vec<T>> {
    move |field, reader| {
        let items = field.items(&mut reader.problems);
        Some(items.iter().filter_map(|item| read(item, reader)).collect())
    }
}

/// Implements [`SettingValue`] for types: kind, how it is read and, if it can be a default, how it is shown.
macro_rules! values {
    ($($type:ty, $kind:expr, $read:expr $(, $shown:expr)?;)*) => {$(
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

            $(fn shown(&self) -> Option<serde_json::Value> {
                Some($shown(self))
            })?
        }
    )*};
}
pub(crate) use values;

values! {
    bool, ValueKind::Flag, |field: &Field<'_>, reader: &mut SettingsReader<'_>| field.flag(&mut reader.problems), |flag| json!(flag);
    String, ValueKind::Text, text(|text| Ok::<_, &str>(text.value.clone())), |text| json!(text);
    PathBuf, ValueKind::Text, |field, reader: &mut SettingsReader<'_>| reader.setting.path(field, &mut reader.problems);
    SocketAddr, ValueKind::Address, text(|text| text.value.parse().map_err(|_| NO_ADDRESS)), |address| json!(address);
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

    fn shown(&self) -> Option<Json> {
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

    fn shown(&self) -> Option<Json> {
        let is_defined = matches!(T::kind(), ValueKind::Words(..) | ValueKind::Table(_));
        self.as_ref().map_or((!is_defined).then_some(Json::Null), T::shown)
    }
}

impl<T: SettingValue> SettingValue for Vec<T> {
    fn kind() -> ValueKind {
        ValueKind::List(Box::new(T::kind()))
    }

    fn read(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<Self> {
        list(T::read)(field, reader)
    }

    fn shown(&self) -> Option<Json> {
        let items = self.iter().map(T::shown).collect::<Option<Vec<_>>>();
        items.filter(|_| !matches!(T::kind(), ValueKind::Table(_))).map(Json::Array)
    }
}

impl<T: SettingValue + Ord> SettingValue for BTreeSet<T> {
    fn kind() -> ValueKind {
        ValueKind::Set(Box::new(T::kind()))
    }

    fn read(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<Self> {
        Vec::read(field, reader).map(Self::from_iter)
    }

    fn shown(&self) -> Option<Json> {
        self.iter().map(T::shown).collect::<Option<Vec<_>>>().map(Json::Array)
    }
}
