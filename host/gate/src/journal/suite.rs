//! What every journal must do. [`journal_suite`](crate::journal_suite) makes tests of it.

use std::time::{Duration, Instant};

use super::port::{ClaimedRun, Journal, JournalError, NewRun, RetentionLimits, RunLease};

/// Where the journals of several hosts record the same runs.
pub trait JournalPlace {
    /// The journal.
    type Host: Journal;

    /// Opens the journal of another host. It removes ended runs at least once a second, or every 64 operations.
    fn open(&self, limits: RetentionLimits) -> Self::Host;
}

/// Makes a test of each behaviour; the expression makes a place for it.
#[macro_export]
macro_rules! journal_suite {
    ($place:expr) => {
        #[tokio::test]
        async fn an_ended_hosts_runs_are_claimed_with_their_entries() {
            $crate::journal::suite::an_ended_hosts_runs_are_claimed_with_their_entries(&$place).await;
        }

        #[tokio::test]
        async fn only_the_holder_of_the_lease_records() {
            $crate::journal::suite::only_the_holder_of_the_lease_records(&$place).await;
        }

        #[tokio::test]
        async fn claims_are_of_served_facades_and_bounded() {
            $crate::journal::suite::claims_are_of_served_facades_and_bounded(&$place).await;
        }

        #[tokio::test]
        async fn cancellations_reach_the_host_of_the_run() {
            $crate::journal::suite::cancellations_reach_the_host_of_the_run(&$place).await;
        }

        #[tokio::test]
        async fn an_added_run_is_claimed_with_its_entries() {
            $crate::journal::suite::an_added_run_is_claimed_with_its_entries(&$place).await;
        }

        #[tokio::test]
        async fn runs_are_listed_newest_first() {
            $crate::journal::suite::runs_are_listed_newest_first(&$place).await;
        }

        #[tokio::test]
        async fn operations_take_effect_in_their_order() {
            $crate::journal::suite::operations_take_effect_in_their_order(&$place).await;
        }

        #[tokio::test]
        async fn handles_of_clients_are_no_errors() {
            $crate::journal::suite::handles_of_clients_are_no_errors(&$place).await;
        }

        #[tokio::test]
        async fn ended_runs_are_removed_by_age_and_size() {
            $crate::journal::suite::ended_runs_are_removed_by_age_and_size(&$place).await;
        }
    };
}

fn open<P: JournalPlace>(place: &P) -> P::Host {
    place.open(RetentionLimits::default())
}

/// A run of the facade `orders`.
pub fn run(id: &str) -> NewRun {
    NewRun {
        id: id.into(),
        facade: "orders".into(),
        action: "place".into(),
        head: b"head".to_vec(),
        began_ms: 7,
    }
}

/// The lease of a run that is new.
pub fn first(id: &str) -> RunLease {
    RunLease { run: id.into(), fence: 1 }
}

/// Entries of these texts.
pub fn entries(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// The facade of [`run`].
pub fn facades() -> Vec<String> {
    vec!["orders".to_owned()]
}

fn ids(claimed: Vec<ClaimedRun>) -> Vec<String> {
    claimed.into_iter().map(|claimed| claimed.lease.run).collect()
}

/// Runs of a host that has ended go on elsewhere, with all that was recorded.
pub async fn an_ended_hosts_runs_are_claimed_with_their_entries(place: &impl JournalPlace) {
    let one = open(place);
    drop(one.create(run("a")));
    one.append(first("a"), 0, entries(&["x", "y"])).await.unwrap();
    let other = open(place);
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

/// Nobody else records, and nothing is recorded after a gap or the end.
pub async fn only_the_holder_of_the_lease_records(place: &impl JournalPlace) {
    let one = open(place);
    drop(one.create(run("a")));
    let lost = |result: Result<(), JournalError>| assert_eq!(result, Err(JournalError::Lost));
    lost(one.append(first("b"), 0, entries(&["x"])).await);
    lost(one.append(first("a"), 1, entries(&["x"])).await);
    lost(one.append(RunLease { fence: 2, ..first("a") }, 0, entries(&["x"])).await);
    lost(open(place).append(first("a"), 0, entries(&["x"])).await);
    one.append(first("a"), 0, entries(&["x"])).await.unwrap();
    one.append(first("a"), 1, Vec::new()).await.unwrap();
    one.release(first("a")).await.unwrap();
    lost(one.append(first("a"), 1, entries(&["y"])).await);
    let claimed = one.claim(facades(), 9).await.unwrap();
    one.finish(claimed[0].lease.clone(), Vec::new()).await.unwrap();
    lost(one.append(claimed[0].lease.clone(), 1, entries(&["y"])).await);
    lost(one.finish(claimed[0].lease.clone(), Vec::new()).await);
}

/// A claim takes the oldest runs, and only of these facades.
pub async fn claims_are_of_served_facades_and_bounded(place: &impl JournalPlace) {
    let one = open(place);
    for id in ["a", "b", "c"] {
        drop(one.create(run(id)));
        one.release(first(id)).await.unwrap();
    }
    assert_eq!(one.claim(vec!["other".into()], 9).await.unwrap(), []);
    assert_eq!(ids(one.claim(facades(), 2).await.unwrap()), ["a", "b"]);
    assert_eq!(ids(one.claim(facades(), 2).await.unwrap()), ["c"]);
}

/// A request to cancel a run is seen by its host alone.
pub async fn cancellations_reach_the_host_of_the_run(place: &impl JournalPlace) {
    let (one, other) = (open(place), open(place));
    one.create(run("a")).await.unwrap();
    assert!(other.request_cancel("a".into()).await.unwrap());
    assert!(!other.request_cancel("b".into()).await.unwrap(), "there is no such run");
    assert_eq!(one.cancel_requests().await.unwrap(), ["a"]);
    assert_eq!(other.cancel_requests().await.unwrap(), [""; 0], "it is not its run");
    one.finish(first("a"), Vec::new()).await.unwrap();
    assert_eq!(one.cancel_requests().await.unwrap(), [""; 0]);
    assert!(!other.request_cancel("a".into()).await.unwrap(), "it has ended");
}

/// A run may be recorded for whoever serves its facade.
pub async fn an_added_run_is_claimed_with_its_entries(place: &impl JournalPlace) {
    let (one, other) = (open(place), open(place));
    one.add(run("a"), entries(&["x", "y"])).await.unwrap();
    other.add(run("a"), entries(&["z"])).await.unwrap();
    assert_eq!(one.history("a".into()).await.unwrap(), entries(&["x", "y"]));
    let claimed = other.claim(facades(), 9).await.unwrap();
    assert_eq!((&claimed[0].entries, claimed[0].lease.fence), (&entries(&["x", "y"]), 2));
}

/// Lists are of one facade, or of all.
pub async fn runs_are_listed_newest_first(place: &impl JournalPlace) {
    let one = open(place);
    assert_eq!(one.claim(facades(), 9).await.unwrap(), []);
    assert_eq!(one.load("a".into()).await.unwrap(), None);
    for (id, began_ms) in [("a", 1), ("b", 3), ("c", 2), ("d", 3)] {
        drop(one.create(NewRun { began_ms, ..run(id) }));
    }
    drop(one.create(NewRun { facade: "other".into(), ..run("e") }));
    let listed =
        |runs: Vec<super::port::StoredRun>| runs.into_iter().map(|stored| stored.run.id).collect::<Vec<_>>();
    assert_eq!(listed(one.list(Some("orders".into()), 9).await.unwrap()), ["d", "b", "c", "a"]);
    assert_eq!(listed(one.list(None, 2).await.unwrap()), ["e", "d"]);
    assert_eq!(listed(one.list(Some("missing".into()), 9).await.unwrap()), [""; 0]);
}

/// Nobody need wait for one operation to call the next: for many runs at once, and many entries of one.
pub async fn operations_take_effect_in_their_order(place: &impl JournalPlace) {
    let one = open(place);
    let mut last = Vec::new();
    for number in 0..20 {
        let id = format!("run {number}");
        drop(one.create(run(&id)));
        for entry in 0..30u64 {
            drop(one.append(first(&id), entry, vec![entry.to_string().into_bytes()]));
        }
        last.push(one.append(first(&id), 30, Vec::new()));
        drop(one.finish(first(&id), number.to_string().into_bytes()));
    }
    for appended in last {
        appended.await.unwrap();
    }
    let expected: Vec<Vec<u8>> = (0..30).map(|entry: u64| entry.to_string().into_bytes()).collect();
    for number in 0..20 {
        let id = format!("run {number}");
        let stored = one.load(id.clone()).await.unwrap().unwrap();
        assert_eq!((stored.entries, stored.end.unwrap().1), (30, number.to_string().into_bytes()));
        assert_eq!(one.history(id).await.unwrap(), expected);
    }
}

/// A client may ask for any handle. One run's error is not that of another.
pub async fn handles_of_clients_are_no_errors(place: &impl JournalPlace) {
    let one = open(place);
    one.create(run("a")).await.unwrap();
    for handle in ["", "b", "a\0", "'; --", "\u{10ffff}"] {
        assert_eq!(one.load(handle.into()).await.unwrap(), None, "{handle:?}");
        assert_eq!(one.history(handle.into()).await.unwrap(), entries(&[]), "{handle:?}");
        assert!(!one.request_cancel(handle.into()).await.unwrap(), "{handle:?}");
        assert_eq!(one.list(Some(handle.into()), 9).await.unwrap(), [], "{handle:?}");
    }
    let twice = one.create(run("a"));
    let beside = one.append(first("a"), 0, entries(&["x"]));
    assert!(matches!(twice.await, Err(JournalError::Storage(_))), "a handle is used once");
    drop(beside.await);
    let next = one.load("a".into()).await.unwrap().unwrap().entries;
    one.append(first("a"), next, entries(&["y"])).await.unwrap();
}

/// Ended runs beyond the limits are removed, the oldest first; unfinished ones stay.
pub async fn ended_runs_are_removed_by_age_and_size(place: &impl JournalPlace) {
    let limits = |age, bytes| RetentionLimits { age: Duration::from_secs(age), bytes };
    for (round, (limits, left)) in
        [(limits(60, 1500), &["c", "b"][..]), (limits(0, 1 << 20), &["c"][..])].into_iter().enumerate()
    {
        let one = place.open(limits);
        let named = |id: &str| format!("{id}{round}");
        for (began_ms, id) in (1..).zip(["a", "b", "c"]) {
            drop(one.create(NewRun { began_ms, facade: named("orders"), ..run(&named(id)) }));
        }
        for id in ["a", "b"] {
            one.finish(first(&named(id)), vec![0; 1000]).await.unwrap();
        }
        let left: Vec<String> = left.iter().map(|id| named(id)).collect();
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let listed = one.list(Some(named("orders")), 9).await.unwrap();
            let listed: Vec<String> = listed.into_iter().map(|stored| stored.run.id).collect();
            if listed == left {
                break;
            }
            assert!(Instant::now() < deadline, "{limits:?}: {listed:?} are left");
            tokio::task::yield_now().await;
        }
        assert_eq!(one.load(named("a")).await.unwrap(), None);
        assert_eq!(one.history(named("a")).await.unwrap(), entries(&[]));
    }
}
