//! The measurements on well-behaved servers.
//!
//! All servers of a round take turns of a few hundred milliseconds: other load on the machine changes within seconds,
//! and so affects all of them alike.
//!
//! | file | concept |
//! |---|---|
//! | `start.rs` | from the start of the process to the first answers |
//! | `calls.rs` | latency, throughput, processor time and memory of calls |
//! | `reload.rs` | time from a changed plugin to the first call of the new version |

mod calls;
mod reload;
mod start;

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

pub use self::{
    calls::{http, stdio},
    reload::reload,
    start::start,
};
use crate::{
    call::{Call, TOOL_ERROR},
    client::Client,
    config::Server,
    figures::Figures,
    flood::Flood,
    process::{self, Process},
};

/// Maximum startup time of a server, which may include compilation.
pub const START: Duration = Duration::from_secs(120);
/// Maximum duration of one call.
pub const CALL: Duration = Duration::from_secs(20);
/// Time after which a phase starts no further calls of a server.
const PHASE: Duration = Duration::from_secs(4);

/// Factor for the number of calls in each phase, from `--scale`.
#[derive(Clone, Copy)]
pub struct Scale(pub f64);

impl Scale {
    /// Scales a number of calls; keeps enough for a percentile.
    pub fn calls(self, calls: usize) -> usize {
        ((calls as f64 * self.0) as usize).max(20)
    }
}

/// One server with its figures of this round.
pub struct Contender<'a> {
    /// Description of the server.
    pub server: &'a Server,
    /// Its figures.
    pub figures: Figures,
}

/// One round over all servers.
pub struct Round<'a> {
    /// Number from 1; decides the order.
    pub number: usize,
    /// Factor for the number of calls.
    pub scale: Scale,
    /// Measured servers.
    pub contenders: Vec<Contender<'a>>,
}

impl<'a> Round<'a> {
    /// A round in which nothing is measured yet.
    pub fn new(number: usize, scale: Scale, servers: &'a [Server]) -> Self {
        let contenders = servers.iter().map(|server| {
            let figures = Figures { server: server.name.clone(), ..Figures::default() };
            Contender { server, figures }
        });
        Self { number, scale, contenders: contenders.collect() }
    }

    /// Order of the servers in a turn: each turn starts with another.
    fn order(&self, turn: usize) -> Vec<usize> {
        order(self.contenders.len(), self.number - 1 + turn)
    }

    /// Starts every server that supports this transport.
    fn open(&mut self, name: &str, open: impl Fn(&Server) -> Result<Option<Live>>) -> Vec<Option<Live>> {
        let each = self.contenders.iter_mut();
        each.map(|c| c.figures.step(name, |_| open(c.server)).flatten()).collect()
    }

    /// Makes one phase's calls: `blocks` turns, in each of which every server answers its share.
    fn alternate(
        &mut self,
        live: &mut [Option<Live>],
        phase: &Phase,
        blocks: usize,
    ) -> Vec<Option<(Flood, Duration)>> {
        let mut calls: Vec<Call> = self.contenders.iter().map(|c| (phase.call)(c.server)).collect();
        let mut sums: Vec<Option<(Flood, Duration)>> =
            live.iter().map(|l| l.as_ref().map(|_| <_>::default())).collect();
        let share = phase.calls.div_ceil(blocks);
        let budget = PHASE / u32::try_from(blocks).unwrap_or(1);
        for block in 0..blocks {
            for at in self.order(block) {
                let (Some(server), Some(sum)) = (&mut live[at], &mut sums[at]) else { continue };
                let cpu = server.process.cpu();
                let made = self.contenders[at]
                    .figures
                    .step(phase.name, |_| server.client.flood(&mut calls[at], share, phase.window, budget));
                match made {
                    Some(flood) => {
                        sum.0.add(flood);
                        sum.1 += server.process.cpu().saturating_sub(cpu);
                    }
                    // It is dropped: later responses would prove nothing.
                    None => (live[at], sums[at]) = (None, None),
                }
            }
        }
        sums
    }
}

/// One kind of call, repeated.
struct Phase<'a> {
    name: &'a str,
    call: fn(&Server) -> Call,
    calls: usize,
    /// Number of calls in flight.
    window: usize,
}

/// A server that runs, and its client.
pub struct Live {
    /// The server.
    pub process: Process,
    /// Client after the handshake.
    pub client: Client,
    /// From the start of the process to the reply to `initialize`.
    pub ready: Duration,
}

/// Starts a server on stdio.
pub fn open_stdio(server: &Server) -> Result<Live> {
    process::prepare(server)?;
    let cmd = server.stdio.as_ref().context("no stdio command")?;
    let mut process = Process::start(server, cmd, true)?;
    let mut client = Client::stdio(&mut process)?;
    let ready = client.initialize(START)? - process.started;
    Ok(Live { process, client, ready })
}

/// Calls until the server answers, since it may still be loading its plugin. Returns the time since its start.
pub fn first_call(server: &Server, live: &mut Live) -> Result<Duration> {
    let mut call = Call::small(server);
    let until = Instant::now() + START;
    loop {
        match live.client.call(&mut call, START) {
            Ok(()) => return Ok(live.process.started.elapsed()),
            Err(error) if Instant::now() > until || !error.to_string().starts_with(TOOL_ERROR) => {
                return Err(error);
            }
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// `count` places, beginning with the one at `turn`.
fn order(count: usize, turn: usize) -> Vec<usize> {
    (0..count).map(|place| (place + turn) % count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_turn_begins_with_another() {
        assert_eq!(order(3, 0), [0, 1, 2]);
        assert_eq!(order(3, 1), [1, 2, 0]);
        assert_eq!(order(3, 5), [2, 0, 1]);
    }

    #[test]
    fn a_scaled_phase_still_makes_some_calls() {
        assert_eq!(Scale(0.5).calls(1000), 500);
        assert_eq!(Scale(0.0).calls(1000), 20);
    }
}
