//! `loggia completions`.

use std::process::ExitCode;

use clap_complete::{Shell, generate};

use super::term;

/// Print a shell completion script
///
/// bash: loggia completions bash > ~/.local/share/bash-completion/completions/loggia
/// zsh:  loggia completions zsh > "${fpath[1]}/_loggia"
/// fish: loggia completions fish > ~/.config/fish/completions/loggia.fish
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct CompletionsCommand {
    /// Shell
    shell: Shell,
}

impl CompletionsCommand {
    pub fn run(self, mut cli: clap::Command) -> anyhow::Result<ExitCode> {
        let name = cli.get_name().to_owned();
        generate(self.shell, &mut cli, name, &mut term::stdout_writer());
        Ok(ExitCode::SUCCESS)
    }
}
