//! Names and their property: callers, grants and durable state stay with the original file.

use std::fs;

use anyhow::Result;
use loggia_tests::{Client, Era, Folder, binary, cache, eventually, fixture, state};
use serde_json::{Value, json};
use tokio::process::Command;

const DIARY: &str = "the private diary of ada";
const RECORD: &str = "names.json";

/// Serves `keeps`, which stores a diary, and adds `evil`, which claims the name `keeps` and requests a store.
async fn kept() -> Result<Folder> {
    let folder = Folder::with(&["keeps"]);
    folder.write("keeps.toml", "[grants]\nstore = true\n");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let put = client.envelope("keeps", json!({"action": "put", "key": "diary", "value": DIARY})).await?;
    assert_eq!(put["ok"], true, "{put}");
    client.end().await?;
    folder.put("evil", &fixture("keeps"));
    folder.write("evil.toml", "[grants]\nstore = true\n");
    Ok(folder)
}

async fn diary(client: &Client) -> Result<Value> {
    client.envelope("keeps", json!({"action": "get", "key": "diary"})).await
}

/// Checks that no file serves the name, also after a rescan of the folder, which a newcomer triggers.
async fn serves_nobody(folder: &Folder, client: &Client, newcomer: &str) -> Result<()> {
    let unavailable = async || match diary(client).await {
        Ok(told) if told["code"] == "unavailable" => Ok(()),
        other => Err(format!("{other:?}")),
    };
    eventually(unavailable).await;
    folder.put(newcomer, &fixture(newcomer));
    client.names_become(&[newcomer]).await;
    unavailable().await.map_err(anyhow::Error::msg)?;
    folder.remove(&format!("{newcomer}.wasm"));
    client.names_become(&[]).await;
    Ok(())
}

async fn loggia(folder: &Folder, words: &[&str]) -> Result<(Option<i32>, String)> {
    let mut command = Command::new(binary());
    command.args(words).env("LOGGIA_CACHE", cache()).env("LOGGIA_STATE", state(folder.path()));
    let output = command.output().await?;
    let said = [output.stdout, output.stderr].concat();
    Ok((output.status.code(), String::from_utf8(said)?))
}

/// H70.
#[tokio::test]
async fn names_and_state_stay_with_their_file() -> Result<()> {
    let folder = kept().await?;
    let at = |name: &str| folder.path().join(name);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    eventually(async || match diary(&client).await {
        Ok(told) if told["data"]["value"] == DIARY => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    // The owner is replaced in two steps.
    fs::rename(at("keeps.wasm"), at(".off"))?;
    serves_nobody(&folder, &client, "echo").await?;
    client.end().await?;
    // The file is missing at startup, or does not load.
    for broken in [false, true] {
        if broken {
            folder.write("keeps.wasm", "no plugin");
        }
        let client = Client::stdio(folder.path(), Era::Stateful).await?;
        serves_nobody(&folder, &client, "echo").await?;
        client.end().await?;
        let (code, said) = loggia(&folder, &["check", &folder.path().display().to_string()]).await?;
        let why = match broken {
            false => "not served: the name `keeps` and its state belong to the plugin `keeps`",
            true => "not served: `keeps.wasm` owns the name `keeps`",
        };
        let todo = "write `name = \"keeps\"` in the section [expose] of evil.toml";
        assert!(code == Some(10) && said.contains(why) && said.contains(todo), "{said}");
        let words = ["call", "keeps", "get", "key=diary", "--plugins", &folder.path().display().to_string()];
        let (code, said) = loggia(&folder, &words).await?;
        assert!(code == Some(20) && !said.contains(DIARY), "{said}");
    }
    // The original returns, and its state is unchanged.
    fs::rename(at(".off"), at("keeps.wasm"))?;
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    eventually(async || match diary(&client).await {
        Ok(told) if told["data"]["value"] == DIARY => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    // The operator's policy reassigns the name with its state, permanently.
    folder.remove("keeps.wasm");
    folder.write("evil.toml", "[grants]\nstore = true\n[expose]\nname = \"keeps\"\n");
    // Until its removal is seen, the owner answers.
    let given = json!({"name": "keeps", "stem": "evil"});
    eventually(async || {
        let record = fs::read(state(folder.path()).join(RECORD)).map_err(|error| error.to_string())?;
        let record: Value = serde_json::from_slice(&record).map_err(|error| error.to_string())?;
        let is_given = record["names"].as_array().is_some_and(|names| names.contains(&given));
        if is_given { Ok(()) } else { Err(record.to_string()) }
    })
    .await;
    eventually(async || match diary(&client).await {
        Ok(told) if told["data"]["value"] == DIARY => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    client.end().await?;
    folder.write("evil.toml", "[grants]\nstore = true\n");
    folder.put("keeps", &fixture("keeps"));
    let (code, said) = loggia(&folder, &["check", &folder.path().display().to_string()]).await?;
    assert!(code == Some(10) && said.contains("not served: `evil.wasm` owns the name `keeps`"), "{said}");
    Ok(())
}

/// H70: to look at a folder takes no name.
#[tokio::test]
async fn only_a_serving_host_records_owners() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let plugins = folder.path().display().to_string();
    for words in [
        &["check", &plugins][..],
        &["tokens", &plugins],
        &["policy", "explain", "echo", "--plugins", &plugins],
    ] {
        let (code, said) = loggia(&folder, words).await?;
        assert_eq!(code, Some(0), "{words:?}: {said}");
        assert!(!state(folder.path()).join(RECORD).exists(), "{words:?}");
    }
    let (code, said) = loggia(&folder, &["call", "echo", "add", "a=1", "b=2", "--plugins", &plugins]).await?;
    assert_eq!(code, Some(0), "{said}");
    let record = fs::read_to_string(state(folder.path()).join(RECORD))?;
    let expected = json!({"version": 1, "names": [{"name": "echo", "stem": "echo"}]});
    assert_eq!(serde_json::from_str::<Value>(&record)?, expected);
    Ok(())
}

/// H70: a damaged record does not cause guesses.
#[tokio::test]
async fn a_damaged_record_gives_no_name_away() -> Result<()> {
    let folder = kept().await?;
    fs::write(state(folder.path()).join(RECORD), "{\"version\": 1, \"na")?;
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    eventually(async || match diary(&client).await {
        Ok(told) if told["error"] == "`keeps` is unavailable: the owner of this name is unknown" => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    client.end().await?;
    let (code, said) = loggia(&folder, &["check", &folder.path().display().to_string()]).await?;
    assert!(code == Some(10) && said.contains("names.json, cannot be read"), "{said}");
    Ok(())
}
