//! Renders the line of a call that ran: as an event would be, but at a tenth of the cost.

use std::{fmt::Write, time::SystemTime};

use loggia_audit::LinePart;
use loggia_gate::call::{CallLine, ParamsDigest, TARGET};
use loggia_text::redact;

use super::{
    line::{MAX_VALUE, json_escape, push_bounded},
    line_clock::{LineClock, push_milliseconds},
};

/// Renders lines of calls, one after another.
#[derive(Default)]
pub struct CallLineWriter {
    /// The line.
    pub text: String,
    clock: LineClock,
}

impl CallLineWriter {
    /// Creates a writer.
    pub const fn new() -> Self {
        Self { text: String::new(), clock: LineClock::new() }
    }

    /// Renders a line in place of the one before. Returns the part that is still to be made.
    pub fn render(&mut self, line: CallLine<'_>, time: SystemTime) -> Option<LinePart> {
        self.text.clear();
        self.text.push_str(r#"{"timestamp":""#);
        self.clock.push(time, &mut self.text);
        push_call(line, &mut self.text)
    }
}

fn push_call(line: CallLine<'_>, out: &mut String) -> Option<LinePart> {
    let CallLine { id, from, request, trace, caller, facade, action, artifact, policy, outcome, .. } = line;
    let took = line.took;
    out.extend([r#"","level":"DEBUG","target":""#, TARGET, r#"","message":""#]);
    for part in [facade, ".", action, ": "] {
        push_bounded(out, part, MAX_VALUE, json_escape);
    }
    push_text(out, outcome);
    out.push_str(r#"","event":"call""#);
    // No credential is in names that a surface declares, nor in digests and ids of our own.
    push_plain(out, "id", Some(id));
    push_plain(out, "from", from);
    push_field(out, "request", request);
    push_plain(out, "trace", trace);
    push_field(out, "caller", Some(caller));
    if let Some(address) = line.address {
        // Writing to a string does not fail.
        let _ = write!(out, r#","address":"{address}""#);
    }
    push_plain(out, "facade", Some(facade));
    push_plain(out, "action", Some(action));
    out.push_str(r#","params":""#);
    let at = out.len();
    let part = match line.params {
        ParamsDigest::Known(digest) => {
            out.push_str(&digest);
            None
        }
        waiting => {
            out.extend(std::iter::repeat_n('-', ParamsDigest::LENGTH));
            Some(LinePart { at, make: Box::new(move || waiting.text()) })
        }
    };
    out.push('"');
    push_plain(out, "artifact", Some(artifact));
    push_plain(out, "policy", policy);
    push_field(out, "outcome", Some(outcome));
    out.push_str(r#","ms":"#);
    push_milliseconds(took, out);
    out.push_str("}\n");
    part
}

/// Appends a text that a client or a plugin may have chosen.
fn push_text(out: &mut String, text: &str) {
    push_bounded(out, &redact(text), MAX_VALUE, json_escape);
}

fn push_field(out: &mut String, name: &str, text: Option<&str>) {
    if let Some(text) = text {
        out.extend([",\"", name, "\":\""]);
        push_text(out, text);
        out.push('"');
    }
}

fn push_plain(out: &mut String, name: &str, text: Option<&str>) {
    if let Some(text) = text {
        out.extend([",\"", name, "\":\""]);
        push_bounded(out, text, MAX_VALUE, json_escape);
        out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::Value;

    use super::*;

    fn line<'a>(request: Option<&'a str>, outcome: &'a str) -> CallLine<'a> {
        CallLine {
            id: "c1",
            from: None,
            request,
            trace: Some("0af7651916cd43dd8448eb211c80319c"),
            caller: "ada",
            address: Some([127, 0, 0, 1].into()),
            facade: "notes",
            action: "add",
            params: ParamsDigest::Known("ecf9e98ec0641e23113ff3ce8bdc78d0".to_owned()),
            artifact: "sha256:1",
            policy: Some("sha256:2"),
            outcome,
            took: Duration::from_micros(1500),
        }
    }

    #[test]
    fn a_call_is_one_json_object() {
        let mut out = CallLineWriter::new();
        let part = out.render(line(None, "ok"), SystemTime::UNIX_EPOCH);
        assert!(part.is_none());
        let expected = r#"{"timestamp":"1970-01-01T00:00:00.000000Z","level":"DEBUG","target":"loggia::audit","message":"notes.add: ok","event":"call","id":"c1","trace":"0af7651916cd43dd8448eb211c80319c","caller":"ada","address":"127.0.0.1","facade":"notes","action":"add","params":"ecf9e98ec0641e23113ff3ce8bdc78d0","artifact":"sha256:1","policy":"sha256:2","outcome":"ok","ms":1.5}"#;
        assert_eq!(out.text, format!("{expected}\n"));
    }

    #[test]
    fn texts_of_others_are_escaped_and_redacted() {
        let mut out = CallLineWriter::new();
        let request = "\"Bearer:abc\\ authorization=x";
        out.render(line(Some(request), "a\"\u{1b}b"), SystemTime::UNIX_EPOCH);
        let object: Value = serde_json::from_str(&out.text).unwrap();
        assert_eq!(object["request"], "\"Bearer:abc\\ authorization=[redacted]");
        assert_eq!(
            (&object["outcome"], &object["message"]),
            (&"a\"\u{1b}b".into(), &"notes.add: a\"\u{1b}b".into())
        );
        assert!(!out.text.trim_end().contains(|c: char| c.is_control()), "{}", out.text);
    }
}
