//! POSIX signals. SIGHUP counts, too, unless it is ignored (`nohup`), which can be read on Linux only.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals that stop the host.
pub(super) struct StopSignals {
    term: Signal,
    int: Signal,
    /// None if it is ignored.
    hup: Option<Signal>,
}

impl StopSignals {
    /// Receives them from now on.
    pub(super) fn listen() -> io::Result<Self> {
        // Received, so that it does not end the process: a file at its size limit is an error of whoever writes it.
        drop(signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?);
        let hup = if is_ignored(SignalKind::hangup()) { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self { term: signal(SignalKind::terminate())?, int: signal(SignalKind::interrupt())?, hup })
    }

    /// Waits for the next one. Returns the exit code if it is the second one; `None` if a second one is ignored.
    pub(super) async fn received(&mut self) -> Option<i32> {
        // By the shell's convention: 143 for SIGTERM, 130 for SIGINT.
        let exit = |kind: SignalKind| Some(128 + kind.as_raw_value());
        tokio::select! {
            _ = self.term.recv() => exit(SignalKind::terminate()),
            _ = self.int.recv() => exit(SignalKind::interrupt()),
            _ = hangup(&mut self.hup) => None,
        }
    }
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

/// Requests for the resource usage: SIGUSR1.
pub struct UsageSignal(Signal);

impl UsageSignal {
    /// Receives them from now on.
    ///
    /// # Errors
    ///
    /// If the signal cannot be received.
    pub fn listen() -> io::Result<Self> {
        signal(SignalKind::user_defined1()).map(Self)
    }

    /// Waits for the next one; `None` if there will be none.
    pub async fn received(&mut self) -> Option<()> {
        self.0.recv().await
    }
}
