//! `loggia approve`.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail, ensure};
use loggia_load::pins::{LockDocument, PinReport, PinnedVersion, VersionLock};
use loggia_policy::settings::{Level, PinMode};
use loggia_serve::{HostOptions, PluginHost};
use loggia_telemetry::logs;
use tokio_util::sync::CancellationToken;

use super::{
    diff,
    records::{VersionReference, decide_now, open_lock_in, read_lock, report_nothing, unusable},
};
use crate::cli::{
    common::{LoadOptions, UsageError, io_runtime},
    term,
};

/// Approve versions of plugins that wait.
///
/// Exactly the version with this digest is served from now on, also after its file is changed again: running servers notice within a
/// second. `loggia diff` shows what changed. Without a digest, shows it and asks.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["versions", "all"])))]
pub struct ApproveCommand {
    /// Versions, as `loggia pending` prints them, or the name of one facade
    #[arg(value_name = "NAME[@sha256:DIGEST]", value_parser = VersionReference::parse)]
    versions: Vec<VersionReference>,
    /// Approve all versions that wait and were not rejected; with a plugin folder, all that are in it now, without a server: for images, and before the
    /// first start
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    all: Option<Option<PathBuf>>,
    /// Begin a new lock with what is in the plugin folder: for one that was removed or changed by something else. Everything else that
    /// was approved or rejected before is forgotten
    #[arg(long, requires = "all")]
    new_lock: bool,
    #[command(flatten)]
    common: LoadOptions,
}

impl ApproveCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        let options = self.common.host_options()?;
        let is_there = options.database.is_some() || options.state.exists();
        if !is_there && !matches!(self.all, Some(Some(_))) {
            return Ok(report_nothing());
        }
        ensure!(
            !self.new_lock || matches!(self.all, Some(Some(_))),
            UsageError(
                "name the plugin folder whose versions begin the new lock: `--new-lock --all DIR`".to_owned()
            )
        );
        let records = open_lock_in(&options.state, options.database.as_ref())?;
        let approved = match &self.all {
            Some(Some(folder)) => self.approve_folder(&records, folder, options)?,
            Some(None) => approve_where(&records, |lock, version| !is_rejected(lock, version))?,
            None => match self.choose(&records)? {
                Some(chosen) => approve_where(&records, |_, version| chosen.contains(&version.digest()))?,
                None => {
                    term::note("nothing was approved");
                    return Ok(ExitCode::SUCCESS);
                }
            },
        };
        if approved.is_empty() {
            return Ok(report_nothing());
        }
        for version in approved {
            term::note(&format!("approved: {}", version.reference()));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Approves what is in a folder now. Decides about the versions that this process found, which a running server may have served or
    /// replaced in the lock meanwhile.
    fn approve_folder(
        &self,
        records: &VersionLock,
        folder: &Path,
        options: HostOptions,
    ) -> anyhow::Result<Vec<PinnedVersion>> {
        let folder =
            std::path::absolute(folder).with_context(|| format!("failed to resolve {}", folder.display()))?;
        ensure!(folder.is_dir(), UsageError(format!("there is no folder {}", folder.display())));
        let PinReport { served, held, .. } = find_versions(&folder, options)?;
        let held: Vec<_> = held.into_iter().map(|pending| pending.version).collect();
        if self.new_lock {
            let found = [served, held].concat();
            let approve = |lock: &mut LockDocument| approve_versions(lock, &found);
            records.replace(approve).map_err(|error| unusable(records, &error))?;
            return Ok(found);
        }
        let updated = records.update(|lock| {
            let waiting: Vec<_> =
                held.iter().filter(|version| !is_rejected(lock, version)).cloned().collect();
            approve_versions(lock, &waiting);
            waiting
        });
        Ok(updated.map_err(|error| unusable(records, &error))?.1)
    }

    /// Finds the digests of the named versions. Asks about one that is named without digest; `None` if the answer is no.
    fn choose(&self, records: &VersionLock) -> anyhow::Result<Option<Vec<String>>> {
        let lock = read_lock(records)?;
        let mut chosen = Vec::new();
        for version in &self.versions {
            let pending = version.find(&lock)?;
            if !version.is_exact() {
                diff::show(records, &lock, pending);
                let exact = format!("loggia approve {}", pending.version.reference());
                match term::confirm("Approve this version?") {
                    Some(true) => {}
                    Some(false) => return Ok(None),
                    None => {
                        bail!("nothing was approved: there is no terminal to ask on; `{exact}` asks nothing")
                    }
                }
            }
            chosen.push(pending.version.digest());
        }
        Ok(Some(chosen))
    }
}

/// Returns true if an operator rejected a version: that one is approved only by its name.
fn is_rejected(lock: &LockDocument, version: &PinnedVersion) -> bool {
    lock.rejection(&version.digest()).is_some()
}

fn approve_versions(lock: &mut LockDocument, versions: &[PinnedVersion]) {
    versions.iter().for_each(|version| lock.approve(version.clone(), decide_now()));
}

/// Approves the pending versions that match. One that was replaced meanwhile does not match.
fn approve_where(
    records: &VersionLock,
    matches: impl Fn(&LockDocument, &PinnedVersion) -> bool,
) -> anyhow::Result<Vec<PinnedVersion>> {
    let updated = records.update(|lock| {
        let mut pending: Vec<_> = lock.pending().filter(|pending| matches(lock, &pending.version)).collect();
        // Of several versions of a file, the newest is approved last.
        pending.sort_by(|one, other| one.since.cmp(&other.since));
        let chosen: Vec<_> = pending.into_iter().map(|pending| pending.version.clone()).collect();
        approve_versions(lock, &chosen);
        chosen
    });
    Ok(updated.map_err(|error| unusable(records, &error))?.1)
}

/// Loads a folder, and the guards of the settings, as a server in which every change waits; returns the versions it found.
fn find_versions(folder: &Path, options: HostOptions) -> anyhow::Result<PinReport> {
    let host = PluginHost::new(&HostOptions { pin: PinMode::Artifact, ..options })?;
    let (stop, runtime) = (CancellationToken::new(), io_runtime()?);
    runtime.block_on(async {
        host.load_guards().await;
        host.watch_folder(folder.to_owned(), stop.clone());
        host.gate.catalog().wait_until_admitted().await;
    });
    stop.cancel();
    for file in host.load_status.now().files.iter().filter(|file| file.facade.is_none()) {
        let why = file.why.as_deref().unwrap_or_default();
        term::note(&format!("{} does not load: {why}", file.file));
    }
    Ok(host.pins.report())
}
