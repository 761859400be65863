//! A child's stderr, in the host's log.

use std::time::Duration;

use loggia_text::{printable, redact, redact_beginning};
use tokio::{io::AsyncRead, time::Instant};

use super::bounded_lines::{BoundedLines, StreamLine};

/// Lines that are logged in one window. The rest is counted.
const LINES: u32 = 100;
/// The window: a stack trace fits, a flood does not fill the disk.
const WINDOW: Duration = Duration::from_secs(10);

/// Logs the lines of a child's stderr until it closes. Each is one line of the log, without credentials.
pub(super) async fn log_stderr(name: String, stderr: impl AsyncRead + Unpin, max: usize) {
    let mut lines = BoundedLines::new(stderr, max);
    let (mut began, mut logged, mut dropped) = (Instant::now(), 0, 0_u64);
    while let Ok(Some(line)) = lines.next().await {
        if began.elapsed() >= WINDOW {
            report(&name, dropped);
            (began, logged, dropped) = (Instant::now(), 0, 0);
        }
        if logged == LINES {
            dropped += 1;
            continue;
        }
        logged += 1;
        match line {
            StreamLine::Whole(line) => {
                let text = String::from_utf8_lossy(&line);
                tracing::info!(upstream = name, "stderr: {}", printable(&redact(&text)));
            }
            StreamLine::Cut(line) => {
                let text = String::from_utf8_lossy(&line);
                tracing::info!(upstream = name, "stderr: {}…", printable(&redact_beginning(&text)));
            }
        }
    }
    report(&name, dropped);
}

fn report(name: &str, dropped: u64) {
    if dropped > 0 {
        tracing::info!(upstream = name, lines = dropped, "more lines of stderr are not logged");
    }
}
