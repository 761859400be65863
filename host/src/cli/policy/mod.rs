//! `loggia policy`.
//!
//! | file | concept |
//! |---|---|
//! | `explain.rs` | explains what a plugin may do |
//! | `init.rs` | creates a policy from the plugin's requests |

mod explain;
mod init;

use std::process::ExitCode;

use loggia_policy::file as policy;

use super::term;

/// Explain a policy, create one, or print the reference of all keys.
///
/// The policy of <name>.wasm is the file <name>.toml beside it. It grants capabilities; without it, the plugin has
/// none.
#[derive(clap::Args)]
pub struct PolicyCommand {
    #[command(subcommand)]
    command: Command,
}

// Help texts are at the commands' structs.
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
