//! `import`.

use super::*;

const FILE: &str = r#"{"type":"entity","name":"Ann Smith","entityType":"Person","observations":["Likes tea","Lives in Graz"]}
{"type":"entity","name":"Acme","entityType":"company","observations":[]}

{"type":"relation","from":"Ann Smith","to":"Acme","relationType":"works_at"}
{"type":"relation","from":"Acme","to":"Ann Smith","relationType":"employs"}
{"type":"relation","from":"Ann Smith","to":"Nobody","relationType":"knows"}
{"type":"relation","from":"Acme","to":"Acme","relationType":"owns"}
{"type":"event","name":"x"}
{"name": "no type"}
not json
{"type":"entity","name":"","entityType":"x","observations":[]}
{"type":"entity","name":"Bob","entityType":"person","observations":"Likes tea"}
"#;

impl World {
    fn import(&self, text: &str) -> Value {
        self.data("import", json!({"text": text}))
    }
}

/// The counts of an import: added, changed, linked, unchanged, and skipped lines.
fn counts(data: &Value) -> [u64; 5] {
    let skipped = data["skipped"].as_array().map_or(0, Vec::len) as u64;
    let count = |key: &str| data[key].as_u64().unwrap();
    [count("added"), count("changed"), count("linked"), count("unchanged"), skipped]
}

#[test]
fn a_graph_file_becomes_memories() {
    let world = World::with(&["Acme|Makes bikes."]);
    let reply = world.reply("import", json!({"text": FILE})).unwrap();
    insta::assert_snapshot!(format!("{:#}", reply.data));
    assert_eq!(reply.next.unwrap().action, "graph");
    let ann = timeless(world.data("get", json!({"id": "m_0002"})));
    insta::assert_snapshot!(format!("{ann:#}"));
    let acme = world.data("get", json!({"id": "m_0001"}));
    assert_eq!((&acme["kind"], &acme["body"]), (&json!("company"), &json!("Makes bikes.")));
    assert_eq!(world.ids("search", json!({"query": "graz"})), ["m_0002"]);
    assert_eq!(world.ids("search", json!({"query": "company bikes"})), ["m_0001"]);
}

#[test]
fn a_second_import_adds_nothing() {
    let world = World::default();
    assert_eq!(counts(&world.import(FILE)), [2, 0, 2, 0, 7]);
    let before: Vec<Value> = ["m_0001", "m_0002"].map(|id| world.data("get", json!({"id": id}))).into();
    assert_eq!(counts(&world.import(FILE)), [0, 0, 0, 4, 7]);
    let after: Vec<Value> = ["m_0001", "m_0002"].map(|id| world.data("get", json!({"id": id}))).into();
    assert_eq!(before, after);
    assert_eq!(world.ids("list", json!({})), ["m_0002", "m_0001"]);
    // A later file adds what is new in it.
    let more = r#"{"type":"entity","name":"Acme","entityType":"shop","observations":["Opens at 9"]}
{"type":"entity","name":"Acme","observations":["Closes at 5"]}
{"type":"relation","from":"Ann Smith","to":"Acme","relationType":"founded"}"#;
    assert_eq!(counts(&world.import(more)), [0, 2, 1, 0, 0]);
    let acme = world.data("get", json!({"id": "m_0002"}));
    assert_eq!((&acme["kind"], &acme["body"]), (&json!("company"), &json!("Opens at 9\nCloses at 5")));
    assert_eq!(world.ids("search", json!({"query": "opens closes"})), ["m_0002"]);
    world.data("delete", json!({"id": "m_0002"}));
    assert_eq!(world.ids("search", json!({"query": "opens closes acme shop company"})), [""; 0]);
}

#[test]
fn an_entity_may_come_in_parts() {
    let world = World::default();
    let parts = r#"{"type":"entity","name":"Ann","entityType":"person","observations":["one"]}
{"type":"entity","name":"Ann","entityType":"person","observations":["two"]}"#;
    assert_eq!(counts(&world.import(parts)), [1, 1, 0, 0, 0]);
    assert_eq!(world.data("get", json!({"id": "m_0001"}))["body"], "one\ntwo");
    assert_eq!(world.ids("search", json!({"query": "one two"})), ["m_0001"]);
    world.data("delete", json!({"id": "m_0001"}));
    assert_eq!(world.ids("search", json!({"query": "one two ann person"})), [""; 0]);
}

#[test]
fn large_files_are_imported_in_parts() {
    let world = World::default();
    let mut lines: Vec<String> = (0..300)
        .map(|number| {
            let words: Vec<String> = (0..40).map(|word| format!("w{}", number * 40 + word)).collect();
            json!({"type": "entity", "name": format!("e{number}"), "entityType": "thing", "observations": words})
                .to_string()
        })
        .collect();
    let hub = |number: usize| {
        json!({"type": "relation", "from": "e0", "to": format!("e{number}"), "relationType": "has"})
            .to_string()
    };
    lines.extend((1..300).map(hub));
    let long = "x".repeat(20_000);
    lines.push(
        json!({"type": "entity", "name": "long", "observations": [long, long.replace('x', "y"), "z"]})
            .to_string(),
    );
    let imported = world.import(&lines.join("\n"));
    // A memory has at most 200 links, and a body 32,768 characters.
    assert_eq!(counts(&imported), [301, 0, 200, 0, 50]);
    assert_eq!(imported["skipped"][0]["why"], "m_0001 has 200 links already");
    assert_eq!(world.ids("search", json!({"query": "w11999", "mode": "words"})), ["m_0300"]);
    let again = world.import(&lines.join("\n"));
    assert_eq!(counts(&again)[..4], [0, 0, 0, 501]);
}

#[test]
fn conflicts_repeat_parts_of_an_import() {
    let world = World::default();
    world.store.conflicts(3);
    assert_eq!(counts(&world.import(FILE)), [2, 0, 2, 0, 7]);
    assert_eq!(world.ids("list", json!({})), ["m_0002", "m_0001"]);
}

#[test]
fn an_import_stops_before_its_time_is_up() {
    let world = World::default();
    let host = world.host().time_left(std::time::Duration::from_secs(1));
    let reply = host.call(&Memories, "import", json!({"text": FILE})).unwrap();
    assert_eq!(counts(&reply.data), [0, 0, 0, 0, 5]);
    let message = "The time is used up: call again, and the rest is imported.";
    assert_eq!((reply.message.as_deref(), reply.next), (Some(message), None));
}

#[test]
fn a_file_is_read_through_files() {
    let world = World::default();
    let host = world.host().answer("files", "get", |params: &loggia_sdk::Object| {
        let offset = params["offset"].as_u64().unwrap() as usize;
        let end = (offset + 100).min(FILE.len());
        let mut part = json!({"path": "/a", "size": FILE.len(), "text": FILE[offset..end]});
        if end < FILE.len() {
            part["next_offset"] = json!(end);
        }
        Ok(Reply::new(part))
    });
    let reply = host.call(&Memories, "import", json!({"path": "/notes/memory.jsonl"})).unwrap();
    assert_eq!(counts(&reply.data), [2, 0, 2, 0, 7]);
    assert_eq!(host.requests().len(), FILE.len().div_ceil(100));

    let large = world.host().answer("files", "get", |_: &loggia_sdk::Object| {
        Ok(Reply::new(json!({"size": 9_000_000, "text": ""})))
    });
    let failure = large.call(&Memories, "import", json!({"path": "/a"})).unwrap_err();
    assert_eq!(failure.to_string(), "invalid_params: too large to import: /a has 9000000 bytes");
    let denied = world.reply("import", json!({"path": "/a"})).unwrap_err();
    assert_eq!(denied.code, "denied");
    let hint = denied.hint.clone().unwrap();
    assert!(hint.ends_with("Or pass the content of the file as `text`."), "{hint}");
}
