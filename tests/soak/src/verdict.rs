//! Resources of hosts at each pause, and their evaluation.

use std::{fmt::Write, process::ExitCode, time::Duration};

use crate::{
    host::{Host, Vitals},
    ledger::Ledger,
};

/// Blocking threads end after 10 s without work.
const SETTLE: Duration = Duration::from_secs(11);
/// A shorter run than this does not wait for them.
const SHORT: Duration = Duration::from_secs(10);
/// With less traffic than this between two checkpoints, the allocator's normal behaviour looks like growth.
const LONG: Duration = Duration::from_secs(45);
/// Time for a temporary excess to disappear.
const PATIENCE: Duration = Duration::from_secs(20);

/// Tolerated growth in descriptors, threads and tasks.
const FEW: f64 = 8.0;
/// Like [`FEW`] for memory: a share, or a number of MiB, whichever is more.
const MEMORY: (f64, f64) = (0.10, 8.0);

/// A host and its checkpoints.
pub struct Watched {
    pub host: Host,
    looks: Vec<Vitals>,
    /// The shortest traffic between two looks.
    between: Duration,
    /// Reason why a checkpoint failed.
    lost: Option<String>,
}

impl Watched {
    pub fn new(host: Host) -> Self {
        Self { host, looks: Vec::new(), between: Duration::MAX, lost: None }
    }

    /// Waits until the host is idle and takes a checkpoint.
    pub async fn look(&mut self, traffic: Duration) {
        self.between = self.between.min(traffic);
        self.host.quiet().await;
        if self.looks.is_empty() && traffic >= SHORT {
            tokio::time::sleep(SETTLE).await;
        }
        let until = tokio::time::Instant::now() + PATIENCE;
        loop {
            match self.host.vitals().await {
                Err(error) => {
                    self.lost = Some(format!("{error:#}; its log: {}", self.host.log()));
                    return;
                }
                Ok(vitals) => {
                    let grown = self.looks.first().is_some_and(|first| !growth(first, &vitals).is_empty());
                    if !grown || tokio::time::Instant::now() > until {
                        self.looks.push(vitals);
                        return;
                    }
                }
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    /// Problems of the checkpoints.
    fn faults(&self) -> Vec<String> {
        let mut faults: Vec<String> = self.lost.iter().cloned().collect();
        let Some((first, later)) = self.looks.split_first() else { return faults };
        for (at, look) in later.iter().enumerate() {
            let grown = growth(first, look).into_iter();
            faults.extend(grown.map(|what| format!("at checkpoint {}: {what}", at + 1)));
        }
        if self.between >= LONG {
            faults.extend(slope(&self.looks));
        }
        faults
    }
}

/// Resources that grew by more than the tolerance.
fn growth(first: &Vitals, now: &Vitals) -> Vec<String> {
    let memory = (first.resident_mib * MEMORY.0).max(MEMORY.1);
    [
        ("MiB of memory", first.resident_mib, now.resident_mib, memory),
        ("descriptors", first.descriptors, now.descriptors, FEW),
        ("threads", first.threads, now.threads, FEW),
        ("tasks", first.tasks, now.tasks, FEW),
    ]
    .into_iter()
    .filter(|(_, first, now, more)| now > &(first + more))
    .map(|(what, first, now, more)| format!("{now} {what}, {first} at the start, {more:.0} more are allowed"))
    .collect()
}

/// Memory that grew between all checkpoints, by half of the tolerance in total: it would continue.
fn slope(looks: &[Vitals]) -> Option<String> {
    let (first, last) = (looks.get(1)?, looks.last()?);
    let allowed = (first.resident_mib * MEMORY.0).max(MEMORY.1) / 2.0;
    let rises = looks.windows(2).skip(1).all(|pair| pair[1].resident_mib > pair[0].resident_mib);
    (looks.len() > 4 && rises && last.resident_mib > first.resident_mib + allowed).then(|| {
        format!(
            "memory grew between all checkpoints, from {} to {} MiB",
            first.resident_mib, last.resident_mib
        )
    })
}

/// Last checkpoint of all hosts, on one line.
pub fn latest(watched: &[Watched]) -> String {
    let said = watched.iter().map(|watched| {
        let name = format!("{:?}", watched.host.transport).to_lowercase();
        match (&watched.lost, watched.looks.last()) {
            (None, Some(Vitals { resident_mib, descriptors, threads, tasks, .. })) => {
                format!("{name} {resident_mib} MiB, {descriptors} fds, {threads} threads, {tasks} tasks")
            }
            _ => format!("{name} is lost"),
        }
    });
    said.collect::<Vec<_>>().join("; ")
}

/// Prints the results; returns the exit code.
pub async fn tell(watched: Vec<Watched>, ledger: &Ledger) -> ExitCode {
    let mut text = String::from("\n              start    end   most\n");
    let mut reasons = ledger.problems();
    for watched in &watched {
        let name = format!("{:?}", watched.host.transport).to_lowercase();
        if let Some((first, last)) = watched.looks.first().zip(watched.looks.last()) {
            type Part = (&'static str, fn(&Vitals) -> f64);
            let parts: [Part; 4] = [
                ("MiB", |vitals| vitals.resident_mib),
                ("fds", |vitals| vitals.descriptors),
                ("threads", |vitals| vitals.threads),
                ("tasks", |vitals| vitals.tasks),
            ];
            for (part, of) in parts {
                let most = if part == "MiB" { format!("{:.1}", last.peak_mib) } else { String::new() };
                let _ = writeln!(text, "{name:5} {part:7} {:>6} {:>6} {most:>6}", of(first), of(last));
            }
        }
        reasons.extend(watched.faults().into_iter().map(|fault| format!("{name}: {fault}")));
    }
    println!("{text}\n{}", ledger.table());
    if reasons.is_empty() {
        println!("well: nothing grew, and every answer was right");
        return ExitCode::SUCCESS;
    }
    for reason in reasons {
        println!("FAILED: {reason}");
    }
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(resident_mib: f64, threads: f64) -> Vitals {
        Vitals { resident_mib, peak_mib: 0.0, descriptors: 20.0, threads, tasks: 10.0 }
    }

    #[test]
    fn growth_needs_more_than_noise() {
        assert_eq!(growth(&held(30.0, 9.0), &held(37.9, 17.0)), [""; 0]);
        assert_eq!(growth(&held(200.0, 9.0), &held(219.0, 9.0)), [""; 0]);
        assert_eq!(growth(&held(30.0, 9.0), &held(38.1, 18.0)).len(), 2);
    }

    #[test]
    fn steady_growth_is_found_before_the_limit() {
        let looks = |values: [f64; 6]| values.map(|mib| held(mib, 9.0));
        assert!(slope(&looks([30.0, 31.0, 32.0, 33.0, 34.0, 35.5])).is_some());
        assert!(slope(&looks([30.0, 31.0, 32.0, 31.5, 34.0, 35.5])).is_none());
        assert!(slope(&looks([30.0, 31.0, 31.1, 31.2, 31.3, 31.4])).is_none());
    }
}
