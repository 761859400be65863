//! Exports, and what is taken in of them.

use std::io::{self, BufReader, Read};

use super::room::*;
use crate::{ImportReport, ListedEntry, StateError, StateSpace, StateStore};

const CALLER: StateSpace = StateSpace::Caller([0xab; 32]);

fn exported(store: &StateStore) -> String {
    let mut bytes = Vec::new();
    store.export(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn head(entries: &str) -> String {
    format!("{{\"format\":\"loggia-state\",\"version\":1,\"facade\":\"notes\"{entries}}}\n")
}

pub fn an_export_is_a_line_for_each_entry(room: RoomSource<'_>) {
    let room = room();
    let store = room.store();
    assert_eq!(exported(&store), head(",\"entries\":0"));
    store.commit(CALLER, vec![put("z", "ü\n\"")]).unwrap();
    let changes = vec![put("b", [255, 0]), put_until("a", "", START + 10), put_until("gone", "", START + 1)];
    store.commit(StateSpace::Shared, changes).unwrap();
    room.pass(1);
    let expected = [
        &head(",\"entries\":3"),
        "{\"space\":\"shared\",\"key\":\"a\",\"text\":\"\",\"until\":1800000000010}\n",
        "{\"space\":\"shared\",\"key\":\"b\",\"base64\":\"/wA=\"}\n",
        &format!("{{\"space\":\"{}\",\"key\":\"z\",\"text\":\"ü\\n\\\"\"}}\n", "ab".repeat(32)),
    ];
    assert_eq!(exported(&store), expected.concat());
}

pub fn what_is_exported_comes_back_elsewhere(room: RoomSource<'_>) {
    let room = room();
    let store = room.store();
    let odd = ["a", "\0", "\u{1}\u{7f}", "\u{10ffff}", "é\"\\", &"k".repeat(1024)];
    for (n, key) in odd.iter().enumerate() {
        let value: Vec<u8> = (0..=255).cycle().take(n * 1000).collect();
        store.commit(if n % 2 == 0 { CALLER } else { StateSpace::Shared }, vec![put(key, value)]).unwrap();
    }
    let worst = vec![1; 1024 * 1024];
    store.commit(CALLER, vec![put("worst", &worst), put_until("later", "x", START + 1000)]).unwrap();
    let text = exported(&store);
    let other = room.folder.store("other", 0).unwrap();
    let imported = other.import(text.as_bytes(), false).unwrap();
    assert_eq!(imported, ImportReport { facade: "notes".into(), entries: 8, expired: 0 });
    assert_eq!(exported(&other).replace("\"other\"", "\"notes\""), text);
    assert_eq!(other.usage().unwrap().bytes, store.usage().unwrap().bytes);
    let without = |listed: Vec<ListedEntry>| {
        listed.into_iter().map(|one| (one.space, one.key, one.bytes, one.until)).collect::<Vec<_>>()
    };
    assert_eq!(without(other.list().unwrap()), without(store.list().unwrap()));
    // A hash of what was read twice is the same: importing again changes no entry.
    other.import(text.as_bytes(), true).unwrap();
    assert_eq!(exported(&other).replace("\"other\"", "\"notes\""), text);
}

pub fn an_import_replaces_all_or_stands_beside(room: RoomSource<'_>) {
    for (replace, expected) in [(false, &["a", "b"][..]), (true, &["b"][..])] {
        let room = room();
        let store = room.store();
        let version = store.commit(StateSpace::Shared, vec![put("a", "old"), put("b", "old")]).unwrap();
        store.commit(CALLER, vec![put("c", "old")]).unwrap();
        let page = store.scan(StateSpace::Shared, "", None, 1, None).unwrap();
        let elsewhere = store.scan(CALLER, "", None, 1, None).unwrap();
        let text = head("")
            + "{\"space\":\"shared\",\"key\":\"b\",\"text\":\"new\"}\n\n"
            + "{\"space\":\"shared\",\"key\":\"x\",\"text\":\"\",\"until\":5}\n";
        let imported = store.import(text.as_bytes(), replace).unwrap();
        assert_eq!((imported.entries, imported.expired), (1, 1));
        assert_eq!(keys(&store), expected);
        let b = get(&store, "b").unwrap();
        assert_eq!((&b.value[..], b.version), (&b"new"[..], version + 2));
        let moved = store.scan(StateSpace::Shared, "", None, 1, Some(page.revision));
        assert!(matches!(moved, Err(StateError::Moved)));
        assert_eq!(store.scan(CALLER, "", None, 1, Some(elsewhere.revision)).is_err(), replace);
        let usage = store.usage().unwrap();
        let sum: u64 = store.list().unwrap().iter().map(|one| one.bytes + one.key.len() as u64 + 128).sum();
        assert_eq!(usage.bytes, sum);
        // The quota counts from there.
        let full = room.folder.store("notes", sum).unwrap();
        assert!(matches!(
            full.commit(StateSpace::Shared, vec![put("more", "")]),
            Err(StateError::Quota { .. })
        ));
    }
}

pub fn what_is_wrong_is_told_with_its_line_and_changes_nothing(room: RoomSource<'_>) {
    let good = "{\"space\":\"shared\",\"key\":\"k\",\"text\":\"v\"}\n";
    let long = format!("{{\"space\":\"shared\",\"key\":\"{}\",\"text\":\"\"}}\n", "k".repeat(1025));
    let large =
        format!("{{\"space\":\"shared\",\"key\":\"l\",\"text\":\"{}\"}}\n", "v".repeat(1024 * 1024 + 1));
    let endless = "x".repeat(9 * 1024 * 1024);
    let no_export = "line 1: it is not an export of `loggia state export`";
    let cases: [(String, &str); 19] = [
        (String::new(), "line 1: it is empty, and must begin with a head"),
        ("[]\n".into(), no_export),
        (good.into(), no_export),
        (head("").replace("loggia-state", "x"), no_export),
        (head("").replace(":1,", ":0,"), no_export),
        (head("").replace(":1,", ":2,"), "line 1: a newer Loggia wrote it: update this one"),
        (head("") + good + "\n" + "{\n", "line 4: EOF while parsing an object (column 0)"),
        (head("") + good + good, "line 3: `k` occurs twice"),
        (
            head("") + &good.replace("shared", "Shared"),
            "line 2: `space` must be \"shared\" or 64 hexadecimal digits",
        ),
        (head("") + &good.replace("shared", &"g".repeat(64)), "line 2: `space` must be"),
        (head("") + &good.replace("text", "base64"), "line 2: `base64` is invalid: "),
        (
            head("") + &good.replace(",\"text\":\"v\"", ""),
            "line 2: it must have `text` or `base64`, and not both",
        ),
        (head("") + &good.replace(":\"k\"", ":\"\""), "line 2: a key is empty"),
        (head("") + &good.replace("text", "txt"), "line 2: unknown field `txt`"),
        (head("") + &long, "line 2: a key has 1025 bytes, and may have 1024"),
        (head("") + &large, "line 2: the value of `l` has 1048577 bytes, and may have 1048576"),
        (head("") + good + &endless, "line 3: it is longer than 8 MiB"),
        (head(",\"entries\":2") + good, "line 2: it ends after 1 of 2 entries: it was cut off"),
        (head(",\"entries\":0") + good, "line 2: it ends after 1 of 0 entries: it was cut off"),
    ];
    let room = room();
    let store = room.store();
    let version = store.commit(StateSpace::Shared, vec![put("old", "")]).unwrap();
    let none = room.folder.store("none", 0).unwrap();
    for (text, expected) in cases {
        for store in [&store, &none] {
            match store.import(text.as_bytes(), true) {
                Err(StateError::Invalid(told)) => assert!(told.starts_with(expected), "{told}"),
                other => panic!("{expected}: {other:?}"),
            }
        }
        assert_eq!((keys(&store), store.usage().unwrap().revision), (vec!["old".to_owned()], version));
    }
    assert_eq!(room.folder.names().unwrap(), ["notes"]);
}

pub fn a_slow_import_holds_up_nobody(room: RoomSource<'_>) {
    /// Commits while it is read, and fails if it cannot.
    struct Slow<'a>(&'a StateStore, Vec<u8>, u8);
    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.2 += 1;
            self.0.commit(StateSpace::Shared, vec![put(&format!("during{}", self.2), "")]).unwrap();
            let some = self.1.len().min(into.len()).min(40);
            into[..some].copy_from_slice(&self.1[..some]);
            self.1.drain(..some);
            Ok(some)
        }
    }
    let room = room();
    let store = room.store();
    let text = head("") + "{\"space\":\"shared\",\"key\":\"b\",\"text\":\"new\"}\n";
    let slow = BufReader::new(Slow(&store, text.into_bytes(), 0));
    store.import(slow, false).unwrap();
    assert!(keys(&store).len() > 3);
}

pub fn an_export_is_of_one_state(room: RoomSource<'_>) {
    /// Commits while it is written.
    struct Meddler<'a>(&'a StateStore, Vec<u8>);
    impl io::Write for Meddler<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.commit(StateSpace::Shared, vec![put("zzz", ""), delete("a"), delete("b")]).unwrap();
            self.1.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let room = room();
    let store = room.store();
    store.commit(StateSpace::Shared, vec![put("a", ""), put("b", ""), put("c", "")]).unwrap();
    let before = exported(&store);
    let mut during = Meddler(&store, Vec::new());
    assert_eq!(store.export(&mut during).unwrap(), 3);
    assert_eq!(String::from_utf8(during.1).unwrap(), before);
    assert_eq!(keys(&store), ["c", "zzz"]);
    let full = store.export(&mut &mut [0; 10][..]);
    assert!(said(full).starts_with("the state cannot be used: the export cannot be written: "));
}
