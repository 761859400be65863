//! Extracts the id of a request, even if it is invalid or the text is not JSON: the sender waits for a response with that
//! id.

use rmcp::{ErrorData, model::RequestId};
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::{Value, json};

/// Bytes at the beginning of a text that are searched for its id.
const SEARCHED: usize = 64 << 10;

/// Error text for an unusable id. JSON-RPC allows any number; MCP only integers, of which these are exact.
pub const UNUSABLE_ID: &str =
    "Invalid request: the id must be a string or a whole number from -2^63 to 2^63 - 1";

/// Top-level members of a message that decide whether it gets a response, and under which id.
#[derive(Debug, Default, Deserialize)]
pub struct MessageOutline {
    /// The id; `null` counts as an (unusable) id.
    #[serde(default, deserialize_with = "deserialize_present_value")]
    pub id: Option<Value>,
    /// True for requests and notifications, false for responses.
    #[serde(default, rename = "method", deserialize_with = "deserialize_is_present")]
    pub has_method: bool,
}

impl MessageOutline {
    /// Parses any text. Anything but an object gives an empty outline.
    pub fn parse(json: &[u8]) -> Self {
        // serde would read an array as the members in order.
        let is_object = json.trim_ascii_start().starts_with(b"{");
        is_object.then(|| serde_json::from_slice(json).ok()).flatten().unwrap_or_default()
    }
}

/// Deserializes a member that is present, even if it is `null`.
fn deserialize_present_value<'de, D: Deserializer<'de>>(member: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(member).map(Some)
}

/// Deserializes to true if a member is present, even if it is `null`.
fn deserialize_is_present<'de, D: Deserializer<'de>>(member: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(member).map(|_| true)
}

/// Returns true if MCP allows this id for a request.
pub fn is_usable(id: &Value) -> bool {
    RequestId::deserialize(id).is_ok()
}

/// Builds an error response. The id is echoed if JSON-RPC allows it; otherwise it is `null`.
pub fn error_answer(id: Option<Value>, ErrorData { code, message, data, .. }: ErrorData) -> Value {
    let id = id.filter(|id| id.is_string() || id.is_number());
    let mut error = json!({ "code": code, "message": message });
    if let Some(data) = data {
        error["data"] = data;
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// Finds the id in malformed JSON: the value of the member `id` of the outermost object. Returns `null` if it is present but
/// unreadable.
pub fn find_id(text: &[u8]) -> Option<Value> {
    let text = &text[..text.len().min(SEARCHED)];
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = string_end(text, at)?;
                let after = text[end..].trim_ascii_start();
                if depth == 1 && &text[at..end] == b"\"id\"" && after.starts_with(b":") {
                    let value = after[1..].trim_ascii_start();
                    let first = serde_json::Deserializer::from_slice(value).into_iter().next()?;
                    return Some(first.unwrap_or_default());
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns the end of the string that begins at this offset.
fn string_end(text: &[u8], begin: usize) -> Option<usize> {
    let mut at = begin + 1;
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorCode;

    use super::*;

    #[test]
    fn ids_are_found_in_malformed_json() {
        let check = |text: &str, expected: Option<&str>| {
            let id = find_id(text.as_bytes()).map(|id| id.to_string());
            assert_eq!(id.as_deref(), expected, "{text}");
        };
        check(r#"{"jsonrpc":"2.0","id":5,"method":"x","params":{"n":1e400}}"#, Some("5"));
        check(r#"{"params":{"id":7,"n":[[["#, None);
        check(r#"{"params":{"id":7},"id":"a\"b","n":1e400}"#, Some(r#""a\"b""#));
        check(r#"{"method":"\"id\":3","id" : 4, "#, Some("4"));
        check(r#"{"id":9223372036854775808,"#, Some("9223372036854775808"));
        check(r#"{"id":1e400,"method":"x"}"#, Some("null"));
        check(r#"{"id":"\ud800","method":"x"}"#, Some("null"));
        check(r#"{"id":"#, None);
        check(r#"rubbish "id": 5"#, None);
        check(r#"{"a": "no end"#, None);
    }

    #[test]
    fn only_string_and_number_ids_are_echoed() {
        for (id, echoed, usable) in [
            (r#""""#, r#""""#, true),
            ("-1", "-1", true),
            ("9223372036854775808", "9223372036854775808", false),
            ("1.5", "1.5", false),
            ("null", "null", false),
            ("{}", "null", false),
            ("[1]", "null", false),
            ("true", "null", false),
        ] {
            let outline = MessageOutline::parse(format!(r#"{{"id":{id},"method":null}}"#).as_bytes());
            let given = outline.id.expect("an id");
            assert_eq!((is_usable(&given), outline.has_method), (usable, true), "{id}");
            let error = ErrorData::new(ErrorCode::INVALID_REQUEST, "no", None);
            let answer = error_answer(Some(given), error).to_string();
            let expected =
                format!(r#"{{"jsonrpc":"2.0","id":{echoed},"error":{{"code":-32600,"message":"no"}}}}"#);
            assert_eq!(answer, expected);
        }
        assert!(MessageOutline::parse(b"[1]").id.is_none());
    }
}
