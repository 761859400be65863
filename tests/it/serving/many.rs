//! Many servers on one folder, one state and one cache, as where each of a person's clients starts its own.

use anyhow::{Context, Result};
use loggia_tests::{Folder, PATIENCE, Raw, fixture};
use serde_json::{Value, json};
use tokio::{process::Command, task::JoinSet, time::timeout};

const SERVERS: u64 = 8;
const TIMES: u64 = 15;

/// A call; its envelope.
async fn call(host: &mut Raw, id: u64, tool: &str, arguments: Value) -> Result<Value> {
    host.call(id, tool, &arguments).await?;
    let told = host.answer().await?;
    anyhow::ensure!(told["id"] == id, "{told}");
    Ok(told["result"]["structuredContent"].clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_can_share_all_folders() -> Result<()> {
    let folder = Folder::with(&["keeps", "echo"]);
    folder.put("version", &fixture("version_one"));
    folder.write("keeps.toml", "[grants]\nstore = true\n");
    // Nothing is compiled yet: all of them start at once.
    let compiled = tempfile::tempdir()?;
    let mut starting = JoinSet::new();
    for n in 0..SERVERS {
        let (plugins, compiled) = (folder.path().to_owned(), compiled.path().to_owned());
        starting.spawn(async move {
            let own = |command: &mut Command| {
                command.env("LOGGIA_CACHE", compiled);
            };
            let mut host = Raw::start_with(&plugins, own).await?;
            for time in 0..TIMES {
                let id = 10 + 4 * time;
                let told = call(&mut host, id, "echo", json!({"action": "add", "a": n, "b": time})).await?;
                anyhow::ensure!(told["data"] == (n + time) as f64, "{told}");
                // Other hosts change it too; after several conflicts the call fails and is repeated.
                loop {
                    let told = call(&mut host, id + 1, "keeps", json!({"action": "increment", "key": "sum"}))
                        .await?;
                    if told["ok"] == true {
                        break;
                    }
                    anyhow::ensure!(
                        told["code"] == "conflict" || told["error"] == "the state is busy",
                        "{told}"
                    );
                }
                let told = call(&mut host, id + 2, "version", json!({"action": "get"})).await?;
                anyhow::ensure!(told["data"] == "one", "{told}");
            }
            anyhow::Ok(host)
        });
    }
    let mut hosts = Vec::new();
    while let Some(started) = starting.join_next().await {
        hosts.push(started??);
    }
    assert_eq!(hosts.len() as u64, SERVERS);
    for host in &mut hosts {
        let told = call(host, 1000, "keeps", json!({"action": "get", "key": "sum"})).await?;
        assert_eq!(told["data"]["value"], (SERVERS * TIMES).to_string(), "{told}");
    }
    folder.put("version", &fixture("version_two"));
    for host in &mut hosts {
        let turns = async {
            for id in 2000.. {
                let told = call(host, id, "version", json!({"action": "get"})).await?;
                match told["data"].as_str() {
                    Some("two") => break,
                    // Neither version answering would mean a lost call.
                    old => anyhow::ensure!(old == Some("one"), "{told}"),
                }
            }
            anyhow::Ok(())
        };
        timeout(PATIENCE, turns).await.context("it never saw what is new")??;
    }
    for host in hosts {
        host.finish().await.context("a clean end")?;
    }
    Ok(())
}
