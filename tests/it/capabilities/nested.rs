//! Rights of nested calls: each facade by its own grants, and none beyond the effect of the call that it answers.

use anyhow::Result;
use loggia_tests::{Client, Era, Folder};
use serde_json::{Value, json};

use super::said;

#[tokio::test]
async fn a_plugin_acts_through_a_callable_plugin() -> Result<()> {
    let folder = Folder::with(&["reaches", "keeps", "relays"]);
    folder.write("reaches.toml", "[grants]\ninvoke = [\"keeps:*\", \"relays:read\"]\n");
    folder.write("keeps.toml", "[grants]\nstore = true\n[actions]\ndeny = [\"fill\"]\n");
    folder.write("relays.toml", "[grants]\ninvoke = [\"keeps:list\"]\n");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let call = |action: &str, facade: &str, what: &str, with: Value| json!({"action": action, "facade": facade, "what": what, "with": with});
    let put = json!({"key": "a", "value": "1"});
    let relayed = |what: &str| json!({"facade": "keeps", "what": what});
    let cases = [
        // The store belongs to `keeps`; `reaches` has no grant for one.
        (call("call_write", "keeps", "put", put.clone()), Ok("")),
        (call("call", "keeps", "get", json!({"key": "a"})), Ok(r#""value":"1""#)),
        (call("call", "keeps", "put", put), Err("a read action may not call `keeps.put`, which is write")),
        (call("call_write", "keeps", "delete", json!({"key": "a"})), Err("which is destructive")),
        (call("call", "keeps", "read_writes", json!({"key": "a"})), Ok(r#""code":"denied""#)),
        // Actions that the target's own policy denies cannot be called.
        (call("call_write", "keeps", "fill", json!({"bytes": 1})), Err("the operator does not allow `fill`")),
        // One hop further, each facade has its own grants.
        (call("call", "relays", "read", relayed("list")), Ok(r#""value":"1""#)),
        (
            call("call", "relays", "read", relayed("notes")),
            Err("the policy does not let `relays` call `keeps`"),
        ),
        (
            call("call", "relays", "write", relayed("list")),
            Err("the policy does not let `reaches` call `relays`"),
        ),
    ];
    for (arguments, expected) in cases {
        let told = client.envelope("reaches", arguments.clone()).await?;
        assert_eq!(told["ok"], expected.is_ok(), "{arguments}: {told}");
        let (Ok(text) | Err(text)) = expected;
        assert!(said(&told).contains(text), "{arguments}: {told}");
    }
    client.end().await
}
