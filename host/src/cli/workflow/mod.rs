//! `loggia workflow`.
//!
//! | file | concept |
//! |---|---|
//! | `check.rs` | the command that tells all that is wrong with a file, and what ToolHive would make of it |
//! | `graph.rs` | the command that draws a workflow |
//! | `run.rs` | the command that runs one |
//! | `steps.rs`, `form.rs` | how a person follows it, and answers its questions |
//! | `eval.rs` | the command that tries a template |
//! | `files.rs` | workflow files, read for these commands |

mod check;
mod eval;
mod files;
mod form;
mod graph;
mod run;
mod steps;

use std::process::ExitCode;

/// Check, draw and run workflows, and evaluate templates.
///
/// A workflow is an action made of steps, most of them calls of other facades. The file <name>.workflow.yaml in the
/// plugin folder is a facade whose actions are its workflows.
#[derive(clap::Args)]
pub struct WorkflowCommand {
    #[command(subcommand)]
    command: Command,
}

// What each command's help says stands at its own struct.
#[derive(clap::Subcommand)]
enum Command {
    Check(check::WorkflowCheckCommand),
    Graph(graph::GraphCommand),
    Run(run::RunCommand),
    Eval(eval::EvalCommand),
}

impl WorkflowCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Check(command) => command.run(),
            Command::Graph(command) => command.run(),
            Command::Run(command) => command.run(),
            Command::Eval(command) => command.run(),
        }
    }
}
