//! JSON that takes a hundred times the memory of its text.

use anyhow::{Context, Result};
use loggia_tests::{Client, Era, Folder, HttpHost, Raw, memory};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// A call of nearly 4 MiB whose arguments are many small values.
fn call(unit: &str) -> String {
    let head = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"action":"say","text":["#;
    let count = ((4 << 20) - head.len() - 64) / (unit.len() + 1);
    format!("{head}{}]}}}}}}", vec![unit; count].join(","))
}

const SAID: &str = "a message may hold 100000 values at most";

/// H75.
#[tokio::test]
async fn messages_of_many_values_are_refused_early() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let host = HttpHost::start(folder.path()).await?;
    let process = host.child.id().context("the host ended")?;
    Client::http(&host, Era::Stateless).await?.names_become(&["echo"]).await;
    let before = memory(process, "VmHWM")?;
    for unit in ["1", "[]", "{}", "\"\"", r#"{"a":1}"#] {
        let body = call(unit);
        let mut stream = TcpStream::connect(host.authority()).await?;
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            host.authority(),
            body.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body.as_bytes()).await?;
        let mut told = String::new();
        stream.read_to_string(&mut told).await?;
        let (head, body) = told.split_once("\r\n\r\n").context("an answer")?;
        let body: Value = serde_json::from_str(body).with_context(|| format!("{head} {body:.300}"))?;
        assert!(head.starts_with("HTTP/1.1 400"), "{unit}: {head}");
        assert_eq!((&body["id"], &body["error"]["code"]), (&json!(7), &json!(-32600)), "{unit}: {body}");
        assert!(body["error"]["message"].as_str().is_some_and(|said| said.contains(SAID)), "{unit}: {body}");
    }
    let grown = memory(process, "VmHWM")?.saturating_sub(before);
    assert!(grown < 48 << 20, "{grown} bytes more");
    let mut raw = Raw::start(folder.path()).await?;
    let process = raw.child.id().context("the host ended")?;
    let before = memory(process, "VmHWM")?;
    let told = raw.ask(call("1").as_bytes()).await?;
    assert_eq!((&told["id"], &told["error"]["code"]), (&json!(7), &json!(-32600)), "{told}");
    assert!(told["error"]["message"].as_str().is_some_and(|said| said.contains(SAID)), "{told}");
    let grown = memory(process, "VmHWM")?.saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes more");
    // This many are accepted.
    let few = format!("[{}]", vec!["1"; 90_000].join(","));
    raw.call(8, "echo", &json!({"action": "say", "text": serde_json::from_str::<Value>(&few)?})).await?;
    let told = raw.answer().await?;
    assert_eq!(told["result"]["structuredContent"]["code"], "invalid_params", "{told}");
    // Parameters that are JSON text within the JSON are held to the same.
    let text = format!("{{\"a\":[{}]}}", vec!["1"; 200_000].join(","));
    raw.call(9, "echo", &json!({"action": "say", "params": text})).await?;
    let told = raw.answer().await?;
    let error = told["result"]["structuredContent"]["error"].as_str().unwrap_or_default().to_owned();
    assert!(error.starts_with("`params` must be an object"), "{error}");
    raw.child.start_kill()?;
    Ok(())
}

/// H76.
#[tokio::test]
async fn a_plugins_json_is_parsed_within_limits() -> Result<()> {
    let values = 1_500_000;
    let heap = |facade: &str, target: &str| json!({"action": "heap", "values": values, "facade": facade, "target": target});
    for (grants, granted) in [("", false), ("[grants]\nelicit = true\ninvoke = [\"echo:*\"]\n", true)] {
        let folder = Folder::with(&["inquires", "echo"]);
        folder.write("inquires.toml", grants);
        let host = HttpHost::start(folder.path()).await?;
        let process = host.child.id().context("the host ended")?;
        let kind = loggia_tests::Kind::person([]);
        let client = Client::http_as(&host, Era::Stateful, kind).await?;
        client.names_become(&["echo", "inquires"]).await;
        // Memory of a guest of this size itself.
        let small = json!({"action": "ask", "form": "x".repeat(values * 2)});
        client.call("inquires", small).await?;
        let before = memory(process, "VmHWM")?;
        let asked = client.envelope("inquires", heap("", "")).await?;
        let called = client.envelope("inquires", heap("echo", "add")).await?;
        let (code, many) =
            if granted { ("invalid_params", "more than 100000 values") } else { ("denied", "access denied") };
        for told in [&asked, &called] {
            assert_eq!(told["data"]["code"], code, "{told}");
            assert!(told["data"]["error"].as_str().is_some_and(|said| said.contains(many)), "{told}");
        }
        let grown = memory(process, "VmHWM")?.saturating_sub(before);
        assert!(grown < 64 << 20, "granted {granted}: {grown} bytes more");
        // A result above its limit is refused for its size; this one is below.
        let result = json!({"action": "heap", "values": 200_000, "facade": "nobody"});
        let told = client.envelope("inquires", result).await?.to_string();
        assert!(told.contains("gave a result that cannot be read"), "{told:.500}");
        client.end().await?;
    }
    Ok(())
}
