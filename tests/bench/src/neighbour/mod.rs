//! Latency of a plugin's calls while another plugin of the same host misbehaves.
//!
//! | file | concept |
//! |---|---|
//! | `attack.rs` | the neighbour's attacks |
//! | `upstream.rs` | where its requests go |
//! | `site.rs` | a host with both plugins |
//! | `ends.rs` | termination of endless calls: delay and leftovers |
//!
//! One client on one connection makes both plugins' calls, so that the neighbour loads the host and not the client.
//! Blocks with and without the neighbour alternate, and so does their order.

mod attack;
mod ends;
mod site;
mod upstream;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

pub use self::ends::ends;
use self::{
    attack::{Attack, NEIGHBOUR},
    site::{Open, Site},
    upstream::Upstream,
};
use crate::{
    call,
    crowd::Crowd,
    figures::{Figures, Record},
    flood::{Flood, ms, percentile, us},
    goals::{Goal, Line},
    process::Process,
};

/// Parameters of a measurement.
pub struct Plan {
    pub loggia: PathBuf,
    pub files: PathBuf,
    pub neighbour: PathBuf,
    pub rounds: usize,
    /// One side of one block.
    pub block: Duration,
    /// Number of blocks in one round.
    pub blocks: usize,
    /// Only these attacks, if any are named.
    pub only: Vec<String>,
}

impl Plan {
    /// Tests whether this attack is selected.
    pub fn wants(&self, key: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == key)
    }
}

/// Connection of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// All calls on one pipe.
    Stdio,
    /// Each call that is in flight on a connection of its own.
    Http,
}

/// Time for the neighbour's calls to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// The names of the two columns.
pub const SIDES: [&str; 2] = ["alone", "beside"];

/// Measures everything; one record per round and side.
pub fn run(plan: &Plan) -> Result<Vec<Record>> {
    let upstream = Upstream::start()?;
    let mut rounds: BTreeMap<usize, [Figures; 2]> = BTreeMap::new();
    let attacks = attack::all(upstream.address);
    for attack in attacks.iter().filter(|attack| plan.wants(attack.key)) {
        for transport in [Transport::Stdio, Transport::Http] {
            eprintln!("{} over {transport:?}", attack.label);
            let site = Site::new(plan, &attack.policy)?;
            let mut open = site.open(transport, attack.calls + 1)?;
            let before = upstream.answered();
            for round in 1..=plan.rounds {
                let figures = rounds.entry(round).or_default();
                measure(plan, &mut open, attack, transport, figures)?;
            }
            let requests = upstream.answered() - before;
            ensure!(attack.key != "http" || requests > 0, "the neighbour sent no request");
        }
    }
    let records = rounds.into_iter().flat_map(|(round, sides)| {
        sides.into_iter().zip(SIDES).map(move |(figures, side)| Record {
            server: side.into(),
            round,
            numbers: figures.numbers,
            notes: figures.notes,
        })
    });
    Ok(records.collect())
}

/// One round of one attack.
fn measure(
    plan: &Plan,
    open: &mut Open,
    attack: &Attack,
    transport: Transport,
    figures: &mut [Figures; 2],
) -> Result<()> {
    let params = json!({"name": NEIGHBOUR, "arguments": attack.arguments}).to_string();
    let mut crowd = Crowd::new(params, attack.calls);
    let mut sides: [Flood; 2] = <_>::default();
    let mut call = site::stat();
    for block in 0..plan.blocks {
        for side in [block % 2, 1 - block % 2] {
            let beside = side == 1;
            if beside {
                // The neighbour is active before the first call is measured.
                open.client.beside(&mut call, Some(&mut crowd), plan.block / 4)?;
            }
            sides[side].add(open.client.beside(&mut call, beside.then_some(&mut crowd), plan.block)?);
            crowd.end(&mut open.client, PATIENCE)?;
            quiet(&open.process)?;
        }
    }
    ensure!(crowd.answered > 0, "the neighbour's calls were never answered");
    let said = call::error(&crowd.last).unwrap_or_else(|| "done".into());
    for (flood, figures) in sides.iter_mut().zip(&mut *figures) {
        let key = |name: &str| format!("{}.{}.{name}", transport.key(), attack.key);
        figures.set(key("p50_us"), us(percentile(&mut flood.latencies, 50)));
        figures.set(key("p99_ms"), ms(percentile(&mut flood.latencies, 99)));
        figures.set(key("most_ms"), ms(percentile(&mut flood.latencies, 100)));
        figures.set(key("lost"), flood.lost as f64);
    }
    let per_second = crowd.answered as f64 / sides[1].wall.as_secs_f64();
    let code = serde_json::from_str::<Value>(&said).ok().and_then(|envelope| {
        Some(format!("{}: {}", envelope["code"].as_str()?, envelope["error"].as_str()?))
    });
    let said: String = code.unwrap_or(said).chars().take(120).collect();
    let note = format!(
        "{} measured calls; {per_second:.0} of the neighbour's a second, the last `{}`",
        sides[1].latencies.len(),
        said.replace(['\n', '|', '`'], " ")
    );
    eprintln!("  {note}");
    figures[1].note(format!("{}.{}", transport.key(), attack.key), note);
    Ok(())
}

impl Transport {
    fn key(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
        }
    }
}

/// Waits until a host is idle: leftovers of a neighbour must not count as undisturbed.
fn quiet(process: &Process) -> Result<()> {
    const LOOK: Duration = Duration::from_millis(20);
    let until = Instant::now() + PATIENCE;
    loop {
        let before = process.cpu();
        std::thread::sleep(LOOK);
        if process.cpu().saturating_sub(before) < LOOK / 10 {
            return Ok(());
        }
        ensure!(Instant::now() < until, "the host does not come to rest");
    }
}

/// The lines of the comparison.
pub fn lines() -> Vec<Line> {
    let parts = [
        ("p50, µs", "p50_us", Some(Goal::TimesAtMost(1.5))),
        ("p99, ms", "p99_ms", Some(Goal::AtMost(10.0))),
        ("longest, ms", "most_ms", None),
        ("never answered", "lost", Some(Goal::AtMost(0.0))),
    ];
    let attacks = attack::all(([127, 0, 0, 1], 0).into());
    let mut lines = Vec::new();
    for transport in [Transport::Stdio, Transport::Http] {
        for attack in &attacks {
            for (part, key, goal) in parts {
                let label = format!("{}, {}: {part}", transport.key(), attack.label).into();
                let key = format!("{}.{}.{key}", transport.key(), attack.key).into();
                lines.push(Line { label, key, goal });
            }
        }
    }
    lines
}
