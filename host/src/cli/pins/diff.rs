//! `loggia diff`.

use std::process::ExitCode;

use loggia_load::pins::{LockDocument, PendingVersion, VersionLock};
use loggia_policy::settings::Level;
use loggia_telemetry::logs;

use super::records::{VersionReference, open_lock, read_lock, report_nothing};
use crate::{cli::records::RecordPlace, cli::term};

/// Show how a version that waits differs from the approved one.
///
/// Each line begins with `+` (only the new version has it), `-` (only the approved one has it), `~` (it changed) or `!` (a text that
/// looks like an instruction to a model, or is hidden from people). Without an approved version, it shows what the plugin offers and
/// asks for. No `!` does not mean that texts are harmless.
#[derive(clap::Args)]
pub struct DiffCommand {
    /// The version, as `loggia pending` prints it, or the name of the facade
    #[arg(value_name = "NAME[@sha256:DIGEST]", value_parser = VersionReference::parse)]
    version: VersionReference,
    #[command(flatten)]
    place: RecordPlace,
}

impl DiffCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        let Some(records) = open_lock(self.place)? else { return Ok(report_nothing()) };
        let lock = read_lock(&records)?;
        let pending = self.version.find(&lock)?;
        show(&records, &lock, pending);
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints the differences of a version.
pub fn show(records: &VersionLock, lock: &LockDocument, pending: &PendingVersion) {
    term::print(&pending.version.reference());
    records.diff(lock, pending).iter().for_each(|line| term::print(&line.to_string()));
}
