//! `loggia policy`.
//!
//! | file | concept |
//! |---|---|
//! | `explain.rs` | the command that tells what a plugin may do |
//! | `explanation/` | pure: what follows from a policy, a surface, and those of the facades that can be called |
//! | `shown.rs` | an explanation as it is shown |
//! | `init.rs`, `draft.rs` | the command that writes a first policy, and its text |

mod draft;
mod explain;
mod explanation;
mod init;
mod render;

use std::process::ExitCode;

use super::term;
use crate::config::policy;

/// Explain policies, begin one, or print the reference of all their keys.
///
/// A policy is the file <name>.toml beside <name>.wasm. It grants what the plugin may use; without it, nothing.
#[derive(clap::Args)]
pub struct PolicyCommand {
    #[command(subcommand)]
    command: Command,
}

// What each command's help says stands at its own struct.
#[derive(clap::Subcommand)]
enum Command {
    Explain(explain::ExplainCommand),
    Init(init::InitCommand),
    /// Print every key with its default, its bounds and what it is for, in Markdown
    Reference,
}

impl PolicyCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Explain(command) => command.run(),
            Command::Init(command) => command.run(),
            Command::Reference => {
                term::print(policy::reference().trim_end());
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}
