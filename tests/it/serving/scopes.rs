//! Scopes limit visible and callable actions by every path to a call.

use anyhow::{Context, Result};
use loggia_tests::{
    Client, ERAS, Folder, Kind, Served, Token, eventually,
    wire::{self, Line},
};
use serde_json::{Value, json};

/// Two steps; the second needs a further scope.
const FLOW: &str = "
name: sum_up
description: Adds, then says so.
steps:
  - {id: add, tool: echo.add, arguments: {a: 1, b: 2}}
  - {id: say, tool: echo.say, arguments: {text: done}, dependsOn: [add]}
";

/// Serves facades that call each other, workflows, batches and runs to these callers.
async fn served(tokens: &[&Token]) -> Result<(Folder, Served)> {
    let folder = Folder::with(&["echo", "worker", "reaches"]);
    folder.write("echo.toml", "[actions]\nbatch = true\n");
    folder.write("reaches.toml", "[grants]\ninvoke = [\"echo:*\", \"worker:*\"]\n");
    folder.write("flow.workflow.yaml", FLOW);
    let served = Served::configured(&folder, "", tokens).await?;
    Ok((folder, served))
}

async fn told(served: &Served, token: &Token, tool: &str, arguments: Value) -> Result<Value> {
    wire::answered(&served.host, &token.header(), tool, &arguments).await?.message()
}

async fn envelope(served: &Served, token: &Token, tool: &str, arguments: Value) -> Result<Value> {
    Ok(told(served, token, tool, arguments).await?["result"]["structuredContent"].clone())
}

fn add() -> Value {
    json!({"action": "add", "a": 1, "b": 2})
}

#[tokio::test]
async fn callers_see_only_what_scopes_allow() -> Result<()> {
    let [ada, all, none] = [
        Token::new("ada", &["echo:add"]).await?,
        Token::new("all", &["*"]).await?,
        Token::new("none", &["gone:*"]).await?,
    ];
    let (_folder, served) = served(&[&ada, &all, &none]).await?;
    for era in ERAS {
        let names = async |token: &Token| {
            let client = Client::http_by(&served.host, era, Kind::default(), token).await?;
            let tools = serde_json::to_value(client.service.list_all_tools().await?)?;
            let instructions = client.service.peer_info().and_then(|info| info.instructions.clone());
            let names = client.names().await?;
            client.end().await?;
            anyhow::Ok((names, tools, instructions.unwrap_or_default()))
        };
        let (everything, ..) = names(&all).await?;
        assert_eq!(everything, ["echo", "flow", "reaches", "worker"], "{era:?}");
        let (hers, tools, instructions) = names(&ada).await?;
        assert_eq!(hers, ["echo"], "{era:?}");
        let actions = &tools[0]["inputSchema"]["properties"]["action"]["enum"];
        let own: Vec<&str> =
            actions.as_array().context("actions")?.iter().filter_map(Value::as_str).collect();
        assert_eq!(own[0], "add", "{own:?}");
        for hidden in ["say", "wait", "steps", "forget"] {
            assert!(!own.contains(&hidden), "{era:?}: {own:?}");
        }
        let seen = format!("{tools} {instructions}");
        for hidden in ["worker", "reaches", "sum_up", "forget", "Remember what", "volume"] {
            assert!(!seen.contains(hidden), "{era:?} {hidden}: {seen}");
        }
        assert_eq!(names(&none).await?.0, [""; 0], "{era:?}");
    }
    Ok(())
}

#[tokio::test]
async fn nothing_bypasses_a_callers_scopes() -> Result<()> {
    let scopes = ["echo:add", "reaches:*", "flow:*"];
    let [ada, all] = [Token::new("ada", &scopes).await?, Token::new("all", &["*"]).await?];
    let (_folder, served) = served(&[&ada, &all]).await?;
    assert_eq!(envelope(&served, &ada, "echo", add()).await?["data"], 3.0);

    let say = json!({"action": "say", "text": "hello"});
    let denied = envelope(&served, &ada, "echo", say.clone()).await?;
    assert_eq!(
        (&denied["code"], &denied["details"]["scope"]),
        (&json!("denied"), &json!("echo:say")),
        "{denied}"
    );
    assert_eq!(denied["hint"], "the token needs the scope `echo:say`");
    // A tool outside the scopes is treated as nonexistent.
    let work = json!({"action": "work", "steps": 0});
    let hidden = told(&served, &ada, "worker", work.clone()).await?;
    let never = told(&served, &ada, "workex", work.clone()).await?;
    assert_eq!(hidden["error"]["code"], -32602, "{hidden}");
    assert_eq!(hidden.to_string().replace("worker", "workex"), never.to_string());

    // Through a plugin that calls others, and through the calls that it makes.
    let by_plugin = |facade: &str, what: &str, with: Value| json!({"action": "call", "facade": facade, "what": what, "with": with});
    let cases = [
        (by_plugin("echo", "add", json!({"a": 1, "b": 2})), None),
        (by_plugin("echo", "say", json!({"text": "x"})), Some("echo:say")),
        (by_plugin("worker", "tell", json!({})), Some("")),
        (
            json!({"action": "check", "facade": "echo", "what": "say", "with": {"text": "x"}}),
            Some("echo:say"),
        ),
        (json!({"action": "lookup", "facade": "echo", "what": "say"}), Some("echo:say")),
    ];
    for (arguments, scope) in cases {
        let right = envelope(&served, &all, "reaches", arguments.clone()).await?;
        assert_eq!(right["ok"], true, "{arguments}: {right}");
        let told = envelope(&served, &ada, "reaches", arguments.clone()).await?;
        match scope {
            None => assert_eq!(told["data"], 3.0, "{told}"),
            Some(scope) => {
                assert_eq!(told["code"], "denied", "{arguments}: {told}");
                assert!(told.to_string().contains(scope), "{arguments}: {told}");
                assert!(scope == "echo:say" || !told.to_string().contains("worker:"), "{told}");
            }
        }
    }
    let peers = envelope(&served, &ada, "reaches", json!({"action": "facades"})).await?;
    assert_eq!(peers["data"], json!({"echo": ["add"]}), "{peers}");

    // Through a workflow: refused before its first step.
    let flow = json!({"action": "sum_up"});
    assert_eq!(envelope(&served, &all, "flow", flow.clone()).await?["ok"], true);
    let before = served.figure("loggia_calls_total{tool=\"echo\",action=\"add\",outcome=\"ok\"}").await?;
    let told = envelope(&served, &ada, "flow", flow).await?;
    assert_eq!(told["code"], "denied", "{told}");
    let after = served.figure("loggia_calls_total{tool=\"echo\",action=\"add\",outcome=\"ok\"}").await?;
    assert!(before.is_some() && before == after, "nothing ran: {before:?} {after:?}");

    // Through a batch: none of its calls runs.
    let batch = |second: Value| json!({"action": "batch", "items": [add(), second]});
    assert_eq!(envelope(&served, &ada, "echo", batch(add())).await?["ok"], true);
    let before = served.figure("loggia_calls_total{tool=\"echo\",action=\"add\",outcome=\"ok\"}").await?;
    let told = envelope(&served, &ada, "echo", batch(say)).await?;
    assert!(told["code"] == "denied" && told.to_string().contains("echo:say"), "{told}");
    let after = served.figure("loggia_calls_total{tool=\"echo\",action=\"add\",outcome=\"ok\"}").await?;
    assert!(before.is_some() && before == after, "nothing ran: {before:?} {after:?}");
    Ok(())
}

#[tokio::test]
async fn sessions_and_runs_are_their_callers_own() -> Result<()> {
    let [ada, bob] = [Token::new("ada", &["*"]).await?, Token::new("bob", &["*"]).await?];
    let (folder, served) = served(&[&ada, &bob]).await?;
    let host = &served.host;
    let hers = wire::session(host, &ada.header(), wire::INITIALIZE).await?;
    let his = hers.replace(&ada.secret, &bob.secret);
    let call = wire::in_session(2, "echo", &add());
    assert_eq!(wire::ask(host, &hers, &call).await?.envelope()?["data"], 3.0);
    // Neither messages nor streams nor its deletion.
    assert_eq!(wire::ask(host, &his, &call).await?.status, 404);
    assert_eq!(wire::ask(host, &his, wire::INITIALIZED).await?.status, 404);
    let method = |method: &str, session: &str| {
        format!(
            "{method} /mcp HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\nConnection: close\r\n{session}\r\n",
            host.authority()
        )
    };
    let told = wire::send(host.authority(), method("GET", &his).as_bytes()).await?;
    assert_eq!(told.status, 404, "{told:?}");
    let told = wire::send(host.authority(), method("DELETE", &his).as_bytes()).await?;
    assert!(told.status == 404 || told.status == 204, "{told:?}");
    // These attempts had no effect: the stream still gets notifications.
    let mut stream = Line::open(host.authority()).await?;
    stream.write(method("GET", &hers)).await?;
    assert_eq!(stream.head().await?.status, 200);
    folder.remove("worker.wasm");
    stream.until("notifications/tools/list_changed").await?;
    folder.put("worker", &loggia_tests::fixture("worker"));
    stream.until("notifications/tools/list_changed").await?;
    assert_eq!(wire::ask(host, &hers, &call).await?.envelope()?["data"], 3.0);

    let begun =
        envelope(&served, &ada, "worker", json!({"action": "work", "steps": 60000, "wait": false})).await?;
    let id = begun["data"]["run"]["id"].as_str().with_context(|| begun.to_string())?.to_owned();
    for action in ["run_status", "run_cancel"] {
        let asked = |id: &str| json!({"action": action, "run_id": id});
        let told = envelope(&served, &bob, "worker", asked(&id)).await?;
        let never = envelope(&served, &bob, "worker", asked("run_never")).await?;
        assert_eq!(told["code"], "not_found", "{action}: {told}");
        assert_eq!(told["error"], never["error"], "{action}");
    }
    let runs = async |token: &Token| {
        anyhow::Ok(
            envelope(&served, token, "worker", json!({"action": "run_status"})).await?["data"]["runs"]
                .clone(),
        )
    };
    assert_eq!(runs(&bob).await?, json!([]));
    assert_eq!(runs(&ada).await?[0]["id"], id.as_str());
    let told = envelope(&served, &ada, "worker", json!({"action": "run_status", "run_id": id})).await?;
    assert_eq!(told["data"]["run"]["status"], "running", "{told}");
    envelope(&served, &ada, "worker", json!({"action": "run_cancel", "run_id": id})).await?;
    eventually(async || {
        let told = envelope(&served, &ada, "worker", json!({"action": "run_status", "run_id": id})).await;
        match told {
            Ok(told) if told["data"]["run"]["status"] == "cancelled" => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    Ok(())
}
