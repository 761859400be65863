//! `[state]`.

use std::path::PathBuf;

use super::{
    kind::ValueKind,
    table::table,
    upstream::HiddenText,
    value::{SettingValue, SettingsReader, text},
};
use crate::document::{field::Field, tree::Text};

/// Longest name that PostgreSQL does not cut.
const MAX_SCHEMA: usize = 63;

table! {
    /// Where runs and plugins' state are kept. `state = "DIR"` is short for `[state] folder = "DIR"`.
    pub struct StateStorage {
        /// Folder for plugins' state, credentials and names. Default: the platform's state folder.
        folder: Option<PathBuf> = None;
        /// A PostgreSQL database that many servers share, such as `postgres://loggia@db.example.com/loggia`. Runs and plugins' state
        /// are kept there instead of in the folder, and a run goes on at another server if its own ends. TLS with a certificate
        /// that this machine trusts is required unless the database is on this machine; `?sslmode=disable` connects without TLS,
        /// `?sslmode=require` without a check of the certificate.
        url: Option<HiddenText> = None, text(url);
        /// Password for the database, such as `${LOGGIA_DB_PASSWORD}`, instead of one in the URL.
        password: Option<HiddenText> = None;
        /// File with the password, read for each connection.
        password_file: Option<PathBuf> = None;
        /// Schema of the tables. It is created if it is missing. Servers with different schemas share nothing.
        schema: String = "loggia".to_owned(), text(schema);
    }
}

/// Reads `[state]`, or the folder alone.
pub(super) fn state(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<StateStorage> {
    if !field.is_table() {
        let folder = reader.setting.path(field, &mut reader.problems)?;
        return Some(StateStorage { folder: Some(folder), ..StateStorage::default() });
    }
    let storage = StateStorage::read(field, reader)?;
    let table = field.table()?;
    let has = |key: &str| table.get(key).is_some();
    if !has("url") {
        for key in ["password", "password-file", "schema"].into_iter().filter(|key| has(key)) {
            reader.report_key(field, key, "needs a `url`");
        }
    }
    if has("password") && has("password-file") {
        reader.report_key(field, "password-file", "excludes `password`: set only one of them");
    }
    Some(storage)
}

/// Describes both forms.
pub(super) fn kind() -> ValueKind {
    ValueKind::TextOr(Box::new(StateStorage::kind()))
}

/// Checks the beginning of a URL. Messages do not show it, since it may hold a password.
fn url(text: &Text) -> Result<HiddenText, &'static str> {
    match ["postgres://", "postgresql://"].iter().any(|scheme| text.value.starts_with(scheme)) {
        true => Ok(HiddenText(text.value.clone())),
        false => Err("must be a URL such as \"postgres://loggia@db.example.com/loggia\""),
    }
}

fn schema(text: &Text) -> Result<String, String> {
    let name = &text.value;
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let is_name = name.len() <= MAX_SCHEMA
        && name.bytes().next().is_some_and(is_letter)
        && name.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit())
        && !name.starts_with("pg_");
    if is_name {
        return Ok(name.clone());
    }
    let rule = "must be a name of at most 63 lowercase letters, digits and `_` that begins with a letter, and not with pg_";
    Err(format!("{rule} (got {})", text.quoted()))
}
