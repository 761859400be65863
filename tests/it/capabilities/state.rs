//! State: with and without a grant, for reading and writing, within its quota, and across restarts.

use anyhow::Result;
use loggia_tests::{Client, Era, Folder, eventually};
use serde_json::{Value, json};

use super::{said, under};

const GRANTED: &str = "[grants]\nstore = true\n";

#[tokio::test]
async fn state_needs_a_grant() -> Result<()> {
    let denied = "denied: access denied (the policy of this plugin does not grant `store`)";
    for action in ["get", "put", "delete", "list", "increment", "fill", "notes"] {
        let arguments = match action {
            "put" => json!({"action": action, "key": "a", "value": "1"}),
            "fill" => json!({"action": action, "bytes": 1}),
            "list" | "notes" => json!({"action": action}),
            _ => json!({"action": action, "key": "a"}),
        };
        assert_eq!(said(&under("keeps", "", arguments.clone()).await?), denied, "{action}");
        assert_eq!(under("keeps", GRANTED, arguments).await?["ok"], true, "{action}");
    }
    Ok(())
}

#[tokio::test]
async fn a_read_action_changes_no_state() -> Result<()> {
    let told = under("keeps", GRANTED, json!({"action": "read_writes", "key": "a"})).await?;
    assert_eq!(told["data"]["code"], "denied", "{told}");
    assert_eq!(told["data"]["message"], "access denied: a read action may not change the state", "{told}");
    Ok(())
}

#[tokio::test]
async fn state_outlives_the_host_and_detects_conflicts() -> Result<()> {
    let folder = Folder::with(&["keeps"]);
    folder.write("keeps.toml", GRANTED);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let call = |arguments: Value| client.envelope("keeps", arguments);
    let version = call(json!({"action": "put", "key": "a", "value": "one"})).await?["data"].clone();
    let put = |version: &Value| json!({"action": "compare_and_put", "key": "a", "value": "two", "version": version});
    assert_eq!(call(put(&version)).await?["ok"], true);
    let conflict = call(put(&version)).await?;
    assert_eq!(said(&conflict), "conflict: the state has changed: a (read the keys again and retry)");
    call(json!({"action": "put", "key": "soon", "value": "gone", "seconds": 0.05})).await?;
    client.end().await?;

    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let kept = client.envelope("keeps", json!({"action": "get", "key": "a"})).await?;
    assert_eq!(kept["data"]["value"], "two", "{kept}");
    eventually(async || {
        let kept = client.envelope("keeps", json!({"action": "list"})).await.map_err(|e| e.to_string())?;
        let keys: Vec<_> = kept["data"].as_array().into_iter().flatten().map(|kept| &kept["key"]).collect();
        if keys == ["a"] { Ok(()) } else { Err(kept.to_string()) }
    })
    .await;
    client.end().await
}

#[tokio::test]
async fn a_store_above_its_quota_allows_deletes() -> Result<()> {
    let folder = Folder::with(&["keeps"]);
    folder.write("keeps.toml", "[grants]\nstore = { quota = \"1MiB\" }\n");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let call = |arguments: Value| client.envelope("keeps", arguments);
    let full = call(json!({"action": "fill", "bytes": 2 << 20})).await?;
    assert_eq!(full["code"], "unavailable", "{full}");
    let hint = "delete unneeded keys, or ask the operator to raise `grants.store.quota`";
    assert_eq!(full["hint"], hint, "{full}");
    assert_eq!(call(json!({"action": "delete", "key": "fill/000000000000"})).await?["ok"], true);
    assert_eq!(call(json!({"action": "put", "key": "a", "value": "1"})).await?["ok"], true);
    client.end().await
}
