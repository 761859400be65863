//! `loggia runs`, beside a running server.

use anyhow::{Context, Result, ensure};
use loggia_tests::{Client, Era, Folder, HttpHost, Kind, binary, eventually, state};
use serde_json::{Value, json};
use tokio::process::Command;

const FAILS: &str = "
facade: orders
compositeTools:
  - name: place
    description: Counts twice.
    steps:
      - {id: one, tool: keeps.increment, arguments: {key: one}}
      - {id: two, tool: keeps.increment, arguments: {key: two}, dependsOn: [one]}
  - name: ask
    description: Asks.
    steps:
      - {id: sure, type: elicitation, message: Sure?, schema: {type: object, properties: {yes: {type: boolean}}}}
";

/// Runs `loggia runs`; returns its exit code, its output and its notes.
async fn runs(folder: &Folder, arguments: &[&str]) -> Result<(i32, String, String)> {
    let mut command = Command::new(binary());
    command.arg("runs").args(arguments).env("LOGGIA_STATE", state(folder.path()));
    let output = command.output().await?;
    let code = output.status.code().context("a code")?;
    Ok((code, String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?))
}

/// Waits until a run has ended, and returns what `show` prints of it.
async fn ended(folder: &Folder, run: &str) -> Value {
    eventually(async || {
        let (code, shown, notes) = runs(folder, &["show", run]).await.map_err(|error| error.to_string())?;
        let shown: Value = serde_json::from_str(&shown).map_err(|_| format!("{code} {shown} {notes}"))?;
        if shown["outcome"] == "unfinished" { Err(shown.to_string()) } else { Ok(shown) }
    })
    .await
}

#[tokio::test]
async fn operators_list_show_retry_and_cancel_runs() -> Result<()> {
    let folder = Folder::with(&["keeps"]);
    folder.write("keeps.toml", "[grants]\nstore = true\n");
    folder.write("orders.workflow.yaml", FAILS);
    let (code, listed, notes) = runs(&folder, &["list"]).await?;
    ensure!(code == 0 && listed.is_empty() && notes.contains("no run is recorded in"), "{listed} {notes}");
    let host = HttpHost::start(folder.path()).await?;
    let client = Client::http_as(&host, Era::Stateful, Kind::person([])).await?;
    let put = |value: &str| json!({"action": "put", "key": "two", "value": value});
    client.envelope("keeps", put("no number")).await?;
    let failed = client.envelope("orders", json!({"action": "place"})).await?;
    assert_eq!(failed["code"], "step_failed", "{failed}");

    let (_, listed, _) = runs(&folder, &["list", "--json"]).await?;
    let listed: Value = serde_json::from_str(&listed)?;
    assert_eq!((&listed["facade"], &listed["outcome"]), (&json!("orders"), &json!("step_failed")));
    assert_eq!(listed["caller"], "(anonymous)");
    let run = listed["run"].as_str().context("a handle")?;
    let shown = ended(&folder, run).await;
    assert_eq!(
        shown["steps"],
        json!([{"step": "one", "status": "completed"}, {"step": "two", "status": "failed"}])
    );
    assert_eq!(shown["result"]["details"]["step"], "two", "{shown}");

    client.envelope("keeps", put("5")).await?;
    let (code, _, notes) = runs(&folder, &["retry", run, "--from", "three"]).await?;
    ensure!(code == 1 && notes.contains("it has no step `three`; its steps are one, two"), "{code} {notes}");
    let (code, again, notes) = runs(&folder, &["retry", run]).await?;
    ensure!(code == 0, "{notes}");
    let shown = ended(&folder, again.trim()).await;
    assert_eq!(
        (&shown["outcome"], &shown["result"]["data"]["data"]),
        (&json!("succeeded"), &json!(6)),
        "{shown}"
    );
    let one = client.envelope("keeps", json!({"action": "get", "key": "one"})).await?;
    assert_eq!(one["data"]["value"], "1", "it had completed");

    let begun = client.envelope("orders", json!({"action": "ask", "wait": false})).await?;
    let waiting = begun["data"]["run"]["id"].as_str().context("a handle")?;
    let (code, _, notes) = runs(&folder, &["retry", waiting]).await?;
    ensure!(code == 1 && notes.contains("has not ended"), "{code} {notes}");
    assert_eq!(runs(&folder, &["cancel", waiting]).await?.0, 0);
    assert_eq!(ended(&folder, waiting).await["outcome"], "cancelled");
    let (code, _, notes) = runs(&folder, &["cancel", waiting]).await?;
    ensure!(code == 1 && notes.contains("has ended already"), "{code} {notes}");
    let (code, _, notes) = runs(&folder, &["show", "run_unknown"]).await?;
    ensure!(code == 11 && notes.contains("no run `run_unknown` is recorded in"), "{code} {notes}");
    client.end().await
}
