//! After any sequence of actions, search finds the same as a scan of all memories.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const WORDS: [&str; 8] = ["tea", "jazz", "train", "Monday", "deploy", "weekend", "sugar", "ü"];

#[derive(Debug, Clone)]
enum Step {
    Add(Vec<usize>),
    Update(usize, Vec<usize>),
    Delete(usize),
    Pin(usize, bool),
    Archive(usize, bool),
    Link(usize, usize, bool),
}

fn step() -> impl Strategy<Value = Step> {
    let text = || proptest::collection::vec(0..WORDS.len(), 0..5);
    let id = || 1..8_usize;
    prop_oneof![
        3 => text().prop_map(Step::Add),
        3 => (id(), text()).prop_map(|(id, text)| Step::Update(id, text)),
        2 => id().prop_map(Step::Delete),
        1 => (id(), any::<bool>()).prop_map(|(id, pinned)| Step::Pin(id, pinned)),
        1 => (id(), any::<bool>()).prop_map(|(id, archived)| Step::Archive(id, archived)),
        2 => (id(), id(), any::<bool>()).prop_map(|(id, to, linked)| Step::Link(id, to, linked)),
    ]
}

fn said(words: &[usize]) -> String {
    words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn search_finds_existing_text(steps in proptest::collection::vec(step(), 1..40)) {
        let world = World::default();
        // Body, and whether it is archived.
        let mut kept: BTreeMap<usize, (Vec<usize>, bool)> = BTreeMap::new();
        let mut last = 0;
        for step in steps {
            let (action, params, there) = match step.clone() {
                Step::Add(words) => ("add", json!({"title": "x", "body": said(&words)}), true),
                Step::Update(id, words) => ("update", json!({"id": format!("m_{id:04}"), "body": said(&words)}), kept.contains_key(&id)),
                Step::Delete(id) => ("delete", json!({"id": format!("m_{id:04}")}), kept.contains_key(&id)),
                Step::Pin(id, pinned) => ("pin", json!({"id": format!("m_{id:04}"), "pinned": pinned}), kept.contains_key(&id)),
                Step::Archive(id, archived) => ("archive", json!({"id": format!("m_{id:04}"), "archived": archived}), kept.contains_key(&id)),
                Step::Link(id, to, linked) => (
                    "link",
                    json!({"id": format!("m_{id:04}"), "to": format!("m_{to:04}"), "linked": linked}),
                    id != to && kept.contains_key(&id) && kept.contains_key(&to),
                ),
            };
            prop_assert_eq!(world.reply(action, params).is_ok(), there, "{:?}", step);
            match step {
                Step::Add(words) => {
                    last += 1;
                    kept.insert(last, (words, false));
                }
                Step::Update(id, words) if there => kept.get_mut(&id).unwrap().0 = words,
                Step::Delete(id) if there => drop(kept.remove(&id)),
                Step::Archive(id, archived) if there => kept.get_mut(&id).unwrap().1 = archived,
                _ => {}
            }
        }
        for archived in [false, true] {
            for (word, text) in WORDS.iter().enumerate() {
                let params = json!({"query": text, "mode": "words", "archived": archived, "limit": 100});
                let mut found = world.ids("search", params);
                found.sort_unstable();
                let mut expected: Vec<String> = kept
                    .iter()
                    .filter(|(_, (words, put_away))| words.contains(&word) && *put_away == archived)
                    .map(|(id, _)| format!("m_{id:04}"))
                    .collect();
                expected.sort_unstable();
                prop_assert_eq!(found, expected, "{}", text);
            }
            let mut listed = world.ids("list", json!({"archived": archived, "limit": 200}));
            listed.sort_unstable();
            let mut expected: Vec<String> =
                kept.iter().filter(|(_, (_, put_away))| *put_away == archived).map(|(id, _)| format!("m_{id:04}")).collect();
            expected.sort_unstable();
            prop_assert_eq!(listed, expected);
        }
        // Links are symmetric, and their targets exist.
        for id in kept.keys() {
            let id = format!("m_{id:04}");
            let memory = world.data("get", json!({"id": id}));
            for link in memory["links"].as_array().into_iter().flatten() {
                let other = world.data("get", json!({"id": link["id"]}));
                prop_assert!(other["links"].as_array().unwrap().iter().any(|back| back["id"] == id.as_str()));
            }
        }
        for id in kept.keys() {
            world.data("delete", json!({"id": format!("m_{id:04}")}));
        }
        prop_assert_eq!(world.ids("search", json!({"query": WORDS.join(" ")})), [""; 0]);
    }
}
