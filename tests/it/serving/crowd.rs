//! Many clients at once, and many calls of one: every answer is right, and none is lost.

use std::sync::Arc;

use anyhow::{Context, Result};
use loggia_tests::{
    Client, Era, Folder, HttpHost,
    wire::{self, Line},
};
use serde_json::json;
use tokio::task::JoinSet;

const CLIENTS: usize = 64;
const CALLS: usize = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_clients_get_their_own_answers() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let host = Arc::new(HttpHost::start(folder.path()).await?);
    let mut crowd = JoinSet::new();
    for n in 0..CLIENTS {
        let host = Arc::clone(&host);
        crowd.spawn(async move {
            let client = Client::http(&host, [Era::Stateful, Era::Stateless][n % 2]).await?;
            let mut right = 0;
            for call in 0..CALLS {
                let told =
                    client.envelope("echo", json!({"action": "add", "a": n * 1000, "b": call})).await?;
                anyhow::ensure!(told["data"] == (n * 1000 + call) as f64, "{n} {call}: {told}");
                right += 1;
            }
            client.end().await?;
            anyhow::Ok(right)
        });
    }
    let mut right = 0;
    while let Some(ended) = crowd.join_next().await {
        right += ended??;
    }
    assert_eq!(right, CLIENTS * CALLS);
    Ok(())
}

#[tokio::test]
async fn sequential_calls_work_on_any_connection() -> Result<()> {
    const TIMES: usize = 300;
    let folder = Folder::with(&["echo"]);
    let host = HttpHost::start(folder.path()).await?;
    let session = wire::session(&host, "", wire::INITIALIZE).await?;
    let mut line = Line::open(host.authority()).await?;
    for n in 0..TIMES {
        let add = json!({"action": "add", "a": n, "b": 1});
        let expected = json!((n + 1) as f64);
        line.write(wire::call(&host, "", n, "echo", &add)).await?;
        let told = line.answer().await?.message()?;
        let data = &told["result"]["structuredContent"]["data"];
        assert_eq!((&told["id"], data), (&json!(n), &expected), "{told}");
        if n % 3 == 0 {
            let told = wire::ask(&host, &session, &wire::in_session(n, "echo", &add)).await?;
            assert_eq!(told.envelope().context(n)?["data"], expected, "{told:?}");
        }
    }
    Ok(())
}
