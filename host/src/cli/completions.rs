//! `loggia completions`.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use super::{Cli, term};

/// Print a script by which a shell completes this command
///
/// bash: loggia completions bash > ~/.local/share/bash-completion/completions/loggia
/// zsh:  loggia completions zsh > "${fpath[1]}/_loggia"
/// fish: loggia completions fish > ~/.config/fish/completions/loggia.fish
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let mut cli = Cli::command();
        let name = cli.get_name().to_owned();
        generate(self.shell, &mut cli, name, &mut term::results());
        Ok(ExitCode::SUCCESS)
    }
}
