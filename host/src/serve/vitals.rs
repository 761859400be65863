//! Resource usage, logged on SIGUSR1: the first thing to check if the host seems to leak.

use std::{fs, io, sync::LazyLock, time::SystemTime};

use loggia_gate::schedule::RuntimeHandles;
use rustix::{
    process::{Resource, getrlimit},
    time::{ClockId, clock_gettime},
};
use tokio::{
    runtime::Handle,
    signal::unix::{SignalKind, signal},
};

use crate::{
    serve::memory,
    telemetry::{logs::VITALS, metrics::ProcessStats},
};

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
    let mut requests = signal(SignalKind::user_defined1())?;
    let runtimes = [Handle::current(), lanes.calls, lanes.heavy];
    tokio::spawn(async move {
        while requests.recv().await.is_some() {
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
/// If `/proc` cannot be read.
pub fn process_stats() -> io::Result<ProcessStats> {
    let status = fs::read_to_string("/proc/self/status")?;
    let unreadable = || io::Error::other("/proc/self/status is not as expected");
    let (resident_kib, threads) = resident_and_threads(&status).ok_or_else(unreadable)?;
    // One of them is the descriptor of the listing itself.
    let descriptors = fs::read_dir("/proc/self/fd")?.count().saturating_sub(1);
    let cpu = clock_gettime(ClockId::ProcessCPUTime);
    Ok(ProcessStats {
        resident: resident_kib as u64 * 1024,
        descriptors,
        most_descriptors: getrlimit(Resource::Nofile).current,
        threads,
        cpu: cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9,
        started: *STARTED,
    })
}

/// Parses resident memory in KiB and the number of threads.
fn resident_and_threads(status: &str) -> Option<(usize, usize)> {
    let value = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key))?;
        line.split_whitespace().next()?.parse().ok()
    };
    Some((value("VmRSS:")?, value("Threads:")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_status_is_parsed() {
        let status = "Name:\tloggia\nVmHWM:\t   90000 kB\nVmRSS:\t   24576 kB\nThreads:\t11\n";
        assert_eq!(resident_and_threads(status), Some((24576, 11)));
        assert_eq!(resident_and_threads("Name:\tloggia\n"), None);
    }

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
