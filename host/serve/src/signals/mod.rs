//! Shutdown signals. The first one starts a graceful shutdown, the second one exits immediately.

use std::time::Duration;

use loggia_telemetry::logs;
use tokio_util::sync::CancellationToken;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix::StopSignals;
#[cfg(unix)]
pub use unix::UsageSignal;
#[cfg(windows)]
use windows::StopSignals;
#[cfg(windows)]
pub use windows::UsageSignal;

/// Returns a token that is cancelled by the first signal: SIGTERM, SIGINT or SIGHUP; on Windows Ctrl-C, Ctrl-Break, the end of
/// the console or of the session. A second SIGTERM or SIGINT exits with 128 plus the number of the signal. A second SIGHUP is
/// ignored, since kernel and shell both send one when a terminal closes.
///
/// # Errors
///
/// If the signals cannot be received.
pub fn shutdown() -> std::io::Result<CancellationToken> {
    let token = CancellationToken::new();
    let mut signals = StopSignals::listen()?;
    let stop = token.clone();
    tokio::spawn(async move {
        loop {
            let exit = signals.received().await;
            if !stop.is_cancelled() {
                tracing::info!("stopping: running calls may finish (signal again to stop now)");
                stop.cancel();
            } else if let Some(exit) = exit {
                tracing::warn!("stopping now: received a second signal");
                logs::flush();
                std::process::exit(exit);
            }
        }
    });
    Ok(token)
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
