//! Data that templates read during a run. It is updated in place, never rebuilt.

use loggia_facade::Object;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{engine::model::RunStart, template::TemplateScope};

/// Root object: `params`, `steps`, `vars` and `workflow`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct TemplateContext(Object);

impl TemplateContext {
    pub(crate) fn new(begin: RunStart) -> Self {
        let mut context = Object::new();
        context.insert("params".to_owned(), Value::Object(begin.params));
        context.insert("steps".to_owned(), json!({}));
        context.insert("vars".to_owned(), json!({}));
        // ToolHive fills in the rest only for the result.
        let workflow = json!({"id": begin.id, "status": "pending", "start_time": begin.start_time, "step_count": 0, "duration_ms": 0});
        context.insert("workflow".to_owned(), workflow);
        Self(context)
    }

    /// Returns the data for a template.
    pub(crate) fn scope<'a>(&'a self, for_each: Option<&'a Value>) -> TemplateScope<'a> {
        TemplateScope { base: &self.0, for_each }
    }

    pub(crate) fn params(&self) -> Option<&Value> {
        self.0.get("params")
    }

    /// Returns the entry of a step.
    pub(crate) fn step(&self, id: &str) -> Option<&Value> {
        self.0.get("steps")?.get(id)
    }

    /// Records a step's entry. `place`: the number of earlier steps with an entry. It keeps the steps in file order,
    /// so that their order never reveals timing.
    pub(crate) fn record_step(&mut self, id: &str, place: usize, entry: Object) {
        let Some(Value::Object(steps)) = self.0.get_mut("steps") else { return };
        match steps.get_mut(id) {
            Some(known) => *known = Value::Object(entry),
            None => {
                let place = place.min(steps.len());
                steps.shift_insert(place, id.to_owned(), Value::Object(entry));
            }
        }
    }

    /// Adds a field to the entry of an ended step.
    pub(crate) fn amend_step(&mut self, id: &str, name: &str, value: Value) {
        if let Some(Value::Object(entry)) = self.0.get_mut("steps").and_then(|steps| steps.get_mut(id)) {
            entry.insert(name.to_owned(), value);
        }
    }

    /// Removes the entry of a step.
    pub(crate) fn forget_step(&mut self, id: &str) {
        if let Some(Value::Object(steps)) = self.0.get_mut("steps") {
            steps.shift_remove(id);
        }
    }

    /// Records the end of the run.
    pub(crate) fn complete_run(&mut self, steps: usize, milliseconds: u64) {
        if let Some(Value::Object(workflow)) = self.0.get_mut("workflow") {
            workflow.insert("status".to_owned(), "completed".into());
            workflow.insert("step_count".to_owned(), steps.into());
            workflow.insert("duration_ms".to_owned(), milliseconds.into());
        }
    }
}

/// Creates the entry of a running step.
pub(crate) fn running_entry() -> Object {
    status_entry("running")
}

/// Creates the entry of a completed step.
pub(crate) fn completed_entry(output: Value, content: Value) -> Object {
    let mut entry = status_entry("completed");
    entry.insert("output".to_owned(), output);
    entry.insert("content".to_owned(), content);
    entry
}

/// Creates the entry of a step that was only planned.
pub(crate) fn planned_entry(output: Value) -> Object {
    default_entry("planned", Some(output))
}

/// Creates the entry of a failed step in a run that continues.
pub(crate) fn failed_entry(error: &str, output: Option<Value>) -> Object {
    let mut entry = default_entry("failed", output);
    entry.insert("error".to_owned(), error.into());
    entry
}

/// Creates the entry of a skipped step.
pub(crate) fn skipped_entry(output: Option<Value>) -> Object {
    default_entry("skipped", output)
}

/// Creates an entry with the default output, or an empty one.
fn default_entry(status: &str, output: Option<Value>) -> Object {
    let mut entry = status_entry(status);
    entry.insert("output".to_owned(), output.unwrap_or_else(|| json!({})));
    entry.insert("content".to_owned(), json!({}));
    entry
}

fn status_entry(status: &str) -> Object {
    let mut entry = Object::new();
    entry.insert("status".to_owned(), status.into());
    entry
}
