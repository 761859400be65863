//! `loggia reject`.

use std::process::ExitCode;

use anyhow::ensure;
use loggia_policy::settings::Level;
use loggia_telemetry::logs;

use super::records::{VersionReference, decide_now, open_lock, report_nothing, unusable};
use crate::cli::{common::UsageError, records::RecordPlace, term};

/// Reject versions that wait for approval.
///
/// A rejected version is never served: running servers notice within a second. `loggia approve` revokes the rejection.
#[derive(clap::Args)]
pub struct RejectCommand {
    /// Versions, as `loggia pending` prints them
    #[arg(value_name = "NAME@sha256:DIGEST", required = true, value_parser = VersionReference::parse)]
    versions: Vec<VersionReference>,
    #[command(flatten)]
    place: RecordPlace,
}

impl RejectCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        ensure!(
            self.versions.iter().all(VersionReference::is_exact),
            UsageError("name versions with their digests, as `loggia pending` prints them".to_owned())
        );
        let Some(records) = open_lock(self.place)? else { return Ok(report_nothing()) };
        let (_, rejected) = records
            .update(|lock| {
                let found: anyhow::Result<Vec<_>> =
                    self.versions.iter().map(|version| version.find(lock).cloned()).collect();
                found.inspect(|found| {
                    found.iter().for_each(|pending| lock.reject(pending.version.digest(), decide_now()));
                })
            })
            .map_err(|error| unusable(&records, &error))?;
        for pending in rejected? {
            term::note(&format!("rejected: {}", pending.version.reference()));
        }
        Ok(ExitCode::SUCCESS)
    }
}
