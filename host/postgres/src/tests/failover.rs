//! A primary with a synchronous standby, which takes over.

use std::{sync::Arc, time::Duration};

use loggia_gate::{
    journal::{
        Journal, JournalError,
        suite::{entries, first, run},
    },
    mail::HostMail,
};
use loggia_state::{
    ChangeCondition, ChangeOperation, StateFolder, StateSpace,
    testing::{AMPLE, change, put, text},
};
use tokio::sync::watch;
use tokio_postgres::NoTls;

use super::eventually;
use crate::{
    DatabaseAccess, DatabaseOptions, HostLabel, JournalOptions, PostgresJournal, PostgresMail,
    PostgresStores, testing::PrivateServer,
};

/// Runs statements, each in a transaction of its own, and returns the number that the last one yields.
async fn ask(server: &PrivateServer, statements: &[&str]) -> i64 {
    let (client, connection) = tokio_postgres::connect(&server.url("postgres"), NoTls).await.unwrap();
    let driver = tokio::spawn(connection);
    let mut number = 0;
    for statement in statements {
        for message in client.simple_query(statement).await.unwrap() {
            if let tokio_postgres::SimpleQueryMessage::Row(row) = message {
                number = row.get(0).and_then(|text| text.parse().ok()).unwrap_or(0);
            }
        }
    }
    driver.abort();
    number
}

const WAIT_FOR_STANDBYS: [&str; 2] =
    ["ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"];
const WAIT_FOR_NOBODY: [&str; 2] =
    ["ALTER SYSTEM SET synchronous_standby_names = ''", "SELECT pg_reload_conf()"];

#[tokio::test(flavor = "multi_thread")]
async fn what_is_acknowledged_survives_the_primary() {
    let primary = PrivateServer::start(&[], &[]);
    let standby = primary.standby();
    ask(&primary, &WAIT_FOR_STANDBYS).await;
    let synchronous = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    eventually("the standby follows", async || ask(&primary, &[synchronous]).await == 1).await;
    let url =
        format!("postgres://postgres@127.0.0.1:{},127.0.0.1:{}/postgres", primary.port(), standby.port());
    let options = DatabaseOptions { url, schema: "loggia".into(), password: None };
    let access = DatabaseAccess::new(&options).unwrap();
    let patience = Duration::from_secs(30);
    let options = JournalOptions { patience, ..JournalOptions::default() };
    let journal = Arc::new(PostgresJournal::open(access.clone(), options).unwrap());
    let dir = tempfile::tempdir().unwrap();
    let folder =
        StateFolder::with_backend(dir.path(), Arc::new(PostgresStores::new(access).unwrap())).unwrap();
    journal.create(run("a")).await.unwrap();
    let store = folder.store("notes", AMPLE).unwrap();
    let mut version = store.commit(StateSpace::Shared, vec![put("number", "0")]).unwrap();

    let (acknowledged, mut so_far) = watch::channel(0u64);
    let (stop, stopped) = watch::channel(false);
    let appending = Arc::clone(&journal);
    let appended = tokio::spawn(async move {
        let mut entry = 0u64;
        while !*stopped.borrow() {
            appending.append(first("a"), entry, vec![entry.to_string().into_bytes()]).await.unwrap();
            entry += 1;
            acknowledged.send_replace(entry);
        }
        entry
    });
    so_far.wait_for(|count| *count >= 200).await.unwrap();
    for number in 1..=20u64 {
        let next = ChangeOperation::Put(number.to_string().into_bytes());
        let next = change("number", ChangeCondition::Version(version), next);
        version = store.commit(StateSpace::Shared, vec![next]).unwrap();
    }
    tokio::task::spawn_blocking(|| primary.crash()).await.unwrap();
    let before = *so_far.borrow();
    ask(&standby, &["SELECT pg_promote()"]).await;
    so_far.wait_for(|count| *count >= before + 50).await.unwrap();
    stop.send_replace(true);
    let expected: Vec<Vec<u8>> =
        (0..appended.await.unwrap()).map(|entry| entry.to_string().into_bytes()).collect();
    assert_eq!(journal.history("a".into()).await.unwrap(), expected);
    assert_eq!(text(&store, "number").as_deref(), Some("20"));
    store.commit(StateSpace::Shared, vec![put("number", "21")]).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_arrive_after_the_standby_took_over() {
    let primary = PrivateServer::start(&[], &[]);
    let standby = primary.standby();
    ask(&primary, &WAIT_FOR_STANDBYS).await;
    let synchronous = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    eventually("the standby follows", async || ask(&primary, &[synchronous]).await == 1).await;
    let url =
        format!("postgres://postgres@127.0.0.1:{},127.0.0.1:{}/postgres", primary.port(), standby.port());
    let options = DatabaseOptions { url, schema: "loggia".into(), password: None };
    let open = || {
        let access = DatabaseAccess::new(&options).unwrap();
        let label = HostLabel { name: "server".into(), version: "1".into() };
        let journal = PostgresJournal::open_as(access.clone(), JournalOptions::default(), label).unwrap();
        let (mail, inbox) = PostgresMail::start(access, journal.host()).unwrap();
        (journal, mail, inbox)
    };
    let (_one, one_mail, _one_inbox) = open();
    let (_other, other_mail, mut other_inbox) = open();
    assert!(one_mail.send(other_mail.address(), b"before".to_vec()).await);
    assert_eq!(other_inbox.recv().await.unwrap(), b"before");
    tokio::task::spawn_blocking(|| primary.crash()).await.unwrap();
    ask(&standby, &["SELECT pg_promote()"]).await;
    let after = async || one_mail.send(other_mail.address(), b"after".to_vec()).await;
    eventually("messages are sent", after).await;
    assert_eq!(other_inbox.recv().await.unwrap(), b"after");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_acknowledged_without_the_standby() {
    let server = PrivateServer::start(&[], &[]);
    let options = JournalOptions { patience: Duration::from_millis(700), ..JournalOptions::default() };
    let journal = PostgresJournal::open(DatabaseAccess::new(&server.options()).unwrap(), options).unwrap();
    journal.create(run("a")).await.unwrap();
    ask(&server, &WAIT_FOR_STANDBYS).await;
    // The server reads its settings some time after it was asked to.
    let mut number = 0;
    let error = loop {
        match journal.append(first("a"), number, entries(&["x"])).await {
            Ok(()) => number += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(&error, JournalError::Storage(_)), "{error}");
    ask(&server, &["SET synchronous_commit = off; SELECT 1"]).await;
    ask(&server, &WAIT_FOR_NOBODY).await;
    let mut stored = journal.load("a".into()).await;
    while stored.is_err() {
        stored = journal.load("a".into()).await;
    }
    assert!((number..=number + 1).contains(&stored.unwrap().unwrap().entries));
}
