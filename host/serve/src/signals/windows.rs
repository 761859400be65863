//! Events of the console. Windows has no others that a program could send to a service like this.

use std::io;

use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown,
};

/// Exit code of a host that is interrupted twice, as on other systems.
const INTERRUPTED: i32 = 130;

/// Events that stop the host.
pub(super) struct StopSignals {
    interrupt: CtrlC,
    /// What other processes can send (`GenerateConsoleCtrlEvent`).
    stop: CtrlBreak,
    /// The console closes. Windows ends the process some seconds later.
    close: CtrlClose,
    /// The system shuts down. Windows ends the process some seconds later.
    shutdown: CtrlShutdown,
}

impl StopSignals {
    /// Receives them from now on.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: ctrl_c()?,
            stop: ctrl_break()?,
            close: ctrl_close()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    /// Waits for the next one. Returns the exit code if it is the second one; `None` if a second one is ignored.
    pub(super) async fn received(&mut self) -> Option<i32> {
        tokio::select! {
            _ = self.interrupt.recv() => Some(INTERRUPTED),
            _ = self.stop.recv() => Some(INTERRUPTED),
            _ = self.close.recv() => None,
            _ = self.shutdown.recv() => None,
        }
    }
}

/// Requests for the resource usage, of which there are none on Windows.
pub struct UsageSignal(());

impl UsageSignal {
    /// Succeeds.
    ///
    /// # Errors
    ///
    /// None.
    pub fn listen() -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Returns `None`: there will be none.
    pub async fn received(&mut self) -> Option<()> {
        None
    }
}
