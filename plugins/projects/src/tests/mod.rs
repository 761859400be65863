//! The facade as its callers meet it.

mod archiving;
mod changing;
mod completing;
mod creating;
mod errors;
mod limits;
mod planning;
mod property;
mod reading;
mod workflow;

use loggia_sdk::{
    prelude::*,
    testing::{self, Host, Store},
};

use crate::Projects;

/// A store that outlives calls.
#[derive(Default)]
struct World {
    store: Store,
}

impl World {
    /// An epic `e_0001` with two features: `f_0001` with `t_0001`, `t_0002` (after `t_0001`) and `t_0003`, and `f_0002`,
    /// which depends on it, with `t_0004` and `t_0005` (after `t_0004`).
    fn login() -> Self {
        let world = Self::default();
        world.data("create_epic_complete", login());
        world
    }

    fn host(&self) -> Host {
        Host::new().store(&self.store)
    }

    fn reply(&self, action: &str, params: Value) -> Result<Reply<Value>> {
        self.host().call(&Projects, action, params)
    }

    /// The data of a call that works.
    fn data(&self, action: &str, params: Value) -> Value {
        self.reply(action, params).unwrap().data
    }

    /// Code and message of a call that does not.
    fn failure(&self, action: &str, params: Value) -> String {
        self.reply(action, params).unwrap_err().to_string()
    }

    /// The state of an item.
    fn state(&self, id: &str) -> String {
        self.data("get", json!({"id": id}))["state"].as_str().unwrap().to_owned()
    }

    /// Completes tasks, in this order.
    fn complete(&self, ids: &[&str]) {
        for id in ids {
            self.data("complete_task_with_validation", json!({"id": id}));
        }
    }

    /// The ids of a list.
    fn ids(&self, params: Value) -> Vec<String> {
        let data = self.data("list", params);
        data.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    }
}

fn login() -> Value {
    json!({
        "title": "Login",
        "summary": "Users log in with a password.",
        "features": [
            {"title": "Server", "summary": "Sessions and passwords.", "tasks": [
                {"title": "Schema", "spec": {"estimate": 30, "files": ["/src/schema.sql"]}},
                {"title": "Endpoint", "depends_on": ["0"], "spec": {
                    "instructions": "POST /login, with rate limits.",
                    "acceptance": ["Wrong passwords answer 401."],
                    "estimate": 90,
                }},
                {"title": "Rate limits", "spec": {"estimate": 45}},
            ]},
            {"title": "Form", "depends_on": ["0"], "tasks": [
                {"title": "Page", "spec": {"estimate": 60}},
                {"title": "Tests", "depends_on": ["0"], "spec": {"can_run_in_parallel": false}},
            ]},
        ],
    })
}

/// Renders a reply without times.
fn shown(reply: &Reply<Value>) -> String {
    let mut text = format!("{:#}", timeless(reply.data.clone()));
    for extra in
        [&reply.message, &reply.page.as_ref().and_then(|page| page.cursor.clone())].into_iter().flatten()
    {
        text.push_str(&format!("\n+ {extra}"));
    }
    text + &next(reply.next.as_ref())
}

/// Renders a failure with all that teaches.
fn explained(failure: &Failure) -> String {
    let hint = failure.hint.as_ref().map(|hint| format!("\n    {hint}")).unwrap_or_default();
    format!("{failure}{hint}{}", next(failure.next.as_ref()))
}

fn next(next: Option<&Next>) -> String {
    let Some(next) = next else { return String::new() };
    let other = next.facade.as_ref().filter(|facade| *facade != "projects");
    let facade = other.map(|facade| format!("{facade}.")).unwrap_or_default();
    let reason = next.reason.as_ref().map(|reason| format!(", {reason}")).unwrap_or_default();
    format!("\n    > {facade}{} {}{reason}", next.action, Value::Object(next.params.clone()))
}

/// Without the times.
fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => members.iter_mut().for_each(|(name, member)| {
            let is_time = matches!(name.as_str(), "at" | "created" | "updated");
            *member = if is_time { json!("(time)") } else { timeless(member.take()) };
        }),
        Value::Array(items) => items.iter_mut().for_each(|item| *item = timeless(item.take())),
        _ => {}
    }
    value
}

#[test]
fn the_host_accepts_the_facade() {
    insta::assert_snapshot!(testing::outline(&Projects));
}
