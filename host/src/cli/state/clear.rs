//! `loggia state clear`.

use std::process::ExitCode;

use anyhow::bail;
use loggia_state::StoreUsage;

use super::stores::{StorePlace, count_entries};
use crate::cli::{exit, term};

/// Delete a plugin's state, for all callers.
///
/// Asks for confirmation; scripts must pass --yes.
#[derive(clap::Args)]
pub struct ClearCommand {
    /// Facade whose state it is
    name: String,
    /// Skip the confirmation
    #[arg(long)]
    yes: bool,
}

impl ClearCommand {
    pub fn run(self, place: &StorePlace) -> anyhow::Result<ExitCode> {
        let name = &self.name;
        let Some(store) = place.find(name)? else { return Ok(place.report_missing(name)) };
        if !self.yes {
            match term::confirm(&confirmation(name, &store.usage()?)) {
                Some(true) => {}
                Some(false) => {
                    term::note("nothing was cleared");
                    return Ok(ExitCode::from(exit::FAILED));
                }
                None => bail!(
                    "nothing was cleared: confirmation requires a terminal; `loggia state clear {name} --yes` skips \
                    it, and `loggia state export {name}` makes a backup"
                ),
            }
        }
        term::note(&format!("cleared {} of `{name}`", count_entries(store.clear()?)));
        Ok(ExitCode::SUCCESS)
    }
}

fn confirmation(name: &str, usage: &StoreUsage) -> String {
    format!(
        "Clear {} ({} bytes) of `{name}`? This cannot be undone.",
        count_entries(usage.entries),
        usage.bytes
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_confirmation_shows_what_would_be_deleted() {
        let usage = StoreUsage { entries: 12, bytes: 4120, revision: 5 };
        let asked = "Clear 12 entries (4120 bytes) of `notes`? This cannot be undone.";
        assert_eq!(confirmation("notes", &usage), asked);
    }
}
