//! Cost of a store on this machine: `cargo bench -p loggia-state --bench speed`.

#[path = "../tests/support/mod.rs"]
mod support;

use std::{
    io::{Write, stderr},
    thread,
    time::{Duration, Instant},
};

use loggia_state::{StateChange, StateSpace, StateStore};
use support::*;

fn say(text: &str) {
    let _ = writeln!(stderr(), "{text}");
}

/// The time that one takes of many.
fn each(times: u32, mut work: impl FnMut(u32)) -> Duration {
    let began = Instant::now();
    (0..times).for_each(&mut work);
    began.elapsed() / times
}

fn entry(n: u32) -> StateChange {
    put(&format!("key/{n:06}"), [b'v'; 200])
}

fn all(store: &StateStore) -> usize {
    let (mut after, mut found): (Option<String>, usize) = (None, 0);
    loop {
        let page = store.scan(StateSpace::Shared, "key/", after.as_deref(), 1000, None).unwrap();
        found += page.items.len();
        if !page.more {
            return found;
        }
        after = page.items.last().map(|entry| entry.key.clone());
    }
}

fn main() {
    let room = room();
    let began = Instant::now();
    let store = room.store();
    assert_eq!(get(&store, "none"), None);
    say(&format!("a store without a file: {:?}", began.elapsed()));
    let began = Instant::now();
    store.commit(StateSpace::Shared, vec![entry(0)]).unwrap();
    say(&format!("the first commit, which makes the file: {:?}", began.elapsed()));
    let one = each(1000, |n| drop(store.commit(StateSpace::Shared, vec![entry(n)])));
    say(&format!("a commit of one entry: {one:?}, {:.0} a second", 1.0 / one.as_secs_f64()));
    let began = Instant::now();
    thread::scope(|scope| {
        for t in 0..4 {
            let store = &store;
            scope.spawn(move || {
                (0..250).for_each(|n| drop(store.commit(StateSpace::Shared, vec![entry(t * 250 + n)])))
            });
        }
    });
    say(&format!("by four threads: {:.0} a second", 1000.0 / began.elapsed().as_secs_f64()));
    let many = each(20, |n| {
        drop(store.commit(StateSpace::Shared, (0..1000).map(|m| entry(n * 1000 + m)).collect()))
    });
    say(&format!("a commit of 1,000 entries: {many:?}"));
    let check = vec![check("key/000001", loggia_state::ChangeCondition::Any)];
    say(&format!(
        "a commit of a check: {:?}",
        each(10_000, |_| drop(store.commit(StateSpace::Shared, check.clone())))
    ));
    let of = |n: u32, keys: u32| {
        (0..keys).map(|m| format!("key/{:06}", (n * 7919 + m * 31) % 20_000)).collect::<Vec<_>>()
    };
    for keys in [1, 10, 1000] {
        let took = each(10_000 / keys, |n| drop(store.get(StateSpace::Shared, &of(n, keys)).unwrap()));
        say(&format!("a get of {keys}: {took:?}"));
    }
    let page = each(1000, |_| drop(store.scan(StateSpace::Shared, "key/", None, 20, None).unwrap()));
    say(&format!("a page of 20: {page:?}"));
    let scan = each(5, |_| assert_eq!(all(&store), 20_000));
    say(&format!("a scan of 20,000 entries in pages of 1,000: {scan:?}"));
    let began = Instant::now();
    drop((store, room.store()));
    assert!(get(&room.store(), "key/000001").is_some());
    say(&format!("opening it again, and a get: {:?}", began.elapsed()));
}
