//! A call that is repeated many times: its request, and the check of its response.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::{
    config::Server,
    payload::{LARGE, SMALL, payload},
};

/// A call and its right answer.
pub struct Call {
    /// The `params` of `tools/call`.
    pub params: String,
    facade: bool,
    /// Expected text; `None` accepts any.
    want: Option<String>,
    /// A response that was parsed and verified, from its id on: an equal response needs no parsing, so that checks cost
    /// the measured server no noticeable processor time.
    proven: Option<Vec<u8>>,
}

impl Call {
    /// Calls `echo` with a small input.
    pub fn small(server: &Server) -> Self {
        Self::echo(server, SMALL)
    }

    /// Calls `echo` with a large input.
    pub fn large(server: &Server) -> Self {
        Self::echo(server, LARGE)
    }

    fn echo(server: &Server, size: usize) -> Self {
        let input = payload(size);
        Self { want: Some(input.clone()), ..Self::new(server, "echo", Some(input)) }
    }

    /// Calls `transform` with a large input.
    pub fn transform(server: &Server) -> Self {
        let input = payload(LARGE);
        let want = loggia_bench_tools::transform(&input).ok();
        Self { want, ..Self::new(server, "transform", Some(input)) }
    }

    /// Calls a tool; any answer that is no error is right.
    pub fn new(server: &Server, tool: &str, input: Option<String>) -> Self {
        let mut arguments = serde_json::Map::new();
        if server.facade.is_some() {
            arguments.insert("action".into(), tool.into());
        }
        if let Some(input) = input {
            arguments.insert("input".into(), input.into());
        }
        let name = match &server.facade {
            Some(facade) => facade.clone(),
            None => format!("{}{tool}", server.prefix),
        };
        let params = json!({ "name": name, "arguments": arguments }).to_string();
        Self { params, facade: server.facade.is_some(), want: None, proven: None }
    }

    /// Calls an action of a facade; any answer that is no error is right.
    pub fn action(facade: &str, arguments: &Value) -> Self {
        let params = json!({ "name": facade, "arguments": arguments }).to_string();
        Self { params, facade: true, want: None, proven: None }
    }

    /// Checks a response; parses it only if it differs from the previous ones.
    pub fn check(&mut self, body: &[u8]) -> Result<()> {
        let tail = after_id(body);
        if tail.is_some() && tail == self.proven.as_deref() {
            return Ok(());
        }
        let text = self.text(body)?;
        if let Some(want) = &self.want {
            ensure!(text == *want, "a wrong answer: {}", text.chars().take(200).collect::<String>());
        }
        self.proven = tail.map(<[u8]>::to_vec);
        Ok(())
    }

    /// Text of the result: the first text block, or in the facade form the envelope's `data`.
    pub fn text(&self, body: &[u8]) -> Result<String> {
        if let Some(error) = error(body) {
            bail!("{TOOL_ERROR}: {}", error.chars().take(200).collect::<String>());
        }
        let reply: Value = serde_json::from_slice(body)?;
        let result = &reply["result"];
        let text = result["content"][0]["text"].as_str().context("no text content")?;
        if !self.facade {
            return Ok(text.to_owned());
        }
        let envelope: Value = serde_json::from_str(text).context("the text is no envelope")?;
        ensure!(envelope["ok"] == true, "an envelope that is not ok is not marked as an error");
        ensure!(result["structuredContent"] == envelope, "text and structuredContent differ");
        match &envelope["data"] {
            Value::Null => bail!("no `data` in the envelope"),
            Value::String(text) => Ok(text.clone()),
            data => Ok(data.to_string()),
        }
    }
}

/// Prefix of errors from the tool itself.
pub const TOOL_ERROR: &str = "tool error";

/// Text of a JSON-RPC error, or of a tool result marked as an error.
pub fn error(body: &[u8]) -> Option<String> {
    let Ok(reply) = serde_json::from_slice::<Value>(body) else {
        return Some("an unreadable reply".into());
    };
    if let Some(error) = reply.get("error") {
        return Some(error.to_string());
    }
    let result = reply.get("result")?;
    (result["isError"] == true).then(|| match result["content"][0]["text"].as_str() {
        Some(text) => text.to_owned(),
        None => result.to_string(),
    })
}

const HEAD: &[u8] = br#"{"jsonrpc":"2.0","id":"#;

/// Id of a response in its usual form, and the offset of the rest.
fn usual(body: &[u8]) -> Option<(u64, usize)> {
    let digits = body.strip_prefix(HEAD)?;
    let count = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    let rest = &digits[count..];
    if !rest.starts_with(br#","result""#) && !rest.starts_with(br#","error""#) {
        return None;
    }
    let id = std::str::from_utf8(&digits[..count]).ok()?.parse().ok()?;
    Some((id, HEAD.len() + count))
}

fn after_id(body: &[u8]) -> Option<&[u8]> {
    usual(body).map(|(_, at)| &body[at..])
}

/// Id of a response; `None` for a request or notification of the server.
pub fn reply_id(body: &[u8]) -> Option<u64> {
    if let Some((id, _)) = usual(body) {
        return Some(id);
    }
    let message: Value = serde_json::from_slice(body).ok()?;
    if message.get("method").is_some() { None } else { message.get("id")?.as_u64() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn native() -> Server {
        Server { name: "native".into(), prefix: "x_".into(), ..Server::default() }
    }

    fn facade() -> Server {
        Server { name: "loggia".into(), facade: Some("bench".into()), ..Server::default() }
    }

    fn reply(id: u64, result: &Value) -> Vec<u8> {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).into_bytes()
    }

    fn enveloped(envelope: &Value) -> Value {
        let is_error = envelope["ok"] == false;
        let text = envelope.to_string();
        json!({"content": [{"type": "text", "text": text}], "structuredContent": envelope, "isError": is_error})
    }

    #[test]
    fn the_facade_form_names_the_action() {
        let params: Value = serde_json::from_str(&Call::new(&facade(), "spin", None).params).unwrap();
        assert_eq!(params, json!({"name": "bench", "arguments": {"action": "spin"}}));
        let params: Value = serde_json::from_str(&Call::new(&native(), "spin", None).params).unwrap();
        assert_eq!(params, json!({"name": "x_spin", "arguments": {}}));
    }

    #[test]
    fn a_right_answer_passes_in_both_forms() {
        let text = payload(SMALL);
        let plain = json!({"content": [{"type": "text", "text": text}], "isError": false});
        let mut call = Call::small(&native());
        for id in [1, 2, 33] {
            call.check(&reply(id, &plain)).unwrap();
        }
        let envelope = json!({"ok": true, "action": "echo", "data": text});
        Call::small(&facade()).check(&reply(7, &enveloped(&envelope))).unwrap();
    }

    #[test]
    fn a_wrong_answer_is_noticed_after_right_ones() {
        let of = |text: &str| reply(1, &json!({"content": [{"type": "text", "text": text}]}));
        let mut call = Call::small(&native());
        call.check(&of(&payload(SMALL))).unwrap();
        assert!(call.check(&of("something else")).is_err());
        assert!(call.check(&reply(1, &json!({"isError": true, "content": []}))).is_err());
    }

    #[test]
    fn a_failed_envelope_is_an_error() {
        let envelope = json!({"ok": false, "action": "echo", "code": "timed_out", "error": "timed out"});
        let said = Call::small(&facade()).check(&reply(1, &enveloped(&envelope))).unwrap_err().to_string();
        assert!(said.starts_with(TOOL_ERROR) && said.contains("timed_out"), "{said}");
    }

    #[test]
    fn only_replies_have_a_replys_id() {
        assert_eq!(reply_id(br#"{"jsonrpc":"2.0","id":12,"result":{}}"#), Some(12));
        assert_eq!(reply_id(br#"{"id":12,"jsonrpc":"2.0","result":{}}"#), Some(12));
        assert_eq!(reply_id(br#"{"jsonrpc":"2.0","id":12,"method":"ping"}"#), None);
        assert_eq!(reply_id(br#"{"jsonrpc":"2.0","method":"notifications/progress"}"#), None);
    }
}
