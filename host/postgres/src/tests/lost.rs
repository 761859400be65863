//! Connections that are lost: nothing that was acknowledged is lost, and nothing is recorded twice.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use loggia_gate::journal::{
    Journal, JournalError,
    suite::{entries, facades, first, run},
};

use super::{
    journal::SchemaPlace,
    proxy::{CutProxy, Forwarding},
};
use crate::{JournalOptions, testing::PrivateServer};

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_is_resolved_whenever_its_answer_is_lost() {
    for cut in [Forwarding::CutBefore, Forwarding::CutAfter] {
        let place = SchemaPlace::new();
        let proxy = CutProxy::start(place.server.port());
        let one = place.open_behind(&proxy, JournalOptions::default());
        let lost = |what: &str| {
            assert_eq!(proxy.mode(), Forwarding::Pass, "{cut:?}: {what} was not cut");
            proxy.set(cut);
        };
        proxy.set(cut);
        one.create(run("a")).await.unwrap();
        lost("create");
        one.append(first("a"), 0, entries(&["x", "y"])).await.unwrap();
        lost("append");
        one.append(first("a"), 2, Vec::new()).await.unwrap();
        lost("an empty append");
        assert_eq!(one.history("a".into()).await.unwrap(), entries(&["x", "y"]));
        lost("history");
        one.release(first("a")).await.unwrap();
        lost("release");
        let claimed = one.claim(facades(), 9).await.unwrap();
        lost("claim");
        assert_eq!((claimed.len(), &claimed[0].entries), (1, &entries(&["x", "y"])));
        assert_eq!(claimed[0].lease.fence, 2, "{cut:?}: claimed once");
        assert!(one.request_cancel("a".into()).await.unwrap());
        lost("request_cancel");
        one.finish(claimed[0].lease.clone(), b"done".to_vec()).await.unwrap();
        lost("finish");
        one.add(run("b"), entries(&["z"])).await.unwrap();
        lost("add");
        assert_eq!(one.list(None, 9).await.unwrap().len(), 2);
        lost("list");
        proxy.set(Forwarding::Pass);
        assert_eq!(one.history("b".into()).await.unwrap(), entries(&["z"]));
        assert_eq!(place.count("SELECT count(*) FROM @entries").await, 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_append_is_refused_though_its_connection_was_lost() {
    let place = SchemaPlace::new();
    let proxy = CutProxy::start(place.server.port());
    let one = place.open_behind(&proxy, JournalOptions::default());
    one.create(run("a")).await.unwrap();
    one.append(first("a"), 0, entries(&["x"])).await.unwrap();
    proxy.set(Forwarding::CutAfter);
    assert_eq!(one.append(first("a"), 0, entries(&["other"])).await, Err(JournalError::Lost));
    assert_eq!(one.history("a".into()).await.unwrap(), entries(&["x"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_cuts_lose_and_repeat_nothing() {
    let place = SchemaPlace::new();
    let proxy = CutProxy::start(place.server.port());
    let one = place.open_behind(&proxy, JournalOptions::default());
    for id in ["a", "b", "c"] {
        one.create(run(id)).await.unwrap();
    }
    for entry in 0..40u64 {
        // Several runs in one transaction.
        let appended =
            ["a", "b", "c"].map(|id| one.append(first(id), entry, vec![format!("{id}{entry}").into_bytes()]));
        match entry % 4 {
            0 => proxy.set(Forwarding::CutBefore),
            1 => proxy.set(Forwarding::CutAfter),
            2 => {
                proxy.set(Forwarding::Refuse);
                proxy.set(Forwarding::Pass);
            }
            _ => {}
        }
        for appended in appended {
            appended.await.unwrap();
        }
    }
    for id in ["a", "b", "c"] {
        let expected: Vec<Vec<u8>> = (0..40).map(|entry| format!("{id}{entry}").into_bytes()).collect();
        assert_eq!(one.history(id.into()).await.unwrap(), expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_fail_in_time_without_a_server() {
    let place = SchemaPlace::new();
    let proxy = CutProxy::start(place.server.port());
    let patience = Duration::from_millis(400);
    let one = place.open_behind(&proxy, JournalOptions { patience, ..JournalOptions::default() });
    one.create(run("a")).await.unwrap();
    for silence in [Forwarding::Refuse, Forwarding::Freeze] {
        proxy.set(silence);
        let began = Instant::now();
        let (append, load) = (one.append(first("a"), 0, entries(&["x"])), one.load("a".into()));
        let error = append.await.unwrap_err();
        assert!(matches!(&error, JournalError::Storage(_)), "{error}");
        assert!(load.await.is_err());
        assert!(began.elapsed() >= patience, "{silence:?}: it is tried until then");
        proxy.set(Forwarding::Pass);
        // The server may get the frozen bytes late.
        let mut stored = one.load("a".into()).await;
        while stored.is_err() {
            stored = one.load("a".into()).await;
        }
        assert!(stored.unwrap().unwrap().entries <= 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminated_session_is_replaced() {
    let server = Arc::new(PrivateServer::start(&[], &[]));
    let place = SchemaPlace { options: server.options(), server };
    let one = place.open_with(JournalOptions::default());
    one.create(run("a")).await.unwrap();
    for entry in 0..5 {
        let ended = place
            .count(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE application_name = 'loggia' AND query LIKE '%COMMIT%'",
            )
            .await;
        assert!(ended > 0, "no session was terminated");
        one.append(first("a"), entry, entries(&["x"])).await.unwrap();
    }
    assert_eq!(one.history("a".into()).await.unwrap().len(), 5);
}
