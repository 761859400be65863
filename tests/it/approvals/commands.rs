//! `loggia approvals`.

use anyhow::{Context, Result, bail};
use loggia_tests::{Client, ERAS, Era, Folder, HttpHost, Kind, eventually};
use rmcp::model::{CallToolRequestParams, CallToolResponse, GetTaskParams, TaskPayload, TaskStatus};
use serde_json::{Value, json};

use super::stage::{becomes, ended, folder, operator, park, serve, shown, work};

#[tokio::test]
async fn an_operator_approves_or_denies_what_a_client_cannot_ask() -> Result<()> {
    let folder = folder();
    let host = HttpHost::start(folder.path()).await?;
    for era in ERAS {
        for http in [false, true] {
            let client = match http {
                true => Client::http(&host, era).await?,
                false => Client::stdio(folder.path(), era).await?,
            };
            for (word, status, code) in [("approve", "succeeded", None), ("deny", "failed", Some("denied"))] {
                let (run, id) = park(&client, "worker", work()).await?;
                let output = operator(folder.path(), &[word, &id]).await?;
                assert!(output.status.success(), "{output:?}");
                let run = ended(&client, "worker", &run).await?;
                assert_eq!(run["status"], status, "{era:?} http {http}: {run}");
                match code {
                    None => assert_eq!(run["result"]["data"]["steps"], 2, "{run}"),
                    Some(code) => assert_eq!(run["result"]["code"], code, "{run}"),
                }
                let shown = shown(folder.path(), &id).await?;
                assert_eq!(shown["decision"]["by"], "command line: olga", "{shown}");
            }
            client.end().await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn approvals_are_listed_and_shown() -> Result<()> {
    let folder = folder();
    let none = operator(folder.path(), &[]).await?;
    assert!(none.status.success() && none.stdout.is_empty());
    let client = Client::stdio(folder.path(), Era::Stateless).await?;
    let (_, id) = park(&client, "worker", work()).await?;
    let redact = |bytes: Vec<u8>| -> Result<String> {
        let mut text = String::from_utf8(bytes)?.replace(&id, "ap_ID");
        let shown: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        for name in ["opened", "expires", "subject", "artifact"] {
            if let Some(value) = shown[name].as_str() {
                text = text.replace(value, &format!("({name})"));
            }
        }
        Ok(text)
    };
    let stored = shown(folder.path(), &id).await?;
    let listed = redact(operator(folder.path(), &["list"]).await?.stdout)?
        .replace(stored["expires"].as_str().unwrap_or_default(), "(expires)");
    let shown = redact(operator(folder.path(), &["show", &id]).await?.stdout)?;
    assert!(!shown.contains("hush"), "a secret is redacted: {shown}");
    let approved = redact(operator(folder.path(), &["approve", &id]).await?.stderr)?;
    let again = redact(operator(folder.path(), &["deny", &id]).await?.stderr)?;
    let open = redact(operator(folder.path(), &["list", "--json"]).await?.stdout)?;
    let all = redact(operator(folder.path(), &["list", "--all"]).await?.stdout)?
        .replace(stored["expires"].as_str().unwrap_or_default(), "(expires)");
    insta::assert_snapshot!(format!("{listed}\n{shown}\n{approved}\n{again}\nopen: {open}\n{all}"));
    client.end().await
}

#[tokio::test]
async fn bad_commands_have_exit_codes() -> Result<()> {
    let folder = folder();
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let (_, id) = park(&client, "worker", work()).await?;
    for (words, code, part) in [
        (&["show", "ap_none"][..], 11, "there is no approval `ap_none`"),
        (&["approve", "ap_none"], 11, "there is no approval `ap_none`"),
        (&["approve", &id, "--answer", "{"], 2, "--answer is not JSON"),
        (&["approve", &id, "--answer", "{}"], 2, "takes no answer"),
    ] {
        let output = operator(folder.path(), words).await?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{words:?}: {text}");
        assert!(text.contains(part), "{words:?}: {text}");
    }
    assert_eq!(shown(folder.path(), &id).await?["state"], "open");
    client.end().await
}

#[tokio::test]
async fn approvals_expire() -> Result<()> {
    let folder = folder();
    let (served, _) = serve(&folder, "[approvals]\nexpires = \"1s\"").await?;
    for era in ERAS {
        let client = Client::http(&served.host, era).await?;
        let (run, id) = park(&client, "worker", work()).await?;
        let run = ended(&client, "worker", &run).await?;
        assert_eq!(run["result"]["code"], "timed_out", "{run}");
        becomes(folder.path(), &id, "expired").await;
        let late = operator(folder.path(), &["approve", &id]).await?;
        let text = String::from_utf8_lossy(&late.stderr).into_owned();
        assert_eq!(late.status.code(), Some(1), "{text}");
        assert!(text.contains("it has expired; the call must be made again"), "{text}");
        client.end().await?;
    }
    Ok(())
}

/// Its caller has the handle, though the action is short.
#[tokio::test]
async fn the_run_of_a_short_action_survives_its_host() -> Result<()> {
    let folder = Folder::with(&["shelf"]);
    folder.write("shelf.toml", "[grants]\nstore = true\n[actions]\nconfirm = [\"put\"]\n");
    let host = HttpHost::start(folder.path()).await?;
    let client = Client::http(&host, Era::Stateless).await?;
    let (run, id) =
        park(&client, "shelf", json!({"action": "put", "id": "a", "title": "Milk", "text": "Buy."})).await?;
    assert!(operator(folder.path(), &["approve", &id]).await?.status.success());
    let succeeded = ended(&client, "shelf", &run).await?;
    assert_eq!(succeeded["status"], "succeeded", "{succeeded}");
    let (waiting, _) =
        park(&client, "shelf", json!({"action": "put", "id": "b", "title": "Tea", "text": "Buy."})).await?;
    drop((client, host));
    let host = HttpHost::start(folder.path()).await?;
    let client = Client::http(&host, Era::Stateless).await?;
    let after = ended(&client, "shelf", &run).await?;
    assert_eq!(after["result"]["data"], succeeded["result"]["data"], "{after}");
    // The host that it waited in is gone.
    let lost = ended(&client, "shelf", &waiting).await?;
    assert_eq!(
        (&lost["status"], &lost["result"]["code"]),
        (&json!("failed"), &json!("interrupted")),
        "{lost}"
    );
    client.end().await
}

#[tokio::test]
async fn a_cancelled_run_withdraws_its_approval() -> Result<()> {
    let folder = folder();
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let (run, id) = park(&client, "worker", work()).await?;
    client.envelope("worker", json!({"action": "run_cancel", "run_id": run})).await?;
    becomes(folder.path(), &id, "withdrawn").await;
    let late = operator(folder.path(), &["approve", &id]).await?;
    assert_eq!(late.status.code(), Some(1), "{late:?}");
    client.end().await
}

#[tokio::test]
async fn a_task_works_until_an_operator_has_decided() -> Result<()> {
    let folder = folder();
    let client = Client::stdio_as(folder.path(), Era::Stateless, Kind::default().tasks()).await?;
    let peer = client.service.peer();
    let arguments = work().as_object().cloned().unwrap_or_default();
    let request = CallToolRequestParams::new("worker").with_arguments(arguments);
    let CallToolResponse::Task(created) = peer.call_tool_once(request).await? else { bail!("no task") };
    let task = created.task.task_id;
    let id = eventually(async || {
        let listed = operator(folder.path(), &["list", "--json"]).await.map_err(|error| error.to_string())?;
        let line = String::from_utf8_lossy(&listed.stdout).into_owned();
        let approval: Value = serde_json::from_str(line.trim()).map_err(|_| line.clone())?;
        approval["id"].as_str().map(str::to_owned).ok_or(line)
    })
    .await;
    let told = peer.get_task(GetTaskParams::new(&task)).await?;
    assert_eq!(told.task.status(), TaskStatus::Working, "the client has nothing to answer: {told:?}");
    assert!(operator(folder.path(), &["approve", &id]).await?.status.success());
    let ended = eventually(async || {
        let told = peer.get_task(GetTaskParams::new(&task)).await.map_err(|error| error.to_string())?;
        if told.task.status() == TaskStatus::Working {
            Err("working".to_owned())
        } else {
            Ok(told.task.payload)
        }
    })
    .await;
    let TaskPayload::Completed { result } = ended else { bail!("completed: {ended:?}") };
    assert_eq!(result.get("structuredContent").context("a result")?["data"]["steps"], 2, "{result:?}");
    client.end().await
}
