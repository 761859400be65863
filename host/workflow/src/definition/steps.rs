//! Steps.

use std::collections::HashMap;

use super::{
    Kind, OnError, QUESTION_TIMEOUT, RETRIES, RETRY_DELAY, STEP_TIMEOUT, Step, ToolCall,
    arguments::call,
    for_each, place,
    place::{Fields, Place, Reading, join, shown},
    question,
    uses::{At, Part, template},
};
use crate::Problem;

/// What a step may say.
pub(super) const FIELDS: [&str; 18] = [
    "id",
    "type",
    "tool",
    "arguments",
    "condition",
    "dependsOn",
    "timeout",
    "onError",
    "defaultResults",
    "message",
    "schema",
    "onDecline",
    "onCancel",
    "collection",
    "itemVar",
    "maxParallel",
    "maxIterations",
    "step",
];
/// What is said in vain in steps of another type.
const OF_TOOLS: [&str; 2] = ["tool", "arguments"];
const OF_QUESTIONS: [&str; 4] = ["message", "schema", "onDecline", "onCancel"];
const OF_FOR_EACH: [&str; 5] = ["collection", "itemVar", "maxParallel", "maxIterations", "step"];

/// Reads the steps of a workflow.
pub(super) fn steps(places: &[Place<'_>], reading: &mut Reading) -> Vec<Step> {
    let mut ids = Ids::new();
    for (index, place) in places.iter().enumerate() {
        let Some(id) = place.node.get("id").filter(|node| !node.is_null()) else { continue };
        let id = Place::new(id, format!("{}.id", place.path));
        // What is no text is told where the step is read.
        let Some(text) = id.text(&mut Reading::default()).filter(|text| !text.is_empty()) else { continue };
        if ids.contains_key(text) {
            let problem = id.problem(&format!("\"{}\" is duplicated", shown(text)));
            reading.problem(problem.hint("give each step an id of its own"));
        } else {
            ids.insert(text, index);
        }
    }
    places.iter().enumerate().map(|(index, place)| step(place, index, &ids, reading)).collect()
}

/// The ids of a workflow's steps, with their places.
type Ids<'a> = HashMap<&'a str, usize>;

fn step(place: &Place<'_>, index: usize, ids: &Ids<'_>, reading: &mut Reading) -> Step {
    let line = place.node.line;
    let mut step = Step {
        id: String::new(),
        kind: nothing(line),
        condition: None,
        depends_on: Vec::new(),
        timeout: STEP_TIMEOUT,
        on_error: OnError::Abort,
        default_results: None,
        line,
    };
    let Some(fields) = place.fields(&FIELDS, reading) else { return step };
    match fields.text("id", reading) {
        Some(id) => step.id = id.to_owned(),
        None if fields.is_of_another_kind("id") => {}
        None => reading.problem(fields.missing("id", "is required")),
    }
    if let Some(kind) = kind(&fields, index, reading) {
        step.kind = kind;
    }
    if let Some(place) = fields.get("condition")
        && place.text(reading).is_some_and(|text| !text.is_empty())
    {
        step.condition = template(&place, At::Step(index, Part::Condition), reading);
    }
    step.depends_on = depends_on(&fields, ids, reading);
    if let Some(place) = fields.get("timeout")
        && let Some(timeout) = place.duration(reading)
    {
        step.timeout = timeout;
        if matches!(step.kind, Kind::Ask(_)) && timeout > QUESTION_TIMEOUT {
            step.timeout = QUESTION_TIMEOUT;
            reading.warn(place.problem("is too long for a question: it stays open for 30m"));
        }
    }
    step.on_error = on_error(&fields, reading);
    if matches!(step.on_error, OnError::Retry { .. }) && !matches!(step.kind, Kind::Tool(_)) {
        let said = "onError.action: retry means nothing here: only calls of tools are tried again";
        let problem = Problem::new(line, &*place.path, format!("{}: {said}", place.path));
        reading.warn(match step.kind {
            Kind::ForEach(_) => problem.hint("write it in the inner step"),
            _ => problem,
        });
    }
    // Null is a default too.
    step.default_results = fields
        .entry("defaultResults")
        .and_then(|entry| Place::new(&entry.node, join(&place.path, "defaultResults")).json(reading));
    step
}

/// What stands in for what cannot be read: there is a problem then.
fn nothing(line: usize) -> Kind {
    Kind::Tool(ToolCall { tool: String::new(), arguments: Vec::new(), line })
}

fn kind(fields: &Fields<'_>, index: usize, reading: &mut Reading) -> Option<Kind> {
    let place = fields.get("type");
    let kind = fields.text("type", reading).unwrap_or_default();
    let (has_tool, has_message) = (fields.get("tool").is_some(), fields.get("message").is_some());
    match kind {
        "" if has_tool && has_message => {
            let said = "cannot have both tool and message fields - use explicit type to clarify intent";
            reading.problem(fields.problem(said).hint("write type: tool or type: elicitation"));
            None
        }
        "" if has_message => {
            let missing = fields.missing("tool", "is required when type is tool");
            reading.problem(missing.hint("to ask a person, write type: elicitation"));
            None
        }
        "" if fields.get("collection").is_some() && !has_tool => {
            let missing = fields.missing("tool", "is required when type is tool");
            reading.problem(missing.hint("to call for each item, write type: forEach"));
            None
        }
        "" | "tool" => {
            in_vain(fields, "tool", &[&OF_QUESTIONS, &OF_FOR_EACH], reading);
            let at = At::Step(index, Part::Argument);
            Some(Kind::Tool(call(fields, &at, "is required when type is tool", reading)))
        }
        "elicitation" => {
            in_vain(fields, "elicitation", &[&OF_TOOLS, &OF_FOR_EACH], reading);
            question::question(fields, index, reading).map(Kind::Ask)
        }
        "forEach" => {
            in_vain(fields, "forEach", &[&["arguments"], &OF_QUESTIONS[1..]], reading);
            for_each::for_each(fields, index, reading).map(Kind::ForEach)
        }
        other => {
            let place = place?;
            let problem = place.problem("must be one of: tool, elicitation, forEach");
            reading.problem(reading.advise(problem, other, ["tool", "elicitation", "forEach"]));
            None
        }
    }
}

/// Warns of what a step of this type has no use for.
fn in_vain(fields: &Fields<'_>, kind: &str, others: &[&[&str]], reading: &mut Reading) {
    for name in others.iter().flat_map(|names| names.iter()) {
        if let Some(place) = fields.get(name) {
            reading.warn(place.problem(&format!("means nothing in a step of type {kind}")));
        }
    }
}

fn depends_on(fields: &Fields<'_>, ids: &Ids<'_>, reading: &mut Reading) -> Vec<usize> {
    let mut found = Vec::new();
    let Some(place) = fields.get("dependsOn") else { return found };
    if place.written(reading, "a list", |id| format!("write dependsOn: [{id}]")) {
        return found;
    }
    for item in place.items(reading).unwrap_or_default() {
        let Some(id) = item.text(reading) else { continue };
        match ids.get(id) {
            Some(index) if found.contains(index) => {}
            Some(index) => found.push(*index),
            None => {
                let said = format!("{} references unknown step \"{}\"", place.path, shown(id));
                let problem = Problem::new(item.node.line, item.path, said);
                reading.problem(reading.advise(problem, id, ids.keys().copied()));
            }
        }
    }
    found
}

/// What follows a failure.
pub(super) fn on_error(fields: &Fields<'_>, reading: &mut Reading) -> OnError {
    const KNOWN: [&str; 4] = ["action", "retryCount", "retryDelay", "maxRetries"];
    let Some(place) = fields.get("onError") else { return OnError::Abort };
    if place.written(reading, "an object", |action| match action {
        "retry" => "write onError: {action: retry, retryCount: 3}".to_owned(),
        action => format!("write onError: {{action: {action}}}"),
    }) {
        return OnError::Abort;
    }
    let Some(fields) = place.fields(&KNOWN, reading) else { return OnError::Abort };
    let before = reading.problems.len();
    let count = count(&fields, reading);
    let is_told = reading.problems.len() > before;
    let delay = fields.get("retryDelay").and_then(|place| place.duration(reading)).unwrap_or(RETRY_DELAY);
    let action = fields.text("action", reading).unwrap_or("abort");
    if action != "retry"
        && let Some((_, place)) = &count
    {
        let said = format!("means nothing where the action is {}", shown(action));
        reading.warn(place.problem(&said).hint("write action: retry"));
    }
    match action {
        "abort" => OnError::Abort,
        "continue" => OnError::Continue,
        "retry" => match count {
            Some((count, place)) if count >= 1 => {
                if count > i64::from(RETRIES) {
                    reading.warn(
                        place.problem(&format!("is {count}; a step is tried again {RETRIES} times at most")),
                    );
                }
                OnError::Retry { count: u32::try_from(count).unwrap_or(RETRIES).min(RETRIES), delay }
            }
            // What is no number is told already.
            None if is_told => OnError::Abort,
            other => {
                let line = other.map_or(fields.line, |(_, place)| place.node.line);
                let path = place::join(&fields.path, "retryCount");
                let said = format!("{path} must be at least 1 when action is retry");
                reading.problem(Problem::new(line, path, said));
                OnError::Abort
            }
        },
        other => {
            const ACTIONS: [&str; 3] = ["abort", "continue", "retry"];
            let said = format!("must be one of: {}", ACTIONS.join(", "));
            let problem =
                fields.get("action").map_or_else(|| fields.missing("action", &said), |p| p.problem(&said));
            reading.problem(reading.advise(problem, other, ACTIONS));
            OnError::Abort
        }
    }
}

/// How often a step is tried again, and where that stands.
fn count<'a>(fields: &Fields<'a>, reading: &mut Reading) -> Option<(i64, Place<'a>)> {
    let other = fields.get("maxRetries");
    if let Some(other) = &other {
        let said = "`maxRetries` stands in ToolHive's guide; its code knows `retryCount` alone";
        reading.note(other.node.line, &*other.path, said);
    }
    let place = match (fields.get("retryCount"), other) {
        (Some(place), Some(other)) => {
            reading.warn(other.problem("means nothing beside retryCount"));
            place
        }
        (place, other) => place.or(other)?,
    };
    Some((place.whole(reading)?, place))
}
