//! Effects of commits, and commits without effect.

use super::room::*;
use crate::{ChangeCondition, ChangeOperation, OVERHEAD, StateError, StateSpace};

const CALLER: StateSpace = StateSpace::Caller([7; 32]);

pub fn what_is_committed_is_read(room: RoomSource<'_>) {
    let room = room();
    let store = room.store();
    let first = store.commit(StateSpace::Shared, vec![put("a", "1"), put("b", [0, 255, 0])]).unwrap();
    let second = store.commit(StateSpace::Shared, vec![put("a", ""), delete("none")]).unwrap();
    assert!(second > first);
    let entries = store.get(StateSpace::Shared, &["b".into(), "none".into(), "a".into()]).unwrap();
    let [Some(b), None, Some(a)] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!((&b.value[..], b.version), (&[0, 255, 0][..], first));
    assert_eq!((&a.value[..], a.version), (&[][..], second));
}

pub fn expectations_decide_over_the_whole_commit(room: RoomSource<'_>) {
    let cases = [
        ("there", ChangeCondition::Any, true),
        ("there", ChangeCondition::Absent, false),
        ("there", ChangeCondition::Version(0), true),
        ("there", ChangeCondition::Version(1), false),
        ("none", ChangeCondition::Any, true),
        ("none", ChangeCondition::Absent, true),
        ("none", ChangeCondition::Version(0), false),
        ("expired", ChangeCondition::Absent, true),
        ("expired", ChangeCondition::Version(0), false),
        ("elsewhere", ChangeCondition::Absent, true),
    ];
    for (key, expect, holds) in cases {
        for operation in
            [ChangeOperation::Check, ChangeOperation::Put(b"new".to_vec()), ChangeOperation::Delete]
        {
            let room = room();
            let store = room.store();
            store.commit(CALLER, vec![put("elsewhere", "")]).unwrap();
            let made = vec![put("there", "old"), put_until("expired", "old", START + 5)];
            let version = store.commit(StateSpace::Shared, made).unwrap();
            room.pass(5);
            // 0 means the current version.
            let expect = match expect {
                ChangeCondition::Version(by) => ChangeCondition::Version(version + by),
                other => other,
            };
            let changes = vec![put("beside", "x"), change(key, expect, operation.clone())];
            let done = store.commit(StateSpace::Shared, changes);
            assert_eq!(get(&store, "beside").is_some(), holds, "{key} {expect:?} {operation:?}");
            match done {
                Ok(next) => assert_eq!((holds, next), (true, version + 1)),
                Err(StateError::Conflict(keys)) => {
                    assert_eq!((holds, &keys[..]), (false, &[key.to_owned()][..]))
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}

pub fn a_conflict_names_all_of_its_keys(room: RoomSource<'_>) {
    let room = room();
    let store = room.store();
    let version = store.commit(StateSpace::Shared, vec![put("a", ""), put("b", "")]).unwrap();
    let changes = vec![
        check("c", ChangeCondition::Version(version)),
        change("a", ChangeCondition::Absent, ChangeOperation::Delete),
        change("b", ChangeCondition::Version(version), ChangeOperation::Delete),
        check("a2", ChangeCondition::Version(1)),
    ];
    assert_eq!(said(store.commit(StateSpace::Shared, changes)), "the state has changed: c, a, a2");
    assert_eq!(keys(&store), ["a", "b"]);
}

pub fn checks_alone_take_no_version_and_make_no_file(room: RoomSource<'_>) {
    let room = room();
    let store = room.store();
    assert_eq!(store.commit(StateSpace::Shared, vec![]).unwrap(), 0);
    assert_eq!(store.commit(StateSpace::Shared, vec![check("a", ChangeCondition::Absent)]).unwrap(), 0);
    let conflict = store.commit(StateSpace::Shared, vec![check("a", ChangeCondition::Version(3))]);
    assert_eq!(said(conflict), "the state has changed: a");
    assert_eq!((keys(&store), get(&store, "a")), (vec![], None));
    assert_eq!(room.folder.names().unwrap(), [""; 0]);
    let version = store.commit(StateSpace::Shared, vec![put("a", "")]).unwrap();
    assert_eq!(
        store.commit(StateSpace::Shared, vec![check("a", ChangeCondition::Version(version))]).unwrap(),
        version
    );
    assert_eq!(store.commit(CALLER, vec![]).unwrap(), version);
    assert_eq!(room.folder.names().unwrap(), ["notes"]);
}

pub fn spaces_share_nothing_but_the_counter(room: RoomSource<'_>) {
    let room = room();
    let store = room.store();
    let spaces = [StateSpace::Shared, CALLER, StateSpace::Caller([0; 32])];
    let versions = spaces.map(|space| store.commit(space, vec![put("k", format!("{space:?}"))]).unwrap());
    assert_eq!([versions[0] + 1, versions[0] + 2], versions[1..]);
    for (space, version) in spaces.into_iter().zip(versions) {
        let entry = store.get(space, &["k".into()]).unwrap().remove(0).unwrap();
        assert_eq!((entry.value, entry.version), (format!("{space:?}").into_bytes(), version));
        assert_eq!(store.scan(space, "", None, 10, None).unwrap().items.len(), 1);
    }
    store.commit(CALLER, vec![delete("k")]).unwrap();
    assert!(get(&store, "k").is_some());
}

pub fn versions_never_repeat(room: RoomSource<'_>) {
    let room = room();
    let store = room.store();
    let mut last = 0;
    let mut next = |store: &crate::StateStore| {
        let version = store.commit(StateSpace::Shared, vec![put("k", "")]).unwrap();
        assert!(version > last);
        last = version;
    };
    next(&store);
    store.commit(StateSpace::Shared, vec![delete("k")]).unwrap();
    next(&store);
    let mut exported = Vec::new();
    store.export(&mut exported).unwrap();
    assert_eq!(store.clear().unwrap(), 1);
    next(&store);
    store.import(&exported[..], true).unwrap();
    next(&store);
    // The clock advances, and so do the versions of a new file.
    room.pass(1);
    room.folder.remove("notes").unwrap();
    next(&store);
}

pub fn the_quota_counts_keys_values_and_an_overhead(room: RoomSource<'_>) {
    let room = room();
    let store = room.folder.store("notes", 2 * OVERHEAD + 20).unwrap();
    let full = vec![put("a", [0; 9])];
    store.commit(StateSpace::Shared, full.clone()).unwrap();
    store.commit(CALLER, full).unwrap();
    assert_eq!(store.usage().unwrap().bytes, 2 * OVERHEAD + 20);
    let over = store.commit(StateSpace::Shared, vec![put("a", [0; 10])]);
    assert_eq!(said(over), "the state would take 277 bytes, and may take 276");
    assert!(matches!(store.commit(StateSpace::Shared, vec![put("b", "")]), Err(StateError::Quota { .. })));
    // One commit may take and give.
    store.commit(StateSpace::Shared, vec![put("b", [0; 9]), delete("a")]).unwrap();
    assert_eq!(keys(&store), ["b"]);
}

pub fn above_a_lowered_quota_shrinking_is_allowed(room: RoomSource<'_>) {
    let room = room();
    room.store().commit(StateSpace::Shared, vec![put("a", [0; 90]), put("b", [0; 90])]).unwrap();
    let store = room.folder.store("notes", 10).unwrap();
    for (changes, allowed) in [
        (vec![put("a", [0; 91])], false),
        (vec![put("a", [0; 90])], true),
        (vec![put("a", [0; 80])], true),
        (vec![put("a", [0; 91]), put("b", [0; 70])], true),
        (vec![delete("a")], true),
        (vec![put("c", "")], false),
        (vec![check("b", ChangeCondition::Any)], true),
        (vec![delete("b")], true),
    ] {
        assert_eq!(store.commit(StateSpace::Shared, changes.clone()).is_ok(), allowed, "{changes:?}");
    }
    assert_eq!(store.usage().unwrap().bytes, 0);
}

pub fn what_has_expired_is_gone_for_everyone(room: RoomSource<'_>) {
    let room = room();
    let store = room.folder.store("notes", 300).unwrap();
    store.commit(StateSpace::Shared, vec![put_until("k", [1; 100], START + 10)]).unwrap();
    assert!(said(store.commit(StateSpace::Shared, vec![put("l", [2; 100])])).contains("bytes"));
    room.pass(9);
    assert_eq!(keys(&store), ["k"]);
    room.pass(1);
    assert_eq!((keys(&store), get(&store, "k")), (vec![], None));
    assert_eq!((store.list().unwrap(), store.usage().unwrap().bytes), (vec![], 0));
    // Its bytes are free again.
    store
        .commit(
            StateSpace::Shared,
            vec![change("l", ChangeCondition::Absent, ChangeOperation::Put(vec![2; 100]))],
        )
        .unwrap();
    assert_eq!(keys(&store), ["l"]);
}

pub fn a_put_whose_moment_has_passed_leaves_nothing(room: RoomSource<'_>) {
    let room = room();
    let store = room.store();
    store.commit(StateSpace::Shared, vec![put("k", "")]).unwrap();
    store
        .commit(StateSpace::Shared, vec![put_until("k", "", START), put_until("far", "", u64::MAX)])
        .unwrap();
    assert_eq!(keys(&store), ["far"]);
    assert_eq!(store.list().unwrap()[0].until, Some(i64::MAX as u64));
    // A plain put takes an expiry away.
    store.commit(StateSpace::Shared, vec![put_until("far", "", START + 1)]).unwrap();
    store.commit(StateSpace::Shared, vec![put("far", "")]).unwrap();
    room.pass(10);
    assert_eq!(keys(&store), ["far"]);
}

pub fn requests_that_cannot_be_served_say_why(room: RoomSource<'_>) {
    let room = room();
    let store = room.store();
    let commit = |changes| said(store.commit(StateSpace::Shared, changes));
    assert_eq!(commit(vec![put("", "")]), "a key is empty");
    assert_eq!(commit(vec![put("k", ""), check("k", ChangeCondition::Any)]), "`k` occurs twice");
    assert_eq!(said(store.get(StateSpace::Shared, &["".into()])), "a key is empty");
    let scan = |prefix: &str, after, limit| said(store.scan(StateSpace::Shared, prefix, after, limit, None));
    assert_eq!(scan("", None, 0), "the limit is 0, and must be 1 or more");
    assert_eq!(scan(&"p".repeat(1025), None, 1), "the prefix has 1025 bytes, and may have 1024");
    for n in 0..9 {
        store.commit(StateSpace::Shared, vec![put(&n.to_string(), vec![0; 1024 * 1024])]).unwrap();
    }
    let all: Vec<String> = (0..9).map(|n| n.to_string()).collect();
    assert_eq!(store.get(StateSpace::Shared, &all[1..]).unwrap().len(), 8);
    let told = said(store.get(StateSpace::Shared, &all));
    assert_eq!(told, "these keys have values of more than 8388608 bytes: get fewer at once");
}
