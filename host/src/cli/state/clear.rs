//! `loggia state clear`.

use std::{path::Path, process::ExitCode};

use anyhow::bail;
use loggia_state::StoreUsage;

use super::stores::{entries, nothing, store};
use crate::cli::{exit, term};

/// Take away all that a plugin has stored, for all callers.
///
/// Asks first; in a script, --yes is needed.
#[derive(clap::Args)]
pub struct Clear {
    /// Whose state
    name: String,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

impl Clear {
    pub fn run(self, path: &Path) -> anyhow::Result<ExitCode> {
        let name = &self.name;
        let Some(store) = store(path, name)? else { return Ok(nothing(path, name)) };
        if !self.yes {
            match term::ask(&question(name, &store.usage()?)) {
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
        term::note(&format!("{} of `{name}` cleared", entries(store.clear()?)));
        Ok(ExitCode::SUCCESS)
    }
}

fn question(name: &str, usage: &StoreUsage) -> String {
    format!(
        "Clear {} ({} bytes) of `{name}`? They cannot be brought back.",
        entries(usage.entries),
        usage.bytes
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_says_how_much_would_be_lost() {
        let usage = StoreUsage { entries: 12, bytes: 4120, revision: 5 };
        let asked = "Clear 12 entries (4120 bytes) of `notes`? They cannot be brought back.";
        assert_eq!(question("notes", &usage), asked);
    }
}
