//! What every journal must do.

use std::{path::Path, time::Duration};

use loggia_gate::journal::{Journal, JournalError, NewRun, RunLease};

use crate::{RetentionLimits, SqliteJournal, record::now_ms};

fn open(folder: &Path) -> SqliteJournal {
    SqliteJournal::open(folder, RetentionLimits::default()).unwrap()
}

fn run(id: &str) -> NewRun {
    NewRun {
        id: id.into(),
        facade: "orders".into(),
        action: "place".into(),
        head: b"head".to_vec(),
        began_ms: 7,
    }
}

fn first(id: &str) -> RunLease {
    RunLease { run: id.into(), fence: 1 }
}

fn entries(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn facades() -> Vec<String> {
    vec!["orders".to_owned()]
}

#[tokio::test]
async fn an_ended_hosts_runs_are_claimed_with_their_entries() {
    let folder = tempfile::tempdir().unwrap();
    let one = open(folder.path());
    drop(one.create(run("a")));
    one.append(first("a"), 0, entries(&["x", "y"])).await.unwrap();
    let other = open(folder.path());
    assert_eq!(other.claim(facades(), 9).await.unwrap(), [], "its host lives");
    drop(one);
    let claimed = other.claim(facades(), 9).await.unwrap();
    assert_eq!(claimed[0].entries, entries(&["x", "y"]));
    assert_eq!((claimed[0].lease.fence, &*claimed[0].head), (2, &b"head"[..]));
    assert_eq!(other.claim(facades(), 9).await.unwrap(), [], "once");
    other.append(claimed[0].lease.clone(), 2, entries(&["z"])).await.unwrap();
    other.finish(claimed[0].lease.clone(), b"done".to_vec()).await.unwrap();
    let stored = other.load("a".into()).await.unwrap().unwrap();
    assert_eq!((stored.run, stored.entries, stored.end.unwrap().1), (run("a"), 3, b"done".to_vec()));
}

#[tokio::test]
async fn only_the_holder_of_the_lease_records() {
    let folder = tempfile::tempdir().unwrap();
    let one = open(folder.path());
    drop(one.create(run("a")));
    let lost = |result: Result<(), JournalError>| assert_eq!(result, Err(JournalError::Lost));
    lost(one.append(first("b"), 0, entries(&["x"])).await);
    lost(one.append(first("a"), 1, entries(&["x"])).await);
    lost(one.append(RunLease { fence: 2, ..first("a") }, 0, entries(&["x"])).await);
    lost(open(folder.path()).append(first("a"), 0, entries(&["x"])).await);
    one.append(first("a"), 0, entries(&["x"])).await.unwrap();
    one.append(first("a"), 1, Vec::new()).await.unwrap();
    one.release(first("a")).await.unwrap();
    lost(one.append(first("a"), 1, entries(&["y"])).await);
    let claimed = one.claim(facades(), 9).await.unwrap();
    one.finish(claimed[0].lease.clone(), Vec::new()).await.unwrap();
    lost(one.append(claimed[0].lease.clone(), 1, entries(&["y"])).await);
    lost(one.finish(claimed[0].lease.clone(), Vec::new()).await);
}

#[tokio::test]
async fn claims_are_of_served_facades_and_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let one = open(folder.path());
    for id in ["a", "b", "c"] {
        drop(one.create(run(id)));
        one.release(first(id)).await.unwrap();
    }
    assert_eq!(one.claim(vec!["other".into()], 9).await.unwrap(), []);
    let ids = |claimed: Vec<loggia_gate::journal::ClaimedRun>| {
        claimed.into_iter().map(|claimed| claimed.lease.run).collect::<Vec<_>>()
    };
    assert_eq!(ids(one.claim(facades(), 2).await.unwrap()), ["a", "b"]);
    assert_eq!(ids(one.claim(facades(), 2).await.unwrap()), ["c"]);
}

#[tokio::test]
async fn cancellations_reach_the_host_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (open(folder.path()), open(folder.path()));
    one.create(run("a")).await.unwrap();
    assert!(other.request_cancel("a".into()).await.unwrap());
    assert!(!other.request_cancel("b".into()).await.unwrap(), "there is no such run");
    assert_eq!(one.cancel_requests().await.unwrap(), ["a"]);
    assert_eq!(other.cancel_requests().await.unwrap(), [""; 0], "it is not its run");
    one.finish(first("a"), Vec::new()).await.unwrap();
    assert_eq!(one.cancel_requests().await.unwrap(), [""; 0]);
    assert!(!other.request_cancel("a".into()).await.unwrap(), "it has ended");
}

#[tokio::test]
async fn an_added_run_is_claimed_with_its_entries() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (open(folder.path()), open(folder.path()));
    one.add(run("a"), entries(&["x", "y"])).await.unwrap();
    other.add(run("a"), entries(&["z"])).await.unwrap();
    assert_eq!(one.history("a".into()).await.unwrap(), entries(&["x", "y"]));
    let claimed = other.claim(facades(), 9).await.unwrap();
    assert_eq!((&claimed[0].entries, claimed[0].lease.fence), (&entries(&["x", "y"]), 2));
}

#[tokio::test]
async fn nothing_is_created_before_the_first_run() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path());
    assert_eq!(journal.claim(facades(), 9).await.unwrap(), []);
    assert_eq!(journal.load("a".into()).await.unwrap(), None);
    assert!(!folder.path().join("journal.db").exists());
    drop(journal.create(run("a")));
    assert_eq!(journal.list(None, 9).await.unwrap().len(), 1);
    assert_eq!(journal.list(Some("other".into()), 9).await.unwrap(), []);
}

#[tokio::test]
async fn ended_runs_are_removed_by_age_and_size() {
    for (limits, left) in [
        (RetentionLimits { age: Duration::from_secs(60), bytes: 1 << 20 }, 3),
        (RetentionLimits { age: Duration::ZERO, bytes: 1 << 20 }, 1),
        (RetentionLimits { age: Duration::from_secs(60), bytes: 1500 }, 2),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let journal = SqliteJournal::open(folder.path(), limits).unwrap();
        for id in ["a", "b", "c"] {
            drop(journal.create(run(id)));
        }
        for id in ["a", "b"] {
            journal.finish(first(id), vec![0; 1000]).await.unwrap();
        }
        // Runs that ended within this millisecond are not yet older than no time.
        let ended = now_ms();
        while now_ms() <= ended {
            std::hint::spin_loop();
        }
        for _ in 0..70 {
            journal.load("a".into()).await.unwrap();
        }
        assert_eq!(journal.list(None, 9).await.unwrap().len(), left, "{limits:?}");
    }
}

#[test]
fn files_of_ended_hosts_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let files = || {
        let files = std::fs::read_dir(folder.path().join("journal-hosts")).unwrap();
        files.map(|file| file.unwrap().file_name()).collect::<Vec<_>>()
    };
    let one = open(folder.path());
    let own = files();
    let killed = folder.path().join("journal-hosts").join(format!("{}.lock", "0".repeat(32)));
    std::fs::write(&killed, "").unwrap();
    let other = open(folder.path());
    assert!(!killed.exists() && files().len() == 2);
    drop(other);
    assert_eq!(files(), own);
    drop(one);
    assert_eq!(files().len(), 0);
}

#[tokio::test]
async fn a_foreign_file_is_refused_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("journal.db");
    std::fs::write(&file, "not a database, but a text of some length").unwrap();
    let journal = open(folder.path());
    let error = journal.load("a".into()).await.unwrap_err().to_string();
    assert!(error.contains("journal.db"), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), b"not a database, but a text of some length");
}
