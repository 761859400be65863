//! Resource usage, logged on SIGUSR1: the first thing to check if the host seems to leak.

use std::{io, sync::LazyLock, time::SystemTime};

use loggia_gate::schedule::RuntimeHandles;
use loggia_telemetry::{logs::VITALS, metrics::ProcessStats};
use tokio::runtime::Handle;

use crate::{memory, signals::UsageSignal};

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use other as system;

/// Resource usage at one moment.
#[derive(Debug, PartialEq)]
struct Vitals {
    process: ProcessStats,
    tasks: TaskCounts,
}

/// Live tasks of the I/O runtime, and of the two runtimes of calls.
#[derive(Debug, PartialEq, Eq)]
pub struct TaskCounts(pub [usize; 3]);

/// Start time of this process.
static STARTED: LazyLock<SystemTime> = LazyLock::new(SystemTime::now);

/// Records the start time, unless that was done before.
pub fn record_start() {
    LazyLock::force(&STARTED);
}

/// Logs resource usage on each SIGUSR1 from now on. Until then, the signal's default would kill the process, so call this
/// before serving.
///
/// Must be called on the I/O runtime.
///
/// # Errors
///
/// If the signal cannot be received.
pub fn log_on_signal(lanes: RuntimeHandles) -> io::Result<()> {
    let mut requests = UsageSignal::listen()?;
    let runtimes = [Handle::current(), lanes.calls, lanes.heavy];
    tokio::spawn(async move {
        while requests.received().await.is_some() {
            // Memory that the allocator caches is not in use.
            memory::trim();
            match Vitals::read(&runtimes) {
                Ok(vitals) => vitals.log(),
                Err(error) => tracing::warn!("failed to read the resource usage: {error}"),
            }
        }
    });
    Ok(())
}

impl Vitals {
    fn read(runtimes: &[Handle; 3]) -> io::Result<Self> {
        Ok(Self { process: process_stats()?, tasks: TaskCounts::read(runtimes) })
    }

    fn log(&self) {
        let Self {
            process: ProcessStats { resident, descriptors, threads, .. },
            tasks: TaskCounts([io, calls, heavy]),
        } = self;
        let (io_tasks, call_tasks) = (io, calls + heavy);
        let resident_mib = *resident as f64 / f64::from(1 << 20);
        let resident_mib = format_args!("{resident_mib:.1}");
        tracing::info!(target: VITALS, %resident_mib, descriptors, threads, io_tasks, call_tasks, "vitals");
    }
}

impl TaskCounts {
    /// Counts the live tasks.
    pub fn read(runtimes: &[Handle; 3]) -> Self {
        Self(runtimes.each_ref().map(|runtime| runtime.metrics().num_alive_tasks()))
    }
}

/// Reads the resource usage of this process.
///
/// # Errors
///
/// If the system does not report it.
pub fn process_stats() -> io::Result<ProcessStats> {
    system::process_stats(*STARTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn live_tasks_are_counted() {
        let runtimes = [(); 3].map(|()| Handle::current());
        let before = Vitals::read(&runtimes).unwrap();
        let task = tokio::spawn(std::future::pending::<()>());
        let during = Vitals::read(&runtimes).unwrap();
        task.abort();
        assert_eq!(during.tasks.0[0], before.tasks.0[0] + 1);
        let ProcessStats { resident, descriptors, threads, cpu, .. } = during.process;
        assert!(threads > 0 && descriptors > 0 && resident > 500_000 && cpu > 0.0, "{during:?}");
    }
}
