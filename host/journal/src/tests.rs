//! The suite of journals, and what is particular to files.

use std::path::Path;

use loggia_gate::{
    approval::{ApprovalStore, suite},
    journal::{
        Journal, RetentionLimits,
        suite::{JournalPlace, facades, run},
    },
    journal_suite,
};
use tempfile::TempDir;

use crate::SqliteJournal;

/// A state folder.
struct StatePlace(TempDir);

impl JournalPlace for StatePlace {
    type Host = SqliteJournal;

    fn open(&self, limits: RetentionLimits) -> SqliteJournal {
        SqliteJournal::open(self.0.path(), limits).unwrap()
    }
}

journal_suite!(StatePlace(tempfile::tempdir().unwrap()));

fn open(folder: &Path) -> SqliteJournal {
    SqliteJournal::open(folder, RetentionLimits::default()).unwrap()
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

#[tokio::test]
async fn approvals_pass_the_suite() {
    let folder = tempfile::tempdir().unwrap();
    suite::check(&open(folder.path())).await;
}

#[tokio::test]
async fn approvals_survive_the_host_and_are_removed_after_a_week() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path());
    let now = 4_000_000_000_000;
    let old = first.open_approval(suite::record("old", 0, 1)).await.unwrap();
    let new = first.open_approval(suite::record("new", now, now + 1000)).await.unwrap();
    drop(first);
    let second = open(folder.path());
    assert_eq!(second.open_approval(suite::record("new", now, now + 2000)).await.unwrap(), new);
    assert_eq!(second.approval(old.id).await.unwrap(), None);
}
