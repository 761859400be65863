//! Kinds of calls and their correct answers.

use serde_json::{Value, json};

use crate::{
    random::Random,
    site::{FILES, Site},
};

/// Expected result of a call.
pub enum Right {
    /// This, as `data`.
    Data(Value),
    /// This, as the member `text` of `data`.
    Content(String),
    /// One of two versions, or unavailable while the plugin is removed.
    Version,
    /// A failure with this code; or `unavailable`, where the breaker is open; or `timed_out`, where the machine is so busy
    /// that the short clocks end first.
    Fails(&'static str),
    /// Whatever the plugin could hoard, or a failure.
    Either,
}

/// One call.
pub struct Asked {
    pub kind: &'static str,
    pub tool: &'static str,
    pub arguments: Value,
    pub right: Right,
}

impl Right {
    /// Classifies an envelope; an error describes the problem.
    pub fn check(&self, envelope: &Value) -> Result<String, String> {
        let (ok, code) = (envelope["ok"] == true, envelope["code"].as_str());
        let data = &envelope["data"];
        let right = match self {
            Self::Data(expected) => ok && data == expected,
            Self::Content(text) => ok && data["text"] == text.as_str(),
            Self::Version => (ok && (data == "one" || data == "two")) || code == Some("unavailable"),
            Self::Fails(expected) => {
                [Some(*expected), Some("unavailable"), Some("timed_out")].contains(&code)
            }
            Self::Either => true,
        };
        if right { Ok(code.unwrap_or("ok").to_owned()) } else { Err(format!("{envelope:.400}")) }
    }
}

/// Calls that never end by themselves, to be given up.
pub fn endless(random: &mut Random) -> Asked {
    let (tool, arguments) = *random.one(&[("echo", "wait"), ("misbehaves", "spin"), ("misbehaves", "sleep")]);
    let arguments =
        if tool == "echo" { json!({"action": "wait", "ms": 20_000}) } else { json!({"action": arguments}) };
    Asked { kind: "given up", tool, arguments, right: Right::Either }
}

/// Calls with the largest memory use in the host.
pub fn largest(site: &Site) -> Vec<(&'static str, Value)> {
    vec![
        ("hoards", json!({"action": "bodies", "n": 40})),
        ("hoards", json!({"action": "heads", "n": 500, "bytes": 60})),
        ("hoards", json!({"action": "listings", "n": 1000})),
        ("misbehaves", json!({"action": "deluge"})),
        ("misbehaves", json!({"action": "flood"})),
        ("misbehaves", json!({"action": "hoard"})),
        ("misbehaves", json!({"action": "recurse"})),
        ("misbehaves", json!({"action": "print"})),
        ("reaches", json!({"action": "log", "lines": 1000, "bytes": 100})),
        ("reaches", json!({"action": "fetch_many", "url": site.upstream, "n": 32})),
    ]
}

/// A call that is complete in itself.
pub fn any(random: &mut Random, site: &Site) -> Asked {
    let asked = |kind, tool, arguments, right| Asked { kind, tool, arguments, right };
    match random.below(24) {
        0..=3 => {
            let (text, times) = (format!("w{}", random.below(1_000_000)), random.below(5) + 1);
            let said = vec![text.clone(); usize::try_from(times).unwrap_or(1)].join(" ");
            let arguments = json!({"action": "say", "text": text, "times": times});
            asked("echo", "echo", arguments, Right::Data(json!({"text": said, "volume": null})))
        }
        4..=5 => {
            let ms = random.below(40);
            asked("wait", "echo", json!({"action": "wait", "ms": ms}), Right::Data(json!(ms)))
        }
        6..=8 => {
            let (name, text) = *random.one(&FILES);
            let arguments = json!({"action": "get", "path": format!("/data/{name}")});
            asked("file read", "files", arguments, Right::Content(text.to_owned()))
        }
        9..=11 => {
            let arguments = json!({"action": "get", "after_ms": random.below(30)});
            asked("version", "version", arguments, Right::Version)
        }
        12 => {
            let arguments = json!({"action": "fetch_many", "url": site.upstream, "n": 32});
            asked("requests", "reaches", arguments, Right::Data(json!(vec![200; 32])))
        }
        13 => {
            let arguments = json!({"action": "log", "lines": 1000, "bytes": 100});
            asked("log flood", "reaches", arguments, Right::Data(Value::Null))
        }
        14 => asked("stdout flood", "misbehaves", json!({"action": "print"}), Right::Either),
        15 => {
            let arguments = match random.below(3) {
                0 => json!({"action": "bodies", "n": 40}),
                1 => json!({"action": "heads", "n": 500, "bytes": 60}),
                _ => json!({"action": "listings", "n": 1000}),
            };
            asked("handles", "hoards", arguments, Right::Either)
        }
        16..=18 => {
            let action = *random.one(&["panic", "recurse", "leave"]);
            let (kind, tool) = *random.one(&[
                ("trap", "misbehaves"),
                ("trap", "misbehaves"),
                ("trap with breaker", "bitten"),
            ]);
            asked(kind, tool, json!({"action": action}), Right::Fails("internal"))
        }
        19..=20 => asked("loop", "misbehaves", json!({"action": "spin"}), Right::Fails("timed_out")),
        21 => asked("hoard", "misbehaves", json!({"action": "hoard"}), Right::Fails("internal")),
        22 => asked("sleep", "misbehaves", json!({"action": "sleep"}), Right::Fails("timed_out")),
        _ => {
            let action = *random.one(&["flood", "deluge"]);
            asked("result flood", "misbehaves", json!({"action": action}), Right::Fails("internal"))
        }
    }
}
