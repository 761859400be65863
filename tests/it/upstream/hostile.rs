//! Upstreams that misbehave cost nothing but their own calls: a plugin and another upstream beside them answer as before.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS, Era, Folder, Served, memory, soon};
use serde_json::{Value, json};

use super::fake::{end, fake, serve, state_of};

/// Time in which a call beside a hostile upstream is answered, on a busy machine. It takes milliseconds.
const USUAL: Duration = Duration::from_secs(5);
/// Calls of each neighbour while the upstream misbehaves.
const CALLS: usize = 20;
/// Bytes by which the host may grow: a message of 16 MiB, read and parsed, and its neighbours' calls.
const GROWTH: u64 = 128 << 20;

/// A plugin and an upstream that are called while another upstream misbehaves.
struct Neighbours {
    _folder: Folder,
    served: Served,
    client: Client,
    before: u64,
}

impl Neighbours {
    /// Serves them beside an upstream of this mode.
    async fn of(mode: &str) -> Result<Self> {
        let folder = Folder::with(&["echo"]);
        let settings = [fake("good", "normal"), fake("bad", mode)].concat();
        let served = Served::configured(&folder, &settings, &[]).await?;
        serve(&served, &["good"]).await;
        let client = Client::http(&served.host, Era::Stateless).await?;
        let mut neighbours = Self { _folder: folder, served, client, before: 0 };
        neighbours.answer().await?;
        neighbours.before = neighbours.peak()?;
        Ok(neighbours)
    }

    fn peak(&self) -> Result<u64> {
        memory(self.served.host.child.id().context("it ended")?, "VmHWM")
    }

    /// Calls both.
    async fn answer(&self) -> Result<()> {
        for _ in 0..CALLS {
            let began = Instant::now();
            let said = self.client.envelope("echo", json!({"action": "say", "text": "hello"})).await?;
            assert_eq!(said["data"]["text"], "hello", "{said}");
            let echoed = self.client.envelope("good", json!({"action": "echo", "n": 7})).await?;
            assert_eq!(echoed["data"], json!({"echo": {"n": 7}}), "{echoed}");
            assert!(began.elapsed() < USUAL, "{:?}", began.elapsed());
        }
        Ok(())
    }

    /// Calls an action of the hostile upstream, and both others meanwhile; its envelope.
    async fn disturbed_by(&self, action: &str) -> Result<Value> {
        let hostile = Client::http(&self.served.host, ERAS[0]).await?;
        let call = hostile.envelope("bad", json!({"action": action}));
        let (envelope, answered) = tokio::join!(call, self.answer());
        answered?;
        hostile.end().await?;
        envelope
    }

    /// Ends the host, once its memory was looked at.
    async fn end(self) -> Result<()> {
        self.answer().await?;
        let growth = self.peak()?.saturating_sub(self.before);
        assert!(growth < GROWTH, "the host grew by {} MiB", growth >> 20);
        self.client.end().await?;
        end(self.served).await
    }
}

#[tokio::test]
async fn an_upstream_that_never_answers() -> Result<()> {
    let neighbours = Neighbours::of("normal").await?;
    serve(&neighbours.served, &["bad"]).await;
    let hostile = Client::http(&neighbours.served.host, Era::Stateless).await?;
    let call = tokio::spawn(async move { hostile.envelope("bad", json!({"action": "silent"})).await });
    neighbours.served.figures("loggia_calls_in_flight{tool=\"bad\"}", |calls| calls == 1.0).await;
    neighbours.answer().await?;
    assert!(!call.is_finished());
    // Its caller goes away, so nothing is left to wait for at the end.
    call.abort();
    neighbours.served.figures("loggia_calls_in_flight{tool=\"bad\"}", |calls| calls == 0.0).await;
    neighbours.end().await
}

#[tokio::test]
async fn an_upstream_that_is_mute() -> Result<()> {
    let neighbours = Neighbours::of("mute").await?;
    let (_, ready) = neighbours.served.ready().await?;
    assert_eq!(state_of(&ready, "upstream.bad")["state"], "failed", "{ready}");
    neighbours.end().await
}

#[tokio::test]
async fn an_upstream_that_answers_twice() -> Result<()> {
    let neighbours = Neighbours::of("normal").await?;
    serve(&neighbours.served, &["bad"]).await;
    assert_eq!(neighbours.disturbed_by("twice").await?["data"], "first");
    assert_eq!(neighbours.disturbed_by("echo").await?["data"], json!({"echo": {}}));
    neighbours.end().await
}

#[tokio::test]
async fn an_upstream_that_sends_a_gigabyte_line() -> Result<()> {
    let neighbours = Neighbours::of("normal").await?;
    serve(&neighbours.served, &["bad"]).await;
    let envelope = neighbours.disturbed_by("huge").await?;
    assert_eq!(envelope["code"], "unavailable", "{envelope}");
    let reason = "it sent a line of more than 16777216 bytes";
    assert!(envelope["error"].as_str().unwrap_or_default().contains(reason), "{envelope}");
    assert_eq!(neighbours.disturbed_by("echo").await?["data"], json!({"echo": {}}));
    neighbours.end().await
}

#[tokio::test]
async fn an_upstream_that_answers_wrong_ids() -> Result<()> {
    let neighbours = Neighbours::of("normal").await?;
    serve(&neighbours.served, &["bad"]).await;
    assert_eq!(neighbours.disturbed_by("wrong_id").await?["data"], "yours");
    neighbours.end().await
}

#[tokio::test]
async fn an_upstream_that_answers_only_wrong_ids() -> Result<()> {
    let neighbours = Neighbours::of("wrong-ids").await?;
    let is_refused = |ready: &Value| {
        let bad = state_of(ready, "upstream.bad");
        let why = bad["why"].as_str().unwrap_or_default();
        bad["state"] == "failed" && why.contains("the id of another request")
    };
    let (status, _) = neighbours.served.readies(|_, ready| is_refused(ready)).await;
    assert_eq!(status, 200, "the others serve");
    neighbours.end().await
}

#[tokio::test]
async fn an_upstream_that_changes_each_list() -> Result<()> {
    let neighbours = Neighbours::of("changes").await?;
    serve(&neighbours.served, &["bad"]).await;
    neighbours.disturbed_by("echo").await?;
    neighbours.end().await
}

#[tokio::test]
async fn an_upstream_that_forks() -> Result<()> {
    let neighbours = Neighbours::of("normal").await?;
    serve(&neighbours.served, &["bad"]).await;
    // It ignores SIGTERM, and is killed with its parent's group.
    let envelope = neighbours.disturbed_by("fork").await?;
    assert!(envelope["data"]["pid"].is_u64(), "{envelope}");
    neighbours.end().await
}

#[tokio::test]
async fn an_upstream_that_ignores_sigterm() -> Result<()> {
    let neighbours = Neighbours::of("ignores-sigterm").await?;
    serve(&neighbours.served, &["bad"]).await;
    neighbours.disturbed_by("fork").await?;
    neighbours.end().await
}

#[tokio::test]
async fn an_upstream_that_prints_to_stdout() -> Result<()> {
    let neighbours = Neighbours::of("normal").await?;
    serve(&neighbours.served, &["bad"]).await;
    assert_eq!(neighbours.disturbed_by("rubbish").await?["data"], "after rubbish");
    soon("the line of the log", neighbours.served.logs(|line| line.contains("no message of MCP"))).await?;
    neighbours.end().await
}
