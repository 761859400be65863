//! The command line: one file per command.

#![allow(rustdoc::invalid_html_tags, reason = "these comments are the help texts, which say <name>")]

mod build;
mod call;
mod check;
mod columns;
mod completions;
mod config;
mod dev;
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

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::{
    Args, Parser, Subcommand,
    builder::{OsStr, Resettable},
};
use loggia_sandbox::{
    Compile, Space, compile,
    engine::{STACK, STACK_CEILING},
};

use crate::{
    config::{places, units},
    gate::{Inline, Quotas},
    publish::Publisher,
    serve::Options,
    telemetry::logs,
};

const COMPILE: &str = "compile-component";

/// The arguments by which the host's binary becomes its own compiler.
pub fn compiler(space: Space) -> Vec<String> {
    let short = (space == Space::Short).then_some("--short");
    [COMPILE].into_iter().chain(short).map(str::to_owned).collect()
}

/// Exit codes. They are part of the interface: scripts rely on them.
pub mod exit {
    /// A mistake on the command line itself.
    pub const USAGE: u8 = 2;
    /// The command could not do its work; `tokens`: the list takes more than its budget.
    pub const FAILED: u8 = 1;
    /// `check`, `tokens`, `policy`: a plugin does not load; `workflow`, `config`: a file has problems.
    pub const REFUSED: u8 = 10;
    /// `check`, `tokens`, `policy explain`: there is no plugin there; `state`: there is no state of that name;
    /// `workflow`, `config`: there is no such file or workflow.
    pub const NOTHING: u8 = 11;
    /// `call`, `workflow run`: the call was made and failed.
    pub const CALL_FAILED: u8 = 20;
}

/// A mistake on the command line that only the command itself sees; clap tells of the others.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UsageError(String);

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
        let space = if self.short { Space::Short } else { Space::Ample };
        let limits = Compile { cpu: Duration::from_millis(self.cpu), memory: self.memory };
        ExitCode::from(u8::try_from(compile::child(space, limits)).unwrap_or(exit::FAILED))
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
            Command::Tokens(command) => command.run(),
            Command::Policy(command) => command.run(),
            Command::Call(command) => command.run(),
            Command::State(command) => command.run(),
            Command::Token(command) => command.run(),
            Command::Workflow(command) => command.run(),
            Command::Config(command) => command.run(),
            Command::Completions(command) => command.run(),
            Command::Man(command) => command.run(),
        };
        logs::flush();
        result.unwrap_or_else(|error| {
            term::error(&error);
            ExitCode::from(if error.is::<UsageError>() { exit::USAGE } else { exit::FAILED })
        })
    }
}

/// What a variable of the environment says, as the default of an option. Not by clap's `env`: with that, its usage lines
/// show each option whose variable is set as if it were required.
fn variable(name: &str) -> Resettable<OsStr> {
    match std::env::var_os(name).filter(|value| !value.is_empty()) {
        Some(value) => Resettable::Value(value.into()),
        None => Resettable::Reset,
    }
}

/// Options of every command that loads plugins.
#[derive(Args)]
struct Common {
    /// Where compiled plugins are kept [env: LOGGIA_CACHE; default: the platform's cache folder]
    #[arg(long, value_name = "DIR", default_value = variable("LOGGIA_CACHE"), hide_default_value = true)]
    cache: Option<PathBuf>,
    /// Where plugins keep their state [env: LOGGIA_STATE; default: the platform's state folder]
    #[arg(long, value_name = "DIR", default_value = variable("LOGGIA_STATE"), hide_default_value = true)]
    state: Option<PathBuf>,
    /// How deep plugins may recurse, in bytes of stack [env: LOGGIA_WASM_STACK; default: 512KiB]
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = stack,
        default_value = variable("LOGGIA_WASM_STACK"),
        hide_default_value = true
    )]
    wasm_stack: Option<usize>,
    /// Where calls begin, for measuring: inline, second or same
    #[arg(long, value_name = "MODEL", default_value = "inline", hide = true)]
    threads: Threads,
}

/// A stack's size: one limit for all plugins, so no policy's.
fn stack(text: &str) -> Result<usize, String> {
    const LEAST: usize = 64 << 10;
    let bytes = units::bytes(text)?;
    let within = usize::try_from(bytes).ok().filter(|bytes| (LEAST..=STACK_CEILING).contains(bytes));
    within.ok_or_else(|| {
        let [least, most] = [LEAST, STACK_CEILING].map(|bytes| units::bytes_text(bytes as u64));
        format!("must be {least} to {most}")
    })
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Threads {
    /// A first slice inline, the rest on the second runtime.
    Inline,
    /// All on the second runtime.
    Second,
    /// All on the runtime that answers clients.
    Same,
}

impl Common {
    fn options(&self) -> anyhow::Result<Options> {
        self.options_with(None, None)
    }

    /// The same, with folders that a settings file names for where the command line names none.
    fn options_with(&self, cache: Option<PathBuf>, state: Option<PathBuf>) -> anyhow::Result<Options> {
        // One for each thread that answers clients. A slice lasts a millisecond at most, and a facade that uses it up
        // starts elsewhere for a while; keeping a thread free of them costs a fifth of the throughput, and made p99
        // beside looping guests no better (docs/design/performance.md).
        let slots = std::thread::available_parallelism().map_or(1, usize::from);
        let inline = match self.threads {
            Threads::Inline => Inline::Slots(slots),
            Threads::Second => Inline::Never,
            Threads::Same => Inline::Always,
        };
        let cache = self.cache.clone().or(cache).map_or_else(places::cache, Ok)?;
        let state = self.state.clone().or(state).map_or_else(places::state, Ok)?;
        Ok(Options {
            cache,
            state,
            settings: None,
            audit: None,
            keys: None,
            inline,
            stack: self.wasm_stack.unwrap_or(STACK),
            publisher: Publisher::default(),
            quotas: Quotas::default(),
        })
    }
}

/// The runtime that answers clients.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().thread_name("loggia-io").enable_all().build()
}
