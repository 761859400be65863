//! How the host is told to end: once means "finish and go", twice means "now". A terminal that closes tells it too, but for
//! who was to outlive it (`nohup`).

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// A token that ends with the first SIGTERM, SIGINT or SIGHUP. A second one ends the process, but for SIGHUP: kernel and shell
/// both send it where a terminal closes.
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
            let insists = tokio::select! {
                _ = term.recv() => true,
                _ = int.recv() => true,
                _ = hangup(&mut hup) => false,
            };
            if told.is_cancelled() && !insists {
                continue;
            }
            if told.is_cancelled() {
                tracing::warn!("told to stop twice: stopping now");
                std::process::exit(130);
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
