//! Resource usage from `/proc`.

use std::{fs, io, time::SystemTime};

use loggia_system::descriptors;
use loggia_telemetry::metrics::ProcessStats;
use rustix::time::{ClockId, clock_gettime};

/// Reads the resource usage of this process, which started at this time.
pub(super) fn process_stats(started: SystemTime) -> io::Result<ProcessStats> {
    let status = fs::read_to_string("/proc/self/status")?;
    let unreadable = || io::Error::other("/proc/self/status is not as expected");
    let (resident_kib, threads) = resident_and_threads(&status).ok_or_else(unreadable)?;
    // One of them is the descriptor of the listing itself.
    let descriptors = fs::read_dir("/proc/self/fd")?.count().saturating_sub(1);
    let cpu = clock_gettime(ClockId::ProcessCPUTime);
    Ok(ProcessStats {
        resident: resident_kib as u64 * 1024,
        descriptors,
        most_descriptors: descriptors::limit(),
        threads,
        cpu: cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9,
        started,
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
}
