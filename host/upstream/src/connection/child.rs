//! A child process, with its group and its environment.

use std::{io, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use crate::spec::StdioSpec;

/// Variables that a child inherits: what it needs to find programs, its user's files, and the language of its messages.
/// Others may hold secrets of the host, so `env` has to name them.
pub const INHERITED_VARIABLES: [&str; 13] = [
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

/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// A child that leads a process group of its own. Dropping it kills the group.
///
/// Processes that leave the group (`setsid`) survive it.
pub(super) struct ChildGroup {
    child: Child,
    /// None once the group was killed: its id may be reused.
    group: Option<Pid>,
}

/// The standard streams of a child.
pub(super) struct ChildStreams {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

impl ChildGroup {
    /// Starts a child.
    ///
    /// # Errors
    ///
    /// If the command cannot be started.
    pub(super) fn start(spec: &StdioSpec) -> io::Result<(Self, ChildStreams)> {
        let mut command = Command::new(&spec.command);
        command.args(&spec.args).env_clear();
        command
            .envs(INHERITED_VARIABLES.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.envs(&spec.env);
        if let Some(cwd) = &spec.cwd {
            command.current_dir(cwd);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A signal for the host's terminal does not reach the child, and the group can be killed as a whole.
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn()?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let group = Self { child, group };
        match streams {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok((group, ChildStreams { stdin, stdout, stderr })),
            _ => Err(io::Error::other("the child has no standard streams")),
        }
    }

    /// Waits until the child itself ends, then kills what it left in its group, and describes its end.
    pub(super) async fn ended(&mut self) -> String {
        let status = self.child.wait().await;
        self.kill();
        match status {
            Ok(status) => format!("its process ended with {status}"),
            Err(error) => format!("its process is lost: {error}"),
        }
    }

    /// Ends the group: SIGTERM, and SIGKILL after a grace period. The stdin should be closed before.
    pub(super) async fn end(mut self) {
        if let Some(group) = self.group {
            // It may have ended by itself.
            let _ = kill_process_group(group, Signal::TERM);
        }
        if timeout(GRACE, self.ended()).await.is_err() {
            self.kill();
            // SIGKILL cannot be ignored, but a process may be stuck in the kernel: the runtime then reaps it later.
            let _ = timeout(GRACE, self.child.wait()).await;
        }
    }

    fn kill(&mut self) {
        if let Some(group) = self.group.take() {
            // Nothing is left in it, if this fails.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        self.kill();
    }
}
