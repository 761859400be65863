//! Known and unknown names of calls.

use super::*;
use crate::call_name::CallName;

#[test]
fn a_name_is_split_at_the_first_mark() {
    for (text, facade, action) in [
        ("memories.add", "memories", "add"),
        (" Memories.add ", "memories", "add"),
        ("memories:add", "memories", "add"),
        ("memories/add", "memories", "add"),
        ("memories add", "memories", "add"),
        ("memories", "memories", ""),
        ("a.b.c", "a", "b.c"),
        ("", "", ""),
    ] {
        assert_eq!(CallName::from(text.to_owned()), CallName::new(facade, action), "{text}");
    }
}

#[test]
fn wrong_names_are_answered_with_near_ones() {
    insta::assert_snapshot!(transcript(&[
        ("execute", json!({"call": "memorys.add"})),
        ("execute", json!({"call": "nothing.add"})),
        ("execute", json!({"call": "tools.list"})),
        ("execute", json!({"call": "memories.ad"})),
        ("read", json!({"call": "memories.gett"})),
        ("validate", json!({"call": "memory.add"})),
        ("get", json!({"call": "memories.forget"})),
        ("get", json!({"call": "file.moveFile"})),
        ("list", json!({"facade": "memoires"})),
        ("search", json!({"query": "x", "facade": "fils"})),
        ("execute", json!({})),
        ("run", json!({"call": "memories.add"})),
    ]));
}
