//! Tools, calls and errors, as a client sees them: over both transports, in both lifecycles.

use anyhow::Result;
use loggia_tests::{Client, ERAS, Era, Folder, HttpHost, heard};
use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};

/// A client for each transport and lifecycle.
async fn clients(folder: &Folder, host: &HttpHost) -> Result<Vec<(String, Client)>> {
    let mut clients = Vec::new();
    for era in ERAS {
        clients.push((format!("stdio {era:?}"), Client::stdio(folder.path(), era).await?));
        clients.push((format!("http {era:?}"), Client::http(host, era).await?));
    }
    Ok(clients)
}

#[tokio::test]
async fn every_transport_and_lifecycle_serves_the_same() -> Result<()> {
    let folder = Folder::with(&["echo", "version_one"]);
    let host = HttpHost::start(folder.path()).await?;
    for (which, mut client) in clients(&folder, &host).await? {
        client.names_become(&["echo", "version"]).await;

        let said = client.envelope("echo", json!({"action": "say", "text": "hi", "times": "2"})).await?;
        let resolved = json!({"times": 2});
        let data = json!({"text": "hi hi", "volume": null});
        assert_eq!(
            said,
            json!({"ok": true, "action": "say", "data": data, "resolved_inputs": resolved}),
            "{which}"
        );

        let wrong = client.envelope("echo", json!({"action": "frobnicate"})).await?;
        assert_eq!(wrong["ok"], false, "{which}");
        let error =
            "Unknown action: \"frobnicate\". Available actions: say, add, wait, steps, forget, describe.";
        assert_eq!(wrong["error"], error, "{which}");

        let unknown = client.service.call_tool(CallToolRequestParams::new("ghost")).await;
        let unknown = unknown.expect_err("a protocol error").to_string();
        assert!(
            unknown.contains("-32602") && unknown.contains("Available tools: echo, version"),
            "{which}: {unknown}"
        );

        let steps = client.envelope("echo", json!({"action": "steps"})).await?;
        assert_eq!(steps["data"], 3, "{which}");
        let step = heard("progress", &mut client.progress).await?;
        assert_eq!(step.total, Some(3.0), "{which}");
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_published_list_is_as_it_was() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let host = HttpHost::start(folder.path()).await?;
    // Instructions name loaded plugins, so a second client reads them.
    Client::http(&host, Era::Stateful).await?.names_become(&["echo"]).await;
    let client = Client::http(&host, Era::Stateful).await?;
    let tools = serde_json::to_value(client.service.list_all_tools().await?)?;
    insta::assert_json_snapshot!("tools_list", tools);
    let instructions = client.service.peer_info().and_then(|info| info.instructions.clone());
    insta::assert_snapshot!("instructions", instructions.unwrap_or_default());
    client.end().await
}

#[tokio::test]
async fn errors_teach() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let calls = [
        json!({}),
        json!({"action": "sya", "text": "hi"}),
        json!({"action": "say"}),
        json!({"action": "say", "text": ""}),
        json!({"action": "say", "text": 5}),
        json!({"action": "say", "text": "hi", "volume": "medium"}),
        json!({"action": "say", "text": "hi", "times": 9}),
        json!({"action": "say", "txt": "hi"}),
        json!({"action": "say", "text": "hi", "a": 1}),
        json!({"action": "say", "params": {"text": "hi"}, "text": "ho"}),
        json!({"cmd": "add", "params": {"a": 1}}),
        json!({"action": "describe", "of": "sing"}),
    ];
    let mut told: Vec<Value> = Vec::new();
    for call in calls {
        let envelope = client.envelope("echo", call.clone()).await?;
        told.push(json!({"call": call, "envelope": envelope}));
    }
    insta::assert_json_snapshot!("errors", told);
    client.end().await
}

#[tokio::test]
async fn accepted_shapes_of_a_call_mean_the_same() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let calls = [
        (json!({"action": "add", "a": 1, "b": 2}), "action"),
        (json!({"action": "add", "params": {"a": 1, "b": 2}}), "action"),
        (json!({"action": "add", "params": "{\"a\": 1, \"b\": 2}"}), "action"),
        (json!({"cmd": "add", "params": {"a": 1, "b": 2}}), "cmd"),
        (json!({"action": "ADD", "a": "1", "b": "2"}), "action"),
        (json!({"action": "add", "a": 1, "params": {"b": 2}}), "action"),
    ];
    for (call, key) in calls {
        let envelope = client.envelope("echo", call.clone()).await?;
        assert_eq!((&envelope["data"], &envelope[key]), (&json!(3.0), &json!("add")), "{call}: {envelope}");
    }
    let alias = client.envelope("echo", json!({"action": "speak", "text": "hi"})).await?;
    assert_eq!(alias["data"]["text"], "hi");
    client.end().await
}
