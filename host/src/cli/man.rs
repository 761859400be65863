//! `loggia man`.

use std::{fs, path::PathBuf, process::ExitCode};

use anyhow::Context;
use clap_mangen::{Man as Page, generate_to};

use super::term;

/// Print the manual page of this command, or write one page for each command.
///
/// `loggia man | man -l -` displays it. With --out, writes loggia.1, loggia-serve.1, … for a `man1` folder on the man
/// path, such as /usr/local/share/man/man1.
#[derive(clap::Args)]
pub struct ManCommand {
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl ManCommand {
    pub fn run(self, cli: clap::Command) -> anyhow::Result<ExitCode> {
        match &self.out {
            None => Page::new(cli).render(&mut term::stdout_writer())?,
            Some(folder) => {
                let failed = || format!("failed to write the pages into {}", folder.display());
                fs::create_dir_all(folder).with_context(failed)?;
                generate_to(cli, folder).with_context(failed)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
