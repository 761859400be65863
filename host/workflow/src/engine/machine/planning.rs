//! Dry runs: steps are planned instead of made. What a planned step would return is unknown, and so is what follows from it.

use loggia_facade::Object;
use serde_json::{Value, json};

use super::run_machine::{MAX_SHOWN, RunMachine};
use crate::{
    definition::{ArgumentValue, ForEach, StepKind, ToolCall, WorkflowStep},
    engine::{
        data::{arguments, condition},
        failure::StepError,
        model::{DryRun, StepChange},
        state::{StepEnd, StepPhase, context},
    },
    template::TextTemplate,
};

impl RunMachine<'_> {
    /// Plans a step of a dry run. Returns false if the step is made.
    pub(crate) fn plan_step(&mut self, index: usize) -> bool {
        let Some(dry) = self.state.dry else { return false };
        let step = self.definition(index);
        let mut line = Object::new();
        line.insert("step".to_owned(), step.id.as_str().into());
        match self.plan_condition(step, &mut line) {
            Err(error) => {
                self.fail_step(index, error);
                return true;
            }
            Ok(false) => {
                self.record_plan(line, "skipped");
                self.skip_step(index);
                return true;
            }
            Ok(true) => {}
        }
        let planned = match &step.kind {
            StepKind::Ask(ask) => self.expand_known(&ask.message, None).map(|message| {
                line.insert("asks".to_owned(), message);
                true
            }),
            StepKind::Tool(call) => self.plan_call(index, call, None, &mut line),
            StepKind::ForEach(each) => self.plan_loop(index, each, &mut line),
        };
        match planned {
            Err(error) => self.fail_step(index, error),
            Ok(is_unknown) => {
                let changes = self.plan.changes(index);
                if dry == DryRun::Reads && !changes && !is_unknown && !line.contains_key("condition") {
                    self.record_plan(line, "called");
                    return false;
                }
                self.record_plan(line, "planned");
                let output = step.default_results.clone().unwrap_or_else(|| json!({}));
                let entry = context::planned_entry(output);
                self.end_step(index, StepEnd::Planned, entry, StepChange::Planned);
            }
        }
        true
    }

    /// Evaluates a condition, or notes it if that is not possible yet.
    fn plan_condition(&self, step: &WorkflowStep, line: &mut Object) -> Result<bool, StepError> {
        if let Some(condition) = step.condition.as_ref().filter(|condition| self.is_unknown(condition)) {
            line.insert("condition".to_owned(), condition.source().into());
            return Ok(true);
        }
        let show = |text: &str| self.redactor().redact_to(text, MAX_SHOWN);
        condition::evaluate(step, &self.state.context.scope(None), self.is_strict(), show)
    }

    /// Describes a call. Returns true if some of its arguments are unknown.
    fn plan_call(
        &self,
        index: usize,
        call: &ToolCall,
        seen: Option<&Value>,
        line: &mut Object,
    ) -> Result<bool, StepError> {
        let (step, target) = (self.definition(index), self.target(index, call)?);
        line.insert("tool".to_owned(), format!("{}.{}", target.facade, target.action).into());
        line.insert("changes".to_owned(), target.changes.into());
        let of_action = |name: &String| Some(name.as_str()) == target.action_argument.as_deref();
        let (unknown, known): (Vec<_>, Vec<_>) = call
            .arguments
            .iter()
            .filter(|(name, _)| !of_action(name))
            .cloned()
            .partition(|(_, argument)| self.has_unknown(argument, seen));
        let known = ToolCall { arguments: known, ..call.clone() };
        let scope = self.state.context.scope(seen);
        let mut arguments = arguments::expand_parameters(&step.id, &known, target, &scope, self.is_strict())?;
        arguments.extend(unknown.iter().map(|(name, argument)| (name.clone(), source_of(argument))));
        line.insert("arguments".to_owned(), self.redactor().redact_inputs(&target.params, &arguments));
        if !unknown.is_empty() {
            let names: Vec<&str> = unknown.iter().map(|(name, _)| name.as_str()).collect();
            line.insert("unresolved".to_owned(), json!(names));
        }
        if let Some(undo) = step.compensation() {
            line.insert("undone_by".to_owned(), undo.call.tool.as_str().into());
        }
        Ok(!unknown.is_empty())
    }

    /// Describes a loop by its first item.
    fn plan_loop(&self, index: usize, each: &ForEach, line: &mut Object) -> Result<bool, StepError> {
        if self.is_unknown(&each.collection) {
            line.insert("items".to_owned(), each.collection.source().into());
            self.plan_call(index, &each.call, None, line)?;
            return Ok(true);
        }
        let items = self.expand_items(index, each)?;
        line.insert("items".to_owned(), items.len().into());
        let seen = items.into_iter().next().map(|first| {
            Value::Object(Object::from_iter([(each.item.clone(), first), ("index".to_owned(), 0.into())]))
        });
        self.plan_call(index, &each.call, seen.as_ref(), line)
    }

    /// Expands a text, or returns its source if it is unknown.
    fn expand_known(&self, template: &TextTemplate, seen: Option<&Value>) -> Result<Value, StepError> {
        if self.is_unknown(template) {
            return Ok(template.source().into());
        }
        let expanded = template.expand(&self.state.context.scope(seen), self.is_strict());
        let expanded =
            expanded.map_err(|error| StepError::from_template("failed to expand a message", error))?;
        Ok(self.redactor().redact_sentence(&expanded.text).into())
    }

    /// Returns true if a part of the argument is unknown: also if there is no item that it reads.
    fn has_unknown(&self, argument: &ArgumentValue, seen: Option<&Value>) -> bool {
        let lacks_item = |template: &TextTemplate| seen.is_none() && refers_to(template, "forEach");
        templates_of(argument).into_iter().any(|template| self.is_unknown(template) || lacks_item(template))
    }

    /// Returns true if a template reads the result of a step that was only planned.
    fn is_unknown(&self, template: &TextTemplate) -> bool {
        let is_planned = |id: &str| {
            let mut steps = self.plan.workflow.steps.iter().zip(&self.state.phases);
            steps.any(|(step, phase)| step.id == id && matches!(phase, StepPhase::Ended(StepEnd::Planned)))
        };
        let any_planned =
            || self.state.phases.iter().any(|phase| matches!(phase, StepPhase::Ended(StepEnd::Planned)));
        template.references().iter().any(|reference| match &reference.path[..] {
            [] => any_planned(),
            [root] => root == "steps" && any_planned(),
            [root, id, ..] => root == "steps" && is_planned(id),
        })
    }

    fn record_plan(&mut self, mut line: Object, status: &str) {
        line.insert("status".to_owned(), status.into());
        self.state.planned.push(Value::Object(line));
    }
}

fn refers_to(template: &TextTemplate, root: &str) -> bool {
    template.references().iter().any(|reference| reference.path.first().is_none_or(|first| first == root))
}

/// Lists the templates of an argument.
fn templates_of(argument: &ArgumentValue) -> Vec<&TextTemplate> {
    match argument {
        ArgumentValue::Literal(_) => Vec::new(),
        ArgumentValue::Template(template) => vec![template],
        ArgumentValue::List(items) => items.iter().flat_map(templates_of).collect(),
        ArgumentValue::Record(members) => {
            members.iter().flat_map(|(_, member)| templates_of(member)).collect()
        }
    }
}

/// Returns an argument as the file writes it.
fn source_of(argument: &ArgumentValue) -> Value {
    match argument {
        ArgumentValue::Literal(value) => value.clone(),
        ArgumentValue::Template(template) => template.source().into(),
        ArgumentValue::List(items) => items.iter().map(source_of).collect(),
        ArgumentValue::Record(members) => {
            Value::Object(members.iter().map(|(name, member)| (name.clone(), source_of(member))).collect())
        }
    }
}
