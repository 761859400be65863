//! Folders, files, and what becomes of them under a running store.

mod support;

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    sync::Arc,
    thread,
};

use loggia_state::{ChangeCondition, ChangeOperation, StateError, StateFolder, StateSpace, StateStore};
use support::*;

const CALLER: StateSpace = StateSpace::Caller([7; 32]);

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn only_the_owner_can_look_into_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/state");
    let folder = StateFolder::open(&path).unwrap();
    let store = folder.store("notes", AMPLE).unwrap();
    store.commit(StateSpace::Shared, vec![put("k", "v")]).unwrap();
    folder.secret().unwrap();
    for (file, expected) in [
        ("", 0o700),
        ("stores", 0o700),
        ("stores/notes.db", 0o600),
        ("stores/notes.db-wal", 0o600),
        ("stores/notes.db-shm", 0o600),
        ("secret", 0o600),
    ] {
        assert_eq!(mode(&path.join(file)), expected, "{file}");
    }
}

#[test]
fn a_temporary_folder_keeps_what_was_committed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state");
    let store = StateFolder::open_temporary(&path).unwrap().store("notes", AMPLE).unwrap();
    store.commit(StateSpace::Shared, vec![put("k", "v")]).unwrap();
    store.commit(StateSpace::Shared, vec![put("k", "w")]).unwrap();
    // Another process of the same folder sees it, too.
    let other = StateFolder::open(&path).unwrap().store("notes", AMPLE).unwrap();
    for store in [store, other] {
        let page = store.scan(StateSpace::Shared, "", None, 10, None).unwrap();
        let entries: Vec<_> = page.items.iter().map(|entry| (entry.key.as_str(), &entry.value[..])).collect();
        assert_eq!(entries, [("k", &b"w"[..])]);
    }
}

#[test]
fn a_folder_that_others_can_write_to_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o770)).unwrap();
    let told = said(StateFolder::open(dir.path()));
    assert!(
        told.contains("others can write to the folder: take that right from them (chmod go-w)"),
        "{told}"
    );
    assert_eq!(mode(dir.path()), 0o770);
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(StateFolder::open(file), Err(StateError::Storage(_))));
}

#[test]
fn names_of_stores_are_names_of_facades() {
    let room = room();
    for (name, good) in [
        ("a", true),
        ("notes-2_x", true),
        (&"n".repeat(32)[..], true),
        (&"n".repeat(33)[..], false),
        ("", false),
        ("2a", false),
        ("Notes", false),
        ("a/b", false),
        ("..", false),
        ("a.b", false),
        ("é", false),
    ] {
        assert_eq!(room.folder.store(name, 0).is_ok(), good, "{name}");
        assert_eq!(room.folder.remove(name).is_ok(), good, "{name}");
    }
}

#[test]
fn names_lists_what_has_a_file() {
    let room = room();
    for name in ["zoo", "ant"] {
        room.folder.store(name, AMPLE).unwrap().commit(StateSpace::Shared, vec![put("k", "")]).unwrap();
    }
    room.folder.store("unused", AMPLE).unwrap();
    fs::write(room.dir.path().join("stores/Foreign.db"), "").unwrap();
    fs::write(room.dir.path().join("stores/notes.txt"), "").unwrap();
    assert_eq!(room.folder.names().unwrap(), ["ant", "zoo"]);
    room.folder.remove("zoo").unwrap();
    assert_eq!(room.folder.names().unwrap(), ["ant"]);
    let left: Vec<_> = fs::read_dir(room.dir.path().join("stores")).unwrap().collect();
    assert!(left.iter().all(|file| !file.as_ref().unwrap().file_name().to_string_lossy().starts_with("zoo")));
}

#[test]
fn all_get_the_same_secret() {
    let dir = tempfile::tempdir().unwrap();
    let secrets: Vec<_> = thread::scope(|scope| {
        let race = (0..8).map(|_| scope.spawn(|| StateFolder::open(dir.path()).unwrap().secret().unwrap()));
        race.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(secrets.iter().all(|secret| *secret == secrets[0]));
    assert_ne!(secrets[0], [0; 32]);
    fs::write(dir.path().join("secret"), "short").unwrap();
    let told = said(StateFolder::open(dir.path()).unwrap().secret());
    assert!(told.ends_with("secret: it must have 32 bytes, and has 5: restore the original"), "{told}");
}

#[test]
fn all_that_come_first_make_one_file() {
    for _ in 0..10 {
        let dir = tempfile::tempdir().unwrap();
        StateFolder::open(dir.path()).unwrap();
        // Left by one that was killed meanwhile.
        fs::write(dir.path().join("stores/.new-abc"), "half").unwrap();
        thread::scope(|scope| {
            for n in 0..8 {
                let path = dir.path();
                // Each with connections of its own, as in a process of its own.
                scope.spawn(move || {
                    let store = StateFolder::open(path).unwrap().store("notes", AMPLE).unwrap();
                    store.commit(StateSpace::Shared, vec![put(&n.to_string(), "")]).unwrap();
                });
            }
        });
        let store = StateFolder::open(dir.path()).unwrap().store("notes", AMPLE).unwrap();
        assert_eq!(keys(&store).len(), 8);
        let mut left: Vec<_> = fs::read_dir(dir.path().join("stores"))
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.starts_with("notes.db"))
            .collect();
        left.sort_unstable();
        assert_eq!(left, [".lock"]);
    }
}

#[test]
fn a_folder_that_is_taken_away_is_told() {
    let room = room();
    let store = room.store();
    store.commit(StateSpace::Shared, vec![put("k", "")]).unwrap();
    fs::remove_dir_all(room.dir.path().join("stores")).unwrap();
    assert_eq!(keys(&store), [""; 0]);
    let told = said(store.commit(StateSpace::Shared, vec![put("k", "")]));
    assert!(told.contains("notes.db: ") && told.contains("No such file or directory"), "{told}");
}

#[test]
fn a_file_that_is_taken_away_is_an_empty_store() {
    for leave_the_log in [false, true] {
        let room = room();
        let store = room.store();
        let last = store.commit(StateSpace::Shared, vec![put("old", "")]).unwrap();
        assert_eq!(keys(&store), ["old"]);
        fs::remove_file(room.file()).unwrap();
        if !leave_the_log {
            for ending in ["db-wal", "db-shm"] {
                fs::remove_file(room.file().with_extension(ending)).unwrap();
            }
        }
        assert_eq!(keys(&store), [""; 0]);
        room.pass(1);
        assert!(store.commit(StateSpace::Shared, vec![put("new", "")]).unwrap() > last);
        // The data is in the file of this name, as another process sees it.
        let other = StateFolder::open(room.dir.path()).unwrap().store("notes", AMPLE).unwrap();
        assert_eq!((keys(&store), keys(&other)), (vec!["new".to_owned()], vec!["new".to_owned()]));
    }
}

#[test]
fn a_file_that_is_exchanged_is_the_one_that_is_used() {
    let room = room();
    let store = room.store();
    store.commit(StateSpace::Shared, vec![put("old", "")]).unwrap();
    assert_eq!(keys(&store), ["old"]);
    let other = room.folder.store("other", AMPLE).unwrap();
    other.commit(StateSpace::Shared, vec![put("new", "")]).unwrap();
    drop(other);
    room.folder.remove("notes").unwrap();
    fs::rename(room.dir.path().join("stores/other.db"), room.file()).unwrap();
    assert_eq!(keys(&store), ["new"]);
    store.commit(StateSpace::Shared, vec![put("newer", "")]).unwrap();
    assert_eq!(keys(&store), ["new", "newer"]);
}

#[test]
fn what_is_no_store_is_told_and_left_as_it_is() {
    let made = |sql: &str| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("made");
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        fs::read(path).unwrap()
    };
    let ours = {
        let room = room();
        room.store().commit(StateSpace::Shared, vec![put("k", "")]).unwrap();
        fs::read(room.file()).unwrap()
    };
    let with = |sql: &str| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("made");
        fs::write(&path, &ours).unwrap();
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        fs::read(path).unwrap()
    };
    let cases = [
        (b"".to_vec(), "another program made it"),
        (vec![b'x'; 5000], "file is not a database"),
        (made("CREATE TABLE t (x)"), "another program made it"),
        (ours[..100].to_vec(), "damaged"),
        (with("PRAGMA user_version = 9"), "was made by a newer Loggia (format 9): update this one"),
        (with("CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM meta; END"), "it has other tables"),
        (with("DELETE FROM meta"), "Query returned no rows"),
        (with("UPDATE meta SET revision = -5"), "out of range"),
        (with(&format!("UPDATE meta SET revision = {}", i64::MAX)), "its counter is used up"),
    ];
    for (bytes, expected) in cases {
        let room = room();
        fs::write(room.file(), &bytes).unwrap();
        let store = room.store();
        type Ask = fn(&StateStore) -> Result<(), StateError>;
        let asked: [(&str, Ask); 3] = [
            ("commit", |store| store.commit(StateSpace::Shared, vec![put("k", "")]).map(drop)),
            ("scan", |store| store.scan(StateSpace::Shared, "", None, 1, None).map(drop)),
            ("export", |store| store.export(std::io::sink()).map(drop)),
        ];
        for (name, ask) in asked {
            match ask(&store) {
                Err(StateError::Storage(told)) => assert!(told.contains(expected), "{name}: {told}"),
                other => panic!("{name}: {expected}: {other:?}"),
            }
        }
        assert_eq!(fs::read(room.file()).unwrap(), bytes);
    }
}

#[test]
fn a_damaged_file_never_panics() {
    let room = room();
    let store = room.store();
    for n in 0..20 {
        let many = (0..20).map(|m| put(&format!("{n}-{m}"), [n; 300])).collect();
        store.commit(StateSpace::Shared, many).unwrap();
    }
    drop(store);
    let whole = fs::read(room.file()).unwrap();
    for seed in 0..200usize {
        let mut bytes = whole.clone();
        // Beyond the head, so that it is still taken for a store.
        for n in 0..20 {
            let at = 100 + (seed * 7919 + n * 104_729) % (bytes.len() - 100);
            bytes[at] = bytes[at].wrapping_add(1 + (seed + n) as u8);
        }
        for ending in ["db-wal", "db-shm"] {
            let _ = fs::remove_file(room.file().with_extension(ending));
        }
        fs::remove_file(room.file()).unwrap();
        fs::write(room.file(), bytes).unwrap();
        let store = StateFolder::open(room.dir.path()).unwrap().store("notes", AMPLE).unwrap();
        for result in [
            store.scan(StateSpace::Shared, "", None, 1000, None).map(drop),
            store.commit(StateSpace::Shared, vec![put("new", [0; 500]), delete("0-0")]).map(drop),
            store.list().map(drop),
            store.export(std::io::sink()).map(drop),
            store.get(StateSpace::Shared, &["3-3".to_owned(), "new".to_owned()]).map(drop),
        ] {
            assert!(matches!(result, Ok(()) | Err(StateError::Storage(_))), "{result:?}");
        }
    }
}

#[test]
fn a_link_in_place_of_a_file_is_refused() {
    let room = room();
    let store = room.store();
    store.commit(StateSpace::Shared, vec![put("k", "")]).unwrap();
    drop(store);
    let elsewhere = room.dir.path().join("elsewhere");
    fs::rename(room.file(), &elsewhere).unwrap();
    symlink(&elsewhere, room.file()).unwrap();
    assert!(matches!(
        room.store().commit(StateSpace::Shared, vec![put("k", "")]),
        Err(StateError::Storage(_))
    ));
}

#[test]
fn readers_do_not_wait_for_a_writer() {
    let room = room();
    let store = room.store();
    store.commit(StateSpace::Shared, vec![put("k", "1")]).unwrap();
    let connection = rusqlite::Connection::open(room.file()).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE; UPDATE meta SET bytes = bytes").unwrap();
    assert_eq!(text(&store, "k").as_deref(), Some("1"));
    assert_eq!(keys(&store), ["k"]);
    connection.execute_batch("ROLLBACK").unwrap();
    store.commit(StateSpace::Shared, vec![put("k", "2")]).unwrap();
}

#[test]
fn threads_share_a_store() {
    let room = room();
    let store = room.store();
    let stores = Arc::new([store.clone(), room.store(), room.folder.clone().store("notes", 1).unwrap()]);
    thread::scope(|scope| {
        for n in 0..4 {
            let store = &stores[n % 2];
            scope.spawn(move || {
                for m in 0..50 {
                    store.commit(StateSpace::Shared, vec![put(&format!("{n}-{m:02}"), "")]).unwrap();
                    assert!(get(store, &format!("{n}-{m:02}")).is_some());
                }
            });
        }
    });
    assert_eq!(keys(&store).len(), 200);
}

#[test]
fn more_may_have_expired_than_one_commit_removes() {
    let room = room();
    let store = room.folder.store("notes", 2000 * 200).unwrap();
    for half in ["a", "b"] {
        let many = (0..1000).map(|n| put_until(&format!("{half}{n}"), [0; 50], START + 10)).collect();
        store.commit(CALLER, many).unwrap();
    }
    room.pass(10);
    // So many of the old ones are still there that only what has expired makes room.
    let filled = (0..40).map(|n| put(&format!("{n}"), [0; 9000])).collect();
    store.commit(StateSpace::Shared, filled).unwrap();
    for _ in 0..20 {
        store.commit(StateSpace::Shared, vec![put("0", "")]).unwrap();
    }
    let connection = rusqlite::Connection::open(room.file()).unwrap();
    let left: u64 = connection.query_row("SELECT count(*) FROM entries", [], |row| row.get(0)).unwrap();
    let spaces: u64 = connection.query_row("SELECT count(*) FROM spaces", [], |row| row.get(0)).unwrap();
    let bytes: [u64; 2] = connection
        .query_row("SELECT bytes, (SELECT sum(size) FROM entries) FROM meta", [], |row| {
            Ok([row.get(0)?, row.get(1)?])
        })
        .unwrap();
    assert_eq!((left, spaces, bytes[0]), (40, 1, bytes[1]));
}

#[test]
fn clearing_takes_all_entries_and_gives_the_disk_back() {
    let room = room();
    let store = room.store();
    assert_eq!(store.clear().unwrap(), 0);
    assert_eq!(room.folder.names().unwrap(), [""; 0]);
    for n in 0..8 {
        store.commit(CALLER, vec![put(&n.to_string(), vec![n; 1024 * 1024])]).unwrap();
    }
    let last = store.commit(StateSpace::Shared, vec![put_until("x", "", START + 1), put("y", "")]).unwrap();
    room.pass(1);
    assert_eq!(store.clear().unwrap(), 9);
    assert_eq!((keys(&store), store.usage().unwrap().bytes), (vec![], 0));
    assert!(std::fs::metadata(room.file()).unwrap().len() < 100_000);
    // A new connection takes the tables for ours, in whatever order they are now.
    assert_eq!(room.folder.clone().store("notes", AMPLE).unwrap().list().unwrap(), []);
    drop(store);
    let store = room.store();
    let next = change("y", crate::ChangeCondition::Absent, ChangeOperation::Put(vec![]));
    assert_eq!(store.commit(StateSpace::Shared, vec![next]).unwrap(), last + 2);
}
