//! The facade as its callers meet it.

mod errors;
mod finding;
mod graph;
mod importing;
mod keeping;
mod limits;
mod meaning;
mod property;
mod workflow;

use loggia_sdk::{
    prelude::*,
    testing::{self, Host, Store},
};

use crate::Memories;

/// A store that outlives calls.
#[derive(Default)]
struct World {
    store: Store,
}

impl World {
    /// Creates memories `m_0001`, `m_0002`, … with these titles, each optionally with a body and a tag after a bar:
    /// `Tea|green|taste`.
    fn with(memories: &[&str]) -> Self {
        let world = Self::default();
        for memory in memories {
            let mut parts = memory.split('|');
            let mut part = || parts.next().unwrap_or_default();
            let (title, body, tag) = (part(), part(), part());
            let tags: Vec<&str> = if tag.is_empty() { vec![] } else { vec![tag] };
            world.data("add", json!({"title": title, "body": body, "tags": tags}));
        }
        world
    }

    fn host(&self) -> Host {
        Host::new().store(&self.store)
    }

    fn reply(&self, action: &str, params: Value) -> Result<Reply<Value>> {
        self.host().call(&Memories, action, params)
    }

    /// The data of a call that works.
    fn data(&self, action: &str, params: Value) -> Value {
        self.reply(action, params).unwrap().data
    }

    /// Code and message of a call that does not.
    fn failure(&self, action: &str, params: Value) -> String {
        self.reply(action, params).unwrap_err().to_string()
    }

    /// The ids that a call gives, in order.
    fn ids(&self, action: &str, params: Value) -> Vec<String> {
        ids(&self.data(action, params))
    }
}

fn ids(data: &Value) -> Vec<String> {
    data.as_array().unwrap().iter().map(|memory| memory["id"].as_str().unwrap().to_owned()).collect()
}

/// Without the times.
fn timeless(mut data: Value) -> Value {
    for key in ["created", "updated"] {
        if let Some(time) = data.get_mut(key) {
            *time = "…".into();
        }
    }
    data
}

#[test]
fn the_host_accepts_the_facade() {
    insta::assert_snapshot!(testing::outline(&Memories));
}
