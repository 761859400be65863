//! How the host is told to end: once means "finish and go", twice means "now".

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// A token that ends with the first SIGTERM or SIGINT. The second ends the process.
///
/// # Errors
///
/// If the signals cannot be received.
pub fn shutdown() -> std::io::Result<CancellationToken> {
    let token = CancellationToken::new();
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let told = token.clone();
    tokio::spawn(async move {
        for _ in 0..2 {
            tokio::select! {
                _ = term.recv() => {}
                _ = int.recv() => {}
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
