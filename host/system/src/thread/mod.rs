//! CPU time and priority of the current thread.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{HAS_EXACT_CPU_TIME, cpu_time, lower_priority};
#[cfg(windows)]
pub use windows::{HAS_EXACT_CPU_TIME, cpu_time, lower_priority};

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn waiting_takes_no_cpu_time() {
        let began = cpu_time();
        while cpu_time() - began < 40_000_000 {}
        let computed = cpu_time();
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        assert!(receiver.recv_timeout(Duration::from_millis(60)).is_err());
        drop(sender);
        assert!(cpu_time() - computed < 40_000_000);
    }
}
