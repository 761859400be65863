//! Shutdown signals. The first one starts a graceful shutdown, the second one exits immediately. SIGHUP counts, too, unless
//! it is ignored (`nohup`).

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::telemetry::logs;

/// Returns a token that is cancelled by the first SIGTERM, SIGINT or SIGHUP. A second SIGTERM or SIGINT exits with 128 plus
/// the number of the signal. A second SIGHUP is ignored, since kernel and shell both send one when a terminal closes.
///
/// # Errors
///
/// If the signals cannot be received.
pub fn shutdown() -> std::io::Result<CancellationToken> {
    let token = CancellationToken::new();
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let mut hup = if is_ignored(SignalKind::hangup()) { None } else { Some(signal(SignalKind::hangup())?) };
    let stop = token.clone();
    tokio::spawn(async move {
        loop {
            let signal = tokio::select! {
                _ = term.recv() => SignalKind::terminate(),
                _ = int.recv() => SignalKind::interrupt(),
                _ = hangup(&mut hup) => SignalKind::hangup(),
            };
            if stop.is_cancelled() && signal == SignalKind::hangup() {
                continue;
            }
            if stop.is_cancelled() {
                tracing::warn!("stopping now: received a second signal");
                logs::flush();
                // By the shell's convention: 143 for SIGTERM, 130 for SIGINT.
                std::process::exit(128 + signal.as_raw_value());
            }
            tracing::info!("stopping: running calls may finish (signal again to stop now)");
            stop.cancel();
        }
    });
    Ok(token)
}

async fn hangup(signal: &mut Option<Signal>) -> Option<()> {
    match signal {
        Some(signal) => signal.recv().await,
        None => std::future::pending().await,
    }
}

/// Returns true if the parent process made this one ignore a signal.
fn is_ignored(signal: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal.as_raw_value() - 1) & 1 == 1
}

/// Returns a token that is cancelled `delay` after another, for services that stay up until load balancers have noticed.
pub fn delayed(token: &CancellationToken, delay: Duration) -> CancellationToken {
    if delay.is_zero() {
        return token.clone();
    }
    let (token, stop) = (token.clone(), CancellationToken::new());
    let delayed = stop.clone();
    tokio::spawn(async move {
        token.cancelled().await;
        tracing::info!("not ready: accepting connections for {} ms more", delay.as_millis());
        tokio::time::sleep(delay).await;
        delayed.cancel();
    });
    stop
}
