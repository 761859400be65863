//! A line as a message of JSON-RPC.

use loggia_facade::json;
use rmcp::{
    RoleClient,
    model::{CustomResult, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerResult},
    service::RxJsonRpcMessage,
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

/// What a line of an upstream is.
#[derive(Debug)]
pub(super) enum IncomingLine {
    /// A message for rmcp.
    Message(Box<RxJsonRpcMessage<RoleClient>>),
    /// A message that this client does not use.
    Unused,
    /// No message.
    Rubbish,
}

/// The members of a message that say what it is. Nothing else of it is kept.
#[derive(Deserialize)]
struct MessageHead {
    #[serde(default)]
    id: Option<RequestId>,
    #[serde(default)]
    method: Option<String>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct RawResponse {
    result: Value,
}

/// Notifications that this client uses. Messages for the log are not: MCP has deprecated them, and servers that matter write to
/// stderr, too.
const USED: [&str; 4] = [
    "notifications/cancelled",
    "notifications/progress",
    "notifications/subscriptions/acknowledged",
    "notifications/tools/list_changed",
];

/// Reads a line.
///
/// Results stay JSON unless `is_typed` says that rmcp itself needs them: its typed results are an untagged union, in which
/// one malformed tool or content block hides all others. A response that cannot be read becomes an error response, so that
/// its call ends at once.
pub(super) fn read_line(line: &[u8], is_typed: impl FnOnce(&RequestId) -> bool) -> IncomingLine {
    let Ok(head) = serde_json::from_slice::<MessageHead>(line) else { return IncomingLine::Rubbish };
    let message = |message| IncomingLine::Message(Box::new(message));
    let malformed = |id: RequestId, reason: &str| {
        let reason = format!("the upstream's answer cannot be used: {reason}");
        message(JsonRpcMessage::error(ErrorData::new(ErrorCode::INTERNAL_ERROR, reason, None), Some(id)))
    };
    let is_too_large = json::has_many_values(line);
    match head {
        MessageHead { method: Some(_), .. } if is_too_large => IncomingLine::Unused,
        MessageHead { id: None, method: Some(method), .. } if !USED.contains(&method.as_str()) => {
            IncomingLine::Unused
        }
        MessageHead { method: Some(_), .. } => {
            serde_json::from_slice(line).map_or(IncomingLine::Rubbish, message)
        }
        MessageHead { id: Some(id), result: Some(_), .. } => {
            if is_too_large {
                malformed(id, &format!("it holds more than {} values", json::VALUES))
            } else if is_typed(&id) {
                serde_json::from_slice(line).unwrap_or_else(|_| malformed_message(id)).into()
            } else {
                match serde_json::from_slice::<RawResponse>(line) {
                    Ok(raw) => message(JsonRpcMessage::response(
                        ServerResult::CustomResult(CustomResult(raw.result)),
                        id,
                    )),
                    Err(_) => malformed(id, "it is not valid JSON"),
                }
            }
        }
        MessageHead { id, error: Some(_), .. } if !is_too_large => match (serde_json::from_slice(line), id) {
            (Ok(read), _) => message(read),
            (Err(_), Some(id)) => malformed(id, "its `error` is malformed"),
            (Err(_), None) => IncomingLine::Rubbish,
        },
        MessageHead { id: Some(id), .. } => malformed(id, "it has no `result`"),
        MessageHead { .. } => IncomingLine::Rubbish,
    }
}

fn malformed_message(id: RequestId) -> RxJsonRpcMessage<RoleClient> {
    let reason = "the upstream's answer cannot be used: its `result` is malformed";
    JsonRpcMessage::error(ErrorData::new(ErrorCode::INTERNAL_ERROR, reason, None), Some(id))
}

impl From<RxJsonRpcMessage<RoleClient>> for IncomingLine {
    fn from(message: RxJsonRpcMessage<RoleClient>) -> Self {
        Self::Message(Box::new(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(line: &str) -> &'static str {
        match read_line(line.as_bytes(), |_| false) {
            IncomingLine::Message(message) => match *message {
                JsonRpcMessage::Request(_) => "request",
                JsonRpcMessage::Response(_) => "response",
                JsonRpcMessage::Notification(_) => "notification",
                JsonRpcMessage::Error(_) => "error",
            },
            IncomingLine::Unused => "unused",
            IncomingLine::Rubbish => "rubbish",
        }
    }

    #[test]
    fn lines_are_classified() {
        let many = "1,".repeat(json::VALUES);
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{"content":7}}"#.to_owned(), "response"),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#.into(), "error"),
            (r#"{"jsonrpc":"2.0","id":1,"error":5}"#.into(), "error"),
            (r#"{"jsonrpc":"2.0","id":1}"#.into(), "error"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.into(), "request"),
            (r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.into(), "notification"),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}"#
                    .into(),
                "unused",
            ),
            (r#"{"jsonrpc":"2.0","method":"notifications/progress","params":5}"#.into(), "rubbish"),
            ("starting up ...".into(), "rubbish"),
            ("{}".into(), "rubbish"),
            ("7".into(), "rubbish"),
            ("[]".into(), "rubbish"),
            (String::new(), "rubbish"),
            ("[".repeat(100_000), "rubbish"),
            (format!(r#"{{"jsonrpc":"2.0","id":1,"result":[{many}1]}}"#), "error"),
            (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":[{many}1]}}"#), "unused"),
        ] {
            assert_eq!(kind(&line), expected, "{line:.120}");
        }
    }
}
