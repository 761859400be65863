//! A caller above its rate gets a `Retry-After`, and no other caller is affected. `hostile/fairness.rs` covers
//! unfinished runs and questions.

use std::cell::Cell;

use anyhow::{Context, Result};
use loggia_tests::{
    Folder, Served, Token, eventually,
    lingers::{go, lingers, runs, wait},
    wire::{self, Line},
};
use serde_json::json;

/// H46.
#[tokio::test]
async fn concurrency_limits_apply_per_caller() -> Result<()> {
    let folder = Folder::with(&["lingers", "echo"]);
    let data = lingers(&folder, "lingers");
    let [ada, bob] = [Token::new("ada", &["*"]).await?, Token::new("bob", &["*"]).await?];
    let settings = "[http.per-caller]\nconcurrency = 2\nrate = 0\n";
    let served = Served::configured(&folder, settings, &[&ada, &bob]).await?;
    let host = &served.host;
    let add = json!({"action": "add", "a": 1, "b": 2});
    let mut held = Vec::new();
    for n in 0..2 {
        let mut line = Line::open(host.authority()).await?;
        line.write(wire::call(host, &ada.header(), n, "lingers", &wait(&n.to_string()))).await?;
        runs(&data, &n.to_string()).await;
        held.push(line);
    }
    for _ in 0..5 {
        let told = wire::answered(host, &ada.header(), "echo", &add).await?;
        assert_eq!((told.status, told.header("retry-after")), (429, Some("1")), "{told:?}");
        assert!(told.body.contains("too many calls at once: try again in 1 s"), "{told:?}");
        let told = wire::answered(host, &bob.header(), "echo", &add).await?;
        assert_eq!((told.status, &told.envelope()?["data"]), (200, &json!(3.0)), "{told:?}");
        // In sessions too: limits count callers.
        assert_eq!(wire::ask(host, &ada.header(), wire::INITIALIZE).await?.status, 429);
        assert_eq!(wire::ask(host, &bob.header(), wire::INITIALIZE).await?.status, 200);
    }
    go(&data, "gone")?;
    for mut line in held {
        assert_eq!(line.answer().await?.envelope()?["data"], "gone");
    }
    // A place is given back when the answer has been sent.
    eventually(async || match wire::answered(host, &ada.header(), "echo", &add).await {
        Ok(told) if told.status == 200 => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    Ok(())
}

/// H46.
#[tokio::test]
async fn rate_limits_apply_per_caller() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let [ada, bob] = [Token::new("ada", &["*"]).await?, Token::new("bob", &["*"]).await?];
    let settings = "[http.per-caller]\nrate = 1\nburst = 5\n";
    let served = Served::configured(&folder, settings, &[&ada, &bob]).await?;
    let host = &served.host;
    let add = json!({"action": "add", "a": 1, "b": 2});
    let answered = Cell::new(0);
    let refused = eventually(async || match wire::answered(host, &ada.header(), "echo", &add).await {
        Ok(told) if told.status == 429 => Ok(told),
        other => {
            answered.set(answered.get() + 1);
            Err(format!("{other:?}"))
        }
    })
    .await;
    assert!(answered.get() >= 5, "{answered:?} after a rest");
    let after: u64 = refused.header("retry-after").context("when")?.parse()?;
    assert!((1..=2).contains(&after), "{refused:?}");
    assert!(refused.body.contains(&format!("too many requests: try again in {after} s")));
    for _ in 0..5 {
        let told = wire::answered(host, &bob.header(), "echo", &add).await?;
        assert_eq!((told.status, &told.envelope()?["data"]), (200, &json!(3.0)), "{told:?}");
    }
    // The retry time is correct: the request succeeds a little later.
    eventually(async || match wire::answered(host, &ada.header(), "echo", &add).await {
        Ok(told) if told.status == 200 => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    Ok(())
}
