//! Checks of a client's file: is there an entry, where the client looks for it?

use std::path::Path;

use serde_json::Value;

use super::finding::DoctorFinding;
use crate::{
    edit::read_config,
    facts::{ClientRow, FileSyntax},
    reading::EntryKind,
};

/// Keys under which servers stand in the files of clients.
const KEYS: [&str; 5] = ["mcpServers", "servers", "context_servers", "mcp_servers", "extensions"];

/// An entry of a client's file.
pub struct FoundEntry {
    /// Where it is, in words.
    pub place: String,
    /// The server; `None` if the entry cannot be read, which is a finding.
    pub kind: Option<EntryKind>,
}

/// Looks for an entry in a file, whose text was read. None, with the reason, if the client would find none. The `project` is
/// the folder whose entries the user's file may hold.
pub fn check_file(
    client: &ClientRow,
    file: &Path,
    text: anyhow::Result<Option<String>>,
    name: &str,
    project: &Path,
    findings: &mut Vec<DoctorFinding>,
) -> Option<FoundEntry> {
    let shown = file.display();
    let text = match text {
        Ok(Some(text)) => text,
        Ok(None) => {
            findings.push(DoctorFinding::problem(format!("there is no {shown}"), add(client)));
            return None;
        }
        Err(error) => {
            findings.push(DoctorFinding::problem(format!("{error:#}"), "let your user read the file"));
            return None;
        }
    };
    let whole = match read_config(client.syntax, &text) {
        Ok(whole) => whole,
        Err(fault) => {
            let text = format!("{} ignores {shown}: {fault}", client.title);
            findings.push(DoctorFinding::problem(text, "correct the file at this place"));
            return None;
        }
    };
    if client.syntax == FileSyntax::Json
        && !text.trim().is_empty()
        && let Err(error) = serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}'))
    {
        let text = format!("{} reads plain JSON, and {shown} is not: {error}", client.title);
        findings.push(DoctorFinding::problem(text, "remove comments and trailing commas"));
    }
    let entry_of = |of: &Value| of.get(client.key).and_then(|servers| servers.get(name)).cloned();
    let local = client.local.and_then(|key| whole.get(key)?.get(project.to_str()?).and_then(entry_of));
    let (entry, place) = match (local, entry_of(&whole)) {
        (Some(entry), _) => (entry, format!("{shown}, for this project")),
        (None, Some(entry)) => (entry, shown.to_string()),
        (None, None) => {
            findings.push(missing(client, &whole, name, file));
            return None;
        }
    };
    check_switches(client, &whole, &entry, name, findings);
    let kind = EntryKind::read(client, &entry).map_err(|(text, remedy)| {
        findings.push(DoctorFinding::problem(text, remedy));
    });
    Some(FoundEntry { place, kind: kind.ok() })
}

fn add(client: &ClientRow) -> String {
    format!("`loggia client add {} --plugins DIR` or `--url URL`", client.name)
}

/// Why a file has no entry where the client looks for it.
fn missing(client: &ClientRow, whole: &Value, name: &str, file: &Path) -> DoctorFinding {
    let has = |key: &&&str| whole.get(**key).and_then(|servers| servers.get(name)).is_some();
    match KEYS.iter().filter(|key| **key != client.key).find(has) {
        Some(key) => DoctorFinding::problem(
            format!("`{name}` stands under `{key}`, where {} does not look", client.title),
            format!("move it under `{}` in {}", client.key, file.display()),
        ),
        None => DoctorFinding::problem(format!("{} has no entry `{name}`", file.display()), add(client)),
    }
}

/// Finds switches that keep a client from using an entry.
fn check_switches(
    client: &ClientRow,
    whole: &Value,
    entry: &Value,
    name: &str,
    findings: &mut Vec<DoctorFinding>,
) {
    if let Some((key, off)) = client.keys.switch
        && entry.get(key).and_then(Value::as_bool) == Some(off)
    {
        let text = format!("the entry is switched off by `{key}`");
        findings.push(DoctorFinding::problem(text, format!("set `{key}` to {}", !off)));
    }
    let Some((table, allowed, excluded)) = client.lists else { return };
    let list = |key: &str| whole.get(table).and_then(|table| table.get(key)).and_then(Value::as_array);
    let names = |list: &Vec<Value>| list.iter().any(|item| item.as_str() == Some(name));
    if list(excluded).is_some_and(names) {
        let text = format!("`{table}.{excluded}` names `{name}`");
        findings.push(DoctorFinding::problem(text, "remove it from the list"));
    }
    if list(allowed).is_some_and(|list| !names(list)) {
        let text = format!("`{table}.{allowed}` does not name `{name}`");
        findings.push(DoctorFinding::problem(text, "add it to the list"));
    }
}
