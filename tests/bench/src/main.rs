//! Compares MCP servers over the wire, as a client sees them.
//!
//! | file | concept |
//! |---|---|
//! | `config.rs` | description of a server |
//! | `builds.rs`, `stage.rs`, `patch.rs` | Loggia, the native server and the plugin: built, and set up in a temporary folder |
//! | `client.rs`, `crowd.rs`, `lane.rs`, `revision.rs`, `wire.rs` | an MCP client that takes little processor time |
//! | `call.rs`, `payload.rs` | requests, and the checks of responses |
//! | `measure/`, `many.rs`, `threads.rs`, `grants.rs`, `audit.rs`, `upstream.rs`, `memories.rs`, `clients.rs`, `greedy.rs`, `neighbour/`, `chaos.rs` | the measurements |
//! | `instructions/` | instructions per request |
//! | `figures.rs`, `flood.rs`, `report.rs`, `goals.rs` | results and targets |
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command that prints its results")]

mod audit;
mod builds;
mod call;
mod chaos;
mod client;
mod clients;
mod config;
mod crowd;
mod figures;
mod flood;
mod goals;
mod grants;
mod greedy;
mod instructions;
mod lane;
mod many;
mod measure;
mod memories;
mod neighbour;
mod patch;
mod payload;
mod process;
mod report;
mod revision;
mod run;
mod stage;
mod threads;
mod upstream;
mod wire;

use std::{path::PathBuf, time::Duration};

use anyhow::Result;
use clap::{Args, Parser, Subcommand};

use crate::{
    builds::Builds,
    measure::Scale,
    report::Rounds,
    run::{Output, Plan},
    stage::Stage,
};

/// Compare MCP servers over the wire, as a client sees them.
#[derive(Parser)]
#[command(name = "loggia-bench")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build Loggia and a native server, measure both in turn, print Loggia relative to native
    Compare {
        /// Also measure the servers of this JSON file in the same run; src/config.rs documents the fields
        #[arg(long, value_name = "FILE")]
        peers: Option<String>,
        /// Over HTTP, speak the revision 2026-07-28, which has no sessions
        #[arg(long)]
        stateless: bool,
        #[command(flatten)]
        options: Options,
        #[command(flatten)]
        built: Built,
    },
    /// Build Loggia, measure it under each thread model
    Threads {
        /// Thread models; the first is the baseline
        #[arg(long, value_delimiter = ',', default_value = "second,inline,same")]
        models: Vec<String>,
        #[command(flatten)]
        options: Options,
        #[command(flatten)]
        built: Built,
    },
    /// Build Loggia, measure calls of a plugin that was granted nothing and of one that was granted everything
    Grants {
        #[command(flatten)]
        options: Options,
        #[command(flatten)]
        built: Built,
    },
    /// Build Loggia, measure calls without an audit trail and with one
    Audit {
        #[command(flatten)]
        options: Options,
        #[command(flatten)]
        built: Built,
    },
    /// Build Loggia and a native server, measure calls of that server directly and through Loggia
    Upstream {
        #[command(flatten)]
        options: Options,
        #[command(flatten)]
        built: Built,
    },
    /// Build Loggia and the plugin `memories`, measure it with many memories
    Memories {
        /// Number of memories
        #[arg(long, default_value_t = 10_000)]
        count: usize,
        /// Measure this `loggia` instead of building one
        #[arg(long, value_name = "FILE")]
        loggia: Option<PathBuf>,
        /// Use this plugin instead of building one
        #[arg(long, value_name = "FILE")]
        plugin: Option<PathBuf>,
    },
    /// Build Loggia and the plugin `files`, measure its calls next to a misbehaving plugin
    Neighbour {
        #[command(flatten)]
        options: Beside,
        /// Measure this `loggia` instead of building one
        #[arg(long, value_name = "FILE")]
        loggia: Option<PathBuf>,
        /// Use this plugin `files` instead of building one
        #[arg(long, value_name = "FILE")]
        files: Option<PathBuf>,
        /// Use this neighbour instead of building one
        #[arg(long, value_name = "FILE")]
        neighbour: Option<PathBuf>,
    },
    /// Build Loggia, serve it over HTTP to many clients: lost calls, memory afterwards, mutual delays
    Clients {
        /// Calls one after another
        #[arg(long, default_value_t = 10_000)]
        sequential: usize,
        /// Number of concurrent clients
        #[arg(long, default_value_t = 64)]
        clients: usize,
        /// Calls of each
        #[arg(long, default_value_t = 500)]
        each: usize,
        /// Number of idle sessions
        #[arg(long, default_value_t = 1000)]
        idle: usize,
        /// Measure this `loggia` instead of building one
        #[arg(long, value_name = "FILE")]
        loggia: Option<PathBuf>,
        /// Use this plugin instead of building one
        #[arg(long, value_name = "FILE")]
        guest: Option<PathBuf>,
    },
    /// Build Loggia, count the instructions of requests with callgrind, compare them with instructions.toml
    Instructions {
        /// Write the figures to instructions.toml instead of comparing them
        #[arg(long)]
        write: bool,
        /// Keep the profile of each request in this folder, for callgrind_annotate
        #[arg(long, value_name = "DIR")]
        profiles: Option<PathBuf>,
        /// Count in this `loggia` instead of building one
        #[arg(long, value_name = "FILE")]
        loggia: Option<PathBuf>,
        /// Use this plugin instead of building one
        #[arg(long, value_name = "FILE")]
        guest: Option<PathBuf>,
    },
    /// Measure the servers that a JSON file lists
    Run {
        /// A list of servers; src/config.rs documents the fields
        servers: String,
        /// File to append results to, one JSON object per line
        results: PathBuf,
        /// Only these
        #[arg(long, value_delimiter = ',')]
        only: Vec<String>,
        #[command(flatten)]
        options: Options,
    },
    /// Print the results of `run` as a table
    Report {
        /// Results of `run`
        results: String,
        /// Baseline server
        #[arg(long, default_value = "native")]
        baseline: String,
    },
}

#[derive(Args)]
struct Options {
    /// Number of rounds; medians over them are shown
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Factor for the number of calls
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    /// One short round, to see that everything works; the figures mean little
    #[arg(long)]
    quick: bool,
    /// No plugins that misbehave
    #[arg(long)]
    no_chaos: bool,
    /// Only plugins that misbehave
    #[arg(long, conflicts_with = "no_chaos")]
    chaos_only: bool,
    /// Also write the measurements to this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Options {
    fn plan(&self) -> Plan {
        let (rounds, scale) = if self.quick { (1, self.scale * 0.05) } else { (self.rounds, self.scale) };
        Plan {
            rounds,
            scale: Scale(scale),
            figures: !self.chaos_only,
            chaos: !self.no_chaos && !self.quick,
            many: Vec::new(),
            loops: false,
            stdio_only: false,
        }
    }
}

/// Extent of `neighbour`.
#[derive(Args)]
struct Beside {
    /// Number of rounds; medians over them are shown
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// One short round, to see that everything works; the figures mean little
    #[arg(long)]
    quick: bool,
    /// Only these: loops, logs, traps, traps_unbroken, http, ends
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// Prebuilt programs.
#[derive(Args)]
struct Built {
    /// Measure this `loggia` instead of building one
    #[arg(long, value_name = "FILE")]
    loggia: Option<PathBuf>,
    /// Measure this native server instead of building one
    #[arg(long, value_name = "FILE")]
    native: Option<PathBuf>,
    /// Use this plugin instead of building one
    #[arg(long, value_name = "FILE")]
    guest: Option<PathBuf>,
}

impl Built {
    fn stage(self) -> Result<Stage> {
        Stage::new(Builds::make(self.loggia, self.native, self.guest)?)
    }
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Compare { peers, stateless, options, built } => {
            let peers = peers.as_deref().map_or(Ok(Vec::new()), config::load)?;
            let stage = built.stage()?;
            let mut servers = vec![stage.native()?, stage.alike()?];
            servers.extend(peers);
            servers.push(stage.loggia("loggia", &[])?);
            for http in servers.iter_mut().filter_map(|server| server.http.as_mut()) {
                http.stateless |= stateless;
            }
            let many = if options.quick || options.chaos_only { vec![] } else { vec![100, 1000] };
            let plan = Plan { many, ..options.plan() };
            let mut output = Output::new(options.out.as_deref())?;
            run::run(&servers, &plan, Some(&stage), &mut output)?;
            let rounds = Rounds::new(&output.records, Some("native"));
            println!("{}\n{}", rounds.judged(&goals::lines(), 2), rounds.notes());
        }
        Command::Threads { models, options, built } => {
            let stage = built.stage()?;
            let servers = threads::servers(&stage, &models)?;
            let plan = Plan { loops: true, stdio_only: true, chaos: false, ..options.plan() };
            let mut output = Output::new(options.out.as_deref())?;
            run::run(&servers, &plan, Some(&stage), &mut output)?;
            let baseline = models.first().map(String::as_str);
            let rounds = Rounds::new(&output.records, baseline);
            println!("{}\n{}", rounds.compared(&threads::lines(), 1), rounds.notes());
        }
        Command::Grants { options, built } => {
            let stage = built.stage()?;
            let servers = grants::servers(&stage)?;
            // Calls are measured over stdio only, to compare thread models.
            let plan = Plan { stdio_only: true, chaos: false, ..options.plan() };
            let mut output = Output::new(options.out.as_deref())?;
            run::run(&servers, &plan, Some(&stage), &mut output)?;
            let rounds = Rounds::new(&output.records, Some("bare"));
            println!("{}\n{}", rounds.compared(&grants::lines(), 1), rounds.notes());
        }
        Command::Audit { options, built } => {
            let stage = built.stage()?;
            let servers = audit::servers(&stage)?;
            let plan = Plan { chaos: false, ..options.plan() };
            let mut output = Output::new(options.out.as_deref())?;
            run::run(&servers, &plan, Some(&stage), &mut output)?;
            let rounds = Rounds::new(&output.records, Some("plain"));
            println!("{}\n{}", rounds.compared(&audit::lines(), 1), rounds.notes());
        }
        Command::Upstream { options, built } => {
            let stage = built.stage()?;
            let servers = upstream::servers(&stage)?;
            let plan = Plan { stdio_only: true, chaos: false, ..options.plan() };
            let mut output = Output::new(options.out.as_deref())?;
            run::run(&servers, &plan, Some(&stage), &mut output)?;
            let rounds = Rounds::new(&output.records, Some("direct"));
            println!("{}\n{}", rounds.compared(&upstream::lines(), 1), rounds.notes());
        }
        Command::Memories { count, loggia, plugin } => {
            let (loggia, plugin) = (builds::loggia(loggia)?, builds::plugin("memories", plugin)?);
            for line in memories::run(&memories::Plan { loggia, plugin, memories: count })? {
                println!("{line}");
            }
        }
        Command::Neighbour { options, loggia, files, neighbour } => {
            let plan = neighbour::Plan {
                loggia: builds::loggia(loggia)?,
                files: builds::plugin("files", files)?,
                neighbour: builds::plugin("loggia-bench-neighbour", neighbour)?,
                rounds: if options.quick { 1 } else { options.rounds },
                block: Duration::from_millis(if options.quick { 100 } else { 400 }),
                blocks: if options.quick { 2 } else { 4 },
                only: options.only,
            };
            let records = neighbour::run(&plan)?;
            let rounds = Rounds::new(&records, Some(neighbour::SIDES[0]));
            println!("{}\n{}", rounds.compared(&neighbour::lines(), 1), rounds.notes());
            if plan.wants("ends") {
                println!("{}", neighbour::ends(&plan)?);
            }
        }
        Command::Clients { sequential, clients, each, idle, loggia, guest } => {
            let (loggia, guest) = (builds::loggia(loggia)?, builds::plugin("loggia-bench-guest", guest)?);
            let plan = clients::Plan { loggia, guest, sequential, crowd: (clients, each), idle };
            for line in clients::run(&plan)? {
                println!("{line}");
            }
            println!("{}", greedy::run(&plan.loggia, &plan.guest)?);
        }
        Command::Instructions { write, profiles, loggia, guest } => {
            let plan = instructions::Plan {
                loggia: builds::loggia(loggia)?,
                guest: builds::plugin("loggia-bench-guest", guest)?,
                is_writing: write,
                profiles,
            };
            println!("{}", instructions::run(&plan)?);
        }
        Command::Run { servers, results, only, options } => {
            let mut servers = config::load(&servers)?;
            servers.retain(|server| only.is_empty() || only.contains(&server.name));
            let mut output = Output::new(Some(&results))?;
            run::run(&servers, &options.plan(), None, &mut output)?;
        }
        Command::Report { results, baseline } => {
            let records = figures::load(&results)?;
            let rounds = Rounds::new(&records, Some(&baseline));
            println!("{}\n{}", rounds.compared(&goals::lines(), 1), rounds.all());
        }
    }
    Ok(())
}
