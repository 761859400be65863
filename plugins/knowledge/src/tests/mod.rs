//! The facade as its callers meet it, over a state in memory.

mod converting;
mod cutting;
mod errors;
mod keeping;
mod meaning;
mod property;
mod searching;
mod workflow;

use loggia_sdk::{
    prelude::*,
    testing::{self, Host, Store},
};

use crate::Knowledge;

const GUIDE: &str = "# Guide\n\nHow the machine is used.\n\n## Install\n\nPut the water tank in. Plug the cable in.\n\n\
    ## Use\n\nPress the green button to brew coffee. Wait for two minutes.\n\n### Cleaning\n\nRinse it with vinegar.\n";
const PAGE: &str = "<!doctype html><title>Bread</title><h1>Bread</h1><p>Mix flour, water and yeast.\
    <h2>Baking</h2><p>Bake the bread for forty minutes at 220 degrees.";

/// A plugin with its state.
struct World {
    store: Store,
}

impl World {
    fn new() -> Self {
        Self { store: Store::new() }
    }

    /// Adds the guide as `k_0001` and the page as `k_0002`.
    fn filled() -> Self {
        let world = Self::new();
        world.data("add", json!({"text": GUIDE, "source": "docs/guide.md", "tags": ["kitchen", "coffee"]}));
        world.data("add", json!({"text": PAGE, "source": "https://example.com/bread", "tags": ["kitchen"]}));
        world
    }

    fn host(&self) -> Host {
        Host::new().store(&self.store)
    }

    fn reply(&self, action: &str, params: Value) -> Result<Reply<Value>> {
        self.host().call(&Knowledge, action, params)
    }

    fn detailed(&self, detail: Detail, action: &str, params: Value) -> Value {
        self.host().detail(detail).call(&Knowledge, action, params).unwrap().data
    }

    /// The data of a call that works.
    fn data(&self, action: &str, params: Value) -> Value {
        self.reply(action, params).unwrap().data
    }

    fn failure(&self, action: &str, params: Value) -> Failure {
        self.reply(action, params).unwrap_err()
    }
}

/// Renders a failure.
fn told(failure: &Failure) -> String {
    let hint = failure.hint.as_deref().unwrap_or_default();
    format!("{failure}\n    {hint}")
}

/// `k_0001/3` for each passage.
fn places(found: &Value) -> Vec<String> {
    let found = found.as_array().unwrap().iter();
    found.map(|part| format!("{}/{}", part["id"].as_str().unwrap(), part["chunk"])).collect()
}

/// JSON over several lines, one for each member of the outermost lists.
fn lines(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(|item| format!("{item}\n")).collect(),
        other => other.to_string(),
    }
}

#[test]
fn the_host_accepts_the_facade() {
    insta::assert_snapshot!(testing::outline(&Knowledge));
}
