//! `loggia state clear`.

use std::{path::Path, process::ExitCode};

use anyhow::bail;
use loggia_state::Usage;

use super::stores::{count_entries, find_store, report_missing};
use crate::cli::{exit, term};

/// Take away all that a plugin has stored, for all callers.
///
/// Asks first; in a script, --yes is needed.
#[derive(clap::Args)]
pub struct ClearCommand {
    /// Whose state
    name: String,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

impl ClearCommand {
    pub fn run(self, path: &Path) -> anyhow::Result<ExitCode> {
        let name = &self.name;
        let Some(store) = find_store(path, name)? else { return Ok(report_missing(path, name)) };
        if !self.yes {
            match term::confirm(&confirmation(name, &store.usage()?)) {
                Some(true) => {}
                Some(false) => {
                    term::note("nothing was cleared");
                    return Ok(ExitCode::from(exit::FAILED));
                }
                None => bail!(
                    "nothing was cleared: there is nobody to ask; `loggia state clear {name} --yes` clears it, and \
                     `loggia state export {name}` keeps it"
                ),
            }
        }
        term::note(&format!("{} of `{name}` cleared", count_entries(store.clear()?)));
        Ok(ExitCode::SUCCESS)
    }
}

fn confirmation(name: &str, usage: &Usage) -> String {
    format!(
        "Clear {} ({} bytes) of `{name}`? They cannot be brought back.",
        count_entries(usage.entries),
        usage.bytes
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_says_how_much_would_be_lost() {
        let usage = Usage { entries: 12, bytes: 4120, revision: 5 };
        let asked = "Clear 12 entries (4120 bytes) of `notes`? They cannot be brought back.";
        assert_eq!(confirmation("notes", &usage), asked);
    }
}
