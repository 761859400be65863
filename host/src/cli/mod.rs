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
mod man;
mod new;
mod oci;
mod pins;
mod policy;
mod profile;
mod publishing;
mod records;
mod replace_file;
mod replay;
mod runs;
mod serve;
mod settings;
mod state;
mod term;
mod test;
mod token;
mod tokens;
mod upstream;
mod workflow;
mod working_dir;

use std::{process::ExitCode, time::Duration};

use clap::{CommandFactory, Parser, Subcommand};
use loggia_load::compiler::COMPILE;
use loggia_policy::model::CompileLimits;
use loggia_sandbox::{AddressSpace, BacktraceDetail, CodeTarget, compile};
use loggia_telemetry::logs;

use self::common::{MissingError, UsageError};

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
  loggia new notes --lang rust                       create the sources of a plugin
  loggia dev plugins                                 build, serve, and rebuild on save
  loggia serve plugins/                              serve a folder of .wasm files over stdio
  loggia serve plugins/ --http 127.0.0.1:8080        serve over HTTP, at /mcp
  loggia serve --config loggia.toml                  serve with a settings file
  loggia check plugins/                              report problems of plugins
  loggia test                                        run the cases of the plugin crate here
  loggia client add cursor --plugins plugins/        write the configuration of an MCP client
  loggia client doctor                               say why a client does not see the tools
  loggia tokens plugins/                             count the tokens of the tool list
  loggia policy explain notes                        list what a plugin may do and reach
  loggia call notes add text=milk --plugins plugins  make one call
  loggia profile notes list --plugins plugins        write a flame graph of an action
  loggia replay recordings/FILE.json                 run a recorded call again, show differences
  loggia workflow check plugins/                     report problems of workflow files
  loggia workflow run plugins/brief.workflow.yaml gather topic=tea
  loggia state export notes --out notes.jsonl        export a plugin's state
  loggia runs list                                   list runs of workflows
  loggia approvals                                   list calls that wait for your approval
  loggia add oci://ghcr.io/acme/notes:1              add a plugin from a registry
  loggia update                                      replace plugins by newer versions of their tags
  loggia pending                                     list versions of plugins that wait for your approval
  loggia diff notes                                  show how the version that waits differs
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
build, check, tokens, policy: 10 a plugin does not load, 11 there is no plugin;
add, update, push: 10 the plugin does not load, 11 (update) no plugin came from a registry;
call, profile, workflow run: 20 the call failed;
replay: 20 something differs, 10 the plugin does not load; profile: 11 there is no such facade;
test: 20 a case failed, 10 a file has mistakes or its plugin does not load, 11 there are no cases;
state: 11 there is no such store; runs: 11 there is no such run; approvals: 11 there is no such approval; diff, approve, reject: 11 no version waits; fleet: 11 no server is alive; credential: 11 there is no such credential;
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
    New(new::NewCommand),
    Dev(dev::DevCommand),
    Build(build::BuildCommand),
    Check(check::CheckCommand),
    Test(test::TestCommand),
    Client(client::ClientCommand),
    Tokens(tokens::TokensCommand),
    Policy(policy::PolicyCommand),
    Call(call::CallCommand),
    Replay(replay::ReplayCommand),
    Profile(profile::ProfileCommand),
    State(state::StateCommand),
    Runs(runs::RunsCommand),
    Approvals(approvals::ApprovalsCommand),
    Add(oci::AddCommand),
    Update(oci::UpdateCommand),
    Push(oci::PushCommand),
    Pending(pins::PendingCommand),
    Diff(pins::DiffCommand),
    Approve(pins::ApproveCommand),
    Reject(pins::RejectCommand),
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
    /// For a host whose backtraces name source lines
    #[arg(long)]
    lines: bool,
    /// Limit of processor time, in milliseconds
    cpu: u64,
    /// Limit of address space, in bytes
    memory: u64,
}

impl Compiler {
    fn run(self) -> ExitCode {
        let target = CodeTarget {
            space: if self.short { AddressSpace::Short } else { AddressSpace::Ample },
            backtraces: if self.lines { BacktraceDetail::Lines } else { BacktraceDetail::Functions },
        };
        let limits = CompileLimits { cpu: Duration::from_millis(self.cpu), memory: self.memory };
        ExitCode::from(u8::try_from(compile::run_child(target, limits)).unwrap_or(exit::FAILED))
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
            Command::New(command) => command.run(),
            Command::Dev(command) => command.run(),
            Command::Build(command) => command.run(),
            Command::Check(command) => command.run(),
            Command::Test(command) => command.run(),
            Command::Client(command) => command.run(),
            Command::Tokens(command) => command.run(Self::command()),
            Command::Policy(command) => command.run(),
            Command::Call(command) => command.run(),
            Command::Replay(command) => command.run(),
            Command::Profile(command) => command.run(),
            Command::State(command) => command.run(),
            Command::Runs(command) => command.run(),
            Command::Approvals(command) => command.run(),
            Command::Add(command) => command.run(),
            Command::Update(command) => command.run(),
            Command::Push(command) => command.run(),
            Command::Pending(command) => command.run(),
            Command::Diff(command) => command.run(),
            Command::Approve(command) => command.run(),
            Command::Reject(command) => command.run(),
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
            ExitCode::from(match () {
                () if error.is::<UsageError>() => exit::USAGE,
                () if error.is::<MissingError>() => exit::NOTHING,
                () if error.is::<oci::LoadRefusal>() => exit::REFUSED,
                () => exit::FAILED,
            })
        })
    }
}
