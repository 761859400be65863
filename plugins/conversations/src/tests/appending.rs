//! `append`, `list`, `archive`.

use super::*;

#[test]
fn messages_create_or_extend_a_conversation() {
    let world = World::new();
    let first = world.data("append", json!({"role": "user", "text": "Where is the Etna?"}));
    assert_eq!(first, json!({"conversation": "c_0001", "messages": 1, "title": "Where is the Etna?"}));
    let more =
        json!([{"role": "assistant", "text": "On Sicily."}, {"role": "tool", "text": "{}", "name": "maps"}]);
    let second = world.data("append", json!({"conversation": "c_0001", "messages": more}));
    assert_eq!(second, json!({"conversation": "c_0001", "messages": 3}));
    let third =
        world.data("append", json!({"role": "user", "text": "Something else", "title": "Other things"}));
    assert_eq!(third, json!({"conversation": "c_0002", "messages": 1, "title": "Other things"}));
    assert_eq!(world.texts(json!({"conversation": "c_0001"})).0, ["Where is the Etna?", "On Sicily.", "{}"]);
    assert_eq!(world.store.commits(), 3, "each is written at once");
}

#[test]
fn the_first_user_message_is_the_default_title() {
    let title = |appends: &[Value]| {
        let world = World::new();
        for append in appends {
            world.data("append", append.clone());
        }
        world.data("list", json!({}))[0]["title"].clone()
    };
    let system = json!({"role": "system", "text": "Be kind."});
    let user = json!({"conversation": "c_0001", "role": "user", "text": " Where\nis\tthe Etna? "});
    let named = json!({"conversation": "c_0001", "role": "user", "text": "x", "title": "Volcanoes"});
    assert_eq!(title(std::slice::from_ref(&system)), "(untitled)");
    assert_eq!(title(&[system.clone(), user.clone()]), "Where is the Etna?");
    assert_eq!(title(&[system.clone(), named.clone(), user.clone()]), "Volcanoes");
    assert_eq!(title(&[system, user, named]), "Volcanoes", "it is renamed");
}

#[test]
fn an_interleaved_write_is_not_lost() {
    let world = World::with(&[&["one"]]);
    world.store.conflicts(3);
    world.data("append", json!({"conversation": "c_0001", "role": "user", "text": "two"}));
    assert_eq!(world.texts(json!({"conversation": "c_0001"})).0, ["one", "two"]);
    assert_eq!(world.data("search", json!({"query": "two"})).as_array().unwrap().len(), 1);
}

#[test]
fn the_last_active_conversation_is_first() {
    let world = World::with(&[&["a"], &["b", "b"], &["c"]]);
    assert_eq!(world.ids(json!({})), ["c_0003", "c_0002", "c_0001"]);
    world.data("append", json!({"conversation": "c_0001", "role": "user", "text": "again"}));
    assert_eq!(world.ids(json!({})), ["c_0001", "c_0003", "c_0002"]);
    let page = world.reply("list", json!({"limit": 2})).unwrap().page.unwrap();
    // A conversation that moves to the front meanwhile is not listed twice.
    world.data("append", json!({"conversation": "c_0003", "role": "user", "text": "again"}));
    assert_eq!(world.ids(json!({"limit": 2, "cursor": page.cursor.unwrap()})), ["c_0002"]);
}

#[test]
fn a_list_is_as_detailed_as_wanted() {
    let world = World::with(&[&["One?", "One."], &["Two?"]]);
    let levels = [Detail::Minimal, Detail::Standard, Detail::Full];
    let lists: Vec<_> = levels.map(|level| shown(&world.at(level, "list", json!({"limit": 1})))).into();
    insta::assert_snapshot!(lists.join("\n\n"));
}

#[test]
fn the_archive_is_another_list() {
    let world = World::with(&[&["a"], &["b"], &["c"]]);
    let archived = |ids: &[&str]| assert_eq!(world.ids(json!({"archived": true})), ids);
    let said = |params| world.reply("archive", params).unwrap().message.unwrap();
    archived(&[]);
    assert_eq!(
        said(json!({"conversation": "c_0002"})),
        "In the archive: `list` shows it with `archived: true` only."
    );
    assert_eq!(said(json!({"conversation": "c_0002"})), "It was in the archive already.");
    archived(&["c_0002"]);
    assert_eq!(world.ids(json!({})), ["c_0003", "c_0001"]);

    let reply =
        world.reply("append", json!({"conversation": "c_0002", "role": "user", "text": "more"})).unwrap();
    assert_eq!(reply.message.unwrap(), "The conversation is archived, and stays so.");
    assert_eq!(reply.next.unwrap().action, "archive");
    world.data("archive", json!({"conversation": "c_0001"}));
    archived(&["c_0002", "c_0001"]);

    assert_eq!(said(json!({"conversation": "c_0002", "archived": false})), "Out of the archive.");
    assert_eq!(said(json!({"conversation": "c_0002", "archived": false})), "It was not in the archive.");
    archived(&["c_0001"]);
    assert_eq!(world.ids(json!({})), ["c_0002", "c_0003"]);
}

#[test]
fn moved_entries_leave_nothing_behind() {
    let world = World::with(&[&["a"], &["b"]]);
    for _ in 0..3 {
        world.data("append", json!({"conversation": "c_0001", "role": "user", "text": "more"}));
        world.data("archive", json!({"conversation": "c_0001"}));
        world.data("archive", json!({"conversation": "c_0001", "archived": false}));
    }
    let listed = |key: &&String| key.starts_with("recent/") || key.starts_with("archived/");
    assert_eq!(world.store.keys().iter().filter(listed).count(), 2);
}
