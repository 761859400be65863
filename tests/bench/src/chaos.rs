//! A server's behaviour when a tool loops forever or allocates without limit.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::{
    call::{self, Call},
    client::Client,
    config::Server,
    figures::Figures,
    measure::{Live, first_call, open_stdio},
    process::Process,
};

const SPIN_LIMIT: Duration = Duration::from_secs(10);
const HOG_LIMIT: Duration = Duration::from_secs(30);
/// Limit above which the bench kills a server, to protect the machine.
const HOG_GUARD_MIB: f64 = 2048.0;
const PROBE: Duration = Duration::from_secs(3);

/// One looping call, three at once, and one that allocates.
pub fn all(server: &Server, f: &mut Figures) {
    f.step("spin", |f| spin(server, 1, f));
    f.step("spin3", |f| spin(server, 3, f));
    f.step("hog", |f| hog(server, f));
}

/// Runs `runaways` looping calls at once: are other calls still answered, does an error arrive, and does cancellation
/// stop the loop?
fn spin(server: &Server, runaways: usize, f: &mut Figures) -> Result<()> {
    let mut live = open_stdio(server)?;
    first_call(server, &mut live)?;
    let Live { mut process, mut client, .. } = live;
    let params = Call::new(server, "spin", None).params;
    let begun = Instant::now();
    let ids: Vec<u64> = (0..runaways).map(|_| client.send("tools/call", &params)).collect::<Result<_>>()?;
    let mut said = Vec::new();

    std::thread::sleep(Duration::from_millis(300));
    let small = Call::small(server).params;
    said.push(format!("during: ping {}, ", probe(&mut client, "ping", "{}")));
    said.push(format!("list {}, ", probe(&mut client, "tools/list", "{}")));
    said.push(format!("echo {}; ", probe(&mut client, "tools/call", &small)));

    match client.wait(ids[0], SPIN_LIMIT.saturating_sub(begun.elapsed())) {
        Ok(Some(reply)) => said.push(format!(
            "error after {:.1} s: {}",
            begun.elapsed().as_secs_f64(),
            short(&call::error(&reply.body).unwrap_or_else(|| "(no error!)".into()))
        )),
        Ok(None) => {
            said.push(format!("no error in {:.0} s; ", begun.elapsed().as_secs_f64()));
            said.push(cancel(&mut client, &ids)?);
        }
        Err(error) => said.push(format!("{error:#}")),
    }
    aftermath(&mut process, &mut client, &small, &mut said);
    f.note(if runaways == 1 { "spin" } else { "spin3" }, said.concat());
    Ok(())
}

fn cancel(client: &mut Client, ids: &[u64]) -> Result<String> {
    let asked = Instant::now();
    for id in ids {
        let params = format!(r#"{{"requestId":{id},"reason":"bench"}}"#);
        client.notify("notifications/cancelled", &params)?;
    }
    Ok(match client.wait(ids[0], PROBE) {
        Ok(Some(reply)) => format!(
            "after cancel: reply in {:.0} ms {}",
            asked.elapsed().as_secs_f64() * 1e3,
            short(&call::error(&reply.body).unwrap_or_default())
        ),
        Ok(None) => "after cancel: no reply".into(),
        Err(error) => format!("after cancel: {error:#}"),
    })
}

fn hog(server: &Server, f: &mut Figures) -> Result<()> {
    let mut live = open_stdio(server)?;
    first_call(server, &mut live)?;
    let Live { mut process, mut client, .. } = live;
    let begun = Instant::now();
    let id = client.send("tools/call", &Call::new(server, "hog", None).params)?;
    let mut said = Vec::new();
    loop {
        let peak = process.peak_mib();
        let seconds = begun.elapsed().as_secs_f64();
        if peak > HOG_GUARD_MIB {
            f.note("hog", format!("no limit: {peak:.0} MiB after {seconds:.1} s, ended by the bench"));
            return Ok(());
        }
        match client.wait(id, Duration::from_millis(20)) {
            Ok(Some(reply)) => {
                let error = call::error(&reply.body).unwrap_or_else(|| "(no error!)".into());
                let (peak, error) = (process.peak_mib(), short(&error));
                said.push(format!("error after {seconds:.2} s, peak {peak:.0} MiB: {error}"));
                break;
            }
            Ok(None) if begun.elapsed() > HOG_LIMIT => {
                said.push(format!("no error in {HOG_LIMIT:?}, peak {peak:.0} MiB"));
                break;
            }
            Ok(None) => {}
            Err(error) => {
                said.push(format!("{error:#} after {seconds:.2} s"));
                break;
            }
        }
    }
    aftermath(&mut process, &mut client, &Call::small(server).params, &mut said);
    said.push(format!("; RSS after {:.0} MiB", process.rss_mib()));
    f.note("hog", said.concat());
    Ok(())
}

fn aftermath(process: &mut Process, client: &mut Client, echo: &str, said: &mut Vec<String>) {
    let cpu = process.cpu();
    std::thread::sleep(Duration::from_secs(1));
    let burnt = process.cpu().saturating_sub(cpu).as_secs_f64();
    let alive = if process.alive() { "alive" } else { "DEAD" };
    let after = if process.alive() { probe(client, "tools/call", echo) } else { "-".into() };
    said.push(format!("; then: process {alive}, {burnt:.1} CPU busy, echo {after}"));
}

fn probe(client: &mut Client, method: &str, params: &str) -> String {
    let begun = Instant::now();
    match client.request(method, params, PROBE) {
        Ok(reply) => match call::error(&reply.body) {
            None => format!("ok {:.1} ms", begun.elapsed().as_secs_f64() * 1e3),
            Some(error) => format!("error {}", short(&error)),
        },
        Err(_) => format!("no answer in {} s", PROBE.as_secs()),
    }
}

fn short(text: &str) -> String {
    let text: String = text.chars().take(160).collect();
    format!("`{}`", text.replace(['\n', '|', '`'], " "))
}
