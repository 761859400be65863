//! Results of many calls.

use std::time::Duration;

/// The calls of one phase, or of a part of it.
#[derive(Default)]
pub struct Flood {
    /// From the first byte written to the last reply.
    pub wall: Duration,
    /// From just before a call was written to the last byte of its reply.
    pub latencies: Vec<Duration>,
    /// Calls without a response.
    pub lost: usize,
}

impl Flood {
    /// Joins two parts of a phase.
    pub fn add(&mut self, other: Self) {
        self.wall += other.wall;
        self.latencies.extend(other.latencies);
        self.lost += other.lost;
    }

    /// Calls answered per second.
    pub fn rate(&self) -> f64 {
        self.latencies.len() as f64 / self.wall.as_secs_f64()
    }
}

/// Percentile of the times; zero if there are none.
pub fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    let rank = (times.len() * percent).div_ceil(100).max(1);
    times.get(rank - 1).copied().unwrap_or_default()
}

/// In milliseconds.
pub fn ms(d: Duration) -> f64 {
    d.as_secs_f64() * 1e3
}

/// In microseconds.
pub fn us(d: Duration) -> f64 {
    d.as_secs_f64() * 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_times() {
        let mut times: Vec<Duration> = (1..=10).rev().map(Duration::from_millis).collect();
        assert_eq!(percentile(&mut times, 50), Duration::from_millis(5));
        assert_eq!(percentile(&mut times, 99), Duration::from_millis(10));
        assert_eq!(percentile(&mut times, 1), Duration::from_millis(1));
        assert_eq!(percentile(&mut [], 50), Duration::ZERO);
    }

    #[test]
    fn parts_of_a_phase_add_up() {
        let part = |n, wall| Flood {
            wall: Duration::from_secs(wall),
            latencies: vec![Duration::from_millis(1); n],
            lost: 1,
        };
        let mut whole = part(10, 1);
        whole.add(part(30, 3));
        assert_eq!((whole.rate(), whole.lost), (10.0, 2));
    }
}
