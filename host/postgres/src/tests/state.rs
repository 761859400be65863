//! The suite of state, and what is particular to a database that many hosts share.

use std::{sync::Arc, thread};

use loggia_state::{
    ChangeCondition, ChangeOperation, StateError, StateFolder, StateSpace, StateStore, state_suite,
    testing::{AMPLE, Room, change, clock, get, keys, put, put_until, text},
};
use tempfile::TempDir;

use super::{
    journal::SchemaPlace,
    proxy::{CutProxy, Forwarding},
};
use crate::{DatabaseAccess, DatabaseOptions, PostgresStores, testing::PrivateServer};

const CALLER: StateSpace = StateSpace::Caller([7; 32]);

fn room(server: &Arc<PrivateServer>) -> Room {
    let (server, dir) = (Arc::clone(server), tempfile::tempdir().unwrap());
    let (clock, told) = clock();
    let access = DatabaseAccess::new(&server.options()).unwrap();
    let backend = PostgresStores::with_clock(access, told).unwrap();
    let folder = StateFolder::with_backend(dir.path(), Arc::new(backend)).unwrap();
    Room { folder, clock, kept: Box::new((dir, server)) }
}

state_suite!({
    // One for all rooms of a test.
    let server = PrivateServer::shared();
    move || room(&server)
});

/// A host with a state folder of its own.
fn host(options: &DatabaseOptions) -> (StateFolder, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let backend = PostgresStores::new(DatabaseAccess::new(options).unwrap()).unwrap();
    (StateFolder::with_backend(dir.path(), Arc::new(backend)).unwrap(), dir)
}

/// Increments a number, again and again where another was quicker.
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

#[test]
fn hosts_lose_no_increment() {
    let place = SchemaPlace::new();
    let hosts = [(); 3].map(|()| host(&place.options));
    thread::scope(|scope| {
        for (folder, _dir) in &hosts {
            for _ in 0..2 {
                scope.spawn(|| count(&folder.store("notes", AMPLE).unwrap(), 50));
            }
        }
    });
    let store = hosts[0].0.store("notes", AMPLE).unwrap();
    assert_eq!(text(&store, "count").as_deref(), Some("300"));
    assert_eq!(hosts[1].0.names().unwrap(), ["notes"]);
}

#[test]
fn no_increment_is_lost_or_made_twice_by_cuts() {
    let place = SchemaPlace::new();
    let proxy = CutProxy::start(place.server.port());
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", proxy.port);
    let (folder, _dir) = host(&DatabaseOptions { url, ..place.options.clone() });
    let store = folder.store("notes", AMPLE).unwrap();
    let mut version = store.commit(StateSpace::Shared, vec![put("number", "0")]).unwrap();
    for number in 1..=60u64 {
        match number % 3 {
            0 => proxy.set(Forwarding::CutBefore),
            1 => proxy.set(Forwarding::CutAfter),
            _ => {
                proxy.set(Forwarding::Refuse);
                proxy.set(Forwarding::Pass);
            }
        }
        let next = ChangeOperation::Put(number.to_string().into_bytes());
        let next = change("number", ChangeCondition::Version(version), next);
        // A commit that took effect unnoticed would conflict with itself, or count twice.
        let committed = store.commit(StateSpace::Shared, vec![next]).unwrap();
        assert_eq!(committed, version + 1);
        assert_eq!(proxy.mode(), Forwarding::Pass, "it was not cut");
        version = committed;
    }
    assert_eq!(text(&store, "number").as_deref(), Some("60"));
}

#[test]
fn reads_survive_cuts_and_nobody_waits_for_ever() {
    let place = SchemaPlace::new();
    let proxy = CutProxy::start(place.server.port());
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", proxy.port);
    let (folder, _dir) = host(&DatabaseOptions { url, ..place.options.clone() });
    let store = folder.store("notes", AMPLE).unwrap();
    store.commit(StateSpace::Shared, vec![put("k", "v")]).unwrap();
    proxy.set(Forwarding::Refuse);
    let error = store.commit(StateSpace::Shared, vec![put("k", "w")]).unwrap_err();
    assert!(matches!(&error, StateError::Storage(_)), "{error}");
    proxy.set(Forwarding::Pass);
    assert_eq!(text(&store, "k").as_deref(), Some("v"));
    proxy.set(Forwarding::Refuse);
    proxy.set(Forwarding::Pass);
    assert_eq!(keys(&store), ["k"]);
    // Another host holds the store.
    let (client, held) = hold(&place, "notes");
    let error = store.commit(StateSpace::Shared, vec![put("k", "w")]).unwrap_err();
    assert!(matches!(&error, StateError::Busy), "{error}");
    assert_eq!(text(&store, "k").as_deref(), Some("v"), "readers wait for nobody");
    drop((client, held));
    store.commit(StateSpace::Shared, vec![put("k", "w")]).unwrap();
}

/// Locks a store until what it returns is dropped.
fn hold(place: &SchemaPlace, name: &str) -> (tokio_postgres::Client, tokio::runtime::Runtime) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let client = runtime.block_on(async {
        let (client, connection) =
            tokio_postgres::connect(&place.options.url, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        let lock = format!("SELECT 1 FROM {}.stores WHERE name = '{name}' FOR UPDATE", place.options.schema);
        client.batch_execute(&format!("BEGIN; {lock}")).await.unwrap();
        client
    });
    (client, runtime)
}

#[test]
fn expired_entries_and_their_spaces_are_removed() {
    let place = SchemaPlace::new();
    let dir = tempfile::tempdir().unwrap();
    let (clock, told) = clock();
    let backend = PostgresStores::with_clock(DatabaseAccess::new(&place.options).unwrap(), told).unwrap();
    let folder = StateFolder::with_backend(dir.path(), Arc::new(backend)).unwrap();
    let store = folder.store("notes", 2000 * 200).unwrap();
    let now = clock.load(std::sync::atomic::Ordering::Relaxed);
    for half in ["a", "b"] {
        let many = (0..1000).map(|n| put_until(&format!("{half}{n}"), [0; 50], now + 10)).collect();
        store.commit(CALLER, many).unwrap();
    }
    clock.fetch_add(10, std::sync::atomic::Ordering::Relaxed);
    // So many of the old ones are still there that only what has expired makes room.
    let filled = (0..40).map(|n| put(&format!("{n}"), [0; 9000])).collect();
    store.commit(StateSpace::Shared, filled).unwrap();
    for _ in 0..20 {
        store.commit(StateSpace::Shared, vec![put("0", "")]).unwrap();
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let counted = |sql| runtime.block_on(place.count(sql));
    assert_eq!(counted("SELECT count(*) FROM @state"), 40);
    assert_eq!(counted("SELECT count(*) FROM @spaces"), 1);
    assert_eq!(counted("SELECT bytes - (SELECT sum(size) FROM @state)::bigint FROM @stores"), 0);
}

#[test]
fn entries_expire_by_the_clock_of_the_server() {
    let place = SchemaPlace::new();
    let (folder, _dir) = host(&place.options);
    let store = folder.store("notes", AMPLE).unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as u64;
    store
        .commit(
            StateSpace::Shared,
            vec![put_until("past", "", now - 1), put_until("future", "", now + 600_000)],
        )
        .unwrap();
    assert_eq!(keys(&store), ["future"]);
}

#[test]
fn all_hosts_get_the_secret_of_the_first() {
    let place = SchemaPlace::new();
    let (first, dir) = host(&place.options);
    let own = StateFolder::open(dir.path()).unwrap().secret().unwrap();
    assert_eq!(first.secret().unwrap(), own, "what callers have stored before stays theirs");
    let (second, _dir) = host(&place.options);
    assert_eq!(second.secret().unwrap(), own);
    let elsewhere = host(&PrivateServer::shared().options());
    assert_ne!(elsewhere.0.secret().unwrap(), own);
}
