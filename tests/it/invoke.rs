//! Calls of a guest to other facades: they pass the gate like any call.

use anyhow::Result;
use loggia_tests::{Client, Era, Folder};
use serde_json::json;

#[tokio::test]
async fn nested_calls_obey_policy_and_effect() -> Result<()> {
    let cases = [
        (r#"["worker:*"]"#, json!({"action": "read", "facade": "worker", "what": "tell", "times": 3}), Ok(3)),
        (r#"["worker:tell"]"#, json!({"action": "read", "facade": "worker", "what": "tell"}), Ok(1)),
        (r#"["worker:work"]"#, json!({"action": "write", "facade": "worker", "what": "work"}), Ok(1)),
        (
            "[]",
            json!({"action": "read", "facade": "worker", "what": "tell"}),
            Err("does not let `relays` call `worker`"),
        ),
        (
            r#"["worker:work"]"#,
            json!({"action": "read", "facade": "worker", "what": "tell"}),
            Err("does not let `relays` call `worker`"),
        ),
        (
            r#"["worker:*"]"#,
            json!({"action": "read", "facade": "worker", "what": "work"}),
            Err("a read action may not call `worker.work`, which is write"),
        ),
        (
            r#"["worker:*"]"#,
            json!({"action": "read", "facade": "worker", "what": "nothing"}),
            Err("Unknown action: \"nothing\""),
        ),
        (
            r#"["worker:*"]"#,
            json!({"action": "read", "facade": "worker", "what": "tell", "times": 33}),
            Err("at most 32 calls can be made at once"),
        ),
    ];
    for (invoke, arguments, expected) in cases {
        let folder = Folder::with(&["relays", "worker"]);
        folder.write("relays.toml", &format!("[grants]\ninvoke = {invoke}\n"));
        let client = Client::stdio(folder.path(), Era::Stateful).await?;
        let told = client.envelope("relays", arguments.clone()).await?;
        match expected {
            Ok(count) => assert_eq!(told["count"], count, "{invoke} {arguments}: {told}"),
            Err(said) => {
                let error = told["error"].as_str().unwrap_or_default();
                assert!(error.contains(said), "{invoke} {arguments}: {told}");
            }
        }
        client.end().await?;
    }
    Ok(())
}
