//! `search`.

use super::*;

/// `path:line:text` of each match.
fn lines(data: &Value) -> Vec<String> {
    let line = |found: &Value| {
        format!("{}:{}:{}", found["path"].as_str().unwrap(), found["line"], found["text"].as_str().unwrap())
    };
    data.as_array().unwrap().iter().map(line).collect()
}

fn notes() -> World {
    World::new(&[
        ("notes/a.md", "# Buy\nmilk\nMilk (2 l)\r\nbread\n"),
        ("notes/d/b.txt", "no\nmore milk\n"),
        ("notes/.git/c.txt", "milk"),
        ("docs/m.md", "milk"),
    ])
}

#[test]
fn matching_lines_are_found_with_their_numbers() {
    let world = notes();
    let check = |params: Value, expected: &[&str]| {
        assert_eq!(lines(&world.data("search", params.clone())), expected, "{params}");
    };
    check(
        json!({"pattern": "milk"}),
        &["/docs/m.md:1:milk", "/notes/a.md:2:milk", "/notes/d/b.txt:2:more milk"],
    );
    check(
        json!({"pattern": "MILK", "path": "/notes/a.md", "ignore_case": true}),
        &["/notes/a.md:2:milk", "/notes/a.md:3:Milk (2 l)"],
    );
    check(
        json!({"pattern": "^(milk|bread)$", "path": "/notes"}),
        &["/notes/a.md:2:milk", "/notes/a.md:4:bread"],
    );
    check(json!({"pattern": r"\(\d+ l\)$", "path": "/notes"}), &["/notes/a.md:3:Milk (2 l)"]);
    check(json!({"pattern": "milk", "glob": "*.txt"}), &["/notes/d/b.txt:2:more milk"]);
    check(json!({"pattern": "milk", "path": "/notes", "glob": "d/*"}), &["/notes/d/b.txt:2:more milk"]);
    check(
        json!({"pattern": "milk", "path": "/notes", "glob": "c.txt", "hidden": true}),
        &["/notes/.git/c.txt:1:milk"],
    );
    check(json!({"pattern": "beer"}), &[]);
}

#[test]
fn patterns_take_letters_of_any_script() {
    let world = World::new(&[("notes/a.md", "Käse\nKase\nKÄSE\nname=wert\nпривет мир\n")]);
    let check = |pattern: &str, ignore_case, expected: &[u64]| {
        let data = world.data("search", json!({"pattern": pattern, "ignore_case": ignore_case}));
        let numbers: Vec<_> =
            data.as_array().unwrap().iter().map(|found| found["line"].as_u64().unwrap()).collect();
        assert_eq!(numbers, expected, "{pattern}");
    };
    check("Käse", false, &[1]);
    check("K[aä]se", false, &[1, 2]);
    check("K.+e", false, &[1, 2]);
    check("ä?se$", false, &[1, 2]);
    check("kase", true, &[2]);
    check(r"^\w+=\w+$", false, &[4]);
    check(r"\bмир", false, &[]);
    check(r"[^\x00-\x7f]", false, &[1, 3, 5]);
}

#[test]
fn search_returns_the_requested_context() {
    let data = notes().data("search", json!({"pattern": "Milk", "path": "/notes", "context": 2}));
    let expected = json!([{"path": "/notes/a.md", "line": 3, "text": "Milk (2 l)", "before": ["# Buy", "milk"], "after": ["bread"]}]);
    assert_eq!(data, expected);
}

#[test]
fn pages_of_matches_hold_each_once() {
    let world = World::new(&[
        ("notes/a.txt", &"x\n".repeat(5)),
        ("notes/b/c.txt", "x\ny\nx\n"),
        ("notes/b-c.txt", "x"),
    ]);
    let mut seen = Vec::new();
    let mut params = json!({"pattern": "x", "limit": 2});
    for _ in 0..10 {
        let reply = world.reply("search", params.clone()).unwrap();
        seen.extend(lines(&reply.data));
        match reply.page.unwrap().cursor {
            Some(cursor) => params["cursor"] = json!(cursor),
            None => break,
        }
    }
    assert_eq!(seen, lines(&world.data("search", json!({"pattern": "x"}))));
    assert_eq!(seen.len(), 8);
}

#[test]
fn unsearchable_files_are_counted() {
    let world = World::new(&[("notes/a.md", "milk")]);
    world.write("notes/b.bin", b"milk\0");
    world.write("notes/c.bin", b"milk\xff");
    fs::File::create(world.real("notes/d.log")).unwrap().set_len(5 << 20).unwrap();
    let reply = world.reply("search", json!({"pattern": "milk"})).unwrap();
    assert_eq!(lines(&reply.data), ["/notes/a.md:1:milk"]);
    assert_eq!(reply.message.as_deref(), Some("Files skipped: 1 larger than 4 MiB, 2 not text."));
}

#[test]
fn a_call_without_time_ends_with_a_cursor() {
    let world = notes();
    let host = Host::new().time_left(std::time::Duration::from_secs(1));
    let reply = host.call(&world.files, "search", json!({"pattern": "milk"})).unwrap();
    assert_eq!(reply.data, json!([]));
    assert_eq!(reply.page.unwrap().cursor.as_deref(), Some("0:/docs/m.md"));
    assert!(reply.message.unwrap().contains("`cursor`"));
}
