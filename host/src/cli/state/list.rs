//! `loggia state list`.

use std::process::ExitCode;

use chrono::{DateTime, SecondsFormat};
use loggia_state::{ListedEntry, StateError, StoreUsage};
use loggia_text::printable;
use serde_json::{Value, json};

use super::stores::{StorePlace, space_name};
use crate::cli::{columns, exit, term};

/// List all stores, or the keys of one.
///
/// Shows for each store its entries and the bytes that count towards its quota. Shows for each key its space (shared,
/// or a caller's opaque key), the bytes of its value, its version and its expiry. Expired keys are not listed.
#[derive(clap::Args)]
pub struct ListCommand {
    /// Facade whose keys to list
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const STORE_HEAD: [&str; 3] = ["name", "entries", "bytes"];
const KEY_HEAD: [&str; 5] = ["key", "space", "bytes", "version", "expires"];
/// Length of a caller's key on a terminal: enough to distinguish callers.
const SHORT_SPACE: usize = 8;

impl ListCommand {
    pub fn run(self, place: &StorePlace) -> anyhow::Result<ExitCode> {
        match self.name {
            Some(name) => list_keys(place, &name, self.json),
            None => list_stores(place, self.json),
        }
    }
}

fn list_stores(place: &StorePlace, json: bool) -> anyhow::Result<ExitCode> {
    let mut stores = Vec::new();
    if let Some(folder) = place.open()? {
        for name in folder.names()? {
            // A damaged store must not hide the others.
            let usage = folder.store(&name, u64::MAX)?.usage();
            stores.push((name, usage));
        }
    }
    let (count, failed) = (stores.len(), stores.iter().filter(|(_, usage)| usage.is_err()).count());
    if json {
        print_json(stores.iter().map(|(name, usage)| store_json(name, usage)))?;
    } else if stores.is_empty() {
        term::note(&format!("no plugin has stored anything in {}", place.name()));
    } else {
        let rows: Vec<_> = stores.into_iter().map(|(name, usage)| store_row(name, usage)).collect();
        print_rows(&STORE_HEAD, &rows, 1);
    }
    if failed > 0 {
        term::note(&format!("{failed} of {count} stores cannot be read"));
        return Ok(ExitCode::from(exit::FAILED));
    }
    Ok(ExitCode::SUCCESS)
}

fn list_keys(place: &StorePlace, name: &str, json: bool) -> anyhow::Result<ExitCode> {
    let Some(store) = place.find(name)? else { return Ok(place.report_missing(name)) };
    if json {
        print_json(store.list()?.iter().map(key_json))?;
        return Ok(ExitCode::SUCCESS);
    }
    let terminal = term::stdout_is_terminal();
    let rows: Vec<_> = store.list()?.iter().map(|listed| key_row(listed, terminal)).collect();
    print_rows(&KEY_HEAD, &rows, 2);
    Ok(ExitCode::SUCCESS)
}

fn print_rows<const N: usize>(head: &[&str; N], rows: &[[String; N]], numbers_from: usize) {
    if term::stdout_is_terminal() {
        term::print(&columns::build_table(head, rows, numbers_from).to_string());
    } else {
        term::print(&columns::tab_separated(head, rows));
    }
}

fn print_json(items: impl Iterator<Item = Value>) -> anyhow::Result<()> {
    term::print(&serde_json::to_string_pretty(&items.collect::<Vec<_>>())?);
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
        "space": space_name(&listed.space),
        "bytes": listed.bytes,
        "version": listed.version,
        "expires": listed.until.map(format_time),
    })
}

fn store_row(name: String, usage: Result<StoreUsage, StateError>) -> [String; 3] {
    match usage {
        Ok(usage) => [name, usage.entries.to_string(), usage.bytes.to_string()],
        Err(error) => [name, printable(&error.to_string()).into_owned(), String::new()],
    }
}

/// Renders a key's row. The key is chosen by the plugin, so it is escaped.
fn key_row(listed: &ListedEntry, terminal: bool) -> [String; 5] {
    let mut space = space_name(&listed.space);
    if terminal {
        space.truncate(SHORT_SPACE);
    }
    let expires = listed.until.map(format_time).unwrap_or_default();
    let key = printable(&listed.key).into_owned();
    [key, space, listed.bytes.to_string(), listed.version.to_string(), expires]
}

fn format_time(until: u64) -> String {
    let time = i64::try_from(until).ok().and_then(DateTime::from_timestamp_millis);
    time.map_or_else(|| until.to_string(), |time| time.to_rfc3339_opts(SecondsFormat::Millis, true))
}

#[cfg(test)]
mod tests {
    use loggia_state::StateSpace;

    use super::*;

    #[test]
    fn keys_are_escaped_and_callers_shortened_on_terminals() {
        let listed = ListedEntry {
            space: StateSpace::Caller([0xab; 32]),
            key: "a\u{1b}[2J\tb".to_owned(),
            bytes: 7,
            version: 9,
            until: Some(1_800_000_000_001),
        };
        let expires = "2027-01-15T08:00:00.001Z";
        assert_eq!(key_row(&listed, true), ["a\\u{1b}[2J\\tb", "abababab", "7", "9", expires]);
        assert_eq!(key_row(&listed, false)[1], "ab".repeat(32));
        let shared = ListedEntry { space: StateSpace::Shared, until: None, ..listed };
        assert_eq!(key_row(&shared, true)[1..], ["shared", "7", "9", ""]);
    }

    #[test]
    fn times_out_of_range_are_numbers() {
        assert_eq!(format_time(u64::MAX), u64::MAX.to_string());
        assert_eq!(format_time(i64::MAX as u64), i64::MAX.to_string());
    }

    #[test]
    fn unreadable_stores_show_their_error_on_one_line() {
        let damaged = StateError::Storage("x\ny".to_owned());
        assert_eq!(store_row("n".into(), Err(damaged)), ["n", "the state cannot be used: x\\ny", ""]);
        let usage = StoreUsage { entries: 2, bytes: 300, revision: 1 };
        assert_eq!(store_row("n".into(), Ok(usage)), ["n", "2", "300"]);
    }
}
