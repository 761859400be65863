//! The command line: one file per command.

#![allow(rustdoc::invalid_html_tags, reason = "these comments are the help texts, which say <name>")]

mod build;
mod call;
mod check;
mod columns;
mod common;
mod completions;
mod config;
mod dev;
mod exit;
mod loaded;
mod man;
mod policy;
mod publishing;
mod serve;
mod settings;
mod state;
mod term;
mod token;
mod tokens;
mod workflow;

use std::{process::ExitCode, time::Duration};

use clap::{CommandFactory, Parser, Subcommand};
use loggia_sandbox::{CompileLimits, AddressSpace, compile};

use self::common::UsageError;
use crate::{load::compiler::COMPILE, telemetry::logs};

/// A folder of WebAssembly plugins, served to AI agents as MCP tools.
///
/// Each plugin is one tool whose `action` chooses the operation. Plugins run in a sandbox that grants nothing by
/// default: what one may use stands in the policy file beside it, <name>.toml.
#[derive(Parser)]
#[command(name = "loggia", version, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  loggia dev plugins                                 build plugin sources, serve them, rebuild on save
  loggia serve plugins/                              serve a folder of .wasm files over stdio
  loggia serve plugins/ --http 127.0.0.1:8080        the same over HTTP, at /mcp
  loggia serve --config loggia.toml                  all that it takes from a file
  loggia check plugins/                              load everything, serve nothing, say what is wrong
  loggia tokens plugins/                             what the tool list costs a model, in every form
  loggia policy explain notes                        what a plugin may do, and what it reaches
  loggia call notes add text=milk --plugins plugins  one call from the command line
  loggia workflow check plugins/                     say all that is wrong with workflow files
  loggia workflow run plugins/brief.workflow.yaml gather topic=tea
  loggia state export notes --out notes.jsonl        keep what a plugin has stored
  loggia token new ada --scope 'notes:*'             a token for a caller over HTTP

Exit codes: 0 well, 1 the command failed (tokens: or the list takes more than --budget), 2 the command line is wrong;
check, tokens, policy: 10 a plugin does not load, 11 there is none; call: 20 the call was made and failed;
state: 11 there is no state of that name;
workflow, config: 10 a file has problems, 11 there is no such file or workflow, 20 it was run and failed.

Logs go to stderr; LOGGIA_LOG sets their level (error, warn, info, debug, trace).";

// What each command's help says stands at its own struct: a comment here would hide it.
#[derive(Subcommand)]
enum Command {
    Serve(serve::Serve),
    Dev(dev::Dev),
    Build(build::Build),
    Check(check::Check),
    Tokens(tokens::Tokens),
    Policy(policy::Policy),
    Call(call::Call),
    State(state::State),
    Token(token::Token),
    Workflow(workflow::Workflow),
    Config(config::Config),
    Completions(completions::Completions),
    Man(man::Man),
}

/// The host's binary as its own compiler: compiles the component on stdin. Apart from the commands, or clap would
/// suggest it to who mistypes one of them.
#[derive(Parser)]
#[command(name = COMPILE)]
struct Compiler {
    /// For a host whose address space is short
    #[arg(long)]
    short: bool,
    /// Milliseconds of processor time that it may take
    cpu: u64,
    /// Bytes of address space that it may take
    memory: u64,
}

impl Compiler {
    fn run(self) -> ExitCode {
        let space = if self.short { AddressSpace::Short } else { AddressSpace::Ample };
        let limits = CompileLimits { cpu: Duration::from_millis(self.cpu), memory: self.memory };
        ExitCode::from(u8::try_from(compile::run_child(space, limits)).unwrap_or(exit::FAILED))
    }
}

/// Runs the command that this process was started with.
pub fn start() -> ExitCode {
    let words = || std::env::args_os().skip(1);
    if words().next().is_some_and(|word| word == COMPILE) {
        return Compiler::parse_from(words()).run();
    }
    Cli::parse().run()
}

impl Cli {
    fn run(self) -> ExitCode {
        let result = match self.command {
            Command::Serve(command) => command.run(),
            Command::Dev(command) => command.run(),
            Command::Build(command) => command.run(),
            Command::Check(command) => command.run(),
            Command::Tokens(command) => command.run(Self::command()),
            Command::Policy(command) => command.run(),
            Command::Call(command) => command.run(),
            Command::State(command) => command.run(),
            Command::Token(command) => command.run(),
            Command::Workflow(command) => command.run(),
            Command::Config(command) => command.run(),
            Command::Completions(command) => command.run(Self::command()),
            Command::Man(command) => command.run(Self::command()),
        };
        logs::flush();
        result.unwrap_or_else(|error| {
            term::error(&error);
            ExitCode::from(if error.is::<UsageError>() { exit::USAGE } else { exit::FAILED })
        })
    }
}
