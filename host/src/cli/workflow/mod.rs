//! `loggia workflow`.
//!
//! | file | concept |
//! |---|---|
//! | `check.rs` | reports problems, and differences from ToolHive |
//! | `graph.rs` | draws workflows |
//! | `run.rs` | runs a workflow |
//! | `plan.rs` | the plan of a dry run, as a table |
//! | `steps.rs`, `form.rs` | show the progress of a run, and ask its questions |
//! | `eval.rs` | evaluates a template |
//! | `files.rs` | reads workflow files for these commands |

mod check;
mod eval;
mod files;
mod form;
mod graph;
mod plan;
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

// Help texts are at the commands' structs.
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
