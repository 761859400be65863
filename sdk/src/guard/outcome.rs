//! The outcome of a call, as guards see it.

use super::texts::{replace_one, walk, walk_members};
use crate::{Object, Value, json};

/// The outcome of a call: a reply, or a failure of its facade. Holds all its texts, and no bytes of media.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome(Value);

impl Outcome {
    /// A reply with nothing but data, for tests.
    pub fn reply(data: Value) -> Self {
        Self(json!({ "reply": { "data": data } }))
    }

    /// Takes the JSON of the contract: `{"reply": …}` or `{"failure": …}`.
    pub fn from_json(json: Value) -> Self {
        Self(json)
    }

    /// Returns the JSON of the contract.
    pub fn as_json(&self) -> &Value {
        &self.0
    }

    /// Returns the JSON of the contract, to be changed. What is removed is not delivered; the host refuses what it does not know.
    pub fn as_json_mut(&mut self) -> &mut Value {
        &mut self.0
    }

    /// Whether the call failed.
    pub fn is_failure(&self) -> bool {
        self.0.get("failure").is_some()
    }

    /// Data of a reply; `null` for a failure.
    pub fn data(&self) -> &Value {
        &self.0["reply"]["data"]
    }

    /// Replaces the texts of the outcome: of its data (also names of members), its message, its content and its follow-up call, or of
    /// the failure. Where `replace` returns `None`, a text stays. Left out are words of the contract: types, codes, names of tools
    /// and actions, and the cursor of a page. Returns the number of replaced texts.
    pub fn replace_texts(&mut self, mut replace: impl FnMut(&str) -> Option<String>) -> usize {
        self.walk(&mut replace)
    }

    /// Not generic, so that a guest contains it once.
    fn walk(&mut self, replace: &mut dyn FnMut(&str) -> Option<String>) -> usize {
        let mut replaced = 0;
        if let Some(failure) = self.0.get_mut("failure").and_then(Value::as_object_mut) {
            for (name, value) in failure.iter_mut() {
                replaced += match name.as_str() {
                    "message" | "hint" | "details" | "expected" | "example" => walk(value, replace),
                    "next" => walk_next(value, replace),
                    _ => 0,
                };
            }
        }
        if let Some(reply) = self.0.get_mut("reply").and_then(Value::as_object_mut) {
            for (name, value) in reply.iter_mut() {
                replaced += match name.as_str() {
                    "data" | "message" => walk(value, replace),
                    "next" => walk_next(value, replace),
                    "content" => {
                        let items = value.as_array_mut().into_iter().flatten();
                        items.map(|item| walk_content(item, replace)).sum()
                    }
                    _ => 0,
                };
            }
        }
        replaced
    }

    /// Adds a sentence to the message, for the model and the person.
    pub fn add_note(&mut self, note: &str) {
        let part = if self.is_failure() { "failure" } else { "reply" };
        let Some(part) = self.0.get_mut(part).and_then(Value::as_object_mut) else { return };
        let message = match part.get("message").and_then(Value::as_str) {
            Some(message) => format!("{message} {note}"),
            None => note.to_owned(),
        };
        part.insert("message".into(), message.into());
    }
}

fn walk_next(next: &mut Value, replace: &mut dyn FnMut(&str) -> Option<String>) -> usize {
    let reason = next.get_mut("reason").map_or(0, |reason| walk(reason, replace));
    let Some(arguments) = next.get_mut("arguments").and_then(Value::as_object_mut) else { return reason };
    // The name of the action is not the facade's to choose.
    let action = arguments.get("action").cloned();
    let replaced = walk_members(arguments, replace);
    if let Some(action) = action {
        arguments.insert("action".into(), action);
    }
    reason + replaced
}

fn walk_content(item: &mut Value, replace: &mut dyn FnMut(&str) -> Option<String>) -> usize {
    let Some(item) = item.as_object_mut() else { return 0 };
    let mut replaced = 0;
    for (name, value) in item.iter_mut() {
        replaced += match (name.as_str(), value) {
            ("text" | "uri" | "name" | "description", Value::String(text)) => replace_one(text, replace),
            ("meta", Value::Object(meta)) => walk_meta(meta, replace),
            _ => 0,
        };
    }
    replaced
}

/// The names in `meta` itself are MCP's; what is below them is like other data.
fn walk_meta(meta: &mut Object, replace: &mut dyn FnMut(&str) -> Option<String>) -> usize {
    meta.values_mut().map(|value| walk(value, replace)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_but_words_of_the_contract_is_replaced() {
        let upper = |text: &str| text.chars().any(char::is_lowercase).then(|| text.to_uppercase());
        let mut reply = Outcome::from_json(json!({"reply": {
            "data": {"a": ["b", 1]}, "message": "m", "page": {"count": 1, "cursor": "c"},
            "next": {"tool": "notes", "arguments": {"action": "list", "text": "t"}, "reason": "r"},
            "content": [
                {"block": 0, "type": "text", "text": "t", "meta": {"annotations": {"audience": ["user"]}}},
                {"block": 1, "type": "image", "mimeType": "image/png", "size": 3},
                {"block": 2, "type": "link", "uri": "u", "name": "n", "description": "d", "mimeType": "text/plain"}
            ]
        }}));
        reply.replace_texts(upper);
        assert_eq!(
            reply.as_json(),
            &json!({"reply": {
                "data": {"A": ["B", 1]}, "message": "M", "page": {"count": 1, "cursor": "c"},
                "next": {"tool": "notes", "arguments": {"ACTION": "LIST", "TEXT": "T", "action": "list"}, "reason": "R"},
                "content": [
                    {"block": 0, "type": "text", "text": "T", "meta": {"annotations": {"AUDIENCE": ["USER"]}}},
                    {"block": 1, "type": "image", "mimeType": "image/png", "size": 3},
                    {"block": 2, "type": "link", "uri": "U", "name": "N", "description": "D", "mimeType": "text/plain"}
                ]
            }})
        );
        let mut failure = Outcome::from_json(json!({"failure": {
            "code": "denied", "message": "m", "hint": "h", "details": {"d": "e"}, "retry_after_ms": 5
        }}));
        assert_eq!(failure.replace_texts(upper), 4);
        assert_eq!(
            failure.as_json(),
            &json!({"failure": {
                "code": "denied", "message": "M", "hint": "H", "details": {"D": "E"}, "retry_after_ms": 5
            }})
        );
    }

    #[test]
    fn a_note_joins_the_message() {
        let mut reply = Outcome::reply(json!(1));
        reply.add_note("One.");
        reply.add_note("Two.");
        assert_eq!(reply.as_json()["reply"]["message"], "One. Two.");
        let mut failure = Outcome::from_json(json!({"failure": {"code": "denied", "message": "No."}}));
        failure.add_note("One.");
        assert_eq!(failure.as_json()["failure"]["message"], "No. One.");
    }
}
