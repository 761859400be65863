//! Latency, throughput, processor time and memory of calls.

use std::time::Duration;

use anyhow::{Context, Result};

use super::{CALL, Live, Phase, Round, START, first_call, open_stdio};
use crate::{
    call::Call,
    client::Client,
    config::Server,
    figures::Figures,
    flood::{Flood, percentile, us},
    process::{self, Process},
};

/// Calls over stdio, and the list of tools.
pub fn stdio(round: &mut Round) {
    let mut live = round.open("stdio", |server| {
        let Some(_) = server.stdio else { return Ok(None) };
        let mut live = open_stdio(server)?;
        first_call(server, &mut live)?;
        Ok(Some(live))
    });
    for (contender, live) in round.contenders.iter_mut().zip(&live) {
        if let Some(live) = live {
            contender.figures.set("mem.ready_mib", live.process.rss_mib());
        }
    }
    list(round, &mut live);
    calls(round, &mut live, "stdio");
    for (contender, live) in round.contenders.iter_mut().zip(&live) {
        if let Some(live) = live {
            contender.figures.set("mem.peak_mib", live.process.peak_mib());
        }
    }
}

/// Calls over HTTP.
pub fn http(round: &mut Round) {
    let mut live = round.open("http", open_http);
    calls(round, &mut live, "http");
    for (contender, live) in round.contenders.iter_mut().zip(&live) {
        if let Some(live) = live {
            contender.figures.set("mem.http_peak_mib", live.process.peak_mib());
        }
    }
}

fn open_http(server: &Server) -> Result<Option<Live>> {
    let Some(http) = &server.http else { return Ok(None) };
    process::prepare(server)?;
    let process = Process::start(server, &http.cmd, false)?;
    let mut client = Client::http(http, 64, START)?;
    let ready = client.initialize(START)? - process.started;
    let mut live = Live { process, client, ready };
    first_call(server, &mut live)?;
    Ok(Some(live))
}

fn list(round: &mut Round, live: &mut [Option<Live>]) {
    const BLOCKS: usize = 3;
    let mut times: Vec<Vec<Duration>> = live.iter().map(|_| Vec::new()).collect();
    let share = round.scale.calls(300) / BLOCKS;
    for block in 0..BLOCKS {
        for at in round.order(block) {
            let Some(server) = &mut live[at] else { continue };
            let figures = &mut round.contenders[at].figures;
            figures.step("list", |f| {
                for _ in 0..share {
                    let begun = std::time::Instant::now();
                    let reply = server.client.request("tools/list", "{}", CALL)?;
                    times[at].push(reply.at - begun);
                    if times[at].len() == 1 {
                        let tools = reply.result()?["tools"].take();
                        f.set("list.tools", tools.as_array().context("no tools")?.len() as f64);
                        f.set("list.bytes", tools.to_string().len() as f64);
                    }
                }
                Ok(())
            });
        }
    }
    for (contender, times) in round.contenders.iter_mut().zip(&mut times).filter(|(_, t)| !t.is_empty()) {
        contender.figures.set("list.p50_us", us(percentile(times, 50)));
    }
}

/// Numbers of calls in flight for throughput.
const WINDOWS: [usize; 2] = [16, 64];

fn calls(round: &mut Round, live: &mut [Option<Live>], via: &str) {
    let scale = round.scale;
    let mut lost = vec![0; live.len()];
    let mut made = vec![0; live.len()];
    let small = |name, calls, window| Phase { name, call: Call::small, calls, window };
    let large = |name, calls, window| Phase { name, call: Call::large, calls, window };

    round.alternate(live, &small("warm-up", scale.calls(300), 1), 1);
    let floods = round.alternate(live, &small("seq100B", scale.calls(4000), 1), 16);
    each(round, floods, |at, f, mut flood, cpu| {
        made[at] += flood.latencies.len();
        f.set(format!("{via}.cpu_us_per_100B_call"), us(cpu) / flood.latencies.len() as f64);
        latency(f, &format!("{via}.seq100B"), &mut flood);
    });
    for window in WINDOWS {
        let floods = round.alternate(live, &small("rate100B", scale.calls(8000), window), 8);
        each(round, floods, |at, f, flood, cpu| {
            made[at] += flood.latencies.len();
            lost[at] += flood.lost;
            f.set(format!("{via}.rate100B_x{window}"), flood.rate());
            f.set(format!("{via}.cpu_us_per_100B_call_x{window}"), us(cpu) / flood.latencies.len() as f64);
        });
    }
    for (at, contender) in round.contenders.iter_mut().enumerate() {
        if let Some(live) = live[at].as_ref().filter(|_| via == "stdio") {
            contender.figures.set("mem.after_100B_calls_mib", live.process.rss_mib());
            contender.figures.set("mem.after_100B_calls_made", made[at] as f64);
        }
    }
    round.alternate(live, &large("warm-up", scale.calls(50), 1), 1);
    let floods = round.alternate(live, &large("seq64K", scale.calls(1000), 1), 8);
    each(round, floods, |_, f, mut flood, cpu| {
        f.set(format!("{via}.cpu_us_per_64K_call"), us(cpu) / flood.latencies.len() as f64);
        latency(f, &format!("{via}.seq64K"), &mut flood);
    });
    let transform = Phase { name: "transform64K", call: Call::transform, calls: scale.calls(300), window: 1 };
    let floods = round.alternate(live, &transform, 3);
    each(round, floods, |_, f, mut flood, _| latency(f, &format!("{via}.transform64K"), &mut flood));
    for window in WINDOWS {
        let floods = round.alternate(live, &large("rate64K", scale.calls(1000), window), 4);
        each(round, floods, |at, f, flood, _| {
            lost[at] += flood.lost;
            f.set(format!("{via}.rate64K_x{window}"), flood.rate());
        });
    }
    for ((contender, live), lost) in round.contenders.iter_mut().zip(live).zip(lost) {
        if live.is_some() {
            contender.figures.set(format!("{via}.calls_never_answered"), lost as f64);
        }
    }
}

fn each(
    round: &mut Round,
    floods: Vec<Option<(Flood, Duration)>>,
    mut found: impl FnMut(usize, &mut Figures, Flood, Duration),
) {
    for (at, flood) in floods.into_iter().enumerate() {
        if let Some((flood, cpu)) = flood {
            found(at, &mut round.contenders[at].figures, flood, cpu);
        }
    }
}

fn latency(f: &mut Figures, key: &str, flood: &mut Flood) {
    f.set(format!("{key}.p50_us"), us(percentile(&mut flood.latencies, 50)));
    f.set(format!("{key}.p99_us"), us(percentile(&mut flood.latencies, 99)));
}
