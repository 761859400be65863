//! Publication of facades by policy and option; calls work in every form.

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS, Era, Folder, heard};
use serde_json::{Value, json};

async fn with(folder: &Folder, options: &[&str]) -> Result<Client> {
    Client::stdio_with(folder.path(), Era::Stateful, |command| {
        command.args(options);
    })
    .await
}

/// The size of the list as it goes over the wire.
async fn list(client: &Client) -> Result<String> {
    Ok(serde_json::to_string(&client.service.list_all_tools().await?)?)
}

#[tokio::test]
async fn forms_are_set_by_option_or_policy() -> Result<()> {
    for form in ["flat", "signatures", "names", "union"] {
        let folder = Folder::with(&["echo"]);
        let by_option = with(&folder, &["--schema", form]).await?;
        folder.write("echo.toml", &format!("[expose]\nschema = \"{form}\"\n"));
        let by_policy = with(&folder, &[]).await?;
        assert_eq!(list(&by_option).await?, list(&by_policy).await?, "{form}, byte for byte");
        for client in [by_option, by_policy] {
            for call in [
                json!({"action": "add", "a": 1, "b": 2}),
                json!({"action": "add", "params": {"a": 1, "b": 2}}),
                json!({"cmd": "add", "params": {"a": 1, "b": 2}}),
            ] {
                assert_eq!(client.envelope("echo", call.clone()).await?["data"], 3.0, "{form} {call}");
            }
            client.end().await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn each_action_can_be_a_separate_tool() -> Result<()> {
    let folder = Folder::with(&["worker"]);
    folder.write("worker.toml", "[expose]\nschema = \"granular\"\n");
    for era in ERAS {
        let client = Client::stdio(folder.path(), era).await?;
        let names = client.names().await?;
        let expected = [
            "worker_clean",
            "worker_clean_all",
            "worker_run_cancel",
            "worker_run_status",
            "worker_show",
            "worker_tell",
            "worker_work",
        ];
        assert_eq!(names, expected);
        assert_eq!(client.envelope("worker_tell", json!({})).await?["data"], "told");
        let other = client.envelope("worker_tell", json!({"action": "clean"})).await?;
        assert!(other["error"].as_str().context("refused")?.contains("`worker_clean`"), "{other}");
        let begun = client.envelope("worker_work", json!({"steps": 1, "wait": false})).await?;
        // The next call is named as it has to be called.
        let next = begun["next"].clone();
        assert_eq!(next["tool"], "worker_run_status");
        let told = client.envelope("worker_run_status", next["arguments"].clone()).await?;
        assert_eq!(told["data"]["run"]["result"]["data"]["steps"], 1);
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn read_actions_can_be_a_separate_tool() -> Result<()> {
    let folder = Folder::with(&["worker", "version_one"]);
    let client = with(&folder, &["--split", "effect"]).await?;
    client.names_become(&["version", "worker", "worker_write"]).await;
    let tools: Value = serde_json::from_str(&list(&client).await?)?;
    let hints: Vec<(&Value, &Value)> = tools
        .as_array()
        .context("tools")?
        .iter()
        .map(|tool| (&tool["annotations"]["readOnlyHint"], &tool["annotations"]["destructiveHint"]))
        .collect();
    assert_eq!(hints[1..], [(&json!(true), &json!(false)), (&json!(false), &json!(true))]);
    // An "always allow" for one tool must not allow the other's actions.
    let refused = client.envelope("worker", json!({"action": "work", "steps": 0})).await?;
    assert_eq!(refused["hint"], "Call the tool `worker_write` with the same arguments.");
    assert_eq!(client.envelope("worker_write", json!({"action": "work", "steps": 0})).await?["ok"], true);
    assert_eq!(client.envelope("worker", json!({"action": "tell"})).await?["ok"], true);
    client.end().await
}

#[tokio::test]
async fn a_budget_shortens_the_list_minimally() -> Result<()> {
    let folder = Folder::with(&["worker", "echo", "version_one"]);
    let mut sizes = Vec::new();
    for budget in ["100000", "600", "300", "10"] {
        let client = with(&folder, &["--token-budget", budget]).await?;
        sizes.push(list(&client).await?.len());
        assert_eq!(client.envelope("echo", json!({"action": "add", "a": 1, "b": 2})).await?["data"], 3.0);
        client.end().await?;
    }
    assert!(sizes.is_sorted_by(|a, b| a >= b) && sizes[0] > sizes[3], "{sizes:?}");
    Ok(())
}

#[tokio::test]
async fn unpublished_tools_name_their_replacement() -> Result<()> {
    let folder = Folder::with(&["worker"]);
    folder.write("worker.toml", "[expose]\nsplit = \"effect\"\n");
    let mut client = Client::stdio(folder.path(), Era::Stateful).await?;
    client.names_become(&["worker", "worker_write"]).await;
    folder.write("worker.toml", "");
    heard("news", &mut client.changed).await?;
    client.names_become(&["worker"]).await;
    let told = client.envelope("worker_write", json!({"action": "work"})).await?;
    assert_eq!(told["error"], "the tool `worker_write` is no longer published");
    assert_eq!(told["hint"], "`worker` is published as: worker");
    client.end().await
}

#[tokio::test]
async fn a_policy_restricts_the_actions() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    folder.write("echo.toml", "[actions]\ndeny = [\"forget\"]\nbatch = true\n");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let tools: Value = serde_json::from_str(&list(&client).await?)?;
    assert_eq!(tools[0]["annotations"]["destructiveHint"], false, "what is denied is no danger");
    let denied = client.envelope("echo", json!({"action": "forget"})).await?;
    assert_eq!(denied["code"], "denied");
    assert!(denied["error"].as_str().context("an error")?.starts_with("access denied: "), "{denied}");
    let items = json!([{"action": "add", "a": 1, "b": 2}, {"action": "say", "text": "hi"}]);
    let told = client.envelope("echo", json!({"action": "batch", "items": items})).await?;
    assert_eq!(told["data"]["results"][0]["data"], 3.0);
    assert_eq!(told["data"]["results"][1]["data"]["text"], "hi");
    client.end().await
}

#[tokio::test]
async fn a_read_tool_cannot_cancel_writing_runs() -> Result<()> {
    for policy in ["[expose]\nsplit = \"effect\"\n", "[expose]\nschema = \"granular\"\n"] {
        let folder = Folder::with(&["worker"]);
        folder.write("worker.toml", policy);
        let client = Client::stdio(folder.path(), Era::Stateful).await?;
        let (reads, writes) = match policy.contains("split") {
            true => ("worker", "worker_write"),
            false => ("worker_show", "worker_work"),
        };
        let work = json!({"action": "work", "steps": 1000, "ms": 5, "wait": false});
        let begun = client.envelope(writes, work).await?;
        let id = begun["data"]["run"]["id"].as_str().context("a run")?;
        let end = json!({"action": "run_cancel", "run_id": id});
        let refused = client.envelope(reads, end.clone()).await?;
        assert_eq!(refused["code"], "invalid_params", "{refused}");
        let ends = begun["next"]["tool"].as_str().context("a tool")?.replace("run_status", "run_cancel");
        assert_eq!(client.envelope(&ends, end).await?["ok"], true);
        client.end().await?;
    }
    Ok(())
}

/// The scope of a person's approval by name must not grow.
#[tokio::test]
async fn a_read_tool_stays_read_only_on_conflicts() -> Result<()> {
    let folder = Folder::with(&["worker"]);
    folder.write("worker.toml", "[expose]\nsplit = \"effect\"\n");
    folder.write("worker_write.wasm", "rubbish");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    // A file that does not serve takes no name.
    client.names_become(&["worker", "worker_write"]).await;
    let refused = client.envelope("worker", json!({"action": "work", "steps": 0})).await?;
    assert_eq!(refused["code"], "invalid_params", "{refused}");
    client.end().await
}
