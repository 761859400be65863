//! `complete_task_with_validation`: runs a task's validations, and completes it if all pass.

use loggia_sdk::prelude::*;

use crate::{
    checks::{self, CheckResult, Confirmation},
    ids::Kind,
    outline::{Epic, Task, TaskState},
    store::{TEXTS, archived, change, epic_of, missing, moment, now},
    texts::Completion,
    validation::{FileMatch, Validation},
    view::{EpicView, ShownState},
};

/// Code of a completion whose validations failed.
const FAILED: &str = "validation_failed";

/// A completed task.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Completed {
    id: String,
    title: String,
    state: ShownState,
    version: u32,
    /// Validations, all passed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    validations: Vec<Passed>,
    /// Tasks that can begin now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unblocked: Vec<String>,
    /// Done tasks of the epic, in percent.
    percent: u32,
}

/// A validation that passed.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
struct Passed {
    check: String,
    found: String,
}

/// Parameters.
pub struct CompletionRequest {
    pub id: String,
    pub confirmed_by: Option<String>,
    pub ignore_dependencies: bool,
}

/// Completes a task.
///
/// # Errors
///
/// `conflict` for a task that cannot be completed now, `validation_failed` with all results in `details`.
pub fn complete(call: &Call, request: &CompletionRequest) -> Result<Reply<Completed>> {
    let id = request.id.as_str();
    if let Some(kind @ (Kind::Epic | Kind::Feature)) = Kind::of(id) {
        let word = kind.word();
        return Err(Failure::invalid_params(format!(
            "`{id}` is not a task: {word}s are done when their tasks are"
        ))
        .hint("`progress` shows the tasks that are left.")
        .next(Next::action("progress").param("id", id)));
    }
    let epic = epic_of(id)?;
    let task = epic.task_at(id).map(|at| &epic.tasks[at]).ok_or_else(|| missing(id))?;
    if task.state == TaskState::Done {
        return Ok(Reply::new(completed(&epic, task, Vec::new(), Vec::new())).message("It was done already."));
    }
    check_startable(&epic, task, "completed", request.ignore_dependencies)?;
    let texts = TEXTS.get(id)?.ok_or_else(|| missing(id))?;
    let (results, confirmed_by) = validate(call, task, &texts.validations, request.confirmed_by.as_deref())?;
    if results.iter().any(|result| !result.passed) {
        return Err(failed(task, &texts.validations, &results));
    }
    let seen = task.version;
    let (epic, unblocked) = change(id, |tx, epic| {
        let at = epic.task_at(id).ok_or_else(|| missing(id))?;
        if epic.tasks[at].version != seen {
            return Err(Failure::conflict(format!("`{id}` was changed while its validations ran"))
                .hint("Nothing was completed: call again.")
                .next(again(id)));
        }
        check_startable(epic, &epic.tasks[at], "completed", request.ignore_dependencies)?;
        let ignored = EpicView::new(epic).blockers(&epic.tasks[at]).into_iter().map(str::to_owned).collect();
        let before = blocked(epic);
        epic.tasks[at].state = TaskState::Done;
        epic.tasks[at].version += 1;
        let after = blocked(epic);
        let unblocked = before.into_iter().filter(|id| !after.contains(id)).collect();
        let mut texts = TEXTS.of(tx).get(id)?.ok_or_else(|| missing(id))?;
        let confirmed_by = confirmed_by.clone();
        texts.completed = Some(Completion { at: moment(now()), confirmed_by, ignored });
        TEXTS.of(tx).put(id, &texts)?;
        Ok((epic.clone(), unblocked))
    })?;
    let task = epic.task_at(id).map(|at| &epic.tasks[at]).ok_or_else(|| missing(id))?;
    let message = match results.len() {
        0 => "It has no validations: completed without checks.".to_owned(),
        1 => "Its validation passed.".to_owned(),
        count => format!("All {count} validations passed."),
    };
    Ok(Reply::new(completed(&epic, task, results, unblocked)).message(message))
}

/// Checks that a task may be started or completed: not archived, not cancelled, nothing before it open.
///
/// # Errors
///
/// `conflict`, with the ids of what blocks it.
pub fn check_startable(epic: &Epic, task: &Task, verb: &str, ignore_dependencies: bool) -> Result<()> {
    let id = task.id.as_str();
    if let Some(by) = epic.archived_by(id) {
        return Err(archived(id, by));
    }
    if task.state == TaskState::Cancelled {
        return Err(Failure::conflict(format!("`{id}` is cancelled"))
            .hint("Reopen it first.")
            .next(Next::action("upsert").param("id", id).param("state", TaskState::Todo)));
    }
    let blockers = EpicView::new(epic).blockers(task);
    let Some(first) = blockers.first().filter(|_| !ignore_dependencies) else { return Ok(()) };
    let named = blockers.iter().map(|id| format!("`{id}` \"{}\"", epic.title_of(id)));
    let named = named.collect::<Vec<_>>().join(", ");
    Err(Failure::conflict(format!("`{id}` cannot be {verb} yet: it depends on {named}"))
        .hint("Complete these first, or pass `ignore_dependencies: true`.")
        .details(json!({"blocked_by": blockers}))
        .next(Next::action("get").param("id", first).reason("it comes first")))
}

/// Runs the validations; asks a person only if all others pass. Returns who confirmed the manual ones, too.
fn validate(
    call: &Call,
    task: &Task,
    validations: &[Validation],
    confirmed_by: Option<&str>,
) -> Result<(Vec<CheckResult>, Option<String>)> {
    let results = checks::run(validations);
    call.checkpoint()?;
    let has_failed = results.iter().flatten().any(|result| !result.passed);
    let texts: Vec<&str> = validations.iter().filter_map(manual_text).collect();
    let confirmation = if texts.is_empty() || has_failed {
        None
    } else {
        Some(checks::confirm(&format!("{} \"{}\"", task.id, task.title), &texts, confirmed_by)?)
    };
    let result = |(validation, result): (&Validation, Option<CheckResult>)| match (result, &confirmation) {
        (Some(result), _) => result,
        (None, Some(confirmation)) => checks::manual_result(validation, confirmation),
        (None, None) => checks::unasked(validation),
    };
    let results = validations.iter().zip(results).map(result).collect();
    let name = match confirmation {
        Some(Confirmation::Given(name)) => Some(name),
        _ => None,
    };
    Ok((results, name))
}

fn manual_text(validation: &Validation) -> Option<&str> {
    match validation {
        Validation::Manual(text) => Some(text),
        _ => None,
    }
}

fn failed(task: &Task, validations: &[Validation], results: &[CheckResult]) -> Failure {
    let failed: Vec<&str> =
        results.iter().filter(|result| !result.passed).map(|result| result.check.as_str()).collect();
    // `details` say what was expected and found; a model reads both.
    let message = format!(
        "`{}` is not done: {} of {} validations failed: {}",
        task.id,
        failed.len(),
        results.len(),
        failed.join(", ")
    );
    let remedy = results.iter().find_map(|result| result.remedy.clone());
    let hint = remedy.map_or_else(
        || "Do what is missing and call again; `upsert` changes `validations` that are wrong.".to_owned(),
        |remedy| format!("A validation could not run. {remedy}"),
    );
    let failure =
        Failure::new(FAILED, message).hint(hint).details(json!({"id": task.id, "validations": results}));
    match validations.iter().zip(results).find(|(_, result)| !result.passed) {
        Some((validation, result)) => failure.next(mends(task, validation, result)),
        None => failure,
    }
}

/// The call that mends a failed validation.
fn mends(task: &Task, validation: &Validation, result: &CheckResult) -> Next {
    let reads = Next::action("get").param("id", &task.id).reason("its instructions and validations");
    let files = |action: &str, path: &str| {
        // A call that the policy does not grant would only be refused.
        let granted = result.remedy.is_none() && host::lookup("files", action).is_ok();
        granted.then(|| Next::of("files", action).param("path", path))
    };
    match validation {
        Validation::FileExists(path) => {
            files("put", path).map(|next| next.reason("to write the missing file"))
        }
        Validation::FileMatches(FileMatch { path, .. }) => {
            files("get", path).map(|next| next.reason("to see what it contains"))
        }
        Validation::Invoke(_) => None,
        Validation::Manual(_) => {
            Some(again(&task.id).reason("with `confirmed_by`: the name of the person who confirmed it"))
        }
    }
    .unwrap_or(reads)
}

fn again(id: &str) -> Next {
    Next::action("complete_task_with_validation").param("id", id)
}

fn blocked(epic: &Epic) -> Vec<String> {
    let view = EpicView::new(epic);
    let blocked = epic.tasks.iter().filter(|task| view.is_live(task));
    blocked.filter(|task| view.state(task) == ShownState::Blocked).map(|task| task.id.clone()).collect()
}

fn completed(epic: &Epic, task: &Task, results: Vec<CheckResult>, unblocked: Vec<String>) -> Completed {
    let passed = |CheckResult { check, found, .. }| Passed { check, found };
    let view = EpicView::new(epic);
    Completed {
        id: task.id.clone(),
        title: task.title.clone(),
        state: view.state(task),
        version: task.version,
        validations: results.into_iter().map(passed).collect(),
        unblocked,
        percent: view.counts().percent(),
    }
}
