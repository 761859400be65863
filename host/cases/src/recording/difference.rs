//! Pure: how a call differs from its recording.

use std::collections::BTreeMap;

use loggia_text::mention;
use serde::Serialize;
use serde_json::Value;

use super::call_recording::{CallRecording, RecordedEnd, SpaceName, StateValue};
use crate::RecordedBody;

/// Longest value in a line, in characters.
const SHOWN: usize = 120;
/// Lines of one part, at most.
const MAX_LINES: usize = 20;

/// Lists how a call differs from its recording: its result, what it wrote, sent, called and asked. Each line is
/// `- recorded` or `+ new`, after the path.
pub fn compare_recordings(old: &CallRecording, new: &CallRecording) -> Vec<String> {
    let mut lines = Vec::new();
    let results = [&old.end, &new.end].map(to_value);
    extend_capped(&mut lines, compare_values("result", Some(&results[0]), Some(&results[1])));
    extend_capped(&mut lines, compare_writes(&old.writes, &new.writes));
    let requests = [old, new].map(|recording| recording.http.describe());
    extend_capped(&mut lines, compare_lists("request", &requests[0], &requests[1]));
    let calls = [old, new].map(|recording| {
        let calls = recording.calls.iter();
        calls.map(|call| format!("{} {}", call.facade, Value::Object(call.input.clone()))).collect::<Vec<_>>()
    });
    extend_capped(&mut lines, compare_lists("call", &calls[0], &calls[1]));
    let questions = [old, new].map(|recording| {
        recording.questions.iter().map(|question| question.message.clone()).collect::<Vec<_>>()
    });
    extend_capped(&mut lines, compare_lists("question", &questions[0], &questions[1]));
    lines
}

fn extend_capped(lines: &mut Vec<String>, more: Vec<String>) {
    let rest = more.len().saturating_sub(MAX_LINES);
    lines.extend(more.into_iter().take(MAX_LINES));
    if rest > 0 {
        lines.push(format!("and {rest} more"));
    }
}

fn to_value<T: Serialize>(value: &T) -> Value {
    // Neither texts nor maps with text keys fail. What a reply does not have, it has as `null`.
    without_nulls(serde_json::to_value(value).unwrap_or_default())
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key, without_nulls(value)))
                .collect(),
        ),
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

/// Compares two values, member by member.
fn compare_values(path: &str, old: Option<&Value>, new: Option<&Value>) -> Vec<String> {
    match (old, new) {
        _ if old == new => Vec::new(),
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            let mut keys: Vec<&String> = before.keys().collect();
            keys.extend(after.keys().filter(|key| !before.contains_key(*key)));
            let lines = keys.into_iter().flat_map(|key| {
                let path = format!("{path}.{}", mention(key, SHOWN));
                compare_values(&path, before.get(key), after.get(key))
            });
            lines.collect()
        }
        (Some(Value::Array(before)), Some(Value::Array(after))) => {
            let lines = (0..before.len().max(after.len()))
                .flat_map(|at| compare_values(&format!("{path}[{at}]"), before.get(at), after.get(at)));
            lines.collect()
        }
        _ => {
            let line =
                |sign: char, value: &Value| format!("{sign} {path}: {}", mention(&value.to_string(), SHOWN));
            [old.map(|value| line('-', value)), new.map(|value| line('+', value))]
                .into_iter()
                .flatten()
                .collect()
        }
    }
}

fn compare_writes(old: &[StateValue], new: &[StateValue]) -> Vec<String> {
    let [before, after] = [old, new].map(|values| -> BTreeMap<(SpaceName, &str), Option<&RecordedBody>> {
        values.iter().map(|entry| ((entry.space, &*entry.key), entry.value.as_ref())).collect()
    });
    let mut keys: Vec<_> = before.keys().chain(after.keys()).copied().collect();
    keys.sort();
    keys.dedup();
    let lines = keys.into_iter().flat_map(|key| {
        let [old, new] = [&before, &after].map(|values| values.get(&key).map(|value| render_write(*value)));
        let path = format!(
            "{} {}",
            if key.0 == SpaceName::Shared { "state" } else { "own state" },
            mention(key.1, SHOWN)
        );
        compare_values(&path, old.as_ref(), new.as_ref())
    });
    lines.collect()
}

fn render_write(value: Option<&RecordedBody>) -> Value {
    value.map_or_else(|| "(deleted)".into(), RecordedBody::to_json)
}

/// Compares lists whose order does not matter.
fn compare_lists(what: &str, old: &[String], new: &[String]) -> Vec<String> {
    let missing = |from: &[String], of: &[String], sign: char| {
        let mut rest = of.to_vec();
        let mut lines = Vec::new();
        for item in from {
            match rest.iter().position(|other| other == item) {
                Some(at) => drop(rest.remove(at)),
                None => lines.push(format!("{sign} {what}: {}", mention(item, SHOWN))),
            }
        }
        lines
    };
    [missing(old, new, '-'), missing(new, old, '+')].concat()
}

/// One word for how a call ended.
pub fn describe_end(end: &RecordedEnd) -> &str {
    match end {
        RecordedEnd::Reply(_) => "ok",
        RecordedEnd::Failure(failure) => &failure.code,
        RecordedEnd::Fault { kind, .. } => kind,
        RecordedEnd::Cancelled => "cancelled",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn recording(changes: &Value) -> CallRecording {
        let mut document = json!({
            "version": 1,
            "time": "2026-11-26T05:00:00.000Z",
            "facade": "notes",
            "artifact": "sha256:1",
            "action": "add",
            "params": {"text": "milk"},
            "detail": "standard",
            "reads": [{"space": "shared", "key": "seq", "value": {"json": 1}}],
            "writes": [
                {"space": "shared", "key": "notes/n_1", "value": {"json": {"text": "milk"}}},
                {"space": "shared", "key": "old"},
            ],
            "questions": [{"message": "Sure?", "outcome": {"answer": "Declined"}}],
            "calls": [{
                "facade": "tags", "input": {"action": "list", "params": {}, "detail": "standard"},
                "end": "cancelled",
            }],
            "http": {"version": 1, "exchanges": [
                {"request": {"method": "GET", "url": "https://a.example/"}, "response": {"status": 200}},
            ]},
            "end": {"reply": {"data": {"id": "n_1", "tags": ["a"]}, "content": []}},
            "ms": 1.5,
        });
        for (key, value) in changes.as_object().into_iter().flatten() {
            document[key] = value.clone();
        }
        serde_json::from_value(document).unwrap()
    }

    #[test]
    fn differences_are_lines_of_their_places() {
        let old = recording(&json!({}));
        assert_eq!(compare_recordings(&old, &old), [""; 0]);
        // How long it took, when, and what it read, is no difference.
        let other = json!({"ms": 9.0, "time": "now", "reads": [], "artifact": "sha256:2"});
        assert_eq!(compare_recordings(&old, &recording(&other)), [""; 0]);
        let cases = [
            json!({"end": {"reply": {"data": {"id": "n_2", "tags": ["a", "b"], "more": true}, "content": []}}}),
            json!({"end": {"failure": {"code": "denied", "message": "access denied"}}}),
            json!({"end": {"fault": {"kind": "trap", "message": "the plugin `notes` trapped"}}}),
            json!({"writes": [
                {"space": "shared", "key": "notes/n_1", "value": {"json": {"text": "tea"}}},
                {"space": "caller", "key": "seen", "value": {"text": "x"}},
            ]}),
            json!({"http": {"version": 1, "exchanges": [
                {"request": {"method": "GET", "url": "https://a.example/2"}, "error": "timeout"},
            ]}}),
            json!({"calls": [], "questions": []}),
        ];
        let shown = cases.iter().map(|changes| {
            let mut lines = compare_recordings(&old, &recording(changes));
            lines.push(String::new());
            lines.join("\n")
        });
        insta::assert_snapshot!(shown.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn long_differences_are_cut() {
        let many =
            |word: &str| -> Value { (0..50).map(|number| json!(format!("{word} {number}"))).collect() };
        let with = |data: Value| recording(&json!({"end": {"reply": {"data": data, "content": []}}}));
        let lines = compare_recordings(&with(many("old")), &with(many("new")));
        assert_eq!((lines.len(), lines.last().map(String::as_str)), (MAX_LINES + 1, Some("and 80 more")));
    }
}
