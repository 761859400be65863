//! The one JSON shape that every result has.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::{
    Content, Failure, Next, Object, Reply, ReplyData,
    json::{write_string, write_value},
};

/// Bytes that an envelope has besides its data, as a rule.
const MORE: usize = 256;

/// The command of a call, under the name the caller used for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Command {
    /// `action`, or `cmd` if the caller used that.
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

impl<'de> Deserialize<'de> for Command {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Owned {
            key: String,
            name: Option<String>,
        }
        let Owned { key, name } = Owned::deserialize(deserializer)?;
        Ok(Self { key: if key == "cmd" { "cmd" } else { "action" }, name })
    }
}

/// A result with all that the host adds to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// Echoed to the caller.
    pub command: Command,
    /// Result of the call.
    pub outcome: Result<Reply, Failure>,
    /// Parameters that a default or a coercion changed, with the values that were used.
    pub resolved_inputs: Object,
    /// Calls that followed this one by its `next`, in order; the outcome is the last one's.
    pub trail: Vec<Hop>,
    /// What is not shown of the data, and how to read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Object>,
    /// What its caller should know of the version that answered.
    #[serde(skip)]
    pub notice: Option<String>,
    /// Handle of the run that it reports. It is also in the data; nothing of a facade sets it here.
    #[serde(skip)]
    pub run: Option<String>,
}

/// One call of a chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hop {
    /// Which facade.
    pub facade: String,
    /// Which of its actions.
    pub action: String,
    /// Whether it succeeded.
    pub ok: bool,
    /// Message or error.
    pub message: Option<String>,
    /// Data, if another call followed: that of the last one is the envelope's own.
    pub data: Option<ReplyData>,
}

impl Envelope {
    /// A result to which nothing is added.
    pub fn new(command: Command, outcome: Result<Reply, Failure>) -> Self {
        Self {
            command,
            outcome,
            resolved_inputs: Object::new(),
            trail: Vec::new(),
            rest: None,
            notice: None,
            run: None,
        }
    }

    /// Takes away the call that should come next.
    pub fn take_next(&mut self) -> Option<Next> {
        match &mut self.outcome {
            Ok(reply) => reply.next.take(),
            Err(failure) => failure.next.take(),
        }
    }

    /// Whether the call succeeded; the opposite of MCP's `isError`.
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

    /// Splits the envelope into its JSON and the separate content blocks.
    pub fn into_parts(self) -> (Object, Vec<Content>) {
        let mut out = Object::new();
        let content = self.into_members(|name, member| {
            let member = match member {
                Member::Value(value) => value,
                Member::Data(data) => without_internal(data.into_value()),
            };
            out.insert(name.into(), member);
        });
        (out, content)
    }

    /// Renders the envelope to its JSON text, on one line, and the separate content blocks. Data that is a clean text is
    /// copied. `next` is the call that should come next, if it was taken away before and has another form.
    pub fn into_text(self, next: Option<&Value>) -> (String, Vec<Content>) {
        let mut out = String::new();
        let mut separator = '{';
        let mut put = |name: &str, member| {
            out.push(separator);
            separator = ',';
            write_string(&mut out, name);
            out.push(':');
            match member {
                Member::Value(value) => write_value(&mut out, &value),
                Member::Data(data) => match data.clean_text() {
                    Some(text) => {
                        // What follows would copy all of a long text once more.
                        out.reserve(text.len() + MORE);
                        out.push_str(text);
                    }
                    None => write_value(&mut out, &without_internal(data.into_value())),
                },
            }
        };
        let content = self.into_members(&mut put);
        if let Some(next) = next {
            put("next", next.clone().into());
        }
        out.push('}');
        (out, content)
    }

    /// Passes the members of the envelope's JSON on, in order, and returns the separate content blocks.
    fn into_members(self, mut put: impl FnMut(&'static str, Member)) -> Vec<Content> {
        put("ok", Value::Bool(self.outcome.is_ok()).into());
        if let Some(name) = self.command.name {
            put(self.command.key, Value::String(name).into());
        }
        let (content, next) = match self.outcome {
            Ok(reply) => {
                if !reply.data.is_null() {
                    put("data", Member::Data(reply.data));
                }
                let mut put = optional(&mut put);
                let page = reply.page.unwrap_or_default();
                put("count", page.count.map(Value::from));
                put("total", page.total.map(Value::from));
                put("cursor", page.cursor.map(Value::from));
                put("message", reply.message.map(Value::from));
                (reply.content, reply.next)
            }
            Err(failure) => {
                let mut put = optional(&mut put);
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
        if let Some(rest) = self.rest {
            put("rest", Value::Object(rest).into());
        }
        if !self.resolved_inputs.is_empty() {
            put("resolved_inputs", Value::Object(self.resolved_inputs).into());
        }
        if !self.trail.is_empty() {
            put("trail", self.trail.into_iter().map(Hop::into_json).collect::<Value>().into());
        }
        if let Some(notice) = self.notice {
            put("notice", Value::String(notice).into());
        }
        if let Some(next) = next {
            put("next", next.to_json().into());
        }
        content
    }
}

/// A member of an envelope's JSON.
enum Member {
    Value(Value),
    Data(ReplyData),
}

/// Passes on a value that is there.
fn optional(put: &mut impl FnMut(&'static str, Member)) -> impl FnMut(&'static str, Option<Value>) {
    |name, value| value.into_iter().for_each(|value| put(name, value.into()))
}

impl From<Value> for Member {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl Hop {
    fn into_json(self) -> Value {
        let mut out = json!({ "tool": self.facade, "action": self.action, "ok": self.ok });
        if let Some(message) = self.message {
            out["message"] = message.into();
        }
        if let Some(data) = self.data.map(|data| without_internal(data.into_value())) {
            out["data"] = data;
        }
        out
    }
}

impl Next {
    /// Reads what other servers and plugins write: `{tool | name, arguments | parameters, reason?}`, where the arguments
    /// name the action as those of a call do.
    ///
    /// # Errors
    ///
    /// The reason for the log.
    pub fn from_json(value: &Value) -> Result<Self, &'static str> {
        let value = value.as_object().ok_or("it is not an object")?;
        let either = |one: &str, other: &str| value.get(one).or_else(|| value.get(other));
        let facade = either("tool", "name").and_then(Value::as_str).filter(|name| !name.is_empty());
        let facade = facade.ok_or("it names no tool")?.to_owned();
        let mut arguments = match either("arguments", "parameters") {
            None | Some(Value::Null) => Object::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => return Err("its arguments are not an object"),
        };
        let action = match arguments.shift_remove("action").or_else(|| arguments.shift_remove("cmd")) {
            None => String::new(),
            Some(Value::String(action)) => action,
            Some(_) => return Err("its action is not a string"),
        };
        match arguments.shift_remove("params") {
            None | Some(Value::Null) => {}
            Some(Value::Object(params)) => arguments.extend(params),
            Some(_) => return Err("its params are not an object"),
        }
        let reason = value.get("reason").and_then(Value::as_str).map(str::to_owned);
        Ok(Self { facade, action, params: arguments, reason })
    }

    /// `{tool, arguments, reason?}`, the form in an envelope and in MCP's `_meta`.
    pub fn to_json(&self) -> Value {
        let mut arguments = Object::new();
        if !self.action.is_empty() {
            arguments.insert("action".into(), self.action.clone().into());
        }
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
        let envelope = Envelope::new(Command::action("list"), outcome);
        assert_eq!(envelope.clone().into_text(None).0, expected.to_string());
        assert_eq!(Value::Object(envelope.into_parts().0), expected);
    }

    #[test]
    fn a_reply_shows_its_data_and_page_and_drops_internal_members() {
        let reply = Reply {
            data: json!([{"id": 1, "_path": "/x", "deep": {"_trace": [], "kept": true}}]).into(),
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
    fn clean_data_is_copied_into_the_text() {
        let data = ReplyData::from_text(r#"{"n":1.50}"#.to_owned()).unwrap();
        let envelope = Envelope::new(Command::action("get"), Ok(Reply::data(data)));
        assert_eq!(envelope.clone().into_text(None).0, r#"{"ok":true,"action":"get","data":{"n":1.50}}"#);
        assert_eq!(envelope.into_parts().0["data"], json!({"n": 1.5}));
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

    #[test]
    fn a_notice_stands_before_the_next_call() {
        let reply = Reply { next: Some(Next::from_json(&json!({"tool": "a"})).unwrap()), ..Reply::default() };
        let envelope = Envelope {
            notice: Some("an older version answered".into()),
            ..Envelope::new(Command::action("get"), Ok(reply))
        };
        let expected = r#"{"ok":true,"action":"get","notice":"an older version answered","next":{"tool":"a","arguments":{}}}"#;
        assert_eq!(envelope.into_text(None).0, expected);
    }

    #[test]
    fn a_next_call_is_read_in_the_forms_in_which_others_write_it() {
        let check = |sent: Value, expected: Result<Value, &str>| {
            assert_eq!(Next::from_json(&sent).map(|next| next.to_json()), expected, "{sent}");
        };
        let add = json!({"tool": "notes", "arguments": {"action": "add", "text": "x"}});
        check(add.clone(), Ok(add.clone()));
        check(json!({"name": "notes", "parameters": {"action": "add", "text": "x"}}), Ok(add.clone()));
        check(json!({"tool": "notes", "arguments": {"cmd": "add", "params": {"text": "x"}}}), Ok(add));
        check(json!({"name": "handoff"}), Ok(json!({"tool": "handoff", "arguments": {}})));
        check(
            json!({"tool": "a", "arguments": null, "reason": "because"}),
            Ok(json!({"tool": "a", "arguments": {}, "reason": "because"})),
        );
        check(json!("notes"), Err("it is not an object"));
        check(json!({"arguments": {}}), Err("it names no tool"));
        check(json!({"tool": ""}), Err("it names no tool"));
        check(json!({"tool": "a", "arguments": [1]}), Err("its arguments are not an object"));
        check(json!({"tool": "a", "arguments": {"action": 1}}), Err("its action is not a string"));
        check(json!({"tool": "a", "arguments": {"params": 1}}), Err("its params are not an object"));
    }

    #[test]
    fn the_trail_of_a_chain_stands_before_the_next_call() {
        let hop = |ok, message: Option<&str>| Hop {
            facade: "bank".into(),
            action: "transfer".into(),
            ok,
            message: message.map(str::to_owned),
            data: ok.then(|| json!({"locked": true, "_at": "/srv"}).into()),
        };
        let mut envelope = Envelope::new(Command::action("list"), Ok(Reply::default()));
        envelope.trail = vec![hop(true, Some("The account is locked.")), hop(false, None)];
        let trail = json!([
            {"tool": "bank", "action": "transfer", "ok": true, "message": "The account is locked.",
                "data": {"locked": true}},
            {"tool": "bank", "action": "transfer", "ok": false},
        ]);
        assert_eq!(envelope.into_parts().0["trail"], trail);
    }
}
