//! What templates see of a run: built up as it goes, never built anew.

use loggia_facade::Object;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{engine::model::RunStart, template::Scope};

/// `params`, `steps`, `vars` and `workflow`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct TemplateContext(Object);

impl TemplateContext {
    pub(crate) fn new(begin: RunStart) -> Self {
        let mut context = Object::new();
        context.insert("params".to_owned(), Value::Object(begin.params));
        context.insert("steps".to_owned(), json!({}));
        context.insert("vars".to_owned(), json!({}));
        // ToolHive tells the rest only when the result is made.
        let workflow = json!({"id": begin.id, "status": "pending", "start_time": begin.start_time, "step_count": 0, "duration_ms": 0});
        context.insert("workflow".to_owned(), workflow);
        Self(context)
    }

    /// What a template sees.
    pub(crate) fn scope<'a>(&'a self, for_each: Option<&'a Value>) -> Scope<'a> {
        Scope { base: &self.0, for_each }
    }

    pub(crate) fn params(&self) -> Option<&Value> {
        self.0.get("params")
    }

    /// What is known of a step.
    pub(crate) fn step(&self, id: &str) -> Option<&Value> {
        self.0.get("steps")?.get(id)
    }

    /// Tells of a step; `place`: how many of those before it in the definition are known. So the order of the steps never
    /// tells which was faster.
    pub(crate) fn tell(&mut self, id: &str, place: usize, entry: Object) {
        let Some(Value::Object(steps)) = self.0.get_mut("steps") else { return };
        match steps.get_mut(id) {
            Some(known) => *known = Value::Object(entry),
            None => {
                let place = place.min(steps.len());
                steps.shift_insert(place, id.to_owned(), Value::Object(entry));
            }
        }
    }

    /// Adds to what is told of a step that has ended.
    pub(crate) fn add(&mut self, id: &str, name: &str, value: Value) {
        if let Some(Value::Object(entry)) = self.0.get_mut("steps").and_then(|steps| steps.get_mut(id)) {
            entry.insert(name.to_owned(), value);
        }
    }

    /// Tells of the run as a whole, when all its steps have ended.
    pub(crate) fn complete(&mut self, steps: usize, milliseconds: u64) {
        if let Some(Value::Object(workflow)) = self.0.get_mut("workflow") {
            workflow.insert("status".to_owned(), "completed".into());
            workflow.insert("step_count".to_owned(), steps.into());
            workflow.insert("duration_ms".to_owned(), milliseconds.into());
        }
    }
}

/// A step that has begun.
pub(crate) fn running() -> Object {
    with_status("running")
}

/// A step that worked, with what belongs to it.
pub(crate) fn completed(output: Value, content: Value) -> Object {
    let mut entry = with_status("completed");
    entry.insert("output".to_owned(), output);
    entry.insert("content".to_owned(), content);
    entry
}

/// A step that failed, and the run goes on.
pub(crate) fn failed(error: &str, output: Option<Value>) -> Object {
    let mut entry = instead("failed", output);
    entry.insert("error".to_owned(), error.into());
    entry
}

/// A step that did not run.
pub(crate) fn skipped(output: Option<Value>) -> Object {
    instead("skipped", output)
}

/// Without an output of its own: its default, or nothing, in which nothing is found.
fn instead(status: &str, output: Option<Value>) -> Object {
    let mut entry = with_status(status);
    entry.insert("output".to_owned(), output.unwrap_or_else(|| json!({})));
    entry.insert("content".to_owned(), json!({}));
    entry
}

fn with_status(status: &str) -> Object {
    let mut entry = Object::new();
    entry.insert("status".to_owned(), status.into());
    entry
}
