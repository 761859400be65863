//! Callers as plugins see them: an opaque name and separate state.

use anyhow::Result;
use loggia_tests::{Client, Era, Folder, HttpHost, Kind, Served, Token, wire};
use serde_json::{Value, json};

use super::said;

#[tokio::test]
async fn a_callers_name_per_plugin_is_stable() -> Result<()> {
    let folder = Folder::with(&["reaches"]);
    folder.write("reaches.toml", "[grants]\ncaller = true\n");
    folder.put("other", &loggia_tests::fixture("reaches"));
    folder.write("other.toml", "[grants]\ncaller = true\n[expose]\nname = \"other\"\n");
    let mut names = Vec::new();
    for _ in 0..2 {
        let client = Client::stdio(folder.path(), Era::Stateful).await?;
        for facade in ["reaches", "other"] {
            names.push(client.envelope(facade, json!({"action": "whoami"})).await?["data"].to_string());
        }
        client.end().await?;
    }
    assert_eq!(names[..2], names[2..], "another host");
    assert_ne!(names[0], names[1], "another plugin");
    assert!(names[0].starts_with("\"caller_"), "{names:?}");
    Ok(())
}

#[tokio::test]
async fn callers_have_separate_state_anonymous_ones_none() -> Result<()> {
    let folder = Folder::with(&["keeps"]);
    folder.write("keeps.toml", "[grants]\nstore = true\n");
    let put = json!({"action": "mine_put", "key": "a", "value": "mine"});
    let get = json!({"action": "mine_get", "key": "a"});
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    assert_eq!(client.envelope("keeps", put.clone()).await?["ok"], true);
    assert_eq!(client.envelope("keeps", get.clone()).await?["data"]["value"], "mine");
    let shared = client.envelope("keeps", json!({"action": "get", "key": "a"})).await?;
    assert_eq!(shared["data"], json!(null), "the shared state is another");
    client.end().await?;

    let host = HttpHost::start(folder.path()).await?;
    let client = Client::http_as(&host, Era::Stateful, Kind::default()).await?;
    for arguments in [put, get] {
        let told = said(&client.envelope("keeps", arguments).await?);
        assert!(told.starts_with("denied: access denied: this caller has no state of its own"), "{told}");
    }
    client.end().await
}

#[tokio::test]
async fn a_policy_gives_each_caller_all_state() -> Result<()> {
    let folder = Folder::with(&["keeps"]);
    folder.write("keeps.toml", "[grants]\nstore = { space = \"caller\" }\n");
    let [ada, bob] = [Token::new("ada", &["*"]).await?, Token::new("bob", &["*"]).await?];
    let served = Served::configured(&folder, "", &[&ada, &bob]).await?;
    let call = async |header: &str, arguments: Value| {
        wire::answered(&served.host, header, "keeps", &arguments).await?.envelope()
    };
    let get = |action: &str| json!({"action": action, "key": "a"});
    let put = |action: &str, value: &str| json!({"action": action, "key": "a", "value": value});
    assert_eq!(call(&ada.header(), put("put", "hers")).await?["ok"], true);
    assert_eq!(call(&ada.header(), put("mine_put", "her own")).await?["ok"], true);
    assert_eq!(call(&ada.header(), get("get")).await?["data"]["value"], "hers", "the spaces stay apart");
    assert_eq!(call(&ada.header(), get("mine_get")).await?["data"]["value"], "her own");
    for action in ["get", "mine_get"] {
        assert_eq!(call(&bob.header(), get(action)).await?["data"], json!(null), "{action}");
    }
    Ok(())
}

#[tokio::test]
async fn anonymous_callers_have_no_state_of_their_own() -> Result<()> {
    let folder = Folder::with(&["keeps"]);
    folder.write("keeps.toml", "[grants]\nstore = { space = \"caller\" }\n");
    let host = HttpHost::start(folder.path()).await?;
    let client = Client::http_as(&host, Era::Stateful, Kind::default()).await?;
    let refused = client.envelope("keeps", json!({"action": "get", "key": "a"})).await?;
    assert_eq!(refused["code"], "denied", "{refused}");
    assert_eq!(refused["hint"], "anonymous callers have none, and the policy grants no shared state");
    client.end().await
}
