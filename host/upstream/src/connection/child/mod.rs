//! A child process, with its group and its environment.

use std::{io, process::Stdio, time::Duration};

use tokio::{
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use crate::spec::StdioSpec;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::INHERITED_VARIABLES;
#[cfg(unix)]
use unix::ProcessGroup;
#[cfg(windows)]
pub use windows::INHERITED_VARIABLES;
#[cfg(windows)]
use windows::ProcessGroup;

/// Time between the request to end and the kill.
const GRACE: Duration = Duration::from_secs(2);

/// A child that leads a process group of its own. Dropping it kills the group.
///
/// Processes that leave the group (`setsid`) survive it. On Windows the child is its only member.
pub(super) struct ChildGroup {
    child: Child,
    /// None once the group was killed: its id may be reused.
    group: Option<ProcessGroup>,
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
        command.envs(INHERITED_VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.envs(&spec.env);
        if let Some(cwd) = &spec.cwd {
            command.current_dir(cwd);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.kill_on_drop(true);
        ProcessGroup::separate(&mut command);
        let mut child = command.spawn()?;
        let group = child.id().and_then(ProcessGroup::of_leader);
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

    /// Ends the group: asks it to end, and kills it after a grace period. The stdin should be closed before, which is the only
    /// request on Windows.
    pub(super) async fn end(mut self) {
        if let Some(group) = &self.group {
            group.request_end();
        }
        if timeout(GRACE, self.ended()).await.is_err() {
            self.kill();
            // A kill cannot be ignored, but a process may be stuck in the kernel: the runtime then reaps it later.
            let _ = timeout(GRACE, self.child.wait()).await;
        }
    }

    fn kill(&mut self) {
        if let Some(group) = self.group.take() {
            group.kill(&mut self.child);
        }
    }
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        self.kill();
    }
}
