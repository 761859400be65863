//! What policies make of the plugins: state of each caller's own, and no actions that cannot work.

use anyhow::Result;
use loggia_tests::{Client, Era, Folder, Served, Token, wire};
use serde_json::{Value, json};

use super::{add, folder};

/// Each plugin with state: a call that adds something, and one that would show it to others.
fn stores() -> [(&'static str, Value, Value); 5] {
    [
        (
            "memories",
            json!({"action": "add", "title": "Prefers tea"}),
            json!({"action": "search", "query": "tea"}),
        ),
        (
            "knowledge",
            json!({"action": "add", "text": "Tea is a plant.", "source": "tea.md"}),
            json!({"action": "list"}),
        ),
        (
            "conversations",
            json!({"action": "append", "messages": [{"role": "user", "text": "Tea?"}]}),
            json!({"action": "list"}),
        ),
        ("projects", json!({"action": "upsert", "title": "Tea"}), json!({"action": "list"})),
        ("support", json!({"action": "request_handoff", "reason": "no tea left"}), json!({"action": "list"})),
    ]
}

#[tokio::test]
async fn members_of_a_team_have_their_own_state() -> Result<()> {
    let folder = Folder::new();
    for (name, ..) in stores() {
        add(&folder, name, "[grants]\nstore = { space = \"caller\" }\n");
    }
    let [ada, bob] = [Token::new("ada", &["*"]).await?, Token::new("bob", &["*"]).await?];
    let served = Served::configured(&folder, "", &[&ada, &bob]).await?;
    for (name, adds, shows) in stores() {
        let call = async |token: &Token, arguments: &Value| {
            wire::answered(&served.host, &token.header(), name, arguments).await?.envelope()
        };
        let added = call(&ada, &adds).await?;
        assert_eq!(added["ok"], true, "{name}: {added}");
        let (hers, his) = (call(&ada, &shows).await?, call(&bob, &shows).await?);
        assert_eq!((&hers["count"], &his["count"]), (&json!(1), &json!(0)), "{name}: {hers} {his}");
    }
    Ok(())
}

#[tokio::test]
async fn actions_without_their_setting_are_not_published() -> Result<()> {
    let setting = "http = [\"http://127.0.0.1:9\"]\nconfig.search = { url = \"http://127.0.0.1:9/search\" }";
    for (name, action, grant, setting) in [("web", "search", "config: search", setting)] {
        for (setting, published) in [("", false), (setting, true)] {
            let folder = folder(name, &format!("[grants]\n{setting}\n"));
            let client = Client::stdio(folder.path(), Era::Stateful).await?;
            let told = client.envelope(name, json!({"action": "describe"})).await?;
            let actions = told["data"]["actions"].as_array().cloned().unwrap_or_default();
            let starts = |signature: &Value| {
                signature.as_str().is_some_and(|signature| signature.starts_with(&format!("{action}(")))
            };
            let described = actions.iter().any(|described| starts(&described["signature"]));
            assert_eq!(described, published, "{name}: {told}");
            if !published {
                let refused = client.envelope(name, json!({"action": action})).await?;
                let start = format!("not configured: `{action}` needs the grant `{grant}`.");
                assert_eq!(refused["code"], "unavailable", "{refused}");
                assert!(
                    refused["error"].as_str().is_some_and(|error| error.starts_with(&start)),
                    "{refused}"
                );
            }
            client.end().await?;
        }
    }
    Ok(())
}
