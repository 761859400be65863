//! Lists of tools that change: clients hear of real changes only.

use anyhow::Result;
use loggia_tests::{Client, Era, Folder, Served, eventually, heard};
use serde_json::json;

use super::fake::{end, fake, serve, served};

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
