//! After any sequence of actions, search finds the same as a scan of all passages.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const WORDS: [&str; 6] = ["tea", "jazz", "train", "deploy", "weekend", "ü"];

#[derive(Debug, Clone)]
enum Step {
    Add(Vec<usize>),
    Replace(usize, Vec<usize>),
    Delete(usize),
    Chunk(usize, u32),
}

fn step() -> impl Strategy<Value = Step> {
    let text = || proptest::collection::vec(0..WORDS.len(), 1..120);
    let id = || 1..6_usize;
    prop_oneof![
        3 => text().prop_map(Step::Add),
        2 => (id(), text()).prop_map(|(id, text)| Step::Replace(id, text)),
        2 => id().prop_map(Step::Delete),
        2 => (id(), 200..400_u32).prop_map(|(id, size)| Step::Chunk(id, size)),
    ]
}

fn said(words: &[usize]) -> String {
    words.iter().map(|word| [WORDS[*word], ". "].concat()).collect::<String>()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn search_finds_existing_text(steps in proptest::collection::vec(step(), 1..25)) {
        let world = World::new();
        let mut kept: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut sources = 0;
        for step in steps {
            match step {
                Step::Add(words) => {
                    sources += 1;
                    let params = json!({"text": said(&words), "title": "x", "source": format!("s{sources}")});
                    let id = world.data("add", params)["id"].as_str().unwrap().to_owned();
                    kept.insert(id, words);
                }
                Step::Replace(id, words) => {
                    let id = format!("k_{id:04}");
                    let reply = world.reply("add", json!({"text": said(&words), "title": "x", "replace": id}));
                    prop_assert_eq!(reply.is_ok(), kept.contains_key(&id));
                    kept.entry(id).and_modify(|kept| *kept = words);
                }
                Step::Delete(id) => {
                    let id = format!("k_{id:04}");
                    let reply = world.reply("delete", json!({"id": id}));
                    prop_assert_eq!(reply.is_ok(), kept.remove(&id).is_some());
                }
                Step::Chunk(id, size) => {
                    let id = format!("k_{id:04}");
                    let reply = world.reply("chunk", json!({"id": id, "size": size, "overlap": size / 4}));
                    prop_assert_eq!(reply.is_ok(), kept.contains_key(&id));
                }
            }
        }
        // Text of each passage, by document and position.
        let mut passages: BTreeMap<(String, u64), String> = BTreeMap::new();
        for (id, words) in &kept {
            let shown = world.detailed(Detail::Full, "get", json!({"id": id, "limit": 1000}));
            let expected = said(words);
            prop_assert_eq!(shown["text"].as_str().unwrap().trim(), expected.trim());
            for chunk in 1..=shown["chunks"].as_u64().unwrap() {
                let passage = world.data("get", json!({"id": id, "chunk": chunk}));
                passages.insert((id.clone(), chunk), passage["text"].as_str().unwrap().to_owned());
            }
        }
        for word in WORDS {
            let found = world.data("search", json!({"query": word, "limit": 50}));
            let mut found: Vec<(String, u64)> = found
                .as_array()
                .unwrap()
                .iter()
                .map(|hit| (hit["id"].as_str().unwrap().to_owned(), hit["chunk"].as_u64().unwrap()))
                .collect();
            found.sort_unstable();
            let expected: Vec<(String, u64)> =
                passages.iter().filter(|(_, text)| text.contains(word)).map(|(place, _)| place.clone()).collect();
            if expected.len() <= 50 {
                prop_assert_eq!(found, expected, "{}", word);
            }
        }
        for id in kept.keys() {
            world.data("delete", json!({"id": id}));
        }
        prop_assert_eq!(world.data("search", json!({"query": WORDS.join(" ")})), json!([]));
    }
}
