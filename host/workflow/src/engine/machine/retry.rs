//! Pauses between attempts, by ToolHive's rule.
//!
//! Each pause is 1.5 times the previous one, at most 60 times the first, and varies by ±50 % so that steps that failed
//! together do not retry together.

use std::time::Duration;

use loggia_facade::{Failure, code};

use crate::engine::{failure::INTERRUPTED, model::TaskId};

/// Maximum pause, as a multiple of the first.
const LONGEST: f64 = 60.0;
/// Growth factor of the pause.
const GROWTH: f64 = 1.5;

/// Returns true if another attempt may succeed. ToolHive retries every failure; cancellation stays final, and so does an
/// interruption.
pub(crate) fn is_retryable(failure: &Failure) -> bool {
    failure.code != code::CANCELLED && failure.code != INTERRUPTED
}

/// Computes the pause after an attempt. `wanted`: the minimum that the failure asks for, in milliseconds.
pub(crate) fn backoff(seed: u64, task: TaskId, delay: Duration, wanted: Option<u64>) -> Duration {
    let exponent = i32::try_from(task.attempt).unwrap_or(i32::MAX);
    let times = GROWTH.powi(exponent).min(LONGEST) * (0.5 + jitter(seed, task));
    let own = Duration::try_from_secs_f64(delay.as_secs_f64() * times).unwrap_or(Duration::MAX);
    own.max(Duration::from_millis(wanted.unwrap_or(0)))
}

/// Returns a number from 0 to 1 that depends only on the seed and the attempt, so that runs are reproducible.
fn jitter(seed: u64, task: TaskId) -> f64 {
    let item = task.item.map_or(0, |item| item as u64 + 1);
    let mixed = [task.step as u64, item, u64::from(task.attempt)]
        .into_iter()
        .fold(seed, |sum, part| split_mix(sum ^ part));
    // The upper 53 bits fit an `f64` exactly.
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

/// Computes one step of the SplitMix64 generator, which is small and good enough for jitter.
fn split_mix(state: u64) -> u64 {
    let state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(step: usize, attempt: u32) -> TaskId {
        TaskId::first(step, None).with_attempt(attempt)
    }

    #[test]
    fn pauses_grow_by_half_up_to_sixty_times_the_first_and_vary_by_half() {
        let delay = Duration::from_secs(1);
        for (attempt, middle) in
            [(0, 1.0), (1, 1.5), (2, 2.25), (9, 38.443), (10, 57.665), (11, 60.0), (u32::MAX, 60.0)]
        {
            let mut all: Vec<f64> = (0..200)
                .map(|step| backoff(7, task(step, attempt), delay, None).as_secs_f64() / middle)
                .collect();
            all.sort_by(f64::total_cmp);
            assert!(all[0] >= 0.499 && all[199] <= 1.501, "{attempt}: {all:?}");
            assert!(all[0] < 0.6 && all[199] > 1.4, "they spread: {attempt}");
        }
    }

    #[test]
    fn a_failure_can_ask_for_more_and_the_seed_decides_the_rest() {
        let delay = Duration::from_millis(200);
        assert_eq!(backoff(1, task(0, 0), delay, Some(10_000)), Duration::from_secs(10));
        assert!(backoff(1, task(0, 0), delay, Some(1)) >= Duration::from_millis(100));
        assert_eq!(backoff(1, task(3, 2), delay, None), backoff(1, task(3, 2), delay, None));
        assert_ne!(backoff(1, task(3, 2), delay, None), backoff(2, task(3, 2), delay, None));
        assert_eq!(
            backoff(1, task(0, 5), Duration::MAX, None).max(Duration::MAX),
            Duration::MAX,
            "nothing overflows"
        );
    }
}
