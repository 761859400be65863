//! How the host is told to end: once means "finish and go", twice means "now". A terminal that closes tells it too, but for
//! who was to outlive it (`nohup`).

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::telemetry::logs;

/// A token that ends with the first SIGTERM, SIGINT or SIGHUP. A second one ends the process, with 128 and the number of the signal
/// as its exit code, but for SIGHUP: kernel and shell both send it where a terminal closes.
///
/// # Errors
///
/// If the signals cannot be received.
pub fn shutdown() -> std::io::Result<CancellationToken> {
    let token = CancellationToken::new();
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let mut hup = if is_ignored(SignalKind::hangup()) { None } else { Some(signal(SignalKind::hangup())?) };
    let told = token.clone();
    tokio::spawn(async move {
        loop {
            let signal = tokio::select! {
                _ = term.recv() => SignalKind::terminate(),
                _ = int.recv() => SignalKind::interrupt(),
                _ = hangup(&mut hup) => SignalKind::hangup(),
            };
            if told.is_cancelled() && signal == SignalKind::hangup() {
                continue;
            }
            if told.is_cancelled() {
                tracing::warn!("told to stop twice: stopping now");
                logs::flush();
                // As a shell says it of a process that a signal ended: 143 for SIGTERM, 130 for SIGINT.
                std::process::exit(128 + signal.as_raw_value());
            }
            tracing::info!("stopping: calls that run may finish (stop again to stop now)");
            told.cancel();
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

/// Whether who started this process wants it not to hear of a signal.
fn is_ignored(signal: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal.as_raw_value() - 1) & 1 == 1
}

/// A token that ends so much later than another, for what goes on until clients come no more.
pub fn delayed(told: &CancellationToken, delay: Duration) -> CancellationToken {
    if delay.is_zero() {
        return told.clone();
    }
    let (told, stop) = (told.clone(), CancellationToken::new());
    let stops = stop.clone();
    tokio::spawn(async move {
        told.cancelled().await;
        tracing::info!("unready: connections are taken for {} ms more", delay.as_millis());
        tokio::time::sleep(delay).await;
        stops.cancel();
    });
    stop
}
