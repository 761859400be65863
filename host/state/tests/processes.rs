//! Several processes on one store, and processes that are killed.
//!
//! The other processes run this test binary: controlled by the environment, [`other`] does their work.

mod support;

use std::{
    collections::hash_map::RandomState,
    env,
    hash::BuildHasher,
    io::{BufRead, BufReader, Write, stderr},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use loggia_state::{ChangeCondition, ChangeOperation, StateError, StateFolder, StateSpace, StateStore};
use support::*;

const WORK: &str = "LOGGIA_STATE_TEST_WORK";
const DIR: &str = "LOGGIA_STATE_TEST_DIR";
const INCREMENTS: u64 = 2000;

/// Starts another process; what it reports comes through its stderr.
fn start(work: &str, dir: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["other", "--exact", "--nocapture"])
        .envs([(WORK, work.as_ref()), (DIR, dir.as_os_str())])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn store(dir: &Path) -> StateStore {
    StateFolder::open(dir).unwrap().store("notes", AMPLE).unwrap()
}

/// Not a test, but what the other processes do.
#[test]
fn other() {
    let (Ok(work), Some(dir)) = (env::var(WORK), env::var_os(DIR)) else { return };
    let dir = Path::new(&dir);
    match work.as_str() {
        "count" => count(&store(dir), INCREMENTS),
        "write" => write(&store(dir)),
        _ => unreachable!("{work}"),
    }
}

/// Increments a counter, again and again where another was quicker.
fn count(store: &StateStore, times: u64) {
    for _ in 0..times {
        loop {
            let entry = get(store, "count");
            let number: u64 =
                entry.as_ref().map_or(0, |entry| String::from_utf8_lossy(&entry.value).parse().unwrap());
            let expect =
                entry.map_or(ChangeCondition::Absent, |entry| ChangeCondition::Version(entry.version));
            let next = change("count", expect, ChangeOperation::Put((number + 1).to_string().into()));
            match store.commit(StateSpace::Shared, vec![next]) {
                Ok(_) => break,
                Err(StateError::Conflict(_)) => {}
                Err(other) => panic!("{other}"),
            }
        }
    }
}

/// Writes one key after another, two spaces in turn, and reports each when it is acknowledged, until it is killed.
fn write(store: &StateStore) {
    let mut number =
        get(store, "next").map_or(0, |entry| String::from_utf8_lossy(&entry.value).parse().unwrap());
    loop {
        let key = number.to_string();
        // Of two pages and more, so that a torn write would show.
        let value = key.repeat(1 + number as usize % 7 * 700);
        let changes =
            vec![put(&format!("k{:02}", number % 50), value), put("next", (number + 1).to_string())];
        store.commit(StateSpace::Shared, changes).unwrap();
        if number % 3 == 0 {
            let expiring = put_until(&format!("x{}", number % 10), &key, u64::MAX >> 1);
            store.commit(StateSpace::Caller([3; 32]), vec![expiring]).unwrap();
        }
        let reported = writeln!(stderr(), "done {number}");
        assert!(reported.is_ok());
        number += 1;
    }
}

#[test]
fn two_processes_lose_no_increment() {
    let dir = tempfile::tempdir().unwrap();
    let others = [start("count", dir.path()), start("count", dir.path())];
    for other in others {
        let output = other.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(text(&store(dir.path()), "count"), Some((2 * INCREMENTS).to_string()));
}

#[test]
fn a_commit_gets_its_turn_beside_processes_in_tight_loops() {
    let dir = tempfile::tempdir().unwrap();
    let mut others = [start("write", dir.path()), start("write", dir.path())];
    let reports: Vec<_> =
        others.iter_mut().map(|other| BufReader::new(other.stderr.take().unwrap())).collect();
    let done = Arc::new(AtomicU64::new(0));
    let readers: Vec<_> = reports
        .into_iter()
        .map(|mut report| {
            let done = Arc::clone(&done);
            let mut line = String::new();
            while !line.starts_with("done") {
                line.clear();
                assert!(report.read_line(&mut line).unwrap() > 0);
            }
            // A process whose output is not read stops.
            std::thread::spawn(move || {
                for _commit in report.lines() {
                    done.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    let store = store(dir.path());
    let mut slowest = (Duration::ZERO, 0);
    for n in 0..200 {
        let (began, seen) = (Instant::now(), done.load(Ordering::SeqCst));
        let waited = || (began.elapsed(), done.load(Ordering::SeqCst) - seen);
        // A slow disk may delay some of theirs up to the deadline; then their number counts.
        let in_time = |(time, others)| time < Duration::from_secs(4) || others < 200;
        while let Err(error) = store.commit(StateSpace::Shared, vec![put("mine", n.to_string())]) {
            assert!(matches!(error, StateError::Busy) && in_time(waited()), "{error}: {:?}", waited());
        }
        assert!(in_time(waited()), "{:?}", waited());
        slowest = slowest.max(waited());
    }
    for other in &mut others {
        other.kill().unwrap();
        other.wait().unwrap();
    }
    readers.into_iter().for_each(|reader| reader.join().unwrap());
    let _ = writeln!(stderr(), "the slowest took {slowest:?}; the others did {done:?}");
}

#[test]
fn no_acknowledged_commit_is_lost_by_kill() {
    const ROUNDS: u32 = 100;
    let dir = tempfile::tempdir().unwrap();
    let chance = RandomState::new();
    let mut last: Option<u64> = None;
    for round in 0..ROUNDS {
        let mut other = start("write", dir.path());
        let mut reports = BufReader::new(other.stderr.take().unwrap()).lines();
        // Some are killed before their first commit, or while they open what the one before left.
        let wait = Duration::from_micros(chance.hash_one(round) % 60_000);
        let killer = std::thread::spawn(move || {
            std::thread::park_timeout(wait);
            other.kill().unwrap();
            other.wait().unwrap();
        });
        for report in reports.by_ref() {
            let report = report.unwrap();
            // Its last line may be cut off.
            if let Some(number) = report.strip_prefix("done ").and_then(|number| number.parse().ok()) {
                last = last.max(Some(number));
            } else {
                assert!(!report.contains("panicked"), "{report}");
            }
        }
        killer.join().unwrap();
        let store = store(dir.path());
        let next: u64 = text(&store, "next").map_or(0, |next| next.parse().unwrap());
        assert!(Some(next) > last, "{last:?} was acknowledged, and the next is {next}");
        for number in next.saturating_sub(50)..next {
            let value = text(&store, &format!("k{:02}", number % 50)).unwrap();
            assert_eq!(value, number.to_string().repeat(1 + number as usize % 7 * 700));
        }
        drop(store);
        if last.is_some() && round % 5 == 4 {
            let connection = rusqlite::Connection::open(dir.path().join("stores/notes.db")).unwrap();
            let whole: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
            let bytes: [u64; 2] = connection
                .query_row("SELECT bytes, (SELECT sum(size) FROM entries) FROM meta", [], |row| {
                    Ok([row.get(0)?, row.get(1)?])
                })
                .unwrap();
            assert_eq!((whole.as_str(), bytes[0]), ("ok", bytes[1]));
        }
    }
    assert!(last > Some(100), "{last:?}");
}
