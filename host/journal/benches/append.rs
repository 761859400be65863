//! Cost of the journal on this machine: `cargo bench -p loggia-journal --bench append`.

use std::{
    io::{Write, stderr},
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use loggia_gate::journal::{Journal, NewRun, RetentionLimits, RunLease};
use loggia_journal::SqliteJournal;

/// Steps that are measured.
const STEPS: u64 = 2000;

fn run(id: String) -> NewRun {
    NewRun { id, facade: "orders".into(), action: "place".into(), head: vec![b'h'; 500], began_ms: 0 }
}

/// Records the steps of so many runs, each with one entry of so many bytes, and returns the time that a step takes.
async fn record(journal: &SqliteJournal, runs: u64, bytes: usize) -> Duration {
    let began = Instant::now();
    let recorded = (0..runs).map(async |number| {
        let id = format!("{runs}/{bytes}/{number}");
        drop(journal.create(run(id.clone())));
        for step in 0..STEPS / runs {
            let lease = RunLease { run: id.clone(), fence: 1 };
            journal.append(lease, step, vec![vec![b'e'; bytes]]).await.unwrap();
        }
        journal.finish(RunLease { run: id, fence: 1 }, vec![b'o'; 200]).await.unwrap();
    });
    join_all(recorded).await;
    began.elapsed() / u32::try_from(STEPS).unwrap()
}

fn main() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let journal = SqliteJournal::open(folder.path(), RetentionLimits::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(record(&journal, 1, 100));
    for (runs, bytes) in [(1, 200), (1, 4096), (1, 65_536), (16, 200), (16, 4096)] {
        let took = runtime.block_on(record(&journal, runs, bytes));
        let _ = writeln!(stderr(), "{runs:>2} runs at once, {bytes:>6} bytes: {took:?} a step");
    }
}
