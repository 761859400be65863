//! Tests against a real server.

mod access;
mod failover;
mod journal;
mod lost;
mod mail;
mod proxy;
mod state;
mod usage;

use std::time::{Duration, Instant};

/// Time within which something must happen that only takes long on a busy machine.
const DEADLINE: Duration = Duration::from_secs(30);

/// Polls until a condition holds.
async fn eventually<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let deadline = Instant::now() + DEADLINE;
    while !holds().await {
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
