//! Parser of failure policies.

use crate::{
    FileProblem,
    definition::{
        limits::{RETRIES, RETRY_DELAY},
        model::{OnError, UnknownOutcome},
        place::{self, NodePlace, ObjectFields},
        report::ParseReport,
    },
    yaml::excerpt,
};

/// Parses a failure policy.
pub(crate) fn parse_on_error(fields: &ObjectFields<'_>, report: &mut ParseReport) -> OnError {
    const KNOWN: [&str; 6] = ["action", "retryCount", "retryDelay", "maxRetries", "retryOn", "then"];
    let Some(place) = fields.get("onError") else { return OnError::Abort };
    if place.refuse_text(report, "an object", |action| match action {
        "retry" => "write onError: {action: retry, retryCount: 3}".to_owned(),
        action => format!("write onError: {{action: {action}}}"),
    }) {
        return OnError::Abort;
    }
    let Some(fields) = place.fields(&KNOWN, report) else { return OnError::Abort };
    let before = report.take_problems.len();
    let count = parse_retry_count(&fields, report);
    let is_told = report.take_problems.len() > before;
    let delay = fields.get("retryDelay").and_then(|place| place.duration(report)).unwrap_or(RETRY_DELAY);
    let action = fields.text("action", report).unwrap_or("abort");
    let on = parse_retry_on(&fields, report);
    let then_continues = parse_then(&fields, report);
    if action != "retry" {
        for place in ["retryOn", "then"].into_iter().filter_map(|key| fields.get(key)) {
            let message = format!("has no effect with the action {}", excerpt(action));
            report.warn(place.problem(&message).hint("write action: retry"));
        }
    }
    if action != "retry"
        && let Some((_, place)) = &count
    {
        let message = format!("has no effect with the action {}", excerpt(action));
        report.warn(place.problem(&message).hint("write action: retry"));
    }
    match action {
        "abort" => OnError::Abort,
        "continue" => OnError::Continue,
        "retry" => match count {
            Some((count, place)) if count >= 1 => {
                if count > i64::from(RETRIES) {
                    report.warn(
                        place.problem(&format!("is {count}; a step is retried at most {RETRIES} times")),
                    );
                }
                let count = u32::try_from(count).unwrap_or(RETRIES).min(RETRIES);
                OnError::Retry { count, delay, on, then_continues }
            }
            // A count that is not a number has been reported already.
            None if is_told => OnError::Abort,
            other => {
                let line = other.map_or(fields.line, |(_, place)| place.node.line);
                let path = place::join(&fields.path, "retryCount");
                let message = format!("{path} must be at least 1 when action is retry");
                report.problem(FileProblem::new(line, path, message));
                OnError::Abort
            }
        },
        other => {
            const ACTIONS: [&str; 3] = ["abort", "continue", "retry"];
            let message = format!("must be one of: {}", ACTIONS.join(", "));
            let problem = fields
                .get("action")
                .map_or_else(|| fields.missing("action", &message), |p| p.problem(&message));
            report.problem(report.with_suggestion(problem, other, ACTIONS));
            OnError::Abort
        }
    }
}

/// Parses the codes of the failures that are retried.
fn parse_retry_on(fields: &ObjectFields<'_>, report: &mut ParseReport) -> Vec<String> {
    let Some(place) = fields.get("retryOn") else { return Vec::new() };
    report.note(place.node.line, &*place.path, "ToolHive does not know `retryOn`");
    if place.refuse_text(report, "a list", |code| format!("write retryOn: [{code}]")) {
        return Vec::new();
    }
    let items = place.items(report).unwrap_or_default();
    let codes: Vec<String> = items.iter().filter_map(|item| item.text(report)).map(str::to_owned).collect();
    if codes.is_empty() && items.is_empty() {
        report.problem(
            place.problem("must name at least one code").hint("write retryOn: [unavailable, timed_out]"),
        );
    }
    codes
}

/// Parses what follows after the last retry.
fn parse_then(fields: &ObjectFields<'_>, report: &mut ParseReport) -> bool {
    const ACTIONS: [&str; 2] = ["abort", "continue"];
    let Some(place) = fields.get("then") else { return false };
    report.note(place.node.line, &*place.path, "ToolHive does not know `then`");
    match place.text(report) {
        Some("continue") => true,
        Some("abort") | None => false,
        Some(other) => {
            let problem = place.problem(&format!("must be one of: {}", ACTIONS.join(", ")));
            report.problem(report.with_suggestion(problem, other, ACTIONS));
            false
        }
    }
}

/// Parses the policy for an interrupted call.
pub(crate) fn parse_unknown_outcome(
    fields: &ObjectFields<'_>,
    report: &mut ParseReport,
) -> Option<UnknownOutcome> {
    const ACTIONS: [&str; 3] = ["retry", "ask", "fail"];
    let place = fields.get("onUnknown")?;
    report.note(place.node.line, &*place.path, "ToolHive does not know `onUnknown`");
    match place.text(report)? {
        "retry" => Some(UnknownOutcome::Retry),
        "ask" => Some(UnknownOutcome::Ask),
        "fail" => Some(UnknownOutcome::Fail),
        other => {
            let problem = place.problem(&format!("must be one of: {}", ACTIONS.join(", ")));
            report.problem(report.with_suggestion(problem, other, ACTIONS));
            None
        }
    }
}

/// Parses the number of retries; returns it with its place.
fn parse_retry_count<'a>(
    fields: &ObjectFields<'a>,
    report: &mut ParseReport,
) -> Option<(i64, NodePlace<'a>)> {
    let other = fields.get("maxRetries");
    if let Some(other) = &other {
        let message = "ToolHive's guide has `maxRetries`, but its code supports only `retryCount`";
        report.note(other.node.line, &*other.path, message);
    }
    let place = match (fields.get("retryCount"), other) {
        (Some(place), Some(other)) => {
            report.warn(other.problem("has no effect next to retryCount"));
            place
        }
        (place, other) => place.or(other)?,
    };
    Some((place.integer(report)?, place))
}
