//! Several actions in sequence.

use super::*;

#[test]
fn a_note_lives_from_put_to_delete() {
    let world = World::new(&[]);
    let put =
        world.data("put", json!({"path": "/notes/todo/today.md", "content": "- milk\n", "parents": true}));
    let got = world.data("get", json!({"path": "/notes/todo/today.md"}));
    assert_eq!((&got["text"], &got["version"]), (&json!("- milk\n"), &put["version"]));

    let content = format!("{}- bread\n", got["text"].as_str().unwrap());
    let again = json!({"path": "/notes/todo/today.md", "content": content, "expect": got["version"]});
    let put = world.data("put", again.clone());
    assert_eq!(put["replaced"], true);
    assert_eq!(world.reply("put", again).unwrap_err().code, "conflict", "the version has changed");

    let found = world.data("search", json!({"pattern": "bread"}));
    assert_eq!((&found[0]["path"], &found[0]["line"]), (&json!("/notes/todo/today.md"), &json!(2)));

    world.data("move", json!({"from": "/notes/todo/today.md", "to": "/docs/done.md"}));
    assert_eq!(world.reply("get", json!({"path": "/notes/todo/today.md"})).unwrap_err().code, "not_found");
    assert_eq!(world.data("stat", json!({"path": "/docs/done.md"}))["size"], content.len());

    world.data("delete", json!({"path": "/docs/done.md"}));
    world.data("rm", json!({"path": "/notes/todo"}));
    assert_eq!(world.data("ls", json!({"path": "/", "depth": 9})).as_array().unwrap().len(), 2);
}
