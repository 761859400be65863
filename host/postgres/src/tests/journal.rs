//! The suite of journals, and what is particular to leases by time.

use std::{sync::Arc, time::Duration};

use loggia_gate::{
    approval::suite as approval_suite,
    journal::{
        Journal, JournalError, RetentionLimits,
        suite::{JournalPlace, entries, facades, first, run},
    },
    journal_suite,
};
use tokio_postgres::NoTls;

use super::{
    eventually,
    proxy::{CutProxy, Forwarding},
};
use crate::{DatabaseAccess, DatabaseOptions, JournalOptions, PostgresJournal, testing::PrivateServer};

/// A schema.
pub(super) struct SchemaPlace {
    pub server: Arc<PrivateServer>,
    pub options: DatabaseOptions,
}

impl SchemaPlace {
    pub(super) fn new() -> Self {
        let server = PrivateServer::shared();
        let options = server.options();
        Self { server, options }
    }

    pub(super) fn open_with(&self, options: JournalOptions) -> PostgresJournal {
        PostgresJournal::open(DatabaseAccess::new(&self.options).unwrap(), options).unwrap()
    }

    /// Opens the journal of a host whose connections pass a proxy.
    pub(super) fn open_behind(&self, proxy: &CutProxy, options: JournalOptions) -> PostgresJournal {
        let url = format!("postgres://postgres@127.0.0.1:{}/postgres", proxy.port);
        let database = DatabaseOptions { url, ..self.options.clone() };
        PostgresJournal::open(DatabaseAccess::new(&database).unwrap(), options).unwrap()
    }

    pub(super) async fn count(&self, sql: &str) -> i64 {
        let (client, connection) = tokio_postgres::connect(&self.options.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        let sql = sql.replace('@', &format!("{}.", self.options.schema));
        client.query_one(&sql, &[]).await.unwrap().get(0)
    }
}

impl JournalPlace for SchemaPlace {
    type Host = PostgresJournal;

    fn open(&self, limits: RetentionLimits) -> PostgresJournal {
        self.open_with(JournalOptions {
            limits,
            sweep: Duration::from_millis(20),
            ..JournalOptions::default()
        })
    }
}

journal_suite!(SchemaPlace::new());

fn brief() -> JournalOptions {
    JournalOptions {
        lease: Duration::from_millis(300),
        renewal: Duration::from_millis(50),
        ..JournalOptions::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_hosts_runs_are_claimed_and_lost() {
    let place = SchemaPlace::new();
    let proxy = CutProxy::start(place.server.port());
    let (one, other) = (place.open_behind(&proxy, brief()), place.open_with(brief()));
    for id in ["a", "b"] {
        one.create(run(id)).await.unwrap();
    }
    one.append(first("a"), 0, entries(&["x"])).await.unwrap();
    proxy.set(Forwarding::Freeze);
    let mut claimed = Vec::new();
    while claimed.is_empty() {
        claimed = other.claim(facades(), 1).await.unwrap();
    }
    assert_eq!((&*claimed[0].lease.run, &claimed[0].entries), ("a", &entries(&["x"])));
    let late = [one.append(first("a"), 1, entries(&["zombie"])), one.finish(first("a"), Vec::new())];
    proxy.set(Forwarding::Pass);
    for late in late {
        assert_eq!(late.await, Err(JournalError::Lost));
    }
    other.append(claimed[0].lease.clone(), 1, entries(&["y"])).await.unwrap();
    assert_eq!(other.history("a".into()).await.unwrap(), entries(&["x", "y"]));
    one.append(first("b"), 0, entries(&["x"])).await.expect("nobody has claimed this one");
    eventually("it lives again", async || other.claim(facades(), 9).await.unwrap().is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_living_host_keeps_its_runs() {
    let place = SchemaPlace::new();
    let (one, other) = (place.open_with(brief()), place.open_with(brief()));
    one.create(run("a")).await.unwrap();
    let lives = "SELECT count(*) FROM @hosts WHERE expires > now()";
    let began = std::time::Instant::now();
    while began.elapsed() < brief().lease * 3 {
        assert_eq!(other.claim(facades(), 9).await.unwrap(), []);
        assert_eq!(place.count(lives).await, 2);
    }
    drop(one);
    assert_eq!(place.count(lives).await, 1, "its lease ends with it");
    assert_eq!(other.claim(facades(), 9).await.unwrap().len(), 1);
}

#[tokio::test]
async fn two_hosts_never_claim_the_same_run() {
    let place = SchemaPlace::new();
    let hosts: Vec<Arc<PostgresJournal>> =
        (0..4).map(|_| Arc::new(place.open_with(JournalOptions::default()))).collect();
    for number in 0..60 {
        drop(hosts[0].add(run(&number.to_string()), entries(&["x"])));
    }
    hosts[0].list(None, 1).await.unwrap();
    let claims = hosts.iter().map(|host| {
        let host = Arc::clone(host);
        tokio::spawn(async move {
            let (mut all, mut empty) = (Vec::new(), 0);
            // Rows that another host has locked are skipped, so one empty answer is not the end.
            while empty < 3 {
                let claimed = host.claim(facades(), 3).await.unwrap();
                assert!(claimed.len() <= 3, "{claimed:?}");
                empty = if claimed.is_empty() { empty + 1 } else { 0 };
                all.extend(claimed.into_iter().map(|claimed| claimed.lease.run));
            }
            all
        })
    });
    let mut all: Vec<String> = Vec::new();
    for claimed in claims.collect::<Vec<_>>() {
        all.extend(claimed.await.unwrap());
    }
    all.sort();
    let mut expected: Vec<String> = (0..60).map(|number: u32| number.to_string()).collect();
    expected.sort();
    assert_eq!(all, expected);
}

#[tokio::test]
async fn claims_are_bounded_by_their_bytes() {
    let place = SchemaPlace::new();
    let one = place.open_with(JournalOptions::default());
    for id in ["a", "b", "c"] {
        one.add(run(id), vec![vec![7; 30 << 20]]).await.unwrap();
    }
    let claimed = one.claim(facades(), 9).await.unwrap();
    let ids: Vec<&str> = claimed.iter().map(|claimed| &*claimed.lease.run).collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(one.claim(facades(), 9).await.unwrap().len(), 1);
}

#[tokio::test]
async fn approvals_pass_the_suite() {
    let place = SchemaPlace::new();
    let journal = place.open_with(JournalOptions::default());
    approval_suite::check(&journal).await;
}
