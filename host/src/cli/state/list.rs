//! `loggia state list`.

use std::{path::Path, process::ExitCode};

use chrono::{DateTime, SecondsFormat};
use loggia_state::{ListedEntry, StateError, StoreUsage};
use loggia_text::printable;
use serde_json::{Value, json};

use super::stores::{folder, nothing, store, whose};
use crate::cli::{columns, exit, term};

/// List the stores there are, or the keys of one.
///
/// Of a store: entries, and the bytes that count for its quota. Of a key: whose it is (shared, or a caller's opaque
/// key), the bytes of its value, its version, and when it expires. What has expired is not listed.
#[derive(clap::Args)]
pub struct List {
    /// Whose keys
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const STORES: [&str; 3] = ["name", "entries", "bytes"];
const KEYS: [&str; 5] = ["key", "space", "bytes", "version", "expires"];
/// So much of a caller's key tells callers apart on a screen.
const SHORT: usize = 8;

impl List {
    pub fn run(self, path: &Path) -> anyhow::Result<ExitCode> {
        match self.name {
            Some(name) => keys(path, &name, self.json),
            None => stores(path, self.json),
        }
    }
}

fn stores(path: &Path, json: bool) -> anyhow::Result<ExitCode> {
    let mut stores = Vec::new();
    if let Some(folder) = folder(path)? {
        for name in folder.names()? {
            // One that is damaged hides no other.
            let usage = folder.store(&name, u64::MAX)?.usage();
            stores.push((name, usage));
        }
    }
    let (count, failed) = (stores.len(), stores.iter().filter(|(_, usage)| usage.is_err()).count());
    if json {
        print_json(stores.iter().map(|(name, usage)| store_json(name, usage)))?;
    } else if stores.is_empty() {
        term::note(&format!("no plugin has stored anything in {}", path.display()));
    } else {
        let rows: Vec<_> = stores.into_iter().map(|(name, usage)| stored(name, usage)).collect();
        print(&STORES, &rows, 1);
    }
    if failed > 0 {
        term::note(&format!("{failed} of {count} cannot be read"));
        return Ok(ExitCode::from(exit::FAILED));
    }
    Ok(ExitCode::SUCCESS)
}

fn keys(path: &Path, name: &str, json: bool) -> anyhow::Result<ExitCode> {
    let Some(store) = store(path, name)? else { return Ok(nothing(path, name)) };
    if json {
        print_json(store.list()?.iter().map(key_json))?;
        return Ok(ExitCode::SUCCESS);
    }
    let terminal = term::stdout_is_terminal();
    let rows: Vec<_> = store.list()?.iter().map(|listed| key(listed, terminal)).collect();
    print(&KEYS, &rows, 2);
    Ok(ExitCode::SUCCESS)
}

fn print<const N: usize>(head: &[&str; N], rows: &[[String; N]], numbers_from: usize) {
    if term::stdout_is_terminal() {
        term::out(&columns::table(head, rows, numbers_from).to_string());
    } else {
        term::out(&columns::lines(head, rows));
    }
}

fn print_json(items: impl Iterator<Item = Value>) -> anyhow::Result<()> {
    term::out(&serde_json::to_string_pretty(&items.collect::<Vec<_>>())?);
    Ok(())
}

fn store_json(name: &str, usage: &Result<StoreUsage, StateError>) -> Value {
    match usage {
        Ok(usage) => json!({"name": name, "entries": usage.entries, "bytes": usage.bytes}),
        Err(error) => json!({"name": name, "error": error.to_string()}),
    }
}

fn key_json(listed: &ListedEntry) -> Value {
    json!({
        "key": listed.key,
        "space": whose(&listed.space),
        "bytes": listed.bytes,
        "version": listed.version,
        "expires": listed.until.map(moment),
    })
}

fn stored(name: String, usage: Result<StoreUsage, StateError>) -> [String; 3] {
    match usage {
        Ok(usage) => [name, usage.entries.to_string(), usage.bytes.to_string()],
        Err(error) => [name, printable(&error.to_string()).into_owned(), String::new()],
    }
}

/// A plugin chose the key.
fn key(listed: &ListedEntry, terminal: bool) -> [String; 5] {
    let mut space = whose(&listed.space);
    if terminal {
        space.truncate(SHORT);
    }
    let expires = listed.until.map(moment).unwrap_or_default();
    let key = printable(&listed.key).into_owned();
    [key, space, listed.bytes.to_string(), listed.version.to_string(), expires]
}

fn moment(until: u64) -> String {
    let time = i64::try_from(until).ok().and_then(DateTime::from_timestamp_millis);
    time.map_or_else(|| until.to_string(), |time| time.to_rfc3339_opts(SecondsFormat::Millis, true))
}

#[cfg(test)]
mod tests {
    use loggia_state::StateSpace;

    use super::*;

    #[test]
    fn a_key_steers_no_terminal_and_a_caller_is_short_there() {
        let listed = ListedEntry {
            space: StateSpace::Caller([0xab; 32]),
            key: "a\u{1b}[2J\tb".to_owned(),
            bytes: 7,
            version: 9,
            until: Some(1_800_000_000_001),
        };
        let expires = "2027-01-15T08:00:00.001Z";
        assert_eq!(key(&listed, true), ["a\\u{1b}[2J\\tb", "abababab", "7", "9", expires]);
        assert_eq!(key(&listed, false)[1], "ab".repeat(32));
        let shared = ListedEntry { space: StateSpace::Shared, until: None, ..listed };
        assert_eq!(key(&shared, true)[1..], ["shared", "7", "9", ""]);
    }

    #[test]
    fn a_moment_beyond_all_calendars_is_a_number() {
        assert_eq!(moment(u64::MAX), u64::MAX.to_string());
        assert_eq!(moment(i64::MAX as u64), i64::MAX.to_string());
    }

    #[test]
    fn a_store_that_cannot_be_read_says_why_on_one_line() {
        let damaged = StateError::Storage("x\ny".to_owned());
        assert_eq!(stored("n".into(), Err(damaged)), ["n", "the state cannot be used: x\\ny", ""]);
        let usage = StoreUsage { entries: 2, bytes: 300, revision: 1 };
        assert_eq!(stored("n".into(), Ok(usage)), ["n", "2", "300"]);
    }
}
