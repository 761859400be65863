//! Lists of tools that change: clients hear of real changes only, and of approved ones, where changes wait.

use anyhow::Result;
use loggia_tests::{Client, Era, Folder, Served, binary, eventually, heard, state};
use serde_json::json;
use tokio::process::Command;

use super::fake::{end, fake, serve, served, state_of};

/// Waits until the upstream was asked for its tools so often.
async fn listed(client: &Client, times: u64) {
    eventually(async || {
        let envelope =
            client.envelope("fake", json!({"action": "lists"})).await.map_err(|e| e.to_string())?;
        let lists = envelope["data"]["lists"].as_u64().unwrap_or_default();
        if lists >= times { Ok(()) } else { Err(envelope.to_string()) }
    })
    .await;
}

#[tokio::test]
async fn clients_hear_of_new_tools() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let served = Served::configured(&folder, &fake("fake", "normal"), &[]).await?;
    serve(&served, &["fake"]).await;
    let mut client = Client::http(&served.host, Era::Stateful).await?;
    client.envelope("fake", json!({"action": "grow"})).await?;
    heard("that the list changed", &mut client.changed).await?;
    let envelope = client.envelope("fake", json!({"action": "list_2"})).await?;
    assert_eq!(envelope["data"], "unknown", "{envelope}");
    client.end().await?;
    end(served).await
}

#[tokio::test]
async fn clients_hear_nothing_of_equal_lists() -> Result<()> {
    let (folder, served) = served(&[]).await?;
    let mut client = Client::http(&served.host, Era::Stateful).await?;
    for times in 2..=3 {
        client.envelope("fake", json!({"action": "grow"})).await?;
        listed(&client, times).await;
    }
    // A change that the client does hear of comes after any that it should not.
    folder.write("fake.toml", "[actions]\ndeny = [\"echo\"]\n");
    heard("that the list changed", &mut client.changed).await?;
    assert!(client.changed.try_recv().is_err(), "told twice");
    client.end().await?;
    end(served).await
}

/// An operator approves all versions that wait.
async fn approve(folder: &Folder) -> Result<()> {
    let mut command = Command::new(binary());
    let output =
        command.args(["approve", "--all"]).env("LOGGIA_STATE", state(folder.path())).output().await?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

#[tokio::test]
async fn changed_tools_of_an_upstream_await_approval() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let served = Served::configured_with(&folder, &fake("fake", "normal"), &[], |command| {
        command.env("LOGGIA_PIN", "surface");
    })
    .await?;
    serve(&served, &["fake"]).await;
    let client = Client::http(&served.host, Era::Stateful).await?;
    client.envelope("fake", json!({"action": "grow"})).await?;
    let waits = |ready: &serde_json::Value| {
        state_of(ready, "upstream.fake")["why"].as_str().is_some_and(|why| why.contains("approve"))
    };
    served.readies(|_, ready| waits(ready)).await;
    let refused = client.envelope("fake", json!({"action": "list_2"})).await?;
    assert_eq!(refused["code"], "invalid_params", "{refused}");
    approve(&folder).await?;
    eventually(async || {
        let envelope = client.envelope("fake", json!({"action": "list_2"})).await;
        let envelope = envelope.map_err(|error| error.to_string())?;
        if envelope["ok"] == true { Ok(()) } else { Err(envelope.to_string()) }
    })
    .await;
    client.end().await?;
    end(served).await
}

#[tokio::test]
async fn a_changed_api_awaits_approval() -> Result<()> {
    let api = |operations: &[&str]| {
        let operation = |name: &&str| {
            format!(
                "[[operation]]\naction = \"{name}\"\nmethod = \"GET\"\npath = \"/{name}\"\nsummary = \"Lists {name}.\"\n"
            )
        };
        let operations: String = operations.iter().map(operation).collect();
        format!(
            "format = 1\nname = \"shop\"\nsummary = \"A shop.\"\nserver = \"http://127.0.0.1:1\"\n{operations}"
        )
    };
    let folder = Folder::with(&["echo"]);
    folder.write("shop.toml", "[grants]\nhttp = [\"http://127.0.0.1:1\"]\n");
    folder.write("shop.api.toml", &api(&["items"]));
    let served = Served::configured_with(&folder, "", &[], |command| {
        command.env("LOGGIA_PIN", "surface");
    })
    .await?;
    let client = Client::http(&served.host, Era::Stateful).await?;
    let code = async |action: &str| {
        let envelope = client.envelope("shop", json!({"action": action})).await?;
        Ok::<_, anyhow::Error>(envelope["code"].as_str().unwrap_or_default().to_owned())
    };
    // It is there, and nothing listens at its server.
    assert_eq!(code("items").await?, "unavailable");
    folder.write("shop.api.toml", &api(&["items", "orders"]));
    served.readies(|_, ready| state_of(ready, "shop.api.toml")["state"] == "stale").await;
    assert_eq!(code("orders").await?, "invalid_params", "the approved version goes on");
    approve(&folder).await?;
    eventually(async || match code("orders").await {
        Ok(code) if code == "unavailable" => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    client.end().await
}
