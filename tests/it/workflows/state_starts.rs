//! Workflows that start when the state of a plugin has changed.

use anyhow::{Context, Result};
use loggia_postgres::testing::PrivateServer;
use loggia_tests::{Client, Era, Folder, HttpHost, eventually};
use serde_json::{Value, json};

/// Counts its runs, and the runs for each key.
const WATCH: &str = "
facade: watches
name: note
description: Notes which orders have changed.
runAs: watcher
onState: {facade: keeps, prefix: orders/, parameter: change}
parameters: {type: object, properties: {change: {type: object}}, required: [change]}
steps:
  - {id: run, tool: keeps.increment, arguments: {key: runs}}
  - id: each
    type: forEach
    collection: '{{json .params.change.keys}}'
    step: {tool: keeps.increment, arguments: {key: 'noted.{{.forEach.item}}'}}
    dependsOn: [run]
";
const SERVICE: &str =
    "[http]\nlisten = '127.0.0.1:0'\n[service.watcher]\nscopes = ['watches:note', 'keeps:increment']\n";

fn stage() -> Folder {
    let folder = Folder::with(&["keeps"]);
    folder.write("keeps.toml", "[grants]\nstore = true\n");
    folder.write("watches.workflow.yaml", WATCH);
    folder
}

async fn put(client: &Client, key: &str) -> Result<()> {
    let put = client.envelope("keeps", json!({"action": "put", "key": key, "value": "x"})).await?;
    anyhow::ensure!(put["ok"] == true, "{put}");
    Ok(())
}

async fn get(client: &Client, key: &str) -> Result<Value> {
    Ok(client.envelope("keeps", json!({"action": "get", "key": key})).await?["data"]["value"].clone())
}

async fn becomes(client: &Client, key: &str, expected: &str) {
    eventually(async || match get(client, key).await {
        Ok(value) if value == expected => Ok(()),
        other => Err(format!("{key}: {other:?}")),
    })
    .await;
}

/// Waits until the servers watch: what was there before does not count, so the first change is made again and again.
async fn wait_until_watched(client: &Client) -> Result<()> {
    eventually(async || {
        put(client, "orders/first").await.map_err(|error| error.to_string())?;
        match get(client, "noted.orders/first").await {
            Ok(Value::Null) => Err("not noted".to_owned()),
            other => other.map(|_| ()).map_err(|error| error.to_string()),
        }
    })
    .await;
    // Its last change may start one more run.
    put(client, "orders/last").await?;
    becomes(client, "noted.orders/last", "1").await;
    Ok(())
}

#[tokio::test]
async fn changes_of_state_start_runs() -> Result<()> {
    let folder = stage();
    let host = HttpHost::configured(&folder, SERVICE).await?;
    let client = Client::http(&host, Era::Stateful).await?;
    wait_until_watched(&client).await?;
    put(&client, "others/1").await?;
    for key in ["orders/1", "orders/2", "orders/3"] {
        put(&client, key).await?;
    }
    for key in ["orders/1", "orders/2", "orders/3"] {
        becomes(&client, &format!("noted.{key}"), "1").await;
    }
    client.end().await?;
    drop(host);
    // Made while no server watches.
    std::fs::remove_file(folder.path().join("watches.workflow.yaml"))?;
    let host = HttpHost::configured(&folder, SERVICE).await?;
    let client = Client::http(&host, Era::Stateful).await?;
    put(&client, "orders/4").await?;
    put(&client, "orders/1").await?;
    client.end().await?;
    drop(host);
    folder.write("watches.workflow.yaml", WATCH);
    let host = HttpHost::configured(&folder, SERVICE).await?;
    let client = Client::http(&host, Era::Stateful).await?;
    becomes(&client, "noted.orders/4", "1").await;
    becomes(&client, "noted.orders/1", "2").await;
    assert_eq!(get(&client, "noted.orders/2").await?, "1");
    assert_eq!(get(&client, "noted.others/1").await?, Value::Null);
    client.end().await
}

/// Both servers look at the same store; each change counts once.
#[tokio::test]
async fn servers_with_a_database_start_one_run_for_a_change() -> Result<()> {
    let server = PrivateServer::shared();
    let options = server.options();
    let settings = format!("{SERVICE}[state]\nurl = '{}'\nschema = '{}'\n", options.url, options.schema);
    let (one, other) = (stage(), stage());
    let host = HttpHost::configured(&one, &settings).await?;
    let second = HttpHost::configured(&other, &settings).await?;
    let client = Client::http(&host, Era::Stateful).await?;
    wait_until_watched(&client).await?;
    let elsewhere = Client::http(&second, Era::Stateful).await?;
    for number in 0..20 {
        put(if number % 2 == 0 { &client } else { &elsewhere }, &format!("orders/{number}")).await?;
    }
    for number in 0..20 {
        becomes(&elsewhere, &format!("noted.orders/{number}"), "1").await;
    }
    let unfinished = format!("SELECT count(*) FROM {}.runs WHERE ended_ms IS NULL", options.schema);
    eventually(async || match server.ask(&unfinished).as_str() {
        "0" => Ok(()),
        other => Err(other.to_owned()),
    })
    .await;
    for number in 0..20 {
        assert_eq!(get(&client, &format!("noted.orders/{number}")).await?, "1", "{number}");
    }
    let runs: u32 = get(&client, "runs").await?.as_str().context("no runs")?.parse()?;
    let recorded = format!("SELECT count(*) FROM {}.runs WHERE facade = 'watches'", options.schema);
    assert_eq!(server.ask(&recorded), runs.to_string());
    client.end().await?;
    elsewhere.end().await
}
