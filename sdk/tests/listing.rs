//! State: many rows, in order, by age and in pages.

use loggia_sdk::{
    prelude::*,
    state::{Collection, transaction},
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

fn with<T>(test: impl FnOnce(&Store) -> T) -> T {
    let store = Store::new();
    Host::new().store(&store).run(|| test(&store))
}

fn ids(notes: Vec<state::Item<Note>>) -> Vec<String> {
    notes.into_iter().map(|note| note.id).collect()
}

#[test]
fn pages_follow_each_other_to_the_end() {
    with(|_| {
        for id in ["d", "b", "a", "c", "e"] {
            NOTES.put(id, &note(id)).unwrap();
        }
        let mut cursor = None;
        let mut seen = Vec::new();
        loop {
            let page = NOTES.page(cursor.as_deref(), 2).unwrap();
            assert!(page.items.len() <= 2);
            cursor = page.cursor.clone();
            seen.extend(page.reply().data.into_iter().map(|note| note.text));
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, ["a", "b", "c", "d", "e"]);
        assert_eq!(NOTES.page(None, 5).unwrap().cursor, None);
    });
}

#[test]
fn the_newest_come_first_without_deleted_ones() {
    with(|_| {
        for n in 1..=250 {
            NOTES.create("n_", |_| note(if n % 2 == 0 { "even" } else { "odd" })).unwrap();
        }
        NOTES.remove("n_0250").unwrap();
        NOTES.remove("n_0100").unwrap();
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let page = NOTES.newest("n_", cursor.as_deref(), 7, |note| note.text == "even").unwrap();
            assert!(page.items.len() == 7 || page.cursor.is_none());
            seen.extend(ids(page.items));
            cursor = page.cursor;
            if cursor.is_none() {
                break;
            }
        }
        let expected: Vec<String> =
            (1..=124).rev().map(|n| 2 * n).filter(|n| *n != 100).map(|n| format!("n_{n:04}")).collect();
        assert_eq!(seen, expected);
        for cursor in ["n_", "n_x", "7", "m_0007"] {
            assert_eq!(NOTES.newest("n_", Some(cursor), 7, |_| true).unwrap_err().code, "invalid_params");
        }
        assert_eq!(NOTES.newest("n_", Some("n_0001"), 7, |_| true).unwrap().items, []);
        let beyond = NOTES.newest("n_", Some("n_P18446744073709551615"), 1, |_| true).unwrap();
        assert_eq!(ids(beyond.items), ["n_0249"]);
    });
}

#[test]
fn large_rows_are_read_within_the_hosts_limits() {
    static TEXTS: Collection<String> = Collection::new("texts");
    with(|_| {
        for _ in 0..20 {
            TEXTS.create("t_", |_| "x".repeat(1_000_000)).unwrap();
        }
        assert_eq!(TEXTS.newest("t_", None, 20, |_| true).unwrap().items.len(), 20);
    });
}

#[test]
fn several_rows_are_read_at_once() {
    with(|_| {
        NOTES.put("a", &note("one")).unwrap();
        NOTES.put("b", &note("two")).unwrap();
        let read = NOTES.get_many(&["b".into(), "x".into(), "a".into()]).unwrap();
        assert_eq!(read, [Some(note("two")), None, Some(note("one"))]);
        transaction(|tx| {
            tx.put("notes/b", b"written".to_vec());
            let keys = ["notes/b", "notes/a", "notes/x", "notes/b"].map(String::from);
            let read = tx.get_many(&keys)?;
            let text = |at: usize| read[at].as_deref().map(String::from_utf8_lossy);
            assert_eq!(text(0).unwrap(), "written");
            assert_eq!(text(1).unwrap(), r#"{"text":"one"}"#);
            assert_eq!((text(2), text(3)), (None, text(0)));
            Ok(())
        })
        .unwrap();
    });
}

#[test]
fn lists_are_complete_and_filtered_by_prefix() {
    with(|_| {
        for n in 0..1203 {
            NOTES.put(&format!("{}/{n:04}", n % 3), &note("")).unwrap();
        }
        assert_eq!(NOTES.list().unwrap().len(), 1203);
        assert_eq!(NOTES.list_under("1/").unwrap().len(), 401);
    });
}
