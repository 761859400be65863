//! Clients on stdio that send ids which are nearly none, and messages before the handshake.

use std::{
    fs::{self, File},
    process::Stdio,
};

use anyhow::{Context, Result};
use loggia_tests::{Folder, Raw, wire};
use serde_json::{Value, json};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}"#;
const REFUSED: i64 = -32600;
const WRONG_PARAMS: i64 = -32602;
const NO_JSON: i64 = -32700;

/// A call without a handshake, as of 2026-07-28.
fn stateless(id: usize) -> String {
    wire::request(id, "tools/call", json!({"name": "echo", "arguments": {"action": "add", "a": 41, "b": 1}}))
}

fn is_answered(answer: &Value) -> bool {
    answer["result"]["structuredContent"]["data"] == 42.0
}

/// H87.
#[tokio::test]
async fn each_id_is_answered_or_refused_and_echoed_where_it_can_be() -> Result<()> {
    let text = json!("x".repeat(1 << 20)).to_string();
    let cases = [
        (r#""""#, 0),
        ("0", 0),
        ("-1", 0),
        ("9223372036854775807", 0),
        ("-9223372036854775808", 0),
        (text.as_str(), 0),
        ("9223372036854775808", REFUSED),
        ("18446744073709551616", REFUSED),
        ("1.5", REFUSED),
        ("null", REFUSED),
        ("true", REFUSED),
        ("{}", REFUSED),
        ("[]", REFUSED),
        (r#"{"id": 7}"#, REFUSED),
        // No JSON, so nobody could read the answer either.
        ("1e400", NO_JSON),
        (r#""\ud800""#, NO_JSON),
        ("01", NO_JSON),
    ];
    let folder = Folder::with(&["echo"]);
    for opening in [INITIALIZE.to_owned(), stateless(1)] {
        let mut raw = Raw::unopened(folder.path(), |_| {})?;
        assert!(raw.ask(opening.as_bytes()).await?["result"].is_object());
        let rest = stateless(1).replacen(r#"{"jsonrpc":"2.0","id":1,"#, "", 1);
        let rest = rest.strip_suffix('}').context("an object")?;
        let padding = " ".repeat(100 << 10);
        for (id, code) in cases {
            // The id may stand behind more than anybody would search for it.
            for call in [
                format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#),
                format!(r#"{{"jsonrpc":"2.0",{rest},{padding}"id":{id}}}"#),
            ] {
                if code == NO_JSON && call.len() > padding.len() {
                    continue;
                }
                let answer = raw.ask(call.as_bytes()).await.with_context(|| format!("{call:.100}"))?;
                let given: Value = serde_json::from_str(id).unwrap_or_default();
                let echoed = if given.is_string() || given.is_number() { given } else { Value::Null };
                let got = answer["error"]["code"].as_i64().unwrap_or(0);
                assert!(answer["id"] == echoed && got == code, "{id:.80}: {answer:.400}");
                assert_eq!(is_answered(&answer), code == 0, "{id:.80}: {answer:.400}");
            }
        }
        assert!(is_answered(&raw.ask(stateless(41).as_bytes()).await?));
        raw.finish().await?;
    }
    Ok(())
}

/// H88: what comes before the handshake, or in its place, is refused or passed over. Whatever it was, the handshake works,
/// and so does a first request that needs none.
#[tokio::test]
async fn whatever_comes_before_the_handshake_the_handshake_works() -> Result<()> {
    let discover = wire::request(90, "server/discover", json!({}));
    let tomorrow = wire::request(91, "tools/list", json!({})).replace("2026-07-28", "2031-01-01");
    let deep = "[".repeat(5000);
    let before: [(&str, Option<i64>); 27] = [
        ("", None),
        ("rubbish", None),
        (&deep, None),
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, None),
        (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#, None),
        (r#"{"jsonrpc":"2.0","method":"notifications/unheard_of","params":[1]}"#, None),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, None),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}"#, None),
        (r#"{"jsonrpc":"2.0","error":{"code":-1,"message":"x"}}"#, None),
        (r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#, Some(WRONG_PARAMS)),
        (r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo"}}"#, Some(WRONG_PARAMS)),
        (r#"{"jsonrpc":"2.0","id":4,"method":"unheard/of"}"#, Some(WRONG_PARAMS)),
        (r#"{"jsonrpc":"2.0","id":5,"method":"initialize"}"#, Some(WRONG_PARAMS)),
        (
            r#"{"jsonrpc":"2.0","id":6,"method":"initialize","params":{"protocolVersion":5}}"#,
            Some(WRONG_PARAMS),
        ),
        (r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":[]}"#, Some(REFUSED)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"initialize","params":{}}"#, Some(REFUSED)),
        (r#"{"jsonrpc":"2.0","method":"initialize","params":{}}"#, None),
        (r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#, Some(0)),
        (r#"[{"jsonrpc":"2.0","id":9,"method":"ping"}]"#, Some(REFUSED)),
        ("[]", Some(REFUSED)),
        ("5", Some(REFUSED)),
        ("{}", Some(REFUSED)),
        (r#"{"jsonrpc":"1.0","id":10,"method":"ping"}"#, Some(REFUSED)),
        (r#"{"jsonrpc":"2.0","id":11,"method":"ping""#, Some(NO_JSON)),
        (&discover, Some(0)),
        (&tomorrow, Some(-32022)),
        // What is passed over after a request that was answered.
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, None),
    ];
    let folder = Folder::with(&["echo"]);
    for opening in [INITIALIZE.to_owned(), stateless(1)] {
        let said = folder.beside("said").join("stderr");
        let mut raw = Raw::unopened(folder.path(), |command| {
            command.stderr(File::create(&said).map_or_else(|_| Stdio::null(), Stdio::from));
        })?;
        for (line, code) in &before {
            raw.send(line.as_bytes()).await.with_context(|| format!("the host ended before {line:.200}"))?;
            let Some(code) = code else { continue };
            let answer = raw.answer().await.with_context(|| format!("{line:.200}"))?;
            assert_eq!(answer["error"]["code"].as_i64().unwrap_or(0), *code, "{line:.200}: {answer}");
        }
        let answer = raw.ask(opening.as_bytes()).await?;
        assert!(answer["result"].is_object(), "{answer}");
        assert!(is_answered(&raw.ask(stateless(41).as_bytes()).await?));
        raw.finish().await?;
        let said = fs::read_to_string(&said)?;
        assert!(
            !["panicked", "backtrace", "Expected", "error:"].iter().any(|word| said.contains(word)),
            "{said}"
        );
    }
    Ok(())
}
