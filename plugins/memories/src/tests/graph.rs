//! `graph`.

use super::*;

/// Ann – works at → Acme – makes → Bikes – need → Tyres; Ann – knows → Bob.
fn world() -> World {
    let world = World::default();
    for (title, kind) in [
        ("Ann", "person"),
        ("Acme", "company"),
        ("Bikes", "product"),
        ("Tyres", "product"),
        ("Bob", "person"),
    ] {
        world.data("add", json!({"title": title, "kind": kind, "body": format!("{title} exists.")}));
    }
    for (id, to, relation) in [
        ("m_0001", "m_0002", "works at"),
        ("m_0002", "m_0003", "makes"),
        ("m_0003", "m_0004", "need"),
        ("m_0001", "m_0005", "knows"),
    ] {
        world.data("link", json!({"id": id, "to": to, "relation": relation}));
    }
    world
}

/// The titles of the nodes, the edges, and the message.
fn shown(reply: &Reply<Value>) -> String {
    let list = |key: &str| reply.data[key].as_array().unwrap().clone();
    let nodes: Vec<_> = list("nodes").iter().map(|node| node["title"].as_str().unwrap().to_owned()).collect();
    let edge =
        |edge: &Value| ["from", "relation", "to"].map(|key| edge[key].as_str().unwrap().to_owned()).join(" ");
    let edges: Vec<_> = list("edges").iter().map(edge).collect();
    let message = reply.message.as_deref().unwrap_or_default();
    format!("{} | {} | {message}", nodes.join(", "), edges.join(", "))
}

#[test]
fn a_graph_grows_with_its_depth() {
    let world = world();
    let check = |params: Value, expected: &str| {
        let reply = world.reply("graph", params.clone()).unwrap();
        assert_eq!(shown(&reply), expected, "{params}");
    };
    check(json!({"id": "m_0001", "depth": 0}), "Ann |  | Linked to 2 more, beyond `depth`.");
    check(
        json!({"id": "m_0001"}),
        "Ann, Acme, Bob | m_0001 works at m_0002, m_0001 knows m_0005 | Linked to 1 more, beyond `depth`.",
    );
    check(
        json!({"id": "m_0001", "depth": 3}),
        "Ann, Acme, Bob, Bikes, Tyres | m_0001 works at m_0002, m_0001 knows m_0005, m_0002 makes m_0003, m_0003 need m_0004 | ",
    );
    // Against the direction of the relations.
    check(
        json!({"id": "m_0004", "depth": 2}),
        "Tyres, Bikes, Acme | m_0003 need m_0004, m_0002 makes m_0003 | Linked to 1 more, beyond `depth`.",
    );
    check(
        json!({"id": "m_0001", "depth": 3, "limit": 3}),
        "Ann, Acme, Bob | m_0001 works at m_0002, m_0001 knows m_0005 | There are more memories than `limit`.",
    );
    check(json!({"query": "tyres"}), "Tyres, Bikes | m_0003 need m_0004 | Linked to 1 more, beyond `depth`.");
    check(json!({"query": "zebra"}), " |  | No memory matches.");
    check(
        json!({"depth": 0}),
        "Bob, Tyres, Bikes, Acme, Ann | m_0003 need m_0004, m_0002 makes m_0003, m_0001 works at m_0002, m_0001 knows m_0005 | ",
    );
    check(
        json!({"depth": 0, "limit": 2}),
        "Bob, Tyres |  | There are more memories than `limit`. Linked to 2 more, beyond `depth`.",
    );
    world.data("archive", json!({"id": "m_0002"}));
    check(json!({"id": "m_0001", "depth": 3}), "Ann, Bob | m_0001 knows m_0005 | ");
    check(json!({"id": "m_0002", "depth": 0}), "Acme |  | Linked to 2 more, beyond `depth`.");
}

#[test]
fn nodes_follow_the_requested_detail() {
    let world = world();
    let levels = [Detail::Minimal, Detail::Standard, Detail::Full];
    let graphs = levels.map(|level| {
        let host = world.host().detail(level);
        format!("{:#}", host.call(&Memories, "graph", json!({"id": "m_0004"})).unwrap().data)
    });
    insta::assert_snapshot!(graphs.join("\n"));
}

#[test]
fn a_large_graph_fits_the_hosts_limit() {
    let world = World::default();
    let name = |number: usize| format!("{}{number}", "\u{1}".repeat(197));
    let mut lines: Vec<Value> =
        (1..=48).map(|number| json!({"type": "entity", "name": name(number)})).collect();
    for from in 1..=48 {
        let relation = "\u{1}".repeat(64);
        let to =
            |to| json!({"type": "relation", "from": name(from), "to": name(to), "relationType": relation});
        lines.extend((1..from).map(to));
    }
    for part in lines.chunks(250) {
        let text = part.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
        assert!(world.data("import", json!({"text": text}))["skipped"].is_null());
    }
    for id in ["m_0001", "m_0002", "m_0003"] {
        world.data("update", json!({"id": id, "body": "\u{1}".repeat(32_768)}));
    }
    let host = world.host().detail(Detail::Full);
    let reply = host.call(&Memories, "graph", json!({"limit": 200})).unwrap();
    assert!(reply.data.to_string().len() < 1_000_000, "{}", reply.data.to_string().len());
    assert_eq!(reply.data["nodes"].as_array().unwrap().len(), 48);
    let message = reply.message.unwrap();
    assert!(
        message.contains("128 relations are left out") && message.contains("only with their title"),
        "{message}"
    );
}
