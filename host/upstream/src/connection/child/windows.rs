//! The child alone: the processes that it starts are not killed with it.

use tokio::process::{Child, Command};

/// Variables that a child inherits: what it needs to find programs, its user's files, and the folders of the system. Others may
/// hold secrets of the host, so `env` has to name them.
pub const INHERITED_VARIABLES: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
];

/// The console group of the child. The crates used here cannot kill it as a whole.
pub(super) struct ProcessGroup;

/// Keeps Ctrl-C in the host's console from the child (`CREATE_NEW_PROCESS_GROUP`).
const NEW_GROUP: u32 = 0x200;

impl ProcessGroup {
    /// Puts a child into a group of its own.
    pub(super) fn separate(command: &mut Command) {
        command.creation_flags(NEW_GROUP);
    }

    /// Returns the group that a child leads.
    pub(super) fn of_leader(_id: u32) -> Option<Self> {
        Some(Self)
    }

    /// Does nothing: the closed stdin is the request.
    pub(super) fn request_end(&self) {}

    /// Kills the child.
    pub(super) fn kill(self, leader: &mut Child) {
        // It may have ended by itself.
        let _ = leader.start_kill();
    }
}
