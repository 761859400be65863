//! What different clients and profiles are served.

use anyhow::{Context, Result};
use loggia_tests::{Folder, HttpHost, Raw, Served, Token, wire};
use serde_json::{Value, json};

/// Stays within `echo`, which the profile `orders` does not show.
const ADDS: &str = "
facade: orders
compositeTools:
  - name: total
    description: Adds two prices.
    parameters: {type: object, properties: {a: {type: number}, b: {type: number}}, required: [a, b]}
    steps:
      - {id: sum, tool: echo.add, arguments: {a: '{{.params.a}}', b: '{{.params.b}}'}}
";

const PROFILES: &str = "
[profile.orders]
tools = ['orders:*']
schema = 'signatures'
instructions = 'You sell tea.'

[profile.sums]
tools = ['echo:add', 'orders:*']
schema = 'granular'
";

fn folder() -> Folder {
    let folder = Folder::with(&["echo"]);
    folder.write("orders.workflow.yaml", ADDS);
    folder
}

/// Begins a session at a path, as a client of this name; returns its instructions and its session's header.
async fn session(host: &HttpHost, path: &str, headers: &str, name: &str) -> Result<(String, String)> {
    let client = json!({"name": name, "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string();
    let answer = ask(host, path, headers, &body).await?;
    let id = answer.header("mcp-session-id").with_context(|| format!("{answer:?}"))?.to_owned();
    let instructions =
        answer.message()?["result"]["instructions"].as_str().context("instructions")?.to_owned();
    Ok((instructions, format!("{headers}Mcp-Session-Id: {id}\r\n")))
}

async fn ask(host: &HttpHost, path: &str, headers: &str, body: &str) -> Result<wire::Told> {
    let request = wire::post(host, &format!("{headers}Connection: close\r\n"), body);
    wire::send(host.authority(), request.replacen("POST /mcp ", &format!("POST {path} "), 1).as_bytes()).await
}

async fn tools(host: &HttpHost, path: &str, session: &str) -> Result<Vec<Value>> {
    let body = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string();
    let answer = ask(host, path, session, &body).await?.message()?;
    Ok(answer["result"]["tools"].as_array().with_context(|| answer.to_string())?.clone())
}

async fn call(host: &HttpHost, path: &str, session: &str, tool: &str, arguments: Value) -> Result<Value> {
    ask(host, path, session, &wire::in_session(3, tool, &arguments)).await?.message()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[tokio::test]
async fn a_client_is_served_what_is_known_to_serve_it() -> Result<()> {
    let folder = folder();
    let served = Served::configured(&folder, "", &[]).await?;
    for (client, is_granular, has_params, has_hint, has_structure) in [
        ("a script", false, false, false, true),
        ("claude-code", false, false, true, false),
        ("Zed", false, true, false, false),
        ("ChatGPT", true, false, false, true),
    ] {
        let (_, session) = session(&served.host, "/mcp", "", client).await?;
        let tools = tools(&served.host, "/mcp", &session).await?;
        let echo =
            tools.iter().find(|tool| tool["name"] == "echo" || tool["name"] == "echo_add").context("echo")?;
        assert_eq!(echo["name"] == "echo_add", is_granular, "{client}");
        assert_eq!(echo["inputSchema"]["properties"].get("params").is_some(), has_params, "{client}");
        let hint = echo["_meta"]["anthropic/searchHint"].as_str();
        assert_eq!(hint.is_some_and(|hint| hint.contains("add")), has_hint, "{client}: {}", echo["_meta"]);
        let (tool, arguments) = match is_granular {
            true => ("echo_add", json!({"a": 1, "b": 2})),
            false => ("echo", json!({"action": "add", "a": 1, "b": 2})),
        };
        let result = call(&served.host, "/mcp", &session, tool, arguments).await?["result"].clone();
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().context("text")?)?;
        assert_eq!(text["data"], 3.0, "{client}");
        assert_eq!(result.get("structuredContent").is_some(), has_structure, "{client}: {result}");
        // Without a session, the client introduces itself in each request.
        let list = wire::request(1, "tools/list", json!({})).replace("\"raw\"", &json!(client).to_string());
        let list = wire::ask(&served.host, &wire::named("tools/list", ""), &list).await?.message()?;
        assert_eq!(list["result"]["tools"], json!(tools), "{client}");
        assert_eq!(list["result"]["cacheScope"], "private", "lists differ by client");
    }
    Ok(())
}

#[tokio::test]
async fn content_that_a_client_hides_becomes_text() -> Result<()> {
    let folder = Folder::with(&["worker"]);
    let served = Served::configured(&folder, "", &[]).await?;
    let whole = ["text", "image", "audio", "resource", "resource_link"];
    for (client, expected) in [
        ("a script", whole),
        ("Visual Studio Code", whole),
        ("claude-code", ["text", "image", "audio", "resource", "text"]),
        ("opencode", ["text", "image", "text", "resource", "text"]),
        ("zed (via mcp-remote 0.1.29)", ["text", "image", "text", "text", "text"]),
    ] {
        let (_, session) = session(&served.host, "/mcp", "", client).await?;
        let result = call(&served.host, "/mcp", &session, "worker", json!({"action": "show"})).await?;
        let blocks = result["result"]["content"].as_array().context("content")?;
        let kinds: Vec<&str> = blocks[1..].iter().filter_map(|block| block["type"].as_str()).collect();
        assert_eq!(kinds, expected, "{client}: {result}");
        let link = "[link to Example (An example.): https://example.com/]";
        if expected[4] == "text" {
            assert_eq!(blocks[5]["text"], link, "{client}");
        }
        if expected[3] == "text" {
            assert_eq!(blocks[4]["text"], "[resource note://1, text/plain]\nmilk", "{client}");
            let audio = "[audio, audio/wav, 1B, left out: ";
            assert!(blocks[3]["text"].as_str().is_some_and(|text| text.starts_with(audio)), "{result}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn long_texts_beside_the_data_are_cut_for_chat_clients() -> Result<()> {
    let folder = Folder::with(&["misleads"]);
    let served = Served::configured(&folder, "", &[]).await?;
    let uri = "some words of a line\n".repeat(12_000);
    for (client, is_cut) in [("a script", false), ("claude-code", true)] {
        let (_, session) = session(&served.host, "/mcp", "", client).await?;
        let arguments = json!({"action": "orders", "text": uri});
        let result = call(&served.host, "/mcp", &session, "misleads", arguments).await?;
        let text = result["result"]["content"][1]["text"].as_str().context("a text")?;
        assert_eq!(text == uri, !is_cut, "{client}");
        let Some((_, cut)) = text.rsplit_once("\n[Cut: ") else {
            assert!(!is_cut, "{client}: {text}");
            continue;
        };
        let handle = cut.split('"').nth(1).context("a handle")?;
        let arguments = json!({"action": "describe", "of": handle});
        let more = call(&served.host, "/mcp", &session, "misleads", arguments).await?;
        let more = more["result"]["content"][0]["text"].as_str().context("a text")?;
        assert!(more.contains("some words of a line"), "{more}");
    }
    Ok(())
}

#[tokio::test]
async fn a_configured_form_is_the_same_for_all_clients() -> Result<()> {
    let folder = folder();
    let served = Served::configured(&folder, "[publish]\nschema = 'names'\n", &[]).await?;
    let mut lists = Vec::new();
    for client in ["a script", "Zed", "ChatGPT"] {
        let (_, session) = session(&served.host, "/mcp", "", client).await?;
        lists.push(tools(&served.host, "/mcp", &session).await?);
    }
    assert_eq!(names(&lists[0]), ["echo", "orders"]);
    assert!(lists.iter().all(|list| *list == lists[0]));
    Ok(())
}

#[tokio::test]
async fn a_profile_shows_a_part_of_the_tools() -> Result<()> {
    let folder = folder();
    let served = Served::configured(&folder, PROFILES, &[]).await?;
    let host = &served.host;
    let (instructions, own) = session(host, "/mcp/orders", "", "a script").await?;
    assert!(instructions.starts_with("You sell tea.\n\n"), "{instructions}");
    assert!(instructions.contains("- orders") && !instructions.contains("echo"), "{instructions}");
    assert_eq!(names(&tools(host, "/mcp/orders", &own).await?), ["orders"]);
    // Its workflow may call what the profile does not show; the client may not.
    let total = call(host, "/mcp/orders", &own, "orders", json!({"action": "total", "a": 1, "b": 2})).await?;
    assert_eq!(total["result"]["structuredContent"]["ok"], true, "{total}");
    let hidden = call(host, "/mcp/orders", &own, "echo", json!({"action": "add", "a": 1, "b": 2})).await?;
    assert_eq!(hidden["error"]["code"], -32602, "{hidden}");
    assert!(!hidden.to_string().contains("add"), "{hidden}");

    let (_, own) = session(host, "/mcp/sums", "", "a script").await?;
    assert_eq!(
        names(&tools(host, "/mcp/sums", &own).await?),
        ["echo_add", "orders_run_cancel", "orders_run_status", "total"]
    );
    let sum = call(host, "/mcp/sums", &own, "echo_add", json!({"a": 1, "b": 2})).await?;
    assert_eq!(sum["result"]["structuredContent"]["data"], 3.0, "{sum}");
    let (_, own) = session(host, "/mcp", "", "a script").await?;
    assert_eq!(names(&tools(host, "/mcp", &own).await?), ["echo", "orders"]);
    let missing = ask(host, "/mcp/nothing", "", wire::INITIALIZE).await?;
    assert_eq!(missing.status, 404, "{missing:?}");
    Ok(())
}

/// H100.
#[tokio::test]
async fn a_token_may_be_bound_to_a_profile() -> Result<()> {
    let folder = folder();
    let token = Token::new("shop", &["*"]).await?;
    let bound = Token { toml: format!("{}\nprofile = 'orders'\n", token.toml.trim_end()), ..token };
    let free = Token::new("free", &["orders:*"]).await?;
    let served = Served::configured(&folder, PROFILES, &[&bound, &free]).await?;
    let host = &served.host;
    for path in ["/mcp", "/mcp/orders"] {
        let (_, own) = session(host, path, &bound.header(), "a script").await?;
        assert_eq!(names(&tools(host, path, &own).await?), ["orders"], "{path}");
        let add = json!({"action": "add", "a": 1, "b": 2});
        let hidden = call(host, path, &own, "echo", add).await?;
        assert_eq!(hidden["error"]["code"], -32602, "{hidden}");
    }
    for path in ["/mcp/sums", "/mcp/nothing"] {
        let refused = ask(host, path, &bound.header(), wire::INITIALIZE).await?;
        assert_eq!(refused.status, 403, "{refused:?}");
        assert!(refused.body.contains("connect to /mcp/orders"), "{refused:?}");
    }
    // A profile gives no rights.
    let (_, own) = session(host, "/mcp/sums", &free.header(), "a script").await?;
    assert_eq!(
        names(&tools(host, "/mcp/sums", &own).await?),
        ["orders_run_cancel", "orders_run_status", "total"]
    );
    Ok(())
}

#[tokio::test]
async fn stdio_serves_one_profile() -> Result<()> {
    let folder = folder();
    let settings = folder.beside("settings").join("loggia.toml");
    std::fs::write(&settings, PROFILES)?;
    let mut host = Raw::start_with(folder.path(), |command| {
        command.arg("--config").arg(&settings).args(["--profile", "sums"]);
    })
    .await?;
    let list = host.ask(br#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#).await?;
    let list = list["result"]["tools"].as_array().context("tools")?;
    assert_eq!(names(list), ["echo_add", "orders_run_cancel", "orders_run_status", "total"]);
    host.finish().await?;
    Ok(())
}

/// H100: another caller does not read it.
#[tokio::test]
async fn a_long_result_is_cut_and_its_rest_read_by_parts() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    folder.write("echo.toml", "[limits]\nanswer = 300\n[actions]\nbatch = true\n");
    let tokens = [Token::new("ada", &["*"]).await?, Token::new("bob", &["*"]).await?];
    let served = Served::configured(&folder, "", &tokens.each_ref()).await?;
    let (_, ada) = session(&served.host, "/mcp", &tokens[0].header(), "a script").await?;
    let envelope = async |session: &str, arguments: Value| {
        let answer = call(&served.host, "/mcp", session, "echo", arguments).await?;
        anyhow::Ok(answer["result"]["structuredContent"].clone())
    };
    let items: Vec<Value> = (0..40).map(|n| json!({"action": "add", "a": n, "b": 1000})).collect();
    let cut = envelope(&ada, json!({"action": "batch", "items": items})).await?;
    let (rest, mut read) = (&cut["rest"], cut["data"]["results"].as_array().context("results")?.clone());
    assert_eq!((&rest["total"], &rest["unit"]), (&json!(40), &json!("rows")), "{cut}");
    assert_eq!(json!(read.len()), rest["shown"]);
    let mut cursor = rest["cursor"].as_str().map(str::to_owned);
    let handle = cursor.clone().context("cursor")?;
    let handle = handle.split('?').next().context("handle")?;
    while let Some(of) = cursor {
        let part = envelope(&ada, json!({"action": "describe", "of": of})).await?;
        read.extend(part["data"].as_array().with_context(|| part.to_string())?.iter().cloned());
        cursor = part["cursor"].as_str().map(str::to_owned);
    }
    let sums: Vec<f64> = read.iter().filter_map(|result| result["data"].as_f64()).collect();
    assert_eq!(sums, (0..40).map(|n| f64::from(n) + 1000.0).collect::<Vec<_>>());
    let found =
        envelope(&ada, json!({"action": "describe", "of": format!("{handle}?grep=1003&count")})).await?;
    assert_eq!(found["data"], json!({"unit": "rows", "matches": 1}));
    let (_, bob) = session(&served.host, "/mcp", &tokens[1].header(), "a script").await?;
    let refused = envelope(&bob, json!({"action": "describe", "of": handle})).await?;
    assert_eq!(refused["code"], "not_found", "{refused}");
    Ok(())
}
