//! `add`, `get`, `list`, `chunk`, `delete`, each separately.

use super::*;

#[test]
fn a_document_is_added_under_its_own_name() {
    let world = World::new();
    let check = |params: Value, expected: Value| assert_eq!(world.data("add", params), expected);
    check(json!({"text": GUIDE}), json!({"id": "k_0001", "title": "Guide", "chunks": 4}));
    check(json!({"text": PAGE}), json!({"id": "k_0002", "title": "Bread", "chunks": 2}));
    check(json!({"text": "Just words."}), json!({"id": "k_0003", "title": "Just words.", "chunks": 1}));
    check(json!({"text": "x", "title": "Named"}), json!({"id": "k_0004", "title": "Named", "chunks": 1}));
    check(json!({"text": "# y", "format": "text"}), json!({"id": "k_0005", "title": "# y", "chunks": 1}));
}

#[test]
fn documents_follow_the_requested_detail() {
    let world = World::filled();
    let mut shown = Vec::new();
    for detail in [Detail::Minimal, Detail::Standard, Detail::Full] {
        shown.push(world.detailed(detail, "get", json!({"id": "k_0001"})).to_string());
    }
    shown.push(world.data("get", json!({"id": "k_0002"})).to_string());
    let shown = shown.join("\n");
    let added = shown.split(r#""added":""#).nth(1).unwrap().split('"').next().unwrap();
    insta::assert_snapshot!(shown.replace(added, "2026-01-01T00:00:00Z"));
}

#[test]
fn a_passage_is_shown_with_its_neighbours() {
    let world = World::filled();
    let shown: Vec<_> =
        (1..=4).map(|chunk| world.data("get", json!({"id": "k_0001", "chunk": chunk}))).collect();
    insta::assert_snapshot!(lines(&shown.into()));
    assert_eq!(
        world.detailed(Detail::Minimal, "get", json!({"id": "k_0002", "chunk": 2})),
        json!({"id": "k_0002", "title": "Bread", "chunk": 2})
    );
}

#[test]
fn pages_of_text_make_up_the_original() {
    let world = World::new();
    let text: String = (0..400).map(|n| format!("## Part {n}\n\nThis is what part {n} says.\n\n")).collect();
    world.data("add", json!({"text": text}));
    let (mut whole, mut pages, mut next) = (String::new(), 0, Some(1));
    while let Some(from) = next {
        let page = world.data("get", json!({"id": "k_0001", "chunk": from, "limit": 150}));
        whole += page["text"].as_str().unwrap();
        next = page["next_chunk"].as_u64();
        pages += 1;
    }
    assert_eq!((whole, pages), (text, 3));
}

#[test]
fn lines_are_those_of_the_text() {
    let world = World::filled();
    world.data("chunk", json!({"id": "k_0001", "size": 200}));
    for chunk in 1..=4 {
        let part = world.data("get", json!({"id": "k_0001", "chunk": chunk}));
        let line = |at: usize| part["lines"][at].as_u64().unwrap() as usize;
        let said: Vec<_> = GUIDE.lines().skip(line(0) - 1).take(line(1) - line(0) + 1).collect();
        assert_eq!(part["text"], said.join("\n"));
    }
}

#[test]
fn lists_are_terse_paged_and_newest_first() {
    let world = World::filled();
    for number in 3..=5 {
        world.data("add", json!({"text": format!("Text no. {number}")}));
    }
    let page = world.reply("list", json!({"limit": 3})).unwrap();
    let page_of = |reply: &Reply<Value>| reply.page.clone().unwrap();
    let rest = world.reply("list", json!({"limit": 3, "cursor": page_of(&page).cursor})).unwrap();
    assert_eq!((page_of(&page).count, page_of(&rest).cursor), (Some(3), None));
    let all =
        [lines(&page.data), lines(&rest.data), lines(&world.detailed(Detail::Minimal, "list", json!({})))];
    insta::assert_snapshot!(all.join("\n"));
    assert_eq!(world.data("list", json!({"tag": "coffee"}))[0]["id"], "k_0001");
    assert_eq!(world.data("list", json!({"tag": "tea"})), json!([]));
}

#[test]
fn a_document_is_split_again() {
    let world = World::new();
    let text: String = (1..=40).map(|n| format!("This is sentence number {n:02} of forty. ")).collect();
    world.data("add", json!({"text": text}));
    let reply = world.reply("chunk", json!({"id": "k_0001", "size": 200, "overlap": 40})).unwrap();
    let cut = reply.data.as_array().unwrap();
    assert_eq!(reply.page.unwrap().total, Some(cut.len() as u64));
    assert_eq!(cut[1]["text"], "This is sentence number 05 of forty. This is sentence number 06 of forty. …");
    let shown = world.detailed(Detail::Full, "get", json!({"id": "k_0001"}));
    assert_eq!((&shown["size"], &shown["overlap"], &shown["text"]), (&json!(200), &json!(40), &json!(text)));
    assert_eq!(places(&world.data("search", json!({"query": "19"}))).len(), 1);
    let whole = world.data("chunk", json!({"id": "k_0001", "size": 8000}));
    assert_eq!(whole.as_array().unwrap().len(), 1);
    assert_eq!(places(&world.data("search", json!({"query": "19"}))), ["k_0001/1"]);
}

#[test]
fn the_operator_configures_passages() {
    let world = World::new();
    let host = world.host().config("size", 300).config("overlap", 0);
    host.call(&Knowledge, "add", json!({"text": "Some words. ".repeat(100)})).unwrap();
    let shown = world.detailed(Detail::Full, "get", json!({"id": "k_0001"}));
    assert_eq!((&shown["size"], &shown["chunks"]), (&json!(300), &json!(4)));
    for (size, overlap) in [(100, 0), (300, 200)] {
        let host = world.host().config("size", size).config("overlap", overlap);
        let failure = host.call(&Knowledge, "add", json!({"text": "x"})).unwrap_err();
        assert_eq!((&*failure.code, failure.hint.is_some()), ("unavailable", true), "{failure}");
    }
}

#[test]
fn a_deleted_document_leaves_nothing() {
    let world = World::filled();
    assert_eq!(
        world.data("delete", json!({"id": "k_0001"})),
        json!({"id": "k_0001", "title": "Guide", "chunks": 4})
    );
    assert_eq!(world.failure("get", json!({"id": "k_0001"})).code, "not_found");
    assert_eq!(places(&world.data("search", json!({"query": "button flour"}))), ["k_0002/1"]);
    world.data("rm", json!({"id": "k_0002"}));
    let left: Vec<_> = world.store.keys().into_iter().filter(|key| !key.contains(['#', '_'])).collect();
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(world.data("add", json!({"text": GUIDE, "source": "docs/guide.md"}))["id"], "k_0003");
}

#[test]
fn the_largest_documents_are_kept_replaced_and_deleted() {
    let world = World::new();
    let sections =
        |word: &str| -> String { (0..1000).map(|n| format!("# {word} {n}\n\nSays {word}{n}.\n")).collect() };
    assert_eq!(world.data("add", json!({"text": sections("one")}))["chunks"], 1000);
    world.data("add", json!({"text": sections("two"), "replace": "k_0001"}));
    let found = |query: &str| places(&world.data("search", json!({"query": query, "mode": "words"})));
    assert_eq!(found("one999"), [""; 0]);
    assert_eq!(found("two999"), ["k_0001/1000"]);
    world.data("delete", json!({"id": "k_0001"}));
    let words: String = (0..).map(|n| format!("Wort{} {}. ", n % 7919, n * 31 % 9973)).take(40_000).collect();
    let text = &words[..512 * 1024];
    assert_eq!(world.data("add", json!({"text": text}))["id"], "k_0002");
    assert!(world.data("chunk", json!({"id": "k_0002", "size": 1100, "overlap": 550})).is_array());
    assert!(
        world.detailed(Detail::Full, "get", json!({"id": "k_0002", "limit": 1000}))["next_chunk"].is_u64()
    );
    world.data("delete", json!({"id": "k_0002"}));
}
