//! Which actions a workflow's steps call, and what these take.
//!
//! The definition names its tools; which facade and action that means is known only beside the facades that are served.
//! A workflow is bound when it is published, for its effect, and again for each run, since facades come and go.

use std::sync::Arc;

use loggia_facade::{Action, Effect, Failure, Object, code};
use loggia_schema::nearest;
use serde_json::Value;

use crate::{
    Problem, Workflow,
    definition::{Argument, Kind, Step, ToolCall},
    engine::{Plan, Target},
};

/// The facades that a workflow may call.
pub trait Peers {
    /// An action by its name, an alias, or another case; by an empty name the facade's default.
    ///
    /// # Errors
    ///
    /// Why it cannot be called.
    fn lookup(&self, facade: &str, action: &str) -> Result<Action, Failure>;
}

impl<F: Fn(&str, &str) -> Result<Action, Failure>> Peers for F {
    fn lookup(&self, facade: &str, action: &str) -> Result<Action, Failure> {
        self(facade, action)
    }
}

/// A workflow with the actions that it calls.
#[derive(Debug, Clone)]
pub struct Bound {
    /// Ready to run.
    pub plan: Plan,
    /// The worst that its steps do.
    pub effect: Effect,
    /// Some step reaches beyond this machine.
    pub open_world: bool,
}

/// One thing that a step's `tool` may mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The facade.
    pub facade: String,
    /// Its action; empty for its default.
    pub action: String,
    /// The argument that named the action.
    pub argument: Option<&'static str>,
}

/// Arguments that name a facade's action.
const NAMES: [&str; 2] = ["action", "cmd"];

impl ToolCall {
    /// What its `tool` may mean, the likeliest first: `facade.action`; a facade, whose action is an argument, or its
    /// default; `facade_action`, as granular tools are called.
    pub fn candidates(&self) -> Vec<Candidate> {
        let of = |facade: &str, action: &str, argument| Candidate {
            facade: facade.to_owned(),
            action: action.to_owned(),
            argument,
        };
        if let Some((facade, action)) = self.tool.split_once('.') {
            return vec![of(facade, action, None)];
        }
        let mut out = Vec::new();
        match self.action() {
            Some((argument, Argument::Literal(Value::String(action)))) => {
                out.push(of(&self.tool, action, Some(argument)));
            }
            Some(_) => {}
            None => out.push(of(&self.tool, "", None)),
        }
        let parts = self.tool.match_indices('_').filter(|(at, _)| *at > 0 && at + 1 < self.tool.len());
        out.extend(parts.map(|(at, _)| of(&self.tool[..at], &self.tool[at + 1..], None)));
        out
    }

    /// The argument that names an action, if there is one.
    fn action(&self) -> Option<(&'static str, &Argument)> {
        NAMES.into_iter().find_map(|name| {
            let (_, argument) = self.arguments.iter().find(|(known, _)| known == name)?;
            Some((name, argument))
        })
    }
}

impl Step {
    /// The call that it makes, or makes for each item.
    pub fn call(&self) -> Option<&ToolCall> {
        match &self.kind {
            Kind::Tool(call) => Some(call),
            Kind::ForEach(each) => Some(&each.call),
            Kind::Ask(_) => None,
        }
    }
}

/// Finds what the steps call.
///
/// # Errors
///
/// All that keeps the workflow from running now, each with the step's line.
pub fn bind(workflow: &Arc<Workflow>, peers: &dyn Peers) -> Result<Bound, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut targets = Vec::with_capacity(workflow.steps.len());
    let (mut effect, mut open_world) = (Effect::Read, false);
    for (index, step) in workflow.steps.iter().enumerate() {
        let Some(call) = step.call() else {
            targets.push(None);
            continue;
        };
        let place = Place { workflow, step, index, call };
        match place.find(peers) {
            Ok((target, action)) => {
                effect = effect.max(action.effect);
                open_world |= action.open_world;
                problems.extend(place.arguments(&target));
                targets.push(Some(target));
            }
            Err(problem) => problems.push(problem),
        }
    }
    problems.extend(contradiction(workflow, effect).filter(|_| targets.len() == workflow.steps.len()));
    if !problems.is_empty() {
        return Err(problems);
    }
    let plan = Plan { workflow: Arc::clone(workflow), targets };
    Ok(Bound { plan, effect: stated(workflow, effect), open_world })
}

/// A step that calls.
struct Place<'a> {
    workflow: &'a Workflow,
    step: &'a Step,
    index: usize,
    call: &'a ToolCall,
}

impl Place<'_> {
    fn problem(&self, part: &str, said: impl AsRef<str>) -> Problem {
        let path = match self.workflow.path.as_str() {
            "" => format!("steps[{}].{part}", self.index),
            path => format!("{path}.steps[{}].{part}", self.index),
        };
        Problem::new(self.call.line, path, format!("step `{}`: {}", self.step.id, said.as_ref()))
    }

    fn find(&self, peers: &dyn Peers) -> Result<(Target, Action), Problem> {
        let mut first = None;
        for candidate in self.call.candidates() {
            match peers.lookup(&candidate.facade, &candidate.action) {
                Ok(action) => {
                    let target = Target {
                        facade: candidate.facade,
                        action: action.name.clone(),
                        params: Arc::clone(&action.params),
                        action_argument: candidate.argument,
                        changes: action.effect > Effect::Read,
                    };
                    return Ok((target, action));
                }
                // What is there and does not fit says more than what is not there.
                Err(failure) => match &first {
                    Some(before) if !missing(before) || missing(&failure) => {}
                    _ => first = Some(failure),
                },
            }
        }
        let Some(failure) = first else {
            let said = format!(
                "the action of `{}` must be written out: which one a template will name nobody can check",
                self.call.tool
            );
            return Err(self.problem("arguments", said));
        };
        let temporary = failure.code == code::UNAVAILABLE;
        let problem = self.problem("tool", failure.message);
        let problem = match failure.hint {
            Some(hint) => problem.hint(hint),
            None => problem,
        };
        Err(Problem { temporary, ..problem })
    }

    /// What is wrong with the arguments, as far as their names say.
    fn arguments(&self, target: &Target) -> Vec<Problem> {
        let named = format!("`{}.{}`", target.facade, target.action);
        let given = |name: &str| self.call.arguments.iter().any(|(known, _)| known == name);
        let required = target.params.get("required").and_then(Value::as_array).into_iter().flatten();
        let missing = required.filter_map(Value::as_str).filter(|name| !given(name));
        let mut out: Vec<Problem> = missing
            .map(|name| self.problem("arguments", format!("{named} needs the argument `{name}`")))
            .collect();
        let known = target.params.get("properties").and_then(Value::as_object);
        if target.params.get("additionalProperties") == Some(&Value::Bool(false)) {
            let names = || known.into_iter().flat_map(Object::keys).map(String::as_str);
            let is_known = |name: &str| Some(name) == target.action_argument || names().any(|n| n == name);
            for (name, _) in self.call.arguments.iter().filter(|(name, _)| !is_known(name)) {
                let mut problem = self.problem("arguments", format!("{named} has no argument `{name}`"));
                problem.hint = nearest(name, names()).map(|near| format!("did you mean `{near}`?"));
                out.push(problem);
            }
        }
        out
    }
}

/// Whether a failure says that there is no such facade now, or none that the workflow's policy lets it look for.
fn missing(failure: &Failure) -> bool {
    failure.code == code::UNAVAILABLE || failure.code == code::DENIED && !lacks_scope(failure)
}

/// Whether the caller's own scopes do not hold what is there: only such a denial says which of them it takes.
pub(crate) fn lacks_scope(failure: &Failure) -> bool {
    failure.code == code::DENIED && failure.details.is_some()
}

/// The effect that follows from the steps, and from what the author says beside them.
fn stated(workflow: &Workflow, floor: Effect) -> Effect {
    let said = &workflow.annotations;
    let stated = match (said.read_only, said.destructive) {
        (Some(false), Some(true)) | (None, Some(true)) => Effect::Destructive,
        (Some(false), _) => Effect::Write,
        _ => Effect::Read,
    };
    floor.max(stated)
}

/// An annotation that makes a workflow look safer than its steps are: clients approve by it.
fn contradiction(workflow: &Workflow, floor: Effect) -> Option<Problem> {
    let said = &workflow.annotations;
    let (hint, value) = match floor {
        Effect::Write | Effect::Destructive if said.read_only == Some(true) => ("readOnlyHint", true),
        Effect::Destructive if said.destructive == Some(false) => ("destructiveHint", false),
        _ => return None,
    };
    let path = match workflow.path.as_str() {
        "" => "annotations".to_owned(),
        path => format!("{path}.annotations"),
    };
    let (name, effect) = (&workflow.name, floor.as_str());
    let said = format!("`{name}` says `{hint}: {value}`, but a step of it is {effect}");
    Some(Problem::new(workflow.line, path, said).hint("leave the annotation out, or call what it says"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::definition::read;

    /// `notes` adds and lists, `shop` sells for good, `clock` has one action, `mail` a default.
    fn peers(facade: &str, action: &str) -> Result<Action, Failure> {
        let known: &[(&str, &str, Effect)] = &[
            ("notes", "add", Effect::Write),
            ("notes", "list", Effect::Read),
            ("shop", "sell", Effect::Destructive),
            ("clock", "now", Effect::Read),
            ("my_shop", "look_up", Effect::Read),
        ];
        if !known.iter().any(|(name, ..)| *name == facade) {
            return Err(Failure::new(
                code::UNAVAILABLE,
                format!("`{facade}` is unavailable: it is not served now"),
            ));
        }
        let meant = if action.is_empty() && facade == "clock" { "now" } else { action };
        let found = known.iter().find(|(name, own, _)| (*name, *own) == (facade, meant));
        let Some((_, name, effect)) = found else {
            let failure = Failure::new(code::INVALID_PARAMS, format!("Unknown action: \"{meant}\"."));
            return Err(failure.hint("Did you mean \"add\"?"));
        };
        let params = json!({"type": "object", "properties": {"title": {"type": "string"}},
            "required": if *name == "add" { json!(["title"]) } else { json!([]) }, "additionalProperties": false});
        Ok(Action {
            name: (*name).to_owned(),
            summary: String::new(),
            effect: *effect,
            idempotent: false,
            open_world: *facade == *"shop",
            long_running: false,
            details: false,
            aliases: Vec::new(),
            params: Arc::new(params.as_object().cloned().unwrap_or_default()),
            data: None,
            examples: Vec::new(),
        })
    }

    /// A workflow of these steps, with these lines before them.
    fn bound(head: &str, steps: &str) -> Result<Bound, Vec<Problem>> {
        let text = format!("name: w\ndescription: d\n{head}steps:\n{steps}");
        let definition = read(&text).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
        bind(&Arc::new(definition.workflows[0].clone()), &peers)
    }

    #[test]
    fn a_tool_is_named_by_facade_and_action_in_three_ways() {
        let check = |step: &str, expected: (&str, &str, Option<&str>)| {
            let bound = bound("", &format!("  - {{id: a, {step}}}\n"));
            let bound = bound.unwrap_or_else(|problems| panic!("{step}: {problems:?}"));
            let target = bound.plan.targets[0].as_ref().unwrap();
            let got = (target.facade.as_str(), target.action.as_str(), target.action_argument);
            assert_eq!(got, expected, "{step}");
        };
        check("tool: notes.list", ("notes", "list", None));
        check("tool: notes, arguments: {action: add, title: x}", ("notes", "add", Some("action")));
        check("tool: notes, arguments: {cmd: list}", ("notes", "list", Some("cmd")));
        check("tool: clock", ("clock", "now", None));
        check("tool: notes_list", ("notes", "list", None));
        check("tool: my_shop_look_up", ("my_shop", "look_up", None));
        let each = "type: forEach, collection: '[1]', step: {type: tool, tool: notes.list}";
        check(each, ("notes", "list", None));
    }

    #[test]
    fn all_that_keeps_a_workflow_from_running_is_told() {
        let check = |head: &str, step: &str, expected: &[&str]| {
            let problems = bound(head, &format!("  - {{id: a, {step}}}\n")).err().unwrap_or_default();
            let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
            assert_eq!(said, expected, "{head}{step}");
        };
        check("", "tool: notes.list", &[]);
        check("", "tool: gone.add", &["line 4: step `a`: `gone` is unavailable: it is not served now"]);
        check("", "tool: notes.ad", &["line 4: step `a`: Unknown action: \"ad\". (Did you mean \"add\"?)"]);
        check("", "tool: notes_ad", &["line 4: step `a`: Unknown action: \"ad\". (Did you mean \"add\"?)"]);
        check("", "tool: notes.add", &["line 4: step `a`: `notes.add` needs the argument `title`"]);
        check(
            "",
            "tool: notes.add, arguments: {titel: x}",
            &[
                "line 4: step `a`: `notes.add` needs the argument `title`",
                "line 4: step `a`: `notes.add` has no argument `titel` (did you mean `title`?)",
            ],
        );
        let safer = "leave the annotation out, or call what it says";
        check(
            "annotations: {readOnlyHint: true}\n",
            "tool: notes.add, arguments: {title: x}",
            &[&format!("line 1: `w` says `readOnlyHint: true`, but a step of it is write ({safer})")],
        );
        check(
            "annotations: {destructiveHint: false}\n",
            "tool: shop.sell",
            &[&format!(
                "line 1: `w` says `destructiveHint: false`, but a step of it is destructive ({safer})"
            )],
        );
    }

    #[test]
    fn only_a_facade_that_is_not_served_is_waited_for() {
        let check = |head: &str, step: &str, expected: &[bool]| {
            let problems = bound(head, &format!("  - {{id: a, {step}}}\n")).err().unwrap_or_default();
            let temporary: Vec<bool> = problems.iter().map(|problem| problem.temporary).collect();
            assert_eq!(temporary, expected, "{head}{step}");
        };
        check("", "tool: gone.add", &[true]);
        check("", "tool: notes.ad", &[false]);
        check("", "tool: notes.add, arguments: {titel: x}", &[false, false]);
        check("annotations: {readOnlyHint: true}\n", "tool: notes.add, arguments: {title: x}", &[false]);
    }

    #[test]
    fn a_workflow_is_as_harmful_as_the_worst_of_its_steps_or_as_it_says() {
        let check = |head: &str, tools: &[&str], expected: (Effect, bool)| {
            let steps: String = tools
                .iter()
                .enumerate()
                .map(|(at, tool)| format!("  - {{id: s{at}, tool: {tool}, arguments: {{title: x}}}}\n"))
                .collect();
            let bound = bound(head, &steps).unwrap_or_else(|problems| panic!("{problems:?}"));
            assert_eq!((bound.effect, bound.open_world), expected, "{head}{tools:?}");
        };
        check("", &["notes.list"], (Effect::Read, false));
        check("", &["notes.list", "notes.add"], (Effect::Write, false));
        check("", &["shop.sell", "notes.list"], (Effect::Destructive, true));
        check("annotations: {readOnlyHint: false}\n", &["notes.list"], (Effect::Write, false));
        check("annotations: {destructiveHint: true}\n", &["notes.list"], (Effect::Destructive, false));
        check("annotations: {readOnlyHint: true}\n", &["notes.list"], (Effect::Read, false));
    }
}
