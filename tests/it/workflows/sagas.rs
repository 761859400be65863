//! Sagas and dry runs, through real servers and clients.

use std::process::Stdio;

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS, Era, Folder, HttpHost, Kind, binary, cache, eventually, scratch};
use serde_json::{Value, json};
use tokio::process::Command;

const BOOK: &str = "
facade: trips
name: book
description: Books a flight and two seats, or nothing.
transaction: saga
dryRun: allowed
parameters: {type: object, properties: {id: {type: string}}, required: [id]}
steps:
  - id: flight
    tool: keeps.increment
    arguments: {key: '{{.params.id}}.flight'}
    compensate: {tool: keeps.increment, arguments: {key: '{{.params.id}}.flight.undo{{.steps.flight.output.data}}'}}
  - id: seats
    type: forEach
    collection: '[\"a\", \"b\"]'
    maxParallel: 1
    dependsOn: [flight]
    step:
      tool: keeps.increment
      arguments: {key: '{{.params.id}}.seat.{{.forEach.item}}'}
      compensate: {tool: keeps.increment, arguments: {key: '{{.params.id}}.seat.{{.forEach.item}}.undo'}}
  - id: sure
    type: elicitation
    message: 'Pay for {{.params.id}}?'
    timeout: 1h
    schema: {type: object, properties: {yes: {type: boolean}}}
    dependsOn: [seats]
  - {id: pay, tool: keeps.increment, arguments: {key: '{{.params.id}}.pay'}, irreversible: true, dependsOn: [sure]}
";

const UNDONE: [&str; 3] = ["flight.undo1", "seat.a.undo", "seat.b.undo"];

fn stage() -> Folder {
    let folder = Folder::with(&["keeps"]);
    folder.write("keeps.toml", "[grants]\nstore = true\n");
    folder.write("trips.workflow.yaml", BOOK);
    folder
}

async fn count(client: &Client, key: &str) -> Result<Value> {
    Ok(client.envelope("keeps", json!({"action": "get", "key": key})).await?["data"]["value"].clone())
}

/// Begins a booking that waits for a person. Returns the handle of its run.
async fn begin(client: &Client, id: &str) -> Result<String> {
    let call = json!({"action": "book", "id": id, "wait": false});
    let run = client.envelope("trips", call).await?;
    let run = run["data"]["run"]["id"].as_str().with_context(|| run.to_string())?.to_owned();
    until(client, &run, "waiting").await;
    Ok(run)
}

/// Waits for a status of a run, and returns the run.
async fn until(client: &Client, run: &str, status: &str) -> Value {
    eventually(async || {
        let query = json!({"action": "run_status", "run_id": run});
        let found = client.envelope("trips", query).await.map_err(|error| error.to_string())?;
        let run = &found["data"]["run"];
        if run["status"] == status { Ok(run.clone()) } else { Err(found.to_string()) }
    })
    .await
}

#[tokio::test]
async fn a_cancelled_run_is_undone() -> Result<()> {
    for era in ERAS {
        let folder = stage();
        let host = HttpHost::start(folder.path()).await?;
        let client = Client::http_as(&host, era, Kind::person([])).await?;
        let run = begin(&client, "x").await?;
        client.envelope("trips", json!({"action": "run_cancel", "run_id": run})).await?;
        let ended = until(&client, &run, "cancelled").await;
        assert_eq!(ended["result"]["details"]["undone"], true, "{ended}");
        for key in UNDONE {
            assert_eq!(count(&client, &format!("x.{key}")).await?, "1", "{key}: {ended}");
        }
        assert_eq!(count(&client, "x.pay").await?, Value::Null);
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_host_that_is_killed_while_its_run_waits_undoes_it_after_the_restart() -> Result<()> {
    let folder = stage();
    let mut host = HttpHost::start(folder.path()).await?;
    let client = Client::http_as(&host, Era::Stateful, Kind::person([])).await?;
    let run = begin(&client, "x").await?;
    host.child.start_kill()?;
    host.child.wait().await?;
    let host = HttpHost::start(folder.path()).await?;
    let client = Client::http_as(&host, Era::Stateful, Kind::person([])).await?;
    until(&client, &run, "waiting").await;
    client.envelope("trips", json!({"action": "run_cancel", "run_id": run})).await?;
    let ended = until(&client, &run, "cancelled").await;
    assert_eq!(ended["result"]["details"]["compensated"], json!(["seats#1", "seats#0", "flight"]), "{ended}");
    for key in UNDONE {
        assert_eq!(count(&client, &format!("x.{key}")).await?, "1", "{key}: {ended}");
    }
    client.end().await
}

#[tokio::test]
async fn a_dry_run_changes_nothing() -> Result<()> {
    let folder = stage();
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let plan = client.envelope("trips", json!({"action": "book", "id": "x", "dry_run": true})).await?;
    let steps: Vec<String> = plan["data"]["steps"].as_array().unwrap().iter().map(Value::to_string).collect();
    insta::assert_snapshot!(steps.join("\n"), @r#"
    {"step":"flight","tool":"keeps.increment","changes":true,"arguments":{"key":"x.flight"},"undone_by":"keeps.increment","status":"planned"}
    {"step":"seats","items":2,"tool":"keeps.increment","changes":true,"arguments":{"key":"x.seat.a"},"undone_by":"keeps.increment","status":"planned"}
    {"step":"sure","asks":"Pay for x?","status":"planned"}
    {"step":"pay","tool":"keeps.increment","changes":true,"arguments":{"key":"x.pay"},"status":"planned"}
    "#);
    assert_eq!(count(&client, "x.flight").await?, Value::Null);
    client.end().await
}

#[tokio::test]
async fn the_command_plans_any_workflow() -> Result<()> {
    let folder = stage();
    folder.write("trips.workflow.yaml", &BOOK.replace("dryRun: allowed\n", ""));
    let mut command = Command::new(binary());
    let file = folder.path().join("trips.workflow.yaml");
    command
        .args(["workflow", "run", "--dry-run=reads", "--plugins"])
        .arg(folder.path())
        .arg(file)
        .arg("id=x");
    command.env("LOGGIA_CACHE", cache()).env("LOGGIA_STATE", scratch()).env("NO_COLOR", "1");
    let ended = command.stdin(Stdio::null()).kill_on_drop(true).output().await?;
    let plan: Value = serde_json::from_slice(&ended.stdout)?;
    assert_eq!(
        (&plan["data"]["dry_run"], plan["data"]["steps"].as_array().unwrap().len()),
        (&json!("reads"), 4),
        "{plan}"
    );
    Ok(())
}
