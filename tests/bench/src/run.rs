//! Rounds over servers.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::Path,
};

use anyhow::{Context, Result};

use crate::{
    chaos,
    config::Server,
    figures::Record,
    many::Many,
    measure::{self, Round, Scale},
    stage::Stage,
    threads,
};

/// Parameters of a measurement.
pub struct Plan {
    /// Number of rounds.
    pub rounds: usize,
    /// Factor for the number of calls.
    pub scale: Scale,
    /// Servers that are treated well.
    pub figures: bool,
    /// Tools that loop and hoard.
    pub chaos: bool,
    /// Numbers of plugins per folder, for the last server.
    pub many: Vec<usize>,
    /// Measure calls next to looping ones.
    pub loops: bool,
    /// Only calls over stdio.
    pub stdio_only: bool,
}

/// Destination of results.
pub struct Output {
    file: Option<File>,
    /// All of them.
    pub records: Vec<Record>,
}

impl Output {
    /// Results are also added to this file.
    pub fn new(file: Option<&Path>) -> Result<Self> {
        let open = |path: &Path| {
            let file = OpenOptions::new().create(true).append(true).open(path);
            file.with_context(|| format!("opening {}", path.display()))
        };
        Ok(Self { file: file.map(open).transpose()?, records: Vec::new() })
    }

    fn add(&mut self, record: Record) -> Result<()> {
        if let Some(file) = &mut self.file {
            writeln!(file, "{}", serde_json::to_string(&record)?)?;
        }
        self.records.push(record);
        Ok(())
    }
}

/// Measures all servers in every round, in turns within it.
pub fn run(servers: &[Server], plan: &Plan, stage: Option<&Stage>, output: &mut Output) -> Result<()> {
    let mut folders = Vec::new();
    for count in &plan.many {
        eprintln!("preparing {count} plugins");
        folders.push(Many::prepare(stage.context("no stage for many plugins")?, *count)?);
    }
    for number in 1..=plan.rounds {
        let mut round = Round::new(number, plan.scale, servers);
        let load = load_average();
        if plan.figures {
            let mut phase = |name: &str, measure: fn(&mut Round)| {
                eprintln!("round {number}: {name}, load {:.1}", load_average());
                measure(&mut round);
            };
            phase("stdio", measure::stdio);
            if !plan.stdio_only {
                phase("start", measure::start);
                phase("http", measure::http);
                phase("reload", measure::reload);
            }
        }
        for contender in round.contenders.iter_mut().filter(|_| plan.loops) {
            eprintln!("round {number}: {} beside loops", contender.server.name);
            let server = contender.server;
            contender.figures.step("loops", |f| threads::beside_loops(server, plan.scale, f));
        }
        if let Some(last) = round.contenders.last_mut() {
            for many in &folders {
                eprintln!("round {number}: many plugins");
                last.figures.step("many", |f| many.measure(f));
            }
        }
        // Misbehaviour does not vary like a timing; once is enough.
        for contender in round.contenders.iter_mut().filter(|_| plan.chaos && number == 1) {
            if !contender.server.fragile {
                eprintln!("round {number}: {} with tools that misbehave", contender.server.name);
                chaos::all(contender.server, &mut contender.figures);
            }
        }
        for contender in round.contenders {
            let mut figures = contender.figures;
            figures.set("machine.load_before", load);
            figures.set("machine.load_after", load_average());
            let server = contender.server.name.clone();
            output.add(Record { server, round: number, numbers: figures.numbers, notes: figures.notes })?;
        }
    }
    Ok(())
}

/// Load average of the last minute.
fn load_average() -> f64 {
    std::fs::read_to_string("/proc/loadavg")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok())
        .unwrap_or(0.0)
}
