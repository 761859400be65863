//! State: collections, cells and transactions, on a double with the rules of the real store.

use std::{cell::Cell as Count, collections::BTreeMap, time::Duration};

use loggia_sdk::{
    prelude::*,
    state::{Cell, Change, Collection, Counter, Expect, caller, shared, transaction},
    testing::{Host, Store},
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Note {
    text: String,
}

fn note(text: &str) -> Note {
    Note { text: text.into() }
}

static NOTES: Collection<Note> = Collection::new("notes");
static TOTAL: Cell<i64> = Cell::new("total");
static COUNT: Counter = Counter::new("count");

fn with<T>(test: impl FnOnce(&Store) -> T) -> T {
    let store = Store::new();
    Host::new().store(&store).run(|| test(&store))
}

fn ids(notes: Vec<state::Item<Note>>) -> Vec<String> {
    notes.into_iter().map(|note| note.id).collect()
}

#[test]
fn rows_are_added_read_changed_and_taken_away() {
    with(|store| {
        NOTES.insert("a", &note("one")).unwrap();
        assert_eq!(store.value("notes/a"), Some(json!({"text": "one"})));
        assert_eq!(
            NOTES.insert("a", &note("two")).unwrap_err().message,
            "already exists: there is a `a` in notes"
        );
        assert_eq!(NOTES.update("a", |note| note.text.push('!')), Ok(note("one!")));
        NOTES.put("a", &note("three")).unwrap();
        assert_eq!(NOTES.get("a"), Ok(Some(note("three"))));
        assert_eq!(NOTES.contains("a"), Ok(true));
        assert_eq!((NOTES.remove("a"), NOTES.remove("a")), (Ok(true), Ok(false)));
        assert_eq!(NOTES.get("a"), Ok(None));
        for failure in [NOTES.require("a"), NOTES.update("a", |_| ())] {
            assert_eq!(failure.unwrap_err().message, "not found: there is no `a` in notes");
        }
    });
}

#[test]
fn ids_are_any_text_that_fits_a_key() {
    with(|_| {
        for id in ["a/b", "ü", "#", " ", &"x".repeat(1000)] {
            NOTES.put(id, &note(id)).unwrap();
            assert_eq!(NOTES.get(id), Ok(Some(note(id))));
        }
        assert_eq!(NOTES.list().unwrap().len(), 5);
        for id in ["", &"x".repeat(1024)] {
            assert_eq!(NOTES.put(id, &note("")).unwrap_err().code, "invalid_params");
        }
    });
}

#[test]
fn new_ids_never_come_again() {
    with(|_| {
        let made = |text: &str| NOTES.create("n_", |id| note(&format!("{text} {id}"))).unwrap().text;
        assert_eq!((made("a"), made("b")), ("a n_0001".into(), "b n_0002".into()));
        NOTES.remove("n_0002").unwrap();
        assert_eq!(made("c"), "c n_0003");
        assert_eq!(ids(NOTES.list().unwrap()), ["n_0001", "n_0003"]);
    });
}

#[test]
fn collections_with_similar_names_do_not_collide() {
    static NOTE: Collection<Note> = Collection::new("note");
    with(|_| {
        NOTE.create("x", |_| note("")).unwrap();
        NOTES.create("y", |_| note("")).unwrap();
        Cell::<u32>::new("notes").set(&7).unwrap();
        assert_eq!(ids(NOTES.list().unwrap()), ["y0001"]);
        assert_eq!(ids(NOTE.list().unwrap()), ["x0001"]);
    });
}

#[test]
fn oversized_commits_are_reported() {
    with(|_| {
        let failure = transaction(|tx| {
            for key in 0..1001 {
                tx.put(&format!("k{key}"), b"".to_vec());
            }
            Ok(())
        })
        .unwrap_err();
        assert_eq!(failure.code, "invalid_params");
        assert_eq!(failure.hint.as_deref(), Some("That is too much for one call: give less at once."));
    });
}

#[test]
fn all_rows_read_are_validated_at_commit() {
    with(|_| {
        NOTES.put("a", &note("one")).unwrap();
        let attempts = Count::new(0);
        transaction(|tx| {
            attempts.set(attempts.get() + 1);
            tx.get_many(&["notes/a".into(), "notes/b".into()])?;
            if attempts.get() == 1 {
                NOTES.put("b", &note("somebody else's"))?;
            }
            tx.put("c", b"".to_vec());
            Ok(())
        })
        .unwrap();
        assert_eq!(attempts.get(), 2);
    });
}

#[test]
fn a_value_of_another_type_names_its_key() {
    with(|store| {
        store.put("notes/a", "a text");
        store.put("total", "a text");
        for (key, failure) in [("notes/a", NOTES.get("a").unwrap_err()), ("total", TOTAL.get().unwrap_err())]
        {
            assert_eq!(failure.code, "internal");
            assert!(
                failure.message.starts_with(&format!("the value of `{key}` cannot be read: ")),
                "{failure}"
            );
        }
    });
}

#[test]
fn rows_expire() {
    static SHORT: Collection<Note> = Collection::new("short").until(Duration::from_secs(10));
    with(|store| {
        SHORT.put("a", &note("a")).unwrap();
        store.advance(Duration::from_secs(6));
        SHORT.update("a", |_| ()).unwrap();
        store.advance(Duration::from_secs(6));
        assert_eq!(SHORT.contains("a"), Ok(true), "a write begins the time anew");
        store.advance(Duration::from_secs(5));
        assert_eq!(SHORT.contains("a"), Ok(false));
    });
}

#[test]
fn callers_have_separate_state_and_anonymous_ones_none() {
    static MINE: Collection<Note> = Collection::new("notes").in_caller_space();
    let store = Store::new();
    let [ann, bob] = ["ann", "bob"].map(|name| Host::new().store(&store).caller(name));
    ann.run(|| MINE.create("n_", note)).unwrap();
    assert_eq!(bob.run(|| MINE.list()), Ok(vec![]));
    assert_eq!(ann.run(|| NOTES.list()), Ok(vec![]));
    assert_eq!(ids(ann.run(|| MINE.list()).unwrap()), ["n_0001"]);
    assert_eq!(Host::new().store(&store).run(|| MINE.list()).unwrap_err().code, "denied");
    let mixed = ann.run(|| transaction(|tx| MINE.of(tx).put("a", &note("a")))).unwrap_err();
    assert!(mixed.message.contains("each space has its own"), "{mixed}");
    assert_eq!(ann.run(|| caller().transaction(|tx| MINE.of(tx).put("a", &note("a")))), Ok(()));
}

struct Keeper;

/// Keeps.
#[facade(name = "keeper")]
impl Keeper {
    /// Reads, and reads again.
    #[action(read)]
    fn read(&self) -> Result<i64> {
        transaction(|tx| Ok(TOTAL.of(tx).get()?.unwrap_or(0) + NOTES.of(tx).list()?.len() as i64))
    }
    /// Writes.
    #[action(write)]
    fn write(&self) -> Result<i64> {
        TOTAL.update(|total| *total += 1)
    }
    /// Writes where it may not.
    #[action(read)]
    fn slip(&self) -> Result<i64> {
        TOTAL.update(|total| *total += 1)
    }
}

#[test]
fn ungranted_access_and_writes_in_reads_fail() {
    let host = Host::new().store(&Store::new());
    assert_eq!(host.call(&Keeper, "write", json!({})).unwrap().data, 1);
    assert_eq!(host.call(&Keeper, "read", json!({})).unwrap().data, 1);
    assert_eq!(host.call(&Keeper, "slip", json!({})).unwrap_err().code, "denied");
    for action in ["read", "write"] {
        let failure = Host::new().call(&Keeper, action, json!({})).unwrap_err();
        assert_eq!(failure.code, "denied");
        assert!(failure.hint.as_deref().unwrap().contains("store = true"));
    }
    assert_eq!(TOTAL.get().unwrap_err().code, "denied", "without a host");
}

#[test]
fn a_full_store_fails_and_keeps_its_rows() {
    let store = Store::new().quota(100);
    Host::new().store(&store).run(|| {
        NOTES.put("a", &note("short")).unwrap();
        assert_eq!(NOTES.put("a", &note(&"long".repeat(30))).unwrap_err().code, "unavailable");
        assert_eq!(NOTES.get("a"), Ok(Some(note("short"))));
    });
}

#[test]
fn a_transaction_reads_its_writes_and_is_atomic() {
    with(|store| {
        NOTES.put("b", &note("old")).unwrap();
        let commits = store.commits();
        let failed: Result<()> = transaction(|tx| {
            let notes = NOTES.of(tx);
            notes.put("a", &note("new"))?;
            notes.remove("b")?;
            notes.insert("c", &note("new"))?;
            assert_eq!((notes.get("a")?, notes.get("b")?), (Some(note("new")), None));
            assert_eq!(ids(notes.list()?), ["a", "c"]);
            assert_eq!(notes.insert("a", &note("")).unwrap_err().code, "conflict");
            Err(Failure::conflict("no"))
        });
        assert_eq!(failed.unwrap_err().message, "no");
        assert_eq!((store.commits(), ids(NOTES.list().unwrap())), (commits, vec!["b".to_owned()]));
    });
}

#[test]
fn conflicts_restart_a_transaction_only_so_often() {
    with(|store| {
        let runs = Count::new(0);
        let add = || {
            transaction(|tx| {
                runs.set(runs.get() + 1);
                TOTAL.of(tx).update(|total| *total += 1)
            })
        };
        store.conflicts(3);
        assert_eq!((add(), runs.take()), (Ok(1), 4));
        store.conflicts(100);
        let failure = add().unwrap_err();
        assert_eq!((failure.code.as_str(), runs.take()), ("conflict", 50));
        assert_eq!(failure.hint.as_deref(), Some("Nothing was written: try again in a moment."));
        store.conflicts(0);
        assert_eq!((TOTAL.get(), COUNT.next(), COUNT.add(5)), (Ok(Some(1)), Ok(1), Ok(6)));
    });
}

/// Changes data between a transaction's reads and its end; checks whether it runs again.
#[test]
fn reads_are_validated_at_commit() {
    type Act = fn() -> Result<()>;
    let reads: [(&str, Act); 4] = [
        ("a", || transaction(|tx| NOTES.of(tx).get("a").map(drop).and_then(|()| once(tx)))),
        ("absent", || transaction(|tx| NOTES.of(tx).get("new").map(drop).and_then(|()| once(tx)))),
        ("list", || transaction(|tx| NOTES.of(tx).list().map(drop).and_then(|()| once(tx)))),
        ("nothing", || transaction(once)),
    ];
    let others: [(&str, Act); 5] = [
        ("changes a", || NOTES.put("a", &note("other"))),
        ("removes a", || NOTES.remove("a").map(drop)),
        ("changes b", || NOTES.put("b", &note("other"))),
        ("adds new", || NOTES.insert("new", &note("other"))),
        ("changes a cell", || TOTAL.set(&9)),
    ];
    thread_local! {
        static OTHER: Count<Option<Act>> = const { Count::new(None) };
        static RUNS: Count<u32> = const { Count::new(0) };
    }
    fn once(tx: &state::Transaction) -> Result<()> {
        RUNS.set(RUNS.get() + 1);
        if let Some(act) = OTHER.take() {
            act()?;
        }
        tx.put("written", "x");
        Ok(())
    }
    let again = BTreeMap::from([
        ("a", vec!["changes a", "removes a"]),
        ("absent", vec!["adds new"]),
        ("list", vec!["changes a", "removes a", "changes b", "adds new"]),
        ("nothing", vec![]),
    ]);
    for (read, run) in reads {
        let mut found = Vec::new();
        for (what, act) in others {
            with(|_| {
                NOTES.put("a", &note("a")).unwrap();
                NOTES.put("b", &note("b")).unwrap();
                OTHER.set(Some(act));
                RUNS.set(0);
                run().unwrap();
                if RUNS.get() == 2 {
                    found.push(what);
                }
            });
        }
        assert_eq!(found, again[read], "{read}");
    }
}

#[test]
fn read_only_transactions_and_failures_are_consistent() {
    with(|_| {
        TOTAL.set(&1).unwrap();
        NOTES.put("a", &note("1")).unwrap();
        let runs = Count::new(0);
        let both = |fails: bool| -> Result<(Option<i64>, Option<Note>)> {
            transaction(|tx| {
                let total = TOTAL.of(tx).get()?;
                if runs.replace(runs.get() + 1) == 0 {
                    TOTAL.set(&2)?;
                    NOTES.put("a", &note("2"))?;
                }
                let read = (total, NOTES.of(tx).get("a")?);
                if fails { Err(Failure::conflict(format!("{read:?}"))) } else { Ok(read) }
            })
        };
        assert_eq!(both(false), Ok((Some(2), Some(note("2")))));
        assert_eq!(runs.take(), 2);
        TOTAL.set(&1).unwrap();
        assert!(both(true).unwrap_err().message.contains("Some(2)"));
    });
}

#[test]
fn keys_and_bytes_follow_the_contract() {
    with(|_| {
        let first = shared().commit(vec![Change::put("k", "1"), Change::put("l", "1")]).unwrap();
        let cases = [
            (Change::put("k", "2").absent(), false),
            (Change::put("k", "2").at(first + 1), false),
            (Change::check("nothing", Expect::Absent), true),
            (Change::check("nothing", Expect::Version(first)), false),
            (Change::put("k", "2").at(first), true),
            (Change::put("k", "3").at(first), false),
            (Change::delete("nothing"), true),
        ];
        for (change, passes) in cases {
            let done = shared().commit(vec![change.clone(), Change::put("other", "x")]);
            assert_eq!(done.is_ok(), passes, "{change:?}");
            assert!(passes || done.unwrap_err().message.contains(&change.key));
        }
        assert_eq!(shared().get("k").unwrap().unwrap().value, b"2");
        let part = shared().scan("", None, 2, None).unwrap();
        assert_eq!((part.items.len(), part.more), (2, true));
        shared().commit(vec![Change::delete("l")]).unwrap();
        assert_eq!(shared().scan("", Some("k"), 2, Some(part.revision)).unwrap_err().code, "conflict");
    });
}
