//! Content of pages, and consistency with a state.

use super::room::*;
use crate::{ChangeCondition, ChangeMark, KEY_BYTES, StateError, StatePage, StateSpace, StateStore};

fn scan(store: &StateStore, prefix: &str, after: Option<&str>, limit: u32) -> (Vec<String>, bool) {
    let page = store.scan(StateSpace::Shared, prefix, after, limit, None).unwrap();
    (page.items.into_iter().map(|entry| entry.key).collect(), page.more)
}

pub fn keys_come_in_the_order_of_their_bytes(room: RoomSource<'_>) {
    let room = room();
    let store = room.store();
    let mut keys =
        ["a", "a\0", "a\0b", "aa", "a ", "B", "b", "é", "z", "\u{ffff}", "\u{10ffff}", "\u{10ffff}a", "\0"];
    store.commit(StateSpace::Shared, keys.iter().map(|key| put(key, key)).collect()).unwrap();
    keys.sort_unstable_by_key(|key| key.as_bytes());
    assert_eq!(super::room::keys(&store), keys);
    for key in keys {
        assert_eq!(text(&store, key).as_deref(), Some(key));
    }
}

pub fn prefix_after_and_limit_choose_the_page(room: RoomSource<'_>) {
    let room = room();
    let store = room.store();
    let keys = ["a", "ab", "ab\0", "abc", "abd", "b", "\u{10ffff}x"];
    store.commit(StateSpace::Shared, keys.iter().map(|key| put(key, "")).collect()).unwrap();
    /// Prefix, after, limit; the page, and whether there are more.
    type Case<'a> = (&'a str, Option<&'a str>, u32, &'a [&'a str], bool);
    let cases: [Case<'_>; 13] = [
        ("", None, 100, &keys, false),
        ("", None, 7, &keys, false),
        ("", None, 6, &keys[..6], true),
        ("", Some(""), 100, &keys, false),
        ("ab", None, 100, &keys[1..5], false),
        ("ab", None, 2, &keys[1..3], true),
        ("ab", Some("ab"), 100, &keys[2..5], false),
        ("ab", Some("ab\0"), 1, &keys[3..4], true),
        ("ab", Some("abcd"), 100, &keys[4..5], false),
        ("ab", Some("a"), 100, &keys[1..5], false),
        ("ab", Some("b"), 100, &[], false),
        ("\u{10ffff}", None, u32::MAX, &keys[6..], false),
        ("c", None, 1, &[], false),
    ];
    for (prefix, after, limit, expected, more) in cases {
        let (found, further) = scan(&store, prefix, after, limit);
        assert_eq!(
            (&found[..], further),
            (&expected.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>()[..], more)
        );
    }
}

pub fn a_page_has_an_end_in_entries_and_in_bytes_but_one_entry_in_any_case(room: RoomSource<'_>) {
    const MIB: usize = 1024 * 1024;
    let room = room();
    let store = room.store();
    let half = MIB / 2 - 1;
    for (key, bytes) in [("a", half), ("b", half), ("c", 0), ("d", MIB), ("e", MIB)] {
        store.commit(StateSpace::Shared, vec![put(key, vec![0; bytes])]).unwrap();
    }
    let pages =
        [(None, vec!["a", "b"]), (Some("b"), vec!["c"]), (Some("c"), vec!["d"]), (Some("d"), vec!["e"])];
    for (n, (after, expected)) in pages.into_iter().enumerate() {
        assert_eq!(scan(&store, "", after, 10), (expected.into_iter().map(str::to_owned).collect(), n < 3));
    }
    let caller = StateSpace::Caller([1; 32]);
    for part in 0..2 {
        let many = (0..600).map(|n| put(&format!("{part}{n:04}"), "")).collect();
        store.commit(caller, many).unwrap();
    }
    let page = store.scan(caller, "", None, 5000, None).unwrap();
    assert_eq!((page.items.len(), page.more), (1000, true));
    assert_eq!(page.items[999].key, "10399");
}

/// The committed revision does not matter.
fn done(_: u64) {}

pub fn a_scan_in_pages_is_of_one_state_or_moved(room: RoomSource<'_>) {
    let other = StateSpace::Caller([1; 32]);
    let gone = StateSpace::Caller([2; 32]);
    type Meanwhile = fn(&Room, &StateStore);
    let cases: [(&str, bool, Meanwhile); 9] = [
        ("nothing", false, |_, _| ()),
        ("a write elsewhere", false, |_, store| {
            done(store.commit(StateSpace::Caller([1; 32]), vec![put("k", "")]).unwrap())
        }),
        ("the last key elsewhere is deleted", false, |_, store| {
            store.commit(StateSpace::Caller([2; 32]), vec![delete("k")]).unwrap();
        }),
        ("checks", false, |_, store| {
            done(store.commit(StateSpace::Shared, vec![check("a", ChangeCondition::Any)]).unwrap())
        }),
        ("a conflict", false, |_, store| {
            drop(store.commit(StateSpace::Shared, vec![check("a", ChangeCondition::Absent), put("b", "")]))
        }),
        ("expiry", false, |room, _| room.pass(10)),
        ("a write", true, |_, store| done(store.commit(StateSpace::Shared, vec![put("c", "")]).unwrap())),
        ("a delete", true, |_, store| done(store.commit(StateSpace::Shared, vec![delete("a")]).unwrap())),
        ("clear", true, |_, store| done(store.clear().unwrap())),
    ];
    for (name, moved, meanwhile) in cases {
        let room = room();
        let store = room.store();
        store.commit(other, vec![put("k", "")]).unwrap();
        store.commit(gone, vec![put("k", "")]).unwrap();
        store
            .commit(StateSpace::Shared, vec![put("a", ""), put("b", ""), put_until("x", "", START + 10)])
            .unwrap();
        let first = store.scan(StateSpace::Shared, "", None, 1, None).unwrap();
        meanwhile(&room, &store);
        match store.scan(StateSpace::Shared, "", Some("a"), 10, Some(first.revision)) {
            Ok(page) => assert!(!moved && page.items[0].key == "b", "{name}"),
            Err(StateError::Moved) => assert!(moved, "{name}"),
            Err(other) => panic!("{name}: {other}"),
        }
    }
}

pub fn revisions_that_never_were_are_moved(room: RoomSource<'_>) {
    let room = room();
    let store = room.store();
    let nothing = StatePage { items: vec![], more: false, revision: 0 };
    assert_eq!(store.scan(StateSpace::Shared, "", None, 1, Some(0)).unwrap(), nothing);
    assert!(matches!(store.scan(StateSpace::Shared, "", None, 1, Some(7)), Err(StateError::Moved)));
    let now = store.commit(StateSpace::Shared, vec![put("a", "")]).unwrap();
    for (at, moved) in [(0, true), (now - 1, true), (now, false), (now + 1, true), (u64::MAX, true)] {
        assert_eq!(store.scan(StateSpace::Shared, "", None, 1, Some(at)).is_err(), moved, "{at}");
    }
}

pub fn each_change_after_a_mark_is_found_once(room: RoomSource<'_>) {
    let room = room();
    let store = room.store();
    let begin = ChangeMark { version: 0, key: None };
    let changes = |space, prefix: &str, after: &ChangeMark, limit| {
        let found = store.changes(space, prefix, after.clone(), limit).unwrap();
        let keys: Vec<String> = found.keys.into_iter().map(|changed| changed.key).collect();
        (keys.join(" "), found.mark, found.more)
    };
    let shared = |prefix: &str, after: &ChangeMark, limit| changes(StateSpace::Shared, prefix, after, limit);
    assert_eq!(shared("", &begin, 10), (String::new(), begin.clone(), false), "there is no store");
    let first =
        store.commit(StateSpace::Shared, ["c", "a", "b", "x/1"].map(|key| put(key, "1")).into()).unwrap();
    // In parts, also within one version.
    let (found, mark, more) = shared("", &begin, 2);
    assert_eq!((&*found, more), ("a b", true));
    assert_eq!(mark, ChangeMark { version: first, key: Some("b".into()) });
    store.commit(StateSpace::Shared, vec![put("a", "2"), put("x/2", "1")]).unwrap();
    let (found, after, more) = shared("", &mark, 10);
    assert_eq!((&*found, more), ("c x/1 a x/2", false));
    assert_eq!(shared("", &after, 10), (String::new(), after.clone(), false));
    assert_eq!(shared("x/", &begin, 1).0, "x/1");
    assert_eq!(shared("y", &begin, 10), (String::new(), after.clone(), false));
    // Neither deletions nor what has expired or belongs to a caller.
    let caller = StateSpace::Caller([1; 32]);
    store.commit(caller, vec![put("z", "")]).unwrap();
    let deleted = store.commit(StateSpace::Shared, vec![delete("c")]).unwrap();
    assert_eq!(shared("", &after, 10), (String::new(), ChangeMark { version: deleted, key: None }, false));
    assert_eq!(changes(caller, "", &begin, 10).0, "z");
    store.commit(StateSpace::Shared, vec![put_until("soon", "", START + 5)]).unwrap();
    assert_eq!(shared("", &after, 10).0, "soon");
    room.pass(5);
    assert_eq!(shared("", &after, 10).0, "");
    let long = |number: u32| put(&format!("{number}{}", "k".repeat(KEY_BYTES - 8)), "");
    store.commit(StateSpace::Shared, (0..200).map(long).collect()).unwrap();
    let found = store.changes(StateSpace::Shared, "", after, 1000).unwrap();
    assert!(found.more && found.keys.len() < 140, "{}", found.keys.len());
    let rest = store.changes(StateSpace::Shared, "", found.mark, 1000).unwrap();
    assert_eq!((found.keys.len() + rest.keys.len(), rest.more), (200, false));
}
