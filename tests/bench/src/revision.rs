//! What the revisions of MCP ask of each request over HTTP.

use std::borrow::Cow;

/// The revision that the client speaks where it has a session.
pub const SESSION: &str = "2025-06-18";
/// The first revision without sessions.
const STATELESS: &str = "2026-07-28";

/// Members that each request without a session begins with.
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"loggia-bench","version":"0.1.0"}}"#;

/// Headers and parameters of requests of one method.
pub struct RequestForm<'a> {
    /// Lines of the head.
    pub headers: String,
    /// `params`.
    pub params: Cow<'a, str>,
}

impl<'a> RequestForm<'a> {
    /// A request on stdio, or of a session.
    pub fn of_session(params: &'a str) -> Self {
        Self { headers: format!("MCP-Protocol-Version: {SESSION}\r\n"), params: params.into() }
    }

    /// A request of a client without a session. `params` is an object; its `name`, if it has one, comes first.
    pub fn stateless(method: &str, params: &'a str) -> Self {
        let mut headers = format!("MCP-Protocol-Version: {STATELESS}\r\nMcp-Method: {method}\r\n");
        let named = params.strip_prefix(r#"{"name":""#).and_then(|rest| rest.split('"').next());
        if let Some(name) = named {
            headers.push_str(&format!("Mcp-Name: {name}\r\n"));
        }
        let rest = params.trim_start_matches('{');
        let comma = if rest == "}" { "" } else { "," };
        Self { headers, params: format!("{{{META}{comma}{rest}").into() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn stateless_requests_name_method_tool_and_revision() {
        for (params, name) in [
            (json!({}), None),
            (json!({"cursor": "x"}), None),
            (json!({"name": "bench", "arguments": {"input": "{\"a\":1}"}}), Some("bench")),
        ] {
            let mut params = params;
            let text = params.to_string();
            let form = RequestForm::stateless("some/method", &text);
            let mut sent: Value = serde_json::from_str(&form.params).unwrap();
            assert_eq!(sent["_meta"]["io.modelcontextprotocol/protocolVersion"], STATELESS);
            assert!(form.headers.contains("Mcp-Method: some/method\r\n"), "{}", form.headers);
            let named = form.headers.lines().find_map(|line| line.strip_prefix("Mcp-Name: "));
            assert_eq!(named, name);
            sent.as_object_mut().unwrap().remove("_meta");
            assert_eq!(sent, params.take());
        }
    }
}
