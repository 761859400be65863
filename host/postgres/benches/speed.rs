//! Cost of PostgreSQL on this machine: `cargo bench -p loggia-postgres --features testing --bench speed`.
//!
//! A private server on the loopback address, whose commits wait for the disk.

use std::{
    io::{Write, stderr},
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use loggia_gate::journal::{Journal, NewRun, RunLease};
use loggia_postgres::{
    DatabaseAccess, JournalOptions, PostgresJournal, PostgresStores, testing::PrivateServer,
};
use loggia_state::{
    StateFolder, StateSpace,
    testing::{AMPLE, put},
};

/// Steps of runs that are measured.
const STEPS: u64 = 2000;

fn say(text: &str) {
    let _ = writeln!(stderr(), "{text}");
}

/// Median and 99th percentile.
fn shares(mut took: Vec<Duration>) -> String {
    took.sort_unstable();
    let at = |share: usize| took[(took.len() - 1) * share / 100];
    format!("{:?} (p50), {:?} (p99)", at(50), at(99))
}

/// The time that one takes.
fn each(times: u32, mut work: impl FnMut(u32)) -> String {
    let took = (0..times).map(|number| {
        let began = Instant::now();
        work(number);
        began.elapsed()
    });
    shares(took.collect())
}

/// Records the steps of so many runs, each with one entry of so many bytes, and returns the times of all steps.
async fn record(journal: &PostgresJournal, runs: u64, bytes: usize) -> Vec<Duration> {
    let recorded = (0..runs).map(async |number| {
        let id = format!("{runs}/{bytes}/{number}");
        let facade = "orders".to_owned();
        let head = vec![b'h'; 500];
        drop(journal.create(NewRun { id: id.clone(), facade, action: "place".into(), head, began_ms: 0 }));
        let mut took = Vec::new();
        for step in 0..STEPS / runs {
            let began = Instant::now();
            let lease = RunLease { run: id.clone(), fence: 1 };
            journal.append(lease, step, vec![vec![b'e'; bytes]]).await.unwrap();
            took.push(began.elapsed());
        }
        journal.finish(RunLease { run: id, fence: 1 }, vec![b'o'; 200]).await.unwrap();
        took
    });
    join_all(recorded).await.concat()
}

fn measure_journal(access: DatabaseAccess) {
    let journal = PostgresJournal::open(access, JournalOptions::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    // The first commits also wait for the files of the new server.
    runtime.block_on(record(&journal, 1, 100));
    for (runs, bytes) in [(1, 200), (1, 4096), (1, 65_536), (16, 200), (16, 4096)] {
        let began = Instant::now();
        let took = shares(runtime.block_on(record(&journal, runs, bytes)));
        let rate = STEPS as f64 / began.elapsed().as_secs_f64();
        say(&format!("{runs:>2} runs at once, {bytes:>6} bytes: {took} a step, {rate:.0} a second"));
    }
}

fn measure_state(access: DatabaseAccess) {
    let dir = tempfile::tempdir().unwrap();
    let stores = Arc::new(PostgresStores::new(access).unwrap());
    let folder = StateFolder::with_backend(dir.path(), stores).unwrap();
    let store = folder.store("notes", AMPLE).unwrap();
    let entry = |number: u32| put(&format!("key/{number:06}"), [b'v'; 200]);
    store.commit(StateSpace::Shared, vec![entry(0)]).unwrap();
    let shared = StateSpace::Shared;
    say(&format!(
        "a commit of one entry: {}",
        each(2000, |n| {
            store.commit(shared, vec![entry(n)]).unwrap();
        })
    ));
    let many = each(20, |n| {
        store.commit(shared, (0..1000).map(|m| entry(n * 1000 + m)).collect()).unwrap();
    });
    say(&format!("a commit of 1,000 entries: {many}"));
    for keys in [1, 10, 1000] {
        let of = |n: u32| {
            (0..keys).map(|m| format!("key/{:06}", (n * 7919 + m * 31) % 20_000)).collect::<Vec<_>>()
        };
        let took = each(20_000 / keys.max(10), |n| drop(store.get(shared, &of(n)).unwrap()));
        say(&format!("a get of {keys}: {took}"));
    }
    let page = each(1000, |_| drop(store.scan(shared, "key/", None, 20, None).unwrap()));
    say(&format!("a page of 20: {page}"));
    let began = Instant::now();
    std::thread::scope(|scope| {
        for t in 0..4 {
            let store = &store;
            scope.spawn(move || (0..250).for_each(|n| drop(store.commit(shared, vec![entry(t * 250 + n)]))));
        }
    });
    say(&format!("commits by four threads: {:.0} a second", 1000.0 / began.elapsed().as_secs_f64()));
}

fn main() {
    let server = PrivateServer::start(&[("fsync", "on")], &[]);
    let access = DatabaseAccess::new(&server.options()).unwrap();
    measure_journal(access.clone());
    measure_state(access);
}
