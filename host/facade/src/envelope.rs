//! The one JSON shape that every result has.

use serde_json::{Value, json};

use crate::{Content, Failure, Next, Object, Reply};

/// The command of a call, under the name the caller used for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// `action`, or `cmd` where the caller said so.
    pub key: &'static str,
    /// The action; as it was sent where it could not be resolved; absent where none was sent.
    pub name: Option<String>,
}

impl Command {
    /// An action, named in the usual way.
    pub fn action(name: impl Into<String>) -> Self {
        Self { key: "action", name: Some(name.into()) }
    }
}

/// A result with all that the host adds to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    /// Echoed to the caller.
    pub command: Command,
    /// What came of the call.
    pub outcome: Result<Reply, Failure>,
    /// Parameters that a default or a coercion changed, with the values that were used.
    pub resolved_inputs: Object,
}

impl Envelope {
    /// Whether the call worked; the opposite of MCP's `isError`.
    pub fn is_ok(&self) -> bool {
        self.outcome.is_ok()
    }

    /// The call that should come next, whatever came of this one.
    pub fn next(&self) -> Option<&Next> {
        match &self.outcome {
            Ok(reply) => reply.next.as_ref(),
            Err(failure) => failure.next.as_ref(),
        }
    }

    /// Splits the envelope into its JSON and the content blocks that go beside it.
    pub fn into_parts(self) -> (Object, Vec<Content>) {
        let mut out = Object::new();
        out.insert("ok".into(), Value::Bool(self.outcome.is_ok()));
        if let Some(name) = self.command.name {
            out.insert(self.command.key.into(), Value::String(name));
        }
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                out.insert(key.into(), value);
            }
        };
        let (content, next) = match self.outcome {
            Ok(reply) => {
                put("data", Some(without_internal(reply.data)).filter(|data| !data.is_null()));
                let page = reply.page.unwrap_or_default();
                put("count", page.count.map(Value::from));
                put("total", page.total.map(Value::from));
                put("cursor", page.cursor.map(Value::from));
                put("message", reply.message.map(Value::from));
                (reply.content, reply.next)
            }
            Err(failure) => {
                put("code", Some(failure.code.into()));
                put("error", Some(failure.message.into()));
                put("hint", failure.hint.map(Value::from));
                put("details", failure.details.map(without_internal));
                put("retry_after_ms", failure.retry_after_ms.map(Value::from));
                put("expected", failure.expected.map(Value::from));
                put("example", failure.example);
                (Vec::new(), failure.next)
            }
        };
        if !self.resolved_inputs.is_empty() {
            put("resolved_inputs", Some(Value::Object(self.resolved_inputs)));
        }
        put("next", next.as_ref().map(Next::to_json));
        (out, content)
    }
}

impl Next {
    /// `{tool, arguments, reason?}`, as it stands in an envelope and in MCP's `_meta`.
    pub fn to_json(&self) -> Value {
        let mut arguments = Object::new();
        arguments.insert("action".into(), self.action.clone().into());
        arguments.extend(self.params.iter().map(|(key, value)| (key.clone(), value.clone())));
        let mut out = json!({ "tool": self.facade, "arguments": arguments });
        if let Some(reason) = &self.reason {
            out["reason"] = reason.clone().into();
        }
        out
    }
}

/// Members whose name begins with `_` are a plugin's own book-keeping and never leave the host.
fn without_internal(mut value: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                if members.keys().any(|key| key.starts_with('_')) {
                    members.retain(|key, _| !key.starts_with('_'));
                }
                members.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut value);
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Page, code};

    fn check(outcome: Result<Reply, Failure>, expected: Value) {
        let envelope = Envelope { command: Command::action("list"), outcome, resolved_inputs: Object::new() };
        assert_eq!(Value::Object(envelope.into_parts().0), expected);
    }

    #[test]
    fn a_reply_shows_its_data_and_page_and_drops_internal_members() {
        let reply = Reply {
            data: json!([{"id": 1, "_path": "/x", "deep": {"_trace": [], "kept": true}}]),
            page: Some(Page { count: Some(1), total: Some(9), cursor: Some("c".into()) }),
            message: Some("one of nine".into()),
            ..Reply::default()
        };
        check(
            Ok(reply),
            json!({"ok": true, "action": "list", "data": [{"id": 1, "deep": {"kept": true}}],
                "count": 1, "total": 9, "cursor": "c", "message": "one of nine"}),
        );
    }

    #[test]
    fn a_failure_shows_what_helps_to_mend_the_call() {
        let failure = Failure {
            expected: Some("list(limit?: integer)".into()),
            next: Some(Next {
                facade: "notes".into(),
                action: "add".into(),
                params: Object::new(),
                reason: None,
            }),
            ..Failure::new(code::INVALID_PARAMS, "`limit` must be at least 1").hint("use 10")
        };
        check(
            Err(failure),
            json!({"ok": false, "action": "list", "code": "invalid_params", "error": "`limit` must be at least 1",
                "hint": "use 10", "expected": "list(limit?: integer)",
                "next": {"tool": "notes", "arguments": {"action": "add"}}}),
        );
    }
}
