//! Termination of endless calls: delay and leftovers.

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::{NEIGHBOUR, Plan, Site, Transport, quiet};
use crate::{call, figures::median};

/// Number of attempts.
const TIMES: usize = 5;
/// CPU budget of a loop.
const BUDGET: Duration = Duration::from_secs(1);
const POLICY: &str = "[limits]\ncpu = \"1s\"\nbreaker-faults = 1000000\n";

/// An endless loop and endless allocation, several times each, as a table.
pub fn ends(plan: &Plan) -> Result<String> {
    let site = Site::new(plan, POLICY)?;
    let mut open = site.open(Transport::Stdio, 1)?;
    let mut ended = |action: &str, because: &str| -> Result<(f64, f64)> {
        quiet(&open.process)?;
        let before = open.process.rss_mib();
        let params = json!({"name": NEIGHBOUR, "arguments": {"action": action}}).to_string();
        let begun = Instant::now();
        let reply = open.client.request("tools/call", &params, Duration::from_secs(60))?;
        let error =
            call::error(&reply.body).with_context(|| format!("{action} came to an end of its own"))?;
        ensure!(error.contains(because), "{action} was ended, but not by {because}: {error}");
        quiet(&open.process)?;
        Ok(((reply.at - begun).as_secs_f64() * 1e3, open.process.rss_mib() - before))
    };
    let (mut late, mut soon, mut left) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TIMES {
        let (time, _) = ended("spin", "limits.cpu")?;
        late.push(time - BUDGET.as_secs_f64() * 1e3);
        let (time, grown) = ended("hog", "limits.memory")?;
        soon.push(time);
        left.push(grown);
    }
    let mut table = String::from("| | median | worst | goal |\n|---|---:|---:|---:|\n");
    for (label, values, most) in [
        ("an endless loop is ended so long after its processor time, ms", late, 200.0),
        ("endless allocation is ended after, ms", soon, 500.0),
        ("resident memory then, beyond what it was before, MiB", left, 5.0),
    ] {
        let worst = values.iter().copied().fold(f64::MIN, f64::max);
        let middle = median(&values).unwrap_or(f64::NAN);
        let mark = if worst <= most { "✓" } else { "**missed**" };
        writeln!(table, "| {label} | {middle:.1} | {worst:.1} | ≤ {most} {mark} |")?;
    }
    Ok(table)
}
