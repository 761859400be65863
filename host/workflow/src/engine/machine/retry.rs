//! How long a step waits before it is tried again.
//!
//! ToolHive's rule: half as long again each time, at most sixty times the first pause, and each up to half longer or
//! shorter by chance, so that those who failed together do not come again together.

use std::time::Duration;

use loggia_facade::{Failure, code};

use crate::engine::model::TaskId;

/// The longest pause, in times of the first.
const LONGEST: f64 = 60.0;
/// By how much each pause is longer than the one before.
const GROWTH: f64 = 1.5;

/// Whether another try can help. ToolHive tries again whatever went wrong; only who was told to stop stays stopped.
pub(crate) fn can_help(failure: &Failure) -> bool {
    failure.code != code::CANCELLED
}

/// The pause after this try. `wanted`: at least so long, because the failure says so.
pub(crate) fn pause(seed: u64, task: TaskId, delay: Duration, wanted: Option<u64>) -> Duration {
    let exponent = i32::try_from(task.attempt).unwrap_or(i32::MAX);
    let times = GROWTH.powi(exponent).min(LONGEST) * (0.5 + chance(seed, task));
    let own = Duration::try_from_secs_f64(delay.as_secs_f64() * times).unwrap_or(Duration::MAX);
    own.max(Duration::from_millis(wanted.unwrap_or(0)))
}

/// A number from 0 to 1, the same for the same try of the same run: the order in which others fail must not change it.
fn chance(seed: u64, task: TaskId) -> f64 {
    let item = task.item.map_or(0, |item| item as u64 + 1);
    let mixed = [task.step as u64, item, u64::from(task.attempt)]
        .into_iter()
        .fold(seed, |sum, part| split_mix(sum ^ part));
    // The upper 53 bits are what a `f64` holds exactly.
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

/// One step of the generator SplitMix64: small, and good enough for spreading.
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
        TaskId { step, item: None, attempt }
    }

    #[test]
    fn pauses_grow_by_half_up_to_sixty_times_the_first_and_vary_by_half() {
        let delay = Duration::from_secs(1);
        for (attempt, middle) in
            [(0, 1.0), (1, 1.5), (2, 2.25), (9, 38.443), (10, 57.665), (11, 60.0), (u32::MAX, 60.0)]
        {
            let mut all: Vec<f64> = (0..200)
                .map(|step| pause(7, task(step, attempt), delay, None).as_secs_f64() / middle)
                .collect();
            all.sort_by(f64::total_cmp);
            assert!(all[0] >= 0.499 && all[199] <= 1.501, "{attempt}: {all:?}");
            assert!(all[0] < 0.6 && all[199] > 1.4, "they spread: {attempt}");
        }
    }

    #[test]
    fn a_failure_can_ask_for_more_and_the_seed_decides_the_rest() {
        let delay = Duration::from_millis(200);
        assert_eq!(pause(1, task(0, 0), delay, Some(10_000)), Duration::from_secs(10));
        assert!(pause(1, task(0, 0), delay, Some(1)) >= Duration::from_millis(100));
        assert_eq!(pause(1, task(3, 2), delay, None), pause(1, task(3, 2), delay, None));
        assert_ne!(pause(1, task(3, 2), delay, None), pause(2, task(3, 2), delay, None));
        assert_eq!(
            pause(1, task(0, 5), Duration::MAX, None).max(Duration::MAX),
            Duration::MAX,
            "nothing overflows"
        );
    }
}
