//! Hostile input on stdin: endless lines, invalid UTF-8, half a message, malformed ids, and messages before the
//! handshake.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use loggia_tests::{
    Folder, PATIENCE, Raw, binary, cache, memory, scratch,
    wire::{self, INITIALIZE, INITIALIZED},
};
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::Command,
    time::timeout,
};

const HELLO: &str = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}"#;
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

/// H54.
#[tokio::test]
async fn an_endless_line_is_rejected_within_memory_limits() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let mut raw = Raw::start(folder.path()).await?;
    let process = raw.child.id().context("the host ended")?;
    let echoed = async |raw: &mut Raw, id: u64| -> Result<()> {
        raw.call(id, "echo", &json!({"action": "say", "text": "still here"})).await?;
        let told = raw.answer().await?;
        assert_eq!(
            (&told["id"], &told["result"]["structuredContent"]["data"]["text"]),
            (&json!(id), &json!("still here"))
        );
        Ok(())
    };
    echoed(&mut raw, 1).await?;
    let before = memory(process, "VmHWM")?;
    let piece = vec![b'x'; 1 << 20];
    raw.write(br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":""#).await?;
    for _ in 0..100 {
        raw.write(&piece).await?;
    }
    let told = raw.ask(br#""}}"#).await?;
    assert_eq!((&told["id"], &told["error"]["code"]), (&json!(2), &json!(-32600)), "{told}");
    // It keeps 16 MiB, in a buffer that grows by doubling.
    let grown = memory(process, "VmHWM")?.saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes more");
    echoed(&mut raw, 3).await?;
    // Neither text nor a message nor a single message; each is answered once or skipped.
    let told = raw
        .ask(b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":\"\xff\xfe\"}}")
        .await?;
    assert_eq!((&told["id"], &told["error"]["code"]), (&json!(4), &json!(-32700)), "{told}");
    for batch in [
        "[]",
        "[1]",
        r#"[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":6,"method":"ping"}]"#,
    ] {
        let told = raw.ask(batch.as_bytes()).await?;
        assert_eq!((&told["id"], &told["error"]["code"]), (&Value::Null, &json!(-32600)), "{batch}: {told}");
    }
    echoed(&mut raw, 7).await
}

/// H54.
#[tokio::test]
async fn eof_within_a_message_exits_cleanly() -> Result<()> {
    let begun: [(&str, Vec<u8>); 4] = [
        ("nothing", Vec::new()),
        (
            "half a message",
            br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","argum"#.to_vec(),
        ),
        ("half a character", b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"\xe2\x82".to_vec()),
        ("a line without end", vec![b'['; 20 << 20]),
    ];
    for (what, bytes) in begun {
        let folder = Folder::with(&["echo"]);
        let mut raw = Raw::start(folder.path()).await?;
        raw.write(&bytes).await?;
        let messages = raw.finish().await.with_context(|| what.to_owned())?;
        assert_eq!(messages.len(), 1, "nothing after the handshake: {what}: {messages:?}");
    }
    Ok(())
}

/// H54: other input on stdin is not a client's; the operator is warned once.
#[tokio::test]
async fn non_json_lines_are_skipped_with_one_warning() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let log = NamedTempFile::new()?;
    let stderr = log.reopen()?;
    let mut raw = Raw::start_with(folder.path(), |command| {
        command.stderr(stderr);
    })
    .await?;
    for line in [&b"Debugger attached."[..], b"\xff\xfe", b"\x1b[31mred\x1b[0m", b"{"] {
        raw.send(line).await?;
    }
    let told = raw.ask(br#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#).await?;
    assert_eq!((&told["id"], &told["result"]), (&json!(9), &json!({})), "{told}");
    raw.finish().await?;
    let log = std::fs::read_to_string(log.path())?;
    assert_eq!(log.matches("that is not JSON").count(), 1, "{log}");
    Ok(())
}

/// H54: unread answers are not buffered without limit: the host stops reading until some are read.
#[tokio::test]
async fn a_client_that_never_reads_costs_no_memory() -> Result<()> {
    /// Answers of four mebibytes, some of which may be buffered, …
    const LARGE: usize = 40;
    /// … and then small ones.
    const SMALL: usize = 2000;
    let folder = Folder::with(&["misbehaves"]);
    folder.write("misbehaves.toml", "[limits]\nresult = \"4MiB\"\n");
    let mut child = Command::new(binary())
        .args(["serve", "--admin", "127.0.0.1:0"])
        .arg(folder.path())
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let process = child.id().context("it ended")?;
    let mut stdin = child.stdin.take().context("stdin")?;
    let mut answers = BufReader::new(child.stdout.take().context("stdout")?).lines();
    let mut log = BufReader::new(child.stderr.take().context("stderr")?).lines();
    let admin = timeout(PATIENCE, log.next_line()).await??.context("no address")?;
    let admin = admin.strip_prefix("admin on http://").context("no address")?.to_owned();
    tokio::spawn(async move { while let Ok(Some(_)) = log.next_line().await {} });
    stdin.write_all(format!("{INITIALIZE}\n{INITIALIZED}\n").as_bytes()).await?;
    answers.next_line().await?.context("a handshake")?;
    let before = memory(process, "VmHWM")?;
    let call = |id: usize, action: &str| {
        format!("{}\n", wire::in_session(id, "misbehaves", &json!({"action": action})))
    };
    // One after another: the queue's length does not determine how many are accepted.
    let ended = async |calls: usize| {
        let asked = format!("GET /metrics HTTP/1.1\r\nHost: {admin}\r\n\r\n");
        let line = format!("action=\"flood\",outcome=\"ok\"}} {calls}\n");
        while !wire::send(&admin, asked.as_bytes()).await?.body.contains(&line) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        anyhow::Ok(())
    };
    // The first is accepted, however long it takes; one that takes much longer than all before it is held back.
    let (mut taken, mut longest) = (0, PATIENCE);
    for id in 1..=LARGE {
        stdin.write_all(call(id, "flood").as_bytes()).await?;
        let began = Instant::now();
        match timeout(longest, ended(id)).await {
            Ok(ended) => ended?,
            Err(_) => break,
        }
        longest = if id == 1 { Duration::from_secs(2) } else { longest.max(began.elapsed() * 10) };
        taken = id;
    }
    assert!((2..LARGE).contains(&taken), "{taken} were taken");
    let grown = memory(process, "VmHWM")?.saturating_sub(before);
    assert!(grown < 128 << 20, "{grown} bytes more after {taken} calls");
    // Then the client reads, and nothing is lost.
    let last = taken + 1 + SMALL;
    let small: Vec<String> = (taken + 2..=last).map(|id| call(id, "describe")).collect();
    let writing = tokio::spawn(async move {
        for call in small {
            stdin.write_all(call.as_bytes()).await?;
        }
        // The host closes its end.
        std::io::Result::Ok(stdin)
    });
    let mut ids = BTreeSet::new();
    while ids.len() < last {
        let line = timeout(PATIENCE, answers.next_line()).await??.context("the host ended")?;
        let told: Value = serde_json::from_str(&line)?;
        assert_eq!(told["result"]["structuredContent"]["ok"], true, "{line:.300}");
        assert!(ids.insert(told["id"].as_u64()), "{line:.300}");
    }
    drop(timeout(PATIENCE, writing).await???);
    assert!(timeout(PATIENCE, child.wait()).await??.success());
    Ok(())
}

/// H87.
#[tokio::test]
async fn each_request_id_is_answered_or_refused() -> Result<()> {
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
        // Invalid JSON, so the client could not parse the answer either.
        ("1e400", NO_JSON),
        (r#""\ud800""#, NO_JSON),
        ("01", NO_JSON),
    ];
    let folder = Folder::with(&["echo"]);
    for opening in [HELLO.to_owned(), stateless(1)] {
        let mut raw = Raw::unopened(folder.path(), |_| {})?;
        assert!(raw.ask(opening.as_bytes()).await?["result"].is_object());
        let rest = stateless(1).replacen(r#"{"jsonrpc":"2.0","id":1,"#, "", 1);
        let rest = rest.strip_suffix('}').context("an object")?;
        let padding = " ".repeat(100 << 10);
        for (id, code) in cases {
            // The id may come after any amount of other data.
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

/// H88: input before or instead of the handshake is refused or skipped. After it, the handshake works, and so does a
/// first request that needs none.
#[tokio::test]
async fn input_before_the_handshake_is_harmless() -> Result<()> {
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
        // Skipped after an answered request.
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, None),
    ];
    let folder = Folder::with(&["echo"]);
    for opening in [HELLO.to_owned(), stateless(1)] {
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
