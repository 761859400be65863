//! Hosts under misbehaving plugins and clients for any duration: no growth, no wrong answers.
//!
//! Two hosts serve one folder, one over stdio and one over HTTP. Both get valid calls, calls that trap, loop, allocate,
//! flood and sleep, cancellations, short-lived clients, and a changing folder. During pauses SIGUSR1 requests each
//! host's vitals.
//!
//! | file | concept |
//! |---|---|
//! | `site.rs` | the folder: its plugins and their policies |
//! | `churn.rs` | continuous changes of the folder |
//! | `host.rs` | a host's process and its resources |
//! | `door.rs`, `pipe.rs` | a client over HTTP or stdio |
//! | `kinds.rs` | kinds of calls and their correct answers |
//! | `traffic.rs` | clients that call until a pause |
//! | `upstream.rs` | where requests of plugins go |
//! | `random.rs` | chance that a seed repeats |
//! | `ledger.rs`, `verdict.rs` | results and their evaluation |
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command that prints its results")]

mod churn;
mod door;
mod host;
mod kinds;
mod ledger;
mod pipe;
mod random;
mod site;
mod traffic;
mod upstream;
mod verdict;

use std::{
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use anyhow::Result;
use clap::Parser;
use tokio::sync::watch;

use crate::{
    host::{Host, Transport},
    ledger::Ledger,
    site::Site,
    traffic::{Phase, Traffic},
    upstream::Upstream,
    verdict::Watched,
};

/// Lets plugins and clients misbehave, and fails if a host grows, answers wrongly, or exits.
#[derive(Parser)]
struct Cli {
    /// Duration
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Repeats the choices of another run (not its timing)
    #[arg(long)]
    seed: Option<u64>,
    /// Number of concurrent clients of each host
    #[arg(long, default_value_t = 10)]
    clients: usize,
}

/// Number of checkpoints after the warm-up.
const CHECKPOINTS: u32 = 5;
/// Share of the warm-up, and its maximum: until pools, caches and arenas have reached their final size.
const WARM_UP: (f64, Duration) = (0.3, Duration::from_secs(180));

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let cli = Cli::parse();
    let now = SystemTime::UNIX_EPOCH.elapsed()?;
    let seed = cli.seed.unwrap_or(u64::from(now.subsec_nanos()) ^ now.as_secs());
    println!("seed {seed}, {} minutes, {} clients of each host", cli.minutes, cli.clients);
    let whole = Duration::from_secs_f64(cli.minutes * 60.0);
    let warm_up = whole.mul_f64(WARM_UP.0).min(WARM_UP.1);
    let upstream = Upstream::start().await?;
    let site = Arc::new(Site::new(upstream.address)?);
    let ledger = Arc::new(Ledger::default());
    let mut watched = Vec::new();
    for transport in [Transport::Stdio, Transport::Http] {
        watched.push(Watched::new(Host::start(site.folder(), transport).await?));
    }
    let (phase, phases) = watch::channel(Phase::Rest);
    let hosts = watched.iter().map(|watched| watched.host.entrance());
    let mut traffic =
        Traffic::new(seed, cli.clients, site, hosts.collect(), Arc::clone(&ledger), phases).await?;

    traffic.served().await?;
    traffic.at_worst(seed).await?;

    let begun = Instant::now();
    let mut rounds = vec![warm_up];
    rounds.extend((0..CHECKPOINTS).map(|_| whole.saturating_sub(warm_up) / CHECKPOINTS));
    for (round, length) in rounds.into_iter().enumerate() {
        phase.send_replace(Phase::Go);
        tokio::select! {
            () = tokio::time::sleep(length) => {}
            () = traffic.broken() => {}
        }
        phase.send_replace(Phase::Rest);
        traffic.rest().await;
        upstream.hang_up();
        for watched in &mut watched {
            watched.look(length).await;
        }
        let name = if round == 0 { "after the warm-up".into() } else { format!("checkpoint {round}") };
        println!("{:>6.0} s  {name}: {}", begun.elapsed().as_secs_f64(), verdict::latest(&watched));
        if !ledger.problems().is_empty() {
            break;
        }
    }
    drop(phase);
    traffic.end().await;
    Ok(verdict::tell(watched, &ledger).await)
}
