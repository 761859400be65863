//! What plugins keep: shared by hosts, and there after they were killed.

use std::{
    collections::BTreeSet,
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use anyhow::{Result, ensure};
use loggia_tests::{Client, Era, Folder, Raw};
use serde_json::json;

fn folder() -> Folder {
    let folder = Folder::with(&["keeps"]);
    folder.write("keeps.toml", "[grants]\nstore = true\n");
    folder
}

/// Adds one to a number, so many times, with some calls in flight. How many were acknowledged.
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
            // The plugin tried often enough, or waited long enough for a slow disk; its caller goes on trying.
            ensure!(envelope["code"] == "conflict" || envelope["error"] == "the state is busy", "{told}");
        }
    }
    Ok(())
}

async fn counted(folder: &Folder) -> Result<u64> {
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let told = client.envelope("keeps", json!({"action": "get", "key": "number"})).await?;
    client.end().await?;
    Ok(told["data"]["value"].as_str().and_then(|text| text.parse().ok()).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hosts_that_change_the_same_key_lose_nothing() -> Result<()> {
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
async fn what_was_acknowledged_is_there_after_a_kill() -> Result<()> {
    const KILLS: u64 = 100;
    let folder = folder();
    let chance = RandomState::new();
    let (mut acknowledged, mut moments) = (0, BTreeSet::new());
    for kill in 0..KILLS {
        let mut host = Raw::start(folder.path()).await?;
        let before = acknowledged;
        let moment = Duration::from_micros(chance.hash_one(kill) % 60_000);
        tokio::select! {
            ended = increments(&mut host, u64::MAX, &mut acknowledged) => ended?,
            () = tokio::time::sleep(moment) => {}
        }
        host.child.start_kill()?;
        host.child.wait().await?;
        moments.insert(acknowledged - before);
        // What it wrote before it was killed counts too, read or not.
        while let Ok(told) = host.answer().await {
            acknowledged += u64::from(told["result"]["structuredContent"]["ok"] == true);
        }
        let there = counted(&folder).await?;
        assert!(there >= acknowledged, "kill {kill}: {there} of {acknowledged}");
        // A commit that was made, and whose answer was lost with the host, counts from now on.
        acknowledged = there;
    }
    assert!(moments.len() > 3, "the host was killed at the same moment each time: {moments:?}");
    Ok(())
}
