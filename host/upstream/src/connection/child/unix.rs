//! Process groups.

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

/// Variables that a child inherits: what it needs to find programs, its user's files, and the language of its messages.
/// Others may hold secrets of the host, so `env` has to name them.
pub const INHERITED_VARIABLES: &[&str] = &[
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
];

/// A child and the processes that it starts, by the id of the child.
pub(super) struct ProcessGroup(Pid);

impl ProcessGroup {
    /// Makes a child lead a group: a signal for the host's terminal does not reach it, and the group can be killed as a whole.
    pub(super) fn separate(command: &mut Command) {
        command.process_group(0);
    }

    /// Returns the group that a child leads.
    pub(super) fn of_leader(id: u32) -> Option<Self> {
        Pid::from_raw(i32::try_from(id).ok()?).map(Self)
    }

    /// Sends SIGTERM.
    pub(super) fn request_end(&self) {
        // It may have ended by itself.
        let _ = kill_process_group(self.0, Signal::TERM);
    }

    /// Sends SIGKILL.
    pub(super) fn kill(self, _leader: &mut Child) {
        // Nothing is left in it, if this fails.
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}
