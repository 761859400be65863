//! Runs the validations of a task.

use std::time::Duration;

use loggia_sdk::{host::Request, prelude::*};

use crate::validation::{ExpectedValue, FileMatch, Validation};

/// Time for each call to another facade.
const PATIENCE: Duration = Duration::from_secs(10);
/// Characters of a found value.
const FOUND: usize = 300;

/// Result of a validation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckResult {
    /// The validation: `file_exists /src/lib.rs`.
    pub check: String,
    pub passed: bool,
    pub expected: String,
    pub found: String,
    /// What to do if the validation could not run.
    #[serde(skip)]
    pub remedy: Option<String>,
}

impl CheckResult {
    fn new(validation: &Validation, passed: bool, found: impl Into<String>) -> Self {
        Self {
            check: validation.subject(),
            passed,
            expected: expected(validation),
            found: found.into(),
            remedy: None,
        }
    }

    /// A validation that could not run.
    fn hindered(validation: &Validation, failure: &Failure) -> Self {
        // The host's hint does not name the action; that of a missing scope has to stay.
        let is_ungranted = failure.code == "denied"
            && failure.hint.as_deref().is_none_or(|hint| hint.contains("`grants.invoke`"));
        let remedy = match (request(validation), &failure.hint) {
            (Some(Request { facade, action, .. }), _) if is_ungranted => {
                format!(
                    "The operator grants it in the plugin's policy file: `invoke = [\"{facade}:{action}\"]`."
                )
            }
            (_, Some(hint)) => hint.clone(),
            _ => "`upsert` changes the task's `validations`.".to_owned(),
        };
        let found = format!("not checked: {}", failure.message);
        Self { remedy: Some(remedy), ..Self::new(validation, false, found) }
    }
}

/// Runs all validations but the manual ones, all at once. Results are in their order, `None` for manual ones.
pub fn run(validations: &[Validation]) -> Vec<Option<CheckResult>> {
    let mut requests = Vec::new();
    let mut results: Vec<Option<CheckResult>> = Vec::with_capacity(validations.len());
    for validation in validations {
        let request = request(validation).map(|request| request.timeout(PATIENCE));
        results.push(match request.map(|request| readable(&request).map(|()| request)) {
            Some(Ok(request)) => {
                requests.push(request);
                None
            }
            Some(Err(failure)) => Some(CheckResult::hindered(validation, &failure)),
            None => None,
        });
    }
    let mut replies = host::invoke(requests).into_iter();
    for (validation, result) in validations.iter().zip(&mut results) {
        if result.is_none() && !matches!(validation, Validation::Manual(_)) {
            *result = replies.next().map(|reply| judge(validation, reply));
        }
    }
    results
}

/// The call that a validation makes; `None` for a manual one.
fn request(validation: &Validation) -> Option<Request> {
    Some(match validation {
        Validation::FileExists(path) => {
            Request::new("files", "stat").param("path", path).detail(Detail::Minimal)
        }
        Validation::FileMatches(FileMatch { path, pattern }) => {
            Request::new("files", "search").param("path", path).param("pattern", pattern).param("limit", 1)
        }
        Validation::Invoke(expected) => {
            let (facade, action) = expected.parts()?;
            let mut request = Request::new(facade, action).detail(Detail::Full);
            request.params = expected.arguments.clone().unwrap_or_default();
            request
        }
        Validation::Manual(_) => return None,
    })
}

/// Checks that the call is granted and only reads. A completion may write, so the host would let a writing call through.
fn readable(request: &Request) -> Result<()> {
    request.check()?;
    match host::lookup(&request.facade, &request.action)?.effect {
        Some(Effect::Read) => Ok(()),
        _ => {
            let call = format!("{}.{}", request.facade, request.action);
            Err(Failure::denied(format!("access denied: `{call}` is not a read action"))
                .hint("A validation only reads: name a read action."))
        }
    }
}

fn judge(validation: &Validation, reply: Result<Reply<Value>>) -> CheckResult {
    let reply = match reply {
        Ok(reply) => reply,
        // The subject itself is missing: that is an answer, not an obstacle.
        Err(failure) if failure.code == "not_found" => {
            return match validation {
                Validation::Invoke(_) => CheckResult::new(validation, false, failure.message.clone()),
                _ => CheckResult::new(validation, false, "no such file"),
            };
        }
        Err(failure) => return CheckResult::hindered(validation, &failure),
    };
    match validation {
        Validation::FileExists(_) => match reply.data["kind"].as_str() {
            Some("directory") => CheckResult::new(validation, false, "a directory"),
            _ => CheckResult::new(validation, true, "a file"),
        },
        Validation::FileMatches(_) => match reply.data.get(0) {
            Some(found) => {
                let line = format!("line {}: {}", found["line"], found["text"].as_str().unwrap_or_default());
                CheckResult::new(validation, true, shortened(&line))
            }
            None => {
                let skipped = reply.message.map(|message| format!(" ({message})")).unwrap_or_default();
                CheckResult::new(validation, false, format!("no such line{skipped}"))
            }
        },
        Validation::Invoke(ExpectedValue { pointer, equals, .. }) => {
            let pointer = pointer.as_deref().unwrap_or_default();
            match reply.data.pointer(pointer) {
                Some(found) => {
                    let found = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
                    CheckResult::new(validation, found == *equals, shortened(&found))
                }
                None => CheckResult::new(validation, false, format!("nothing at `{pointer}`")),
            }
        }
        Validation::Manual(_) => CheckResult::new(validation, false, "not confirmed"),
    }
}

fn expected(validation: &Validation) -> String {
    match validation {
        Validation::FileExists(_) => "a file".to_owned(),
        Validation::FileMatches(FileMatch { pattern, .. }) => format!("a line that matches {pattern}"),
        Validation::Invoke(ExpectedValue { equals, .. }) => shortened(equals),
        Validation::Manual(_) => "a person's confirmation".to_owned(),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(FOUND) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Answer to the manual validations of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confirmation {
    /// Confirmed, by this person.
    Given(String),
    /// Not confirmed: the reason.
    Refused(String),
    /// Nobody could be asked: the reason.
    Unasked(String),
}

/// Question to the person.
#[derive(Deserialize, JsonSchema)]
struct ConfirmationForm {
    /// Is all of this true?
    confirmed: bool,
    /// If not, what is missing?
    #[schemars(length(max = 500))]
    note: Option<String>,
}

/// Asks the person to confirm the manual validations of a task, all in one question. If nobody can be asked,
/// `confirmed_by` counts: the name of who confirmed them elsewhere.
///
/// # Errors
///
/// The host's, such as `cancelled`.
pub fn confirm(task: &str, texts: &[&str], confirmed_by: Option<&str>) -> Result<Confirmation> {
    let lines: String = texts.iter().map(|text| format!("\n- {text}")).collect();
    let asked = host::elicit::<ConfirmationForm>(&format!("Is this true of the task {task}?{lines}"));
    Ok(match asked {
        Ok(Answer::Accepted(ConfirmationForm { confirmed: true, .. })) => {
            Confirmation::Given(confirmed_by.unwrap_or("the person who was asked").to_owned())
        }
        Ok(Answer::Accepted(ConfirmationForm { note, .. })) => {
            let note = note.map(|note| format!(": {note}")).unwrap_or_default();
            Confirmation::Refused(format!("the person did not confirm it{note}"))
        }
        Ok(Answer::Declined) => Confirmation::Refused("the person declined to answer".to_owned()),
        Ok(Answer::Cancelled) => Confirmation::Refused("the person closed the question".to_owned()),
        // Not granted, or the client cannot ask.
        Err(failure) if matches!(failure.code.as_str(), "denied" | "unavailable") => match confirmed_by {
            Some(name) => Confirmation::Given(name.to_owned()),
            None => Confirmation::Unasked(failure.message.clone()),
        },
        Err(failure) => return Err(failure),
    })
}

/// Results of the manual validations, by the person's answer.
pub fn manual_result(validation: &Validation, confirmation: &Confirmation) -> CheckResult {
    match confirmation {
        Confirmation::Given(name) => CheckResult::new(validation, true, format!("confirmed by {name}")),
        Confirmation::Refused(reason) => CheckResult::new(validation, false, reason.as_str()),
        Confirmation::Unasked(reason) => {
            CheckResult::new(validation, false, format!("nobody could be asked ({reason})"))
        }
    }
}

/// Result of a manual validation that was not asked about, since others failed.
pub fn unasked(validation: &Validation) -> CheckResult {
    CheckResult::new(validation, false, "not asked: other validations failed")
}
