//! Transitions of `forEach` loops. Each item is a task of its own; results keep the order of the list.

use loggia_facade::Object;
use serde_json::{Value, json};

use super::run_machine::{MAX_SHOWN, RunMachine};
use crate::{
    definition::{ForEach, StepKind},
    engine::{
        data::arguments,
        failure::StepError,
        model::{StepChange, TaskId},
        state::{LoopState, StepPhase, context},
        values::size_budget,
    },
    template::ExpandedText,
};

impl<'a> RunMachine<'a> {
    pub(crate) fn begin_loop(&mut self, index: usize, each: &ForEach) {
        let step = self.definition(index);
        let items =
            self.expand_items(index, each).and_then(|items| self.target(index, &each.call).map(|_| items));
        match items.and_then(|items| self.count_items(&step.id, items)) {
            Err(error) => self.fail_step(index, error),
            Ok(items) => {
                let results = vec![Value::Null; items.len()];
                let (deadline, calls) = (self.deadline(step), Vec::new());
                let each = LoopState { items, results, next: 0, calls, completed: 0, failed: 0, deadline };
                self.enter_phase(index, StepPhase::Each(each));
                self.notify(index, None, StepChange::Started);
                self.finish_loop(index);
            }
        }
    }

    /// Expands the collection of a loop.
    pub(crate) fn expand_items(&self, index: usize, each: &ForEach) -> Result<Vec<Value>, StepError> {
        let step = self.definition(index);
        match each.collection.expand(&self.state.context.scope(None), self.is_strict()) {
            Ok(expanded) => parse_items(&step.id, expanded, each.iterations, |text| {
                self.redactor().redact_to(text, MAX_SHOWN)
            }),
            Err(error) => Err(StepError::from_template(
                &format!("failed to expand collection for forEach step {}", step.id),
                error,
            )),
        }
    }

    /// Counts the size of the items, which the run holds in addition to the reply they come from.
    fn count_items(&mut self, step: &str, items: Vec<Value>) -> Result<Vec<Value>, StepError> {
        let held_bytes =
            self.state.held_bytes.saturating_add(items.iter().map(size_budget::value_size).sum());
        if held_bytes > size_budget::REPLIES {
            let most = size_budget::REPLIES >> 20;
            let message = format!("the collection and the replies of this run exceed {most} MiB in total");
            return Err(StepError::new(format!("forEach step {step}: {message}")));
        }
        self.state.held_bytes = held_bytes;
        Ok(items)
    }

    /// Starts as many items as allowed, and returns true if any started.
    pub(crate) fn begin_items(&mut self, index: usize) -> bool {
        let StepKind::ForEach(definition) = &self.definition(index).kind else { return false };
        let mut any = false;
        while self.has_room() && !self.has_reached_start_limit() {
            match &mut self.state.phases[index] {
                StepPhase::Each(each)
                    if each.next < each.items.len() && each.calls.len() < definition.parallel.max(1) =>
                {
                    let item = each.next;
                    each.next += 1;
                    any = true;
                    self.count_start();
                    self.begin_item(index, item, definition);
                }
                _ => break,
            }
        }
        any
    }

    fn begin_item(&mut self, index: usize, item: usize, definition: &ForEach) {
        let seen = self.item_scope(index, item, None);
        match self.prepare_call(index, &definition.call, Some((item, &seen))) {
            Err(error) => self.fail_item(index, item, error),
            Ok((_, call)) => {
                if let StepPhase::Each(each) = &mut self.state.phases[index] {
                    each.calls.push((item, call.clone()));
                }
                self.notify(index, Some(item), StepChange::Started);
                self.request_call(TaskId::first(index, Some(item)), &call);
            }
        }
    }

    /// Builds what templates see of an item as `.forEach`: the item, its index, and its output once it has one.
    pub(crate) fn item_scope(&self, index: usize, item: usize, output: Option<Value>) -> Value {
        let mut seen = Object::new();
        if let (StepKind::ForEach(definition), StepPhase::Each(each)) =
            (&self.definition(index).kind, &self.state.phases[index])
        {
            seen.insert(definition.item.clone(), each.items.get(item).cloned().unwrap_or_default());
        }
        seen.insert("index".to_owned(), item.into());
        seen.extend(output.map(|output| ("output".to_owned(), output)));
        Value::Object(seen)
    }

    /// Handles a completed item.
    pub(crate) fn complete_item(&mut self, index: usize, item: usize, mut entry: Object) {
        let output = entry.swap_remove("output").unwrap_or_default();
        self.record_item(index, item, json!({"status": "completed", "output": output}));
        self.notify(index, Some(item), StepChange::Completed);
        self.finish_loop(index);
    }

    /// Handles a failed item: the others continue or are stopped.
    pub(crate) fn fail_item(&mut self, index: usize, item: usize, error: StepError) {
        let step = self.definition(index);
        let redacted = self.redactor().redact_sentence(&error.message);
        self.record_item(index, item, json!({"status": "failed", "output": null, "error": error.message}));
        self.notify(index, Some(item), StepChange::Failed(redacted));
        if self.continues_after(step) {
            self.finish_loop(index);
        } else if self.awaits_calls(index) {
            self.stop_at(index, error.for_item(&step.id, item));
        } else {
            self.fail_step(index, error.for_item(&step.id, item));
        }
    }

    fn record_item(&mut self, index: usize, item: usize, end: Value) {
        let StepPhase::Each(each) = &mut self.state.phases[index] else { return };
        each.calls.retain(|(place, _)| *place != item);
        if end["status"] == "completed" {
            each.completed += 1;
        } else {
            each.failed += 1;
        }
        let value = each.items.get_mut(item).map(Value::take).unwrap_or_default();
        if let Some(result) = each.results.get_mut(item) {
            *result = item_result(item, value, end);
        }
    }

    /// Completes the step when all items have ended.
    fn finish_loop(&mut self, index: usize) {
        if let StepPhase::Each(each) = &mut self.state.phases[index]
            && each.completed + each.failed == each.items.len()
        {
            let output = loop_output(each);
            self.complete_step(index, context::completed_entry(output, json!({})));
        }
    }

    /// Handles the timeout of the loop, including all retries.
    pub(crate) fn on_loop_timeout(&mut self, index: usize) {
        self.drop_tasks(index);
        let StepPhase::Each(each) = &mut self.state.phases[index] else { return };
        let open: Vec<usize> =
            each.calls.iter().filter(|(_, call)| call.retry_at.is_none()).map(|(item, _)| *item).collect();
        open.into_iter().for_each(|item| self.note_unknown(index, Some(item)));
        let StepPhase::Each(each) = &mut self.state.phases[index] else { return };
        each.calls.clear();
        let output = loop_output(each);
        let step = self.definition(index);
        self.fail_step_with(index, StepError::timeout(&step.id, step.timeout, None), Some(output));
    }

    /// Retries items whose pause is over.
    pub(crate) fn retry_items(&mut self, index: usize) {
        let now = self.now();
        let StepPhase::Each(each) = &mut self.state.phases[index] else { return };
        let mut tries = Vec::new();
        for (item, call) in &mut each.calls {
            if call.retry_at.is_some_and(|retry_at| retry_at <= now) {
                call.retry_at = None;
                call.attempt = call.attempt.saturating_add(1);
                let task = TaskId::first(index, Some(*item)).with_attempt(call.attempt);
                tries.push((task, call.clone()));
            }
        }
        // Retry in list order, independent of timing.
        tries.sort_by_key(|(task, _)| *task);
        for (task, call) in tries {
            self.request_call(task, &call);
        }
    }
}

/// Parses the collection of a loop.
fn parse_items(
    step: &str,
    expanded: ExpandedText,
    most: usize,
    show: impl Fn(&str) -> String,
) -> Result<Vec<Value>, StepError> {
    let items = match expanded.value {
        Some(Value::Array(items)) => items,
        _ => serde_json::from_str(&expanded.text).map_err(|_| {
            let got = show(&expanded.text);
            StepError::new(format!(
                "forEach step {step}: collection must resolve to a JSON array, got: {got}"
            ))
        })?,
    };
    if items.len() > most {
        let count = items.len();
        return Err(StepError::new(format!(
            "forEach step {step}: collection size {count} exceeds maxIterations {most}"
        )));
    }
    if items.iter().any(arguments::is_too_deep) {
        return Err(StepError::new(format!("forEach step {step}: the collection is nested too deeply")));
    }
    Ok(items)
}

/// Creates the result of one item.
fn item_result(index: usize, item: Value, end: Value) -> Value {
    let mut result = Object::new();
    result.insert("index".to_owned(), index.into());
    result.insert("item".to_owned(), item);
    if let Value::Object(end) = end {
        result.extend(end);
    }
    Value::Object(result)
}

/// Creates the output of the loop. Items that have not ended count as cancelled.
fn loop_output(each: &mut LoopState) -> Value {
    let mut iterations = std::mem::take(&mut each.results);
    for (index, result) in iterations.iter_mut().enumerate().filter(|(_, result)| result.is_null()) {
        let item = each.items.get_mut(index).map(Value::take).unwrap_or_default();
        *result = item_result(index, item, json!({"status": "cancelled", "output": null}));
    }
    json!({"count": iterations.len(), "completed": each.completed, "failed": each.failed, "iterations": iterations})
}
