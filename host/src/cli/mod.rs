//! The command line: one file per command.

#![allow(rustdoc::invalid_html_tags, reason = "these comments are the help texts, which say <name>")]

mod admin_listener;
mod approvals;
mod audit;
mod build;
mod call;
mod card;
mod check;
mod client;
mod clients;
mod columns;
mod common;
mod completions;
mod config;
mod credential;
mod database;
mod dev;
mod exit;
mod fleet;
mod import;
mod loaded;
mod man;
mod policy;
mod publishing;
mod records;
mod replace_file;
mod runs;
mod serve;
mod settings;
mod state;
mod term;
mod token;
mod tokens;
mod upstream;
mod workflow;
mod working_dir;

use std::{process::ExitCode, time::Duration};

use clap::{CommandFactory, Parser, Subcommand};
use loggia_policy::model::CompileLimits;
use loggia_sandbox::{AddressSpace, compile};

use self::common::UsageError;
use crate::{load::compiler::COMPILE, telemetry::logs};

/// A folder of WebAssembly plugins, served to AI agents as MCP tools.
///
/// Each plugin is one tool whose `action` selects the operation. Plugins run in a sandbox that grants nothing by
/// default; the policy file beside a plugin, <name>.toml, grants capabilities.
#[derive(Parser)]
#[command(name = "loggia", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  loggia dev plugins                                 build, serve, and rebuild on save
  loggia serve plugins/                              serve a folder of .wasm files over stdio
  loggia serve plugins/ --http 127.0.0.1:8080        serve over HTTP, at /mcp
  loggia serve --config loggia.toml                  serve with a settings file
  loggia check plugins/                              report problems of plugins
  loggia client add cursor --plugins plugins/        write the configuration of an MCP client
  loggia client doctor                               say why a client does not see the tools
  loggia tokens plugins/                             count the tokens of the tool list
  loggia policy explain notes                        list what a plugin may do and reach
  loggia call notes add text=milk --plugins plugins  make one call
  loggia workflow check plugins/                     report problems of workflow files
  loggia workflow run plugins/brief.workflow.yaml gather topic=tea
  loggia state export notes --out notes.jsonl        export a plugin's state
  loggia runs list                                   list runs of workflows
  loggia approvals                                   list calls that wait for your approval
  loggia audit verify --config loggia.toml           find changes of the audit trail
  loggia clients                                     how each MCP client is served
  loggia fleet status --config loggia.toml           list servers that share a database
  loggia card --registry > server.json               this server's entry for the MCP registry
  loggia upstream import .mcp.json                   settings for the MCP servers of a client
  loggia import openapi api.json --name shop         serve an API that OpenAPI describes
  loggia credential set github --caller ada          store a caller's own credential
  loggia token new ada --scope 'notes:*'             create a token for an HTTP caller
  loggia token revoke ada --config loggia.toml       refuse a token on all servers

Exit codes: 0 success, 1 failure (tokens: also if the list exceeds --budget), 2 invalid command line;
check, tokens, policy: 10 a plugin does not load, 11 there is no plugin;
call, workflow run: 20 the call failed;
state: 11 there is no such store; runs: 11 there is no such run; approvals: 11 there is no such approval; fleet: 11 no server is alive; credential: 11 there is no such credential;
workflow, config: 10 a file has problems, 11 there is no such file or workflow;
audit: 10 (verify) the trail was changed, 11 there is none;
card: 10 the file has problems or the registry would refuse the entry, 11 there is no [card];
upstream: 10 a server cannot be imported or is unavailable, 11 there is none;
client: 10 (doctor) a client does not see the tools, 11 there is no such entry.

Logs go to stderr; LOGGIA_LOG sets their level (error, warn, info, debug, trace).";

// Comments here would hide the help texts at the commands' structs.
#[derive(Subcommand)]
enum Command {
    Serve(serve::ServeCommand),
    Dev(dev::DevCommand),
    Build(build::BuildCommand),
    Check(check::CheckCommand),
    Client(client::ClientCommand),
    Tokens(tokens::TokensCommand),
    Policy(policy::PolicyCommand),
    Call(call::CallCommand),
    State(state::StateCommand),
    Runs(runs::RunsCommand),
    Approvals(approvals::ApprovalsCommand),
    Audit(audit::AuditCommand),
    Clients(clients::ClientsCommand),
    Fleet(fleet::FleetCommand),
    Card(card::CardCommand),
    Credential(credential::CredentialCommand),
    Token(token::TokenCommand),
    Workflow(workflow::WorkflowCommand),
    Upstream(upstream::UpstreamCommand),
    Import(import::ImportCommand),
    Config(config::ConfigCommand),
    Completions(completions::CompletionsCommand),
    Man(man::ManCommand),
}

/// The host's binary as its own compiler: compiles the component on stdin. Not a subcommand, or clap would suggest it
/// for typos.
#[derive(Parser)]
#[command(name = COMPILE)]
struct Compiler {
    /// For a host with a short address space
    #[arg(long)]
    short: bool,
    /// Limit of processor time, in milliseconds
    cpu: u64,
    /// Limit of address space, in bytes
    memory: u64,
}

impl Compiler {
    fn run(self) -> ExitCode {
        let space = if self.short { AddressSpace::Short } else { AddressSpace::Ample };
        let limits = CompileLimits { cpu: Duration::from_millis(self.cpu), memory: self.memory };
        ExitCode::from(u8::try_from(compile::run_child(space, limits)).unwrap_or(exit::FAILED))
    }
}

/// Parses the command line and runs the command.
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
            Command::Client(command) => command.run(),
            Command::Tokens(command) => command.run(Self::command()),
            Command::Policy(command) => command.run(),
            Command::Call(command) => command.run(),
            Command::State(command) => command.run(),
            Command::Runs(command) => command.run(),
            Command::Approvals(command) => command.run(),
            Command::Audit(command) => command.run(),
            Command::Clients(command) => command.run(),
            Command::Fleet(command) => command.run(),
            Command::Card(command) => command.run(),
            Command::Credential(command) => command.run(),
            Command::Token(command) => command.run(),
            Command::Workflow(command) => command.run(),
            Command::Upstream(command) => command.run(),
            Command::Import(command) => command.run(),
            Command::Config(command) => command.run(),
            Command::Completions(command) => command.run(Self::command()),
            Command::Man(command) => command.run(Self::command()),
        };
        logs::flush();
        result.unwrap_or_else(|error| {
            term::print_error(&error);
            ExitCode::from(if error.is::<UsageError>() { exit::USAGE } else { exit::FAILED })
        })
    }
}
