//! `loggia pending`.

use std::process::ExitCode;

use loggia_load::pins::{LockDocument, PendingVersion};
use loggia_policy::settings::Level;
use loggia_telemetry::logs;
use loggia_text::printable;
use serde_json::json;

use super::records::{open_lock, read_lock};
use crate::cli::{columns, records::RecordPlace, term};

/// List versions of plugins that wait for approval.
///
/// A server holds back what changed, as its `pin` mode says: `surface` (texts, schemas, effects and what a plugin asks for; the
/// default), `artifact` (everything; the default if other machines can reach the server), or `open` (nothing). Approved versions keep
/// serving meanwhile, and agents notice nothing. Approved versions are recorded in loggia.lock in the state folder.
#[derive(clap::Args)]
pub struct PendingCommand {
    /// Print JSON, one version per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: RecordPlace,
}

const HEAD: [&str; 5] = ["version", "state", "changed", "since", "file"];

impl PendingCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        let lock = open_lock(self.place)?;
        let lock = lock.map(|lock| read_lock(&lock)).transpose()?.unwrap_or_default();
        if self.json {
            lock.pending().for_each(|pending| term::print(&to_json(&lock, pending).to_string()));
        } else if lock.pending().next().is_none() {
            term::note("no version waits for approval");
        } else {
            let rows: Vec<_> = lock.pending().map(|pending| to_row(&lock, pending)).collect();
            term::print(&match term::stdout_is_terminal() {
                true => columns::build_table(&HEAD, &rows, HEAD.len()).to_string(),
                false => columns::tab_separated(&HEAD, &rows),
            });
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn state(lock: &LockDocument, pending: &PendingVersion) -> String {
    match lock.rejection(&pending.version.digest()) {
        Some(rejected) => format!("rejected by {}", rejected.by),
        None if pending.flags.is_empty() => "waits".to_owned(),
        None => "waits, flagged".to_owned(),
    }
}

fn changes(pending: &PendingVersion) -> String {
    pending.changes.iter().map(|change| change.as_str()).collect::<Vec<_>>().join(", ")
}

fn to_row(lock: &LockDocument, pending: &PendingVersion) -> [String; 5] {
    let cells = [
        pending.version.reference(),
        state(lock, pending),
        changes(pending),
        pending.since.clone(),
        pending.version.file.clone(),
    ];
    cells.map(|text| printable(&text).into_owned())
}

/// `{"version": "NAME@sha256:…", "name", "file", "changes": […], "flags": […], "since", "rejected_by"}`.
fn to_json(lock: &LockDocument, pending: &PendingVersion) -> serde_json::Value {
    let version = &pending.version;
    json!({
        "version": version.reference(),
        "name": version.name,
        "file": version.file,
        "changes": pending.changes,
        "flags": pending.flags,
        "since": pending.since,
        "rejected_by": lock.rejection(&version.digest()).map(|rejected| &rejected.by),
    })
}
