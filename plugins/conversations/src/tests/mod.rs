//! The facade as its callers meet it.

mod appending;
mod errors;
mod exporting;
mod reading;
mod searching;
mod workflow;

use loggia_sdk::{
    prelude::*,
    testing::{self, Host, Store},
};

use crate::Conversations;

/// A host with its own state.
struct World {
    store: Store,
    host: Host,
}

impl World {
    fn new() -> Self {
        let store = Store::new();
        Self { host: Host::new().store(&store), store }
    }

    /// Creates conversations with these texts, alternately of the user and the assistant.
    fn with(conversations: &[&[&str]]) -> Self {
        let world = Self::new();
        for texts in conversations {
            let roles = ["user", "assistant"].into_iter().cycle();
            let said: Vec<Value> =
                roles.zip(*texts).map(|(role, text)| json!({"role": role, "text": text})).collect();
            world.data("append", json!({"messages": said}));
        }
        world
    }

    fn reply(&self, action: &str, params: Value) -> Result<Reply<Value>> {
        self.host.call(&Conversations, action, params)
    }

    fn at(&self, detail: Detail, action: &str, params: Value) -> Reply<Value> {
        let host = Host::new().store(&self.store).detail(detail);
        host.call(&Conversations, action, params).unwrap()
    }

    /// The data of a call that works.
    fn data(&self, action: &str, params: Value) -> Value {
        self.reply(action, params).unwrap().data
    }

    /// Code and message of a call that does not.
    fn failure(&self, action: &str, params: Value) -> String {
        self.reply(action, params).unwrap_err().to_string()
    }

    /// The texts of a page.
    fn texts(&self, params: Value) -> (Vec<String>, Option<String>) {
        let reply = self.reply("get", params).unwrap();
        let text = |message: &Value| message["text"].as_str().unwrap().to_owned();
        let texts = reply.data["messages"].as_array().unwrap().iter().map(text).collect();
        (texts, reply.page.and_then(|page| page.cursor))
    }

    fn ids(&self, params: Value) -> Vec<String> {
        let list = self.data("list", params);
        list.as_array()
            .unwrap()
            .iter()
            .map(|item| item["conversation"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// Renders a reply without timestamps.
fn shown(reply: &Reply<Value>) -> String {
    let mut text = format!("{:#}", reply.data);
    for extra in
        [&reply.message, &reply.page.as_ref().and_then(|page| page.cursor.clone())].into_iter().flatten()
    {
        text.push_str(&format!("\n+ {extra}"));
    }
    if let Some(next) = &reply.next {
        text.push_str(&format!("\n> {} {}", next.action, Value::Object(next.params.clone())));
    }
    timeless(&text)
}

/// `2026-11-21T10:04:33Z` → `(time)`.
fn timeless(text: &str) -> String {
    let digits = |part: &str| part.len() == 4 && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut rest = text;
    let mut out = String::new();
    while let Some(at) = rest.find('T') {
        let (from, to) = (at.wrapping_sub(10), at + 10);
        let is_time = rest.get(from..from.wrapping_add(4)).is_some_and(digits)
            && rest.get(at..to).is_some_and(|part| part.ends_with('Z') && part.contains(':'));
        if is_time {
            out.push_str(&rest[..from]);
            out.push_str("(time)");
            rest = &rest[to..];
        } else {
            out.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
        }
    }
    out + rest
}

#[test]
fn the_host_accepts_the_facade() {
    insta::assert_snapshot!(testing::outline(&Conversations));
}

/// Names of all properties in the schemas of parameters and results.
fn properties(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Object(properties)) = members.get("properties") {
                names.extend(properties.keys().cloned());
            }
            members.values().for_each(|member| properties(member, names));
        }
        Value::Array(items) => items.iter().for_each(|item| properties(item, names)),
        _ => {}
    }
}

#[test]
fn an_id_has_one_name_everywhere() {
    let mut names = Vec::new();
    properties(&testing::describe(&Conversations), &mut names);
    let count = |name: &str| names.iter().filter(|found| *found == name).count();
    // Five actions take it, and all six return it.
    assert_eq!((count("conversation"), count("id")), (11, 0), "{names:?}");
}
