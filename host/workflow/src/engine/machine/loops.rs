//! A call for each item of a list. Each is a task of its own; what comes of them stands in the list's order.

use loggia_facade::Object;
use serde_json::{Value, json};

use super::scheduler::{RunMachine, SHOWN};
use crate::{
    definition::{ForEach, StepKind},
    engine::{
        data::arguments,
        failure::StepError,
        model::{TaskId, What},
        state::{CallState, LoopState, StepPhase, context},
        values::size_budget,
    },
    template::Expanded,
};

impl<'a> RunMachine<'a> {
    pub(crate) fn begin_each(&mut self, index: usize, each: &ForEach) {
        let step = self.definition(index);
        let items = match each.collection.expand(&self.state.context.scope(None), self.strict()) {
            Ok(expanded) => {
                items(&step.id, expanded, each.iterations, |text| self.redaction().cut(text, SHOWN))
            }
            Err(error) => Err(StepError::template(
                &format!("failed to expand collection for forEach step {}", step.id),
                error,
            )),
        };
        let items = items.and_then(|items| self.target(index, &each.call).map(|_| items));
        match items.and_then(|items| self.hold_items(&step.id, items)) {
            Err(wrong) => self.fail(index, wrong),
            Ok(items) => {
                let results = vec![Value::Null; items.len()];
                let (until, calls) = (self.until(step), Vec::new());
                let each = LoopState { items, results, next: 0, calls, completed: 0, failed: 0, until };
                self.enter(index, StepPhase::Each(each));
                self.tell(index, None, What::Started);
                self.end_items(index);
            }
        }
    }

    /// Counts the items, which the run holds beside the reply that they are from.
    fn hold_items(&mut self, step: &str, items: Vec<Value>) -> Result<Vec<Value>, StepError> {
        let held = self.state.held.saturating_add(items.iter().map(size_budget::weight).sum());
        if held > size_budget::REPLIES {
            let most = size_budget::REPLIES >> 20;
            let said = format!("with the collection the run would hold more than {most} MiB");
            return Err(StepError::new(format!("forEach step {step}: {said}")));
        }
        self.state.held = held;
        Ok(items)
    }

    /// Begins as many items as there is room for, and says whether any did.
    pub(crate) fn begin_items(&mut self, index: usize) -> bool {
        let StepKind::ForEach(definition) = &self.definition(index).kind else { return false };
        let mut any = false;
        while self.has_room() && !self.has_begun_enough() {
            match &mut self.state.phases[index] {
                StepPhase::Each(each)
                    if each.next < each.items.len() && each.calls.len() < definition.parallel.max(1) =>
                {
                    let item = each.next;
                    each.next += 1;
                    any = true;
                    self.count_begun();
                    self.begin_item(index, item, definition);
                }
                _ => break,
            }
        }
        any
    }

    fn begin_item(&mut self, index: usize, item: usize, definition: &ForEach) {
        let step = self.definition(index);
        let StepPhase::Each(each) = &self.state.phases[index] else { return };
        let mut seen = Object::new();
        seen.insert(definition.item.clone(), each.items[item].clone());
        seen.insert("index".to_owned(), item.into());
        let seen = Value::Object(seen);
        let params = self.target(index, &definition.call).and_then(|target| {
            let scope = self.state.context.scope(Some(&seen));
            let params = arguments::parameters(&step.id, &definition.call, target, &scope, self.strict());
            params.map(|params| (target, params))
        });
        match params {
            Err(wrong) => self.item_failed(index, item, wrong),
            Ok((target, params)) => {
                if let StepPhase::Each(each) = &mut self.state.phases[index] {
                    each.calls.push((item, CallState::new(params.clone())));
                }
                self.tell(index, Some(item), What::Started);
                self.call(TaskId { step: index, item: Some(item), attempt: 0 }, target, params);
            }
        }
    }

    /// One item's call worked.
    pub(crate) fn item_done(&mut self, index: usize, item: usize, mut entry: Object) {
        let output = entry.swap_remove("output").unwrap_or_default();
        self.item_ended(index, item, json!({"status": "completed", "output": output}));
        self.tell(index, Some(item), What::Completed);
        self.end_items(index);
    }

    /// One item failed: the others go on, or are stopped with it.
    pub(crate) fn item_failed(&mut self, index: usize, item: usize, wrong: StepError) {
        let step = self.definition(index);
        let shown = self.redaction().text(&wrong.message);
        self.item_ended(index, item, json!({"status": "failed", "output": null, "error": wrong.message}));
        self.tell(index, Some(item), What::Failed(shown));
        if self.goes_on(step) {
            self.end_items(index);
        } else {
            self.fail(index, wrong.of_item(&step.id, item));
        }
    }

    fn item_ended(&mut self, index: usize, item: usize, end: Value) {
        let StepPhase::Each(each) = &mut self.state.phases[index] else { return };
        each.calls.retain(|(place, _)| *place != item);
        if end["status"] == "completed" {
            each.completed += 1;
        } else {
            each.failed += 1;
        }
        let value = each.items.get_mut(item).map(Value::take).unwrap_or_default();
        if let Some(result) = each.results.get_mut(item) {
            *result = result_of(item, value, end);
        }
    }

    /// Ends the step where all its items have ended.
    fn end_items(&mut self, index: usize) {
        if let StepPhase::Each(each) = &mut self.state.phases[index]
            && each.completed + each.failed == each.items.len()
        {
            let output = output(each);
            self.done(index, context::completed(output, json!({})));
        }
    }

    /// The items, with all their retries, took too long together.
    pub(crate) fn each_timed_out(&mut self, index: usize) {
        self.drop_tasks(index);
        let StepPhase::Each(each) = &mut self.state.phases[index] else { return };
        each.calls.clear();
        let output = output(each);
        let step = self.definition(index);
        self.fail_with(index, StepError::timed_out(&step.id, step.timeout, None), Some(output));
    }

    /// Tries items again whose pause is over.
    pub(crate) fn items_again(&mut self, index: usize) {
        let now = self.now();
        let StepPhase::Each(each) = &mut self.state.phases[index] else { return };
        let mut tries = Vec::new();
        for (item, call) in &mut each.calls {
            if call.again.is_some_and(|again| again <= now) {
                call.again = None;
                call.attempt = call.attempt.saturating_add(1);
                let task = TaskId { step: index, item: Some(*item), attempt: call.attempt };
                tries.push((task, call.params.clone()));
            }
        }
        // In the list's order, whichever began first.
        tries.sort_by_key(|(task, _)| *task);
        for (task, params) in tries {
            self.again(task, params);
        }
    }
}

/// What a collection came out as.
fn items(
    step: &str,
    expanded: Expanded,
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
    if items.iter().any(arguments::too_deep) {
        return Err(StepError::new(format!("forEach step {step}: the collection nests too deep")));
    }
    Ok(items)
}

/// What came of one item.
fn result_of(index: usize, item: Value, end: Value) -> Value {
    let mut result = Object::new();
    result.insert("index".to_owned(), index.into());
    result.insert("item".to_owned(), item);
    if let Value::Object(end) = end {
        result.extend(end);
    }
    Value::Object(result)
}

/// The step's output. What has not ended never will.
fn output(each: &mut LoopState) -> Value {
    let mut iterations = std::mem::take(&mut each.results);
    for (index, result) in iterations.iter_mut().enumerate().filter(|(_, result)| result.is_null()) {
        let item = each.items.get_mut(index).map(Value::take).unwrap_or_default();
        *result = result_of(index, item, json!({"status": "cancelled", "output": null}));
    }
    json!({"count": iterations.len(), "completed": each.completed, "failed": each.failed, "iterations": iterations})
}
