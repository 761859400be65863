//! Pure: an approval as JSON, as the command line, the admin listener and webhooks show it.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat};
use loggia_gate::approval::{ApprovalContent, StoredApproval};
use serde_json::{Map, Value, json};

/// Renders an approval as of this time, in milliseconds since 1970.
pub fn render_approval(stored: &StoredApproval, now_ms: u64) -> Value {
    let record = &stored.record;
    let mut fields = Map::new();
    let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    set("id", json!(record.id));
    set("state", json!(stored.state(now_ms)));
    set("question", json!(record.question));
    set("caller", json!(record.caller));
    if let Some(address) = &record.address {
        set("address", json!(address));
    }
    set("facade", json!(record.facade));
    set("action", json!(record.action));
    set("effect", json!(record.effect));
    match &record.content {
        ApprovalContent::Call(arguments) => set("arguments", Value::Object(arguments.clone())),
        ApprovalContent::Form(schema) => set("form", Value::Object(schema.clone())),
    };
    if !record.through.is_empty() {
        set("through", json!(record.through));
    }
    set("artifact", json!(record.artifact));
    set("opened", json!(format_time(record.opened_ms)));
    set("expires", json!(format_time(record.expires_ms)));
    set("subject", json!(record.subject));
    if let Some(decision) = &stored.decision {
        let mut decided =
            json!({ "accepted": decision.accepted, "by": decision.by, "at": format_time(decision.at_ms) });
        if let Some(answer) = &decision.answer {
            decided["answer"] = answer.clone();
        }
        set("decision", decided);
    }
    Value::Object(fields)
}

/// Formats a time in milliseconds since 1970.
pub fn format_time(milliseconds: u64) -> String {
    let time = i64::try_from(milliseconds).ok().and_then(DateTime::from_timestamp_millis);
    time.map_or_else(String::new, |time| time.to_rfc3339_opts(SecondsFormat::Secs, true))
}

/// Time in milliseconds since 1970.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use loggia_facade::Object;
    use loggia_gate::approval::{ApprovalClosing, ApprovalDecision, suite::record};

    use super::*;

    #[test]
    fn open_and_decided_approvals_are_rendered() {
        let mut stored = StoredApproval {
            record: record("5ab1ec7", 1_800_000_000_000, 1_800_001_800_000),
            decision: None,
            closed: None,
        };
        stored.record.id = "ap_2345".to_owned();
        let open = render_approval(&stored, 1_800_000_000_000);
        stored.record.content = ApprovalContent::Form(Object::new());
        stored.decision = Some(ApprovalDecision {
            accepted: true,
            answer: Some(json!({"yes": true})),
            by: "webhook: ada".to_owned(),
            at_ms: 1_800_000_060_000,
        });
        stored.closed = Some(ApprovalClosing::Used);
        let decided = render_approval(&stored, 1_900_000_000_000);
        insta::assert_snapshot!(format!("{open:#}\n{decided:#}"));
    }
}
