//! Records of ended calls keep no resources that must be released.

use std::fs;

use anyhow::{Context, Result};
use loggia_tests::{Folder, Served, eventually, wire};
use serde_json::{Value, json};

/// Number of a process's descriptors.
fn descriptors(process: u32) -> Result<usize> {
    Ok(fs::read_dir(format!("/proc/{process}/fd"))?.count())
}

/// H77.
#[tokio::test]
async fn kept_runs_do_not_pin_replaced_versions() -> Result<()> {
    const LOADED: &str = "loggia_reloads_total{result=\"loaded\"}";
    let folder = Folder::with(&["keeps"]);
    // Each edit of the policy makes another version of the facade.
    let policy = |number: usize| {
        let policy = format!("# version {number}\n[grants]\nstore = true\n[actions]\nbatch = true\n");
        folder.write(".keeps.new", &policy);
        fs::rename(folder.path().join(".keeps.new"), folder.path().join("keeps.toml"))
    };
    policy(0)?;
    let served = Served::start(&folder, |_| {}).await?;
    served.readies(|status, _| status == 200).await;
    let process = served.host.child.id().context("the host ended")?;
    let call =
        async |arguments: Value| wire::answered(&served.host, "", "keeps", &arguments).await?.envelope();
    let count = json!({"action": "increment", "key": "versions"});
    let (mut before, mut first) = (0, Value::Null);
    for number in 1..=50 {
        let begun = call(json!({"action": "batch", "items": [count], "wait": false})).await?;
        let id = begun["data"]["run"]["id"].clone();
        let ended = call(json!({"action": "run_status", "run_id": id, "wait": true})).await?;
        assert_eq!(ended["data"]["run"]["status"], "succeeded", "{begun} {ended}");
        if number == 1 {
            first = id;
        }
        let loaded = served.figure(LOADED).await?.unwrap_or_default();
        policy(number)?;
        served.figures(LOADED, |now| now > loaded).await;
        if number == 10 {
            before = descriptors(process)?;
        }
    }
    // Forty more versions, with one kept run each: none of them is open.
    eventually(async || match descriptors(process) {
        Ok(now) if now <= before + 10 => Ok(()),
        other => Err(format!("{other:?} descriptors, {before} before")),
    })
    .await;
    let kept = call(json!({"action": "run_status", "run_id": first})).await?;
    assert_eq!(kept["data"]["run"]["result"]["data"]["results"][0]["data"], 1, "{kept}");
    Ok(())
}
