//! The suite of journals, and what is particular to files.

use std::path::Path;

use loggia_gate::{
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
