//! Rubbish from a client, byte for byte: each call is answered, nothing runs, and the host serves on.

use anyhow::{Context, Result};
use loggia_tests::{Folder, HttpHost, PATIENCE, Raw};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Calls of `echo`: name, JSON text of the arguments, expected message.
fn calls() -> Vec<(&'static str, String, &'static str)> {
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    let long = "x".repeat(1 << 20);
    vec![
        ("no action", "{}".into(), "`action` is required"),
        ("a wrong type", r#"{"action": 5}"#.into(), "`action` must be a string (got 5)"),
        ("nothing but rubbish", r#"{"action": {"a": []}, "cmd": null}"#.into(), "`action` must be a string"),
        ("nested 100 deep", format!(r#"{{"action": "say", "text": {}}}"#, deep(100)), "nest"),
        ("NUL", r#"{"action": "say\u0000"}"#.into(), "Unknown action"),
        ("a look-alike", "{\"action\": \"s\u{430}y\", \"text\": \"x\"}".into(), "Unknown action"),
        ("__proto__", r#"{"action": "say", "text": "x", "__proto__": {"a": 1}}"#.into(), "`__proto__`"),
        ("a mebibyte of text", format!(r#"{{"action": "say", "text": "{long}"}}"#), "too large"),
        ("half a mebibyte", format!(r#"{{"action": "say", "text": "{}"}}"#, &long[..1 << 19]), "`text`"),
        ("a foreign parameter", r#"{"action": "say", "text": "x", "a": 1}"#.into(), "`add`"),
        ("an action of no plugin's", r#"{"action": "purge"}"#.into(), "Unknown action"),
        ("__proto__ for an action", r#"{"action": "__proto__"}"#.into(), "Unknown action"),
        ("a path", r#"{"action": "../../etc/passwd"}"#.into(), "Unknown action"),
        (
            "a path in the action's place",
            r#"{"action": "say/../forget", "text": "x"}"#.into(),
            "Unknown action",
        ),
        ("another script", r#"{"action": "\u8aaa\ud83d\ude00"}"#.into(), "Unknown action"),
        ("a hidden character", r#"{"action": "say\u200b", "text": "x"}"#.into(), "Unknown action"),
        ("right to left", r#"{"action": "\u202eyas", "text": "x"}"#.into(), "Unknown action"),
        (
            "an action of 100,000 characters",
            format!(r#"{{"action": "{}"}}"#, &long[..100_000]),
            "Unknown action",
        ),
        (
            "a thousand parameters",
            format!("{{{}}}", (0..1000).map(|n| format!(r#""p{n}": {n}"#)).collect::<Vec<_>>().join(",")),
            "`action` is required",
        ),
        ("an unknown run", r#"{"action": "run_status", "run_id": "run_x"}"#.into(), "Unknown action"),
    ]
}

/// Valid, whichever of the two is taken.
const TWICE: &str = r#"{"action": "say", "text": "a", "text": "b"}"#;

fn call(id: usize, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}"#
    )
}

/// H43.
#[tokio::test]
async fn malformed_arguments_are_explained() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let mut raw = Raw::start(folder.path()).await?;
    for (index, (what, arguments, expected)) in calls().into_iter().enumerate() {
        let told = raw.ask(call(index + 1, &arguments).as_bytes()).await?;
        let envelope = &told["result"]["structuredContent"];
        assert_eq!(
            (&told["id"], &told["result"]["isError"]),
            (&json!(index + 1), &json!(true)),
            "{what}: {told}"
        );
        let error = envelope["error"].as_str().with_context(|| format!("{what}: {told}"))?;
        assert!(error.contains(expected), "{what}: {error}");
        assert!(envelope.to_string().len() < 4096, "{what}: {envelope}");
    }
    let said = raw.ask(call(99, r#"{"action": "say", "text": "still here"}"#).as_bytes()).await?;
    assert_eq!(said["result"]["structuredContent"]["data"]["text"], "still here");
    raw.child.start_kill()?;
    Ok(())
}

/// H43.
#[tokio::test]
async fn non_object_arguments_are_a_protocol_error() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let mut raw = Raw::start(folder.path()).await?;
    // In the form of clients of both lifecycles.
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"#;
    let sent = ["", meta]
        .into_iter()
        .flat_map(|meta| ["[1]", "\"say\"", "5", "true"].map(|arguments| (meta, arguments)));
    for (index, (meta, arguments)) in sent.enumerate() {
        let call = call(index + 1, arguments).replacen("\"arguments\"", &format!("{meta}\"arguments\""), 1);
        assert!(call.contains(meta), "{call}");
        let told = raw.ask(call.as_bytes()).await?;
        assert_eq!(told["error"]["code"], -32602, "{arguments}: {told}");
        let said = told["error"]["message"].as_str().context("a message")?;
        assert!(said.contains("`arguments`, an object"), "{said}");
    }
    raw.child.start_kill()?;
    Ok(())
}

/// H43, H54.
#[tokio::test]
async fn malformed_messages_with_an_id_are_answered() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let mut raw = Raw::start(folder.path()).await?;
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let lines: Vec<(Vec<u8>, Value, i64)> = vec![
        (b"[]".to_vec(), Value::Null, -32600),
        (call(1, &format!(r#"{{"action": "say", "text": {deep}}}"#)).into_bytes(), json!(1), -32700),
        (call(2, r#"{"action": "say", "text": 1e400}"#).into_bytes(), json!(2), -32700),
        (br#"{"jsonrpc":"2.0","id":3,"method":"tools/call"#.to_vec(), json!(3), -32700),
        (call(4, TWICE).into_bytes(), json!(4), -32600),
    ];
    for (line, id, code) in lines {
        // A line without an id is skipped.
        raw.send(b"rubbish").await?;
        raw.send(&[0xff, 0xfe, 0x00]).await?;
        let told = raw.ask(&line).await?;
        assert_eq!((&told["id"], &told["error"]["code"]), (&id, &json!(code)), "{told}");
    }
    let asked = call(9, r#"{"action": "say", "text": "still here"}"#);
    let told = raw.ask(asked.as_bytes()).await?;
    assert_eq!(told["result"]["structuredContent"]["data"]["text"], "still here");
    raw.child.start_kill()?;
    Ok(())
}

/// H43, H47.
#[tokio::test]
async fn malformed_http_requests_are_refused() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let host = HttpHost::start(folder.path()).await?;
    let post = async |body: &[u8]| -> Result<String> {
        let mut stream = TcpStream::connect(host.authority()).await?;
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: echo\r\n\r\n",
            host.authority(),
            body.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body).await?;
        let mut answer = Vec::new();
        tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await??;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"0"}}"#;
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{arguments},{meta}}}}}"#
        )
    };
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    for body in [
        b"rubbish".to_vec(),
        vec![0xff, 0xfe],
        b"{}".to_vec(),
        call(&format!(r#"{{"action": "say", "text": {deep}}}"#)).into_bytes(),
        call(r#"{"action": "say", "text": 1e400}"#).into_bytes(),
        call("[]").into_bytes(),
        call(TWICE).into_bytes(),
    ] {
        let answer = post(&body).await?;
        let refused = answer.starts_with("HTTP/1.1 4") || answer.contains("\"error\"");
        assert!(refused && !answer.starts_with("HTTP/1.1 5"), "{answer}");
    }
    for (what, arguments, expected) in calls() {
        let answer = post(call(&arguments).as_bytes()).await?;
        assert!(answer.contains("\"isError\":true") && answer.contains(expected), "{what}: {answer:.2000}");
    }
    let answer = post(call(r#"{"action": "say", "text": "still here"}"#).as_bytes()).await?;
    assert!(answer.contains("still here") && answer.starts_with("HTTP/1.1 200"), "{answer}");
    Ok(())
}
