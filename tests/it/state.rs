//! State of plugins: shared by hosts, and preserved when they are killed.

use std::{
    collections::BTreeSet,
    hash::{BuildHasher, RandomState},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use loggia_tests::{Client, Era, Folder, Raw, eventually, rounds};
use serde_json::json;

fn folder() -> Folder {
    let folder = Folder::with(&["keeps"]);
    folder.write("keeps.toml", "[grants]\nstore = true\n");
    folder
}

/// Increments a number repeatedly, with several calls in flight; counts the acknowledged ones.
async fn increments(host: &mut Raw, times: u64, acknowledged: &mut u64) -> Result<()> {
    const WINDOW: u64 = 8;
    let increment = json!({"action": "increment", "key": "number"});
    let (mut id, mut open, mut done) = (0, 0, 0);
    while done < times {
        while open < WINDOW && done + open < times {
            id += 1;
            open += 1;
            host.call(id, "keeps", &increment).await?;
        }
        let told = host.answer().await?;
        let envelope = &told["result"]["structuredContent"];
        open -= 1;
        if envelope["ok"] == true {
            *acknowledged += 1;
            done += 1;
        } else {
            // The plugin gave up after conflicts or a slow disk; the caller retries.
            ensure!(envelope["code"] == "conflict" || envelope["error"] == "the state is busy", "{told}");
        }
    }
    Ok(())
}

async fn counted(folder: &Folder) -> Result<u64> {
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let told = eventually(async || {
        let get = client.envelope("keeps", json!({"action": "get", "key": "number"})).await;
        let told = get.map_err(|error| error.to_string())?;
        // A slow disk may delay it for too long.
        if told["error"] == "the state is busy" { Err(told.to_string()) } else { Ok(told) }
    })
    .await;
    client.end().await?;
    // No increment was made.
    if told["ok"] == true && told["data"].is_null() {
        return Ok(0);
    }
    told["data"]["value"].as_str().and_then(|text| text.parse().ok()).with_context(|| told.to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_changes_of_a_key_lose_nothing() -> Result<()> {
    const TIMES: u64 = 10_000;
    let folder = folder();
    let (mut one, mut other) = (Raw::start(folder.path()).await?, Raw::start(folder.path()).await?);
    let (mut ones, mut others) = (0, 0);
    tokio::try_join!(increments(&mut one, TIMES, &mut ones), increments(&mut other, TIMES, &mut others))?;
    assert_eq!((ones, others), (TIMES, TIMES));
    assert_eq!(counted(&folder).await?, 2 * TIMES);
    Ok(())
}

#[tokio::test]
async fn acknowledged_writes_survive_a_kill() -> Result<()> {
    let folder = folder();
    let chance = RandomState::new();
    let (mut acknowledged, mut moments) = (0, BTreeSet::new());
    for kill in 0..rounds(100) {
        let mut host = Raw::start(folder.path()).await?;
        let before = acknowledged;
        let mut within = Duration::from_millis(60);
        // A third of the hosts may be killed before their first commit, the others during one, however slow the disk.
        if kill % 3 != 2 {
            increments(&mut host, 1, &mut acknowledged).await?;
            let began = Instant::now();
            increments(&mut host, 1, &mut acknowledged).await?;
            within = within.max(began.elapsed() * 4);
        }
        let moment = within.mul_f64(chance.hash_one(kill) as f64 / u64::MAX as f64);
        tokio::select! {
            ended = increments(&mut host, u64::MAX, &mut acknowledged) => ended?,
            () = tokio::time::sleep(moment) => {}
        }
        host.child.start_kill()?;
        host.child.wait().await?;
        moments.insert(acknowledged - before);
        // Answers that it wrote before it was killed count too.
        while let Ok(told) = host.answer().await {
            acknowledged += u64::from(told["result"]["structuredContent"]["ok"] == true);
        }
        let there = counted(&folder).await?;
        assert!(there >= acknowledged, "kill {kill}: {there} of {acknowledged}");
        // A commit whose answer was lost with the host counts from now on.
        acknowledged = there;
    }
    assert!(moments.len() > 3, "the host was killed at the same moment each time: {moments:?}");
    Ok(())
}
