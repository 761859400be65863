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

/// Explain a policy, create one, or print the reference of all keys.
///
/// The policy of <name>.wasm is the file <name>.toml beside it. It grants capabilities; without it, the plugin has
/// none.
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
    /// Print the reference of all keys, in Markdown
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
