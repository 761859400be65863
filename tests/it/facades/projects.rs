//! `projects` over MCP: persistence across hosts, validations through other facades, and concurrent hosts.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use loggia_tests::{Client, Era, Folder, Kind, Raw, accepted};
use serde_json::{Value, json};

use super::{add, folder, is_busy};

const STORE: &str = "[grants]\nstore = { quota = \"64MiB\" }\n";

/// `projects` with `files` over a folder, of which it may call these actions.
fn with_files(invoke: &str) -> Folder {
    let folder = folder("projects", &format!("{STORE}invoke = {invoke}\n"));
    let granted = folder.beside("data");
    let dirs = format!("dirs = [{{ path = {granted:?}, at = \"/data\", access = \"read-write\" }}]");
    add(&folder, "files", &format!("[grants]\n{dirs}\n"));
    folder
}

fn epic(validations: &Value) -> Value {
    json!({"action": "create_epic_complete", "title": "Login", "features": [
        {"title": "Server", "tasks": [
            {"title": "Schema", "spec": {"validations": validations}},
            {"title": "Endpoint", "depends_on": ["0"]},
        ]},
        {"title": "Form", "depends_on": ["0"], "tasks": [{"title": "Page", "depends_on": ["0.1"]}]},
    ]})
}

fn complete(id: &str) -> Value {
    json!({"action": "complete_task_with_validation", "id": id})
}

#[tokio::test]
async fn an_epic_is_there_for_the_next_host() -> Result<()> {
    let folder = folder("projects", STORE);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let call = |arguments: Value| client.envelope("projects", arguments);
    let created = call(epic(&json!([]))).await?;
    let refused = call(complete("t_0002")).await?;
    let started = call(json!({"action": "upsert", "id": "t_0001", "state": "in_progress"})).await?;
    client.end().await?;

    let client = Client::stdio(folder.path(), Era::Stateless).await?;
    let call = |arguments: Value| client.envelope("projects", arguments);
    let planned = call(json!({"action": "plan", "id": "e_0001"})).await?;
    let completed = call(complete("t_0001")).await?;
    let progress = call(json!({"action": "progress", "id": "e_0001"})).await?;
    let listed = call(json!({"action": "list", "kind": "task"})).await?;
    let archived = call(json!({"action": "archive", "id": "e_0001"})).await?;
    let hidden = call(json!({"action": "list"})).await?;
    insta::assert_json_snapshot!([
        created, refused, started, planned, completed, progress, listed, archived, hidden
    ]);
    client.end().await
}

#[tokio::test]
async fn validations_read_files_through_their_facade() -> Result<()> {
    let folder = with_files("[\"files:stat\", \"files:search\", \"files:put\"]");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    client.names_become(&["files", "projects"]).await;
    let path = "/data/schema.sql";
    let validations = json!([
        {"file_exists": path},
        {"file_matches": {"path": path, "pattern": "create table \\w+"}},
        {"invoke": {"call": "files.stat", "arguments": {"path": path}, "pointer": "/size", "equals": "20"}},
        {"invoke": {"call": "files.put", "arguments": {"path": path, "content": ""}, "equals": "file"}},
    ]);
    client.envelope("projects", epic(&validations)).await?;
    let missing = client.envelope("projects", complete("t_0001")).await?;
    let put = json!({"action": "put", "path": path, "content": "create table users;\n"});
    client.envelope("files", put).await?;
    let writes = client.envelope("projects", complete("t_0001")).await?;
    let spec = json!({"validations": validations.as_array().context("a list")?[..3]});
    client
        .envelope("projects", json!({"action": "upsert", "id": "t_0001", "version": 1, "spec": spec}))
        .await?;
    let completed = client.envelope("projects", complete("t_0001")).await?;
    insta::assert_json_snapshot!([missing, writes, completed]);
    client.end().await
}

#[tokio::test]
async fn ungranted_files_are_a_clear_failure() -> Result<()> {
    let folder = with_files("[]");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    client.envelope("projects", epic(&json!([{"file_exists": "/data/schema.sql"}]))).await?;
    let refused = client.envelope("projects", complete("t_0001")).await?;
    assert_eq!(refused["code"], "validation_failed", "{refused}");
    insta::assert_json_snapshot!([&refused["details"]["validations"], &refused["hint"]]);
    client.end().await
}

#[tokio::test]
async fn a_person_confirms_manual_validations() -> Result<()> {
    for era in [Era::Stateful, Era::Stateless] {
        for confirmed in [true, false] {
            let folder = folder("projects", &format!("{STORE}elicit = true\n"));
            let person = Kind::person([accepted(json!({"confirmed": confirmed}))]);
            let client = Client::stdio_as(folder.path(), era, person).await?;
            client.envelope("projects", epic(&json!([{"manual": "It was reviewed."}]))).await?;
            // A name in the call is no substitute for a person who can be asked.
            let mut call = complete("t_0001");
            call["confirmed_by"] = json!("Ann");
            let told = client.envelope("projects", call).await?;
            assert_eq!(told["ok"], confirmed, "{era:?}: {told}");
            let task = client.envelope("projects", json!({"action": "get", "id": "t_0001"})).await?;
            let state = if confirmed { "done" } else { "todo" };
            assert_eq!(task["data"]["state"], state, "{era:?}: {task}");
            client.end().await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn without_questions_a_name_confirms() -> Result<()> {
    let folder = folder("projects", STORE);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    client.envelope("projects", epic(&json!([{"manual": "It was reviewed."}]))).await?;
    let refused = client.envelope("projects", complete("t_0001")).await?;
    assert_eq!(refused["next"]["arguments"]["action"], "complete_task_with_validation", "{refused}");
    let mut call = complete("t_0001");
    call["confirmed_by"] = json!("Ann");
    let told = client.envelope("projects", call).await?;
    assert_eq!(told["data"]["validations"][0]["found"], "confirmed by Ann", "{told}");
    client.end().await
}

/// Adds tasks with one call after another, each until it is acknowledged; the ids that were given.
async fn add_tasks(host: &mut Raw, who: &str, times: usize) -> Result<BTreeSet<String>> {
    let mut ids = BTreeSet::new();
    for number in 0..times {
        let call = json!({"action": "upsert", "parent": "f_0001", "title": format!("{who} {number}"), "depends_on": ["t_0001"]});
        loop {
            host.call(1, "projects", &call).await?;
            let told = host.answer().await?;
            let envelope = &told["result"]["structuredContent"];
            if envelope["ok"] == true {
                ids.extend(envelope["data"]["id"].as_str().map(str::to_owned));
                break;
            }
            ensure!(is_busy(envelope), "{told}");
        }
    }
    Ok(ids)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hosts_that_add_at_once_lose_nothing() -> Result<()> {
    const TIMES: usize = 100;
    let folder = folder("projects", STORE);
    let (mut one, mut other) = (Raw::start(folder.path()).await?, Raw::start(folder.path()).await?);
    one.call(1, "projects", &epic(&json!([]))).await?;
    one.answer().await?;
    let (ones, others) =
        tokio::try_join!(add_tasks(&mut one, "ann", TIMES), add_tasks(&mut other, "bob", TIMES))?;
    assert_eq!(ones.union(&others).count(), 2 * TIMES, "each has an id of its own");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let progress = client.envelope("projects", json!({"action": "progress", "id": "e_0001"})).await?;
    let counts = &progress["data"]["tasks"];
    assert_eq!((&counts["todo"], &counts["blocked"]), (&json!(1), &json!(2 * TIMES + 2)), "{progress}");
    client.end().await
}
