//! A few calls that belong together.

use super::*;

#[test]
fn a_conversation_goes_through_its_lifecycle() {
    let world = World::new();
    let begun = world.data("append", json!({"role": "user", "text": "Plan a trip to Sicily."}));
    let id = begun["conversation"].as_str().unwrap();
    for (role, text) in [("assistant", "When?"), ("user", "In May."), ("assistant", "Then see the Etna.")] {
        world.data("append", json!({"conversation": id, "role": role, "text": text}));
    }
    let found = world.reply("search", json!({"query": "etna"})).unwrap();
    let next = found.next.unwrap();
    let around = world.data(&next.action, Value::Object(next.params));
    let positions: Vec<_> =
        around["messages"].as_array().unwrap().iter().map(|line| line["position"].clone()).collect();
    assert_eq!(positions, [2, 3, 4]);
    world.data("archive", json!({"conversation": id}));
    assert_eq!(world.ids(json!({})), [""; 0]);
    assert_eq!(world.data("export", json!({"conversation": id}))["to"], 4);
}
