//! `loggia state migrate`.

use std::{
    io::{BufReader, Seek},
    process::ExitCode,
};

use anyhow::{Context, bail};
use loggia_state::{HostRecords, StateFolder, StateSpace, StateStore};

use super::stores::{StorePlace, count_entries};
use crate::cli::{common::UsageError, exit, term};

/// Copy all stores between the state folder and the database of the settings.
///
/// Stop the servers first: what they write meanwhile is not copied. The copied stores stay where they were. Revoked tokens are copied,
/// too. Runs are not copied: let them end before. Nor are callers' credentials: store them again.
#[derive(clap::Args)]
pub struct MigrateCommand {
    /// Where to copy the stores: to the database of the settings, or to the state folder
    #[arg(long, value_name = "PLACE")]
    to: MigrationTarget,
    /// Replace stores that are there already
    #[arg(long)]
    replace: bool,
}

/// Where stores are copied to.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum MigrationTarget {
    Database,
    Folder,
}

impl MigrateCommand {
    pub fn run(self, place: &StorePlace) -> anyhow::Result<ExitCode> {
        if place.database.is_none() {
            bail!(UsageError(
                "there is no database: name a settings file with `state.url` by --config".into()
            ));
        }
        let folder = StorePlace { path: place.path.clone(), database: None };
        let (from, to) = match self.to {
            MigrationTarget::Database => (&folder, place),
            MigrationTarget::Folder => (place, &folder),
        };
        let source = from.open()?;
        let names = source.as_ref().map(StateFolder::names).transpose()?.unwrap_or_default();
        let revoked =
            source.as_ref().map(|source| copy_revocations(source, to)).transpose()?.unwrap_or(false);
        if revoked && names.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        let Some(source) = source.filter(|_| !names.is_empty()) else {
            term::note(&format!("no plugin has stored anything in {}", from.name()));
            return Ok(ExitCode::from(exit::NOTHING));
        };
        let target = to.create()?;
        let there = target.names()?;
        let taken: Vec<&str> = names.iter().filter(|name| there.contains(name)).map(String::as_str).collect();
        if !taken.is_empty() && !self.replace {
            bail!(
                "nothing was copied: {} has {} already; --replace replaces what is there",
                to.name(),
                taken.join(", ")
            );
        }
        let stores = names.iter().map(|name| source.store(name, u64::MAX)).collect::<Result<Vec<_>, _>>()?;
        check_secrets(&source, &target, &stores)?;
        for store in &stores {
            let copied = copy(store, &target.store(store.name(), u64::MAX)?, true)
                .with_context(|| format!("failed to copy `{}`; those before it are copied", store.name()))?;
            term::note(&format!("copied {} of `{}` to {}", count_entries(copied), store.name(), to.name()));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Copies the list of revoked tokens, beside those that are revoked there; returns whether there are any.
fn copy_revocations(source: &StateFolder, to: &StorePlace) -> anyhow::Result<bool> {
    let from = source.records(HostRecords::Revocations);
    if from.usage()?.entries == 0 {
        return Ok(false);
    }
    let copied = copy(&from, &to.create()?.records(HostRecords::Revocations), false)
        .context("failed to copy the revoked tokens")?;
    term::note(&format!("copied {} of the revoked tokens to {}", count_entries(copied), to.name()));
    Ok(true)
}

/// Refuses to copy callers' entries to where nobody would find them: their keys are made of the secret.
fn check_secrets(source: &StateFolder, target: &StateFolder, stores: &[StateStore]) -> anyhow::Result<()> {
    if source.secret()? == target.secret()? {
        return Ok(());
    }
    for store in stores {
        if store.list()?.iter().any(|listed| listed.space != StateSpace::Shared) {
            bail!(
                "nothing was copied: `{}` has entries of callers, whose keys are made of a secret that differs between \
                 the folder and the database; use the state folder of the first server that used the database",
                store.name()
            );
        }
    }
    Ok(())
}

/// Copies all entries of a store. Returns their number.
fn copy(from: &StateStore, to: &StateStore, replace: bool) -> anyhow::Result<u64> {
    let mut file = tempfile::tempfile()?;
    from.export(&mut file)?;
    file.rewind()?;
    Ok(to.import(BufReader::new(file), replace)?.entries)
}
