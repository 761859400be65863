//! Counters of calls every five seconds for the last half hour, and what charts show of them.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use loggia_gate::flow::{BUCKET_BOUNDS, GateMeters};

/// Time between two samples.
pub(super) const PERIOD: Duration = Duration::from_secs(5);
/// Samples that are kept.
pub(super) const MOST: usize = 361;
/// Samples over which a latency and the rate of a caller are computed: one minute.
const MINUTE: usize = 12;

/// Counters at one moment, since the start.
#[derive(Debug, Clone, Default)]
pub(super) struct LoadSample {
    calls: u64,
    failed: u64,
    seconds: f64,
    buckets: [u64; BUCKET_BOUNDS.len() + 1],
}

/// What happened between two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LoadPoint {
    /// Calls per second.
    pub(super) calls: f64,
    /// Failed calls per second.
    pub(super) failed: f64,
    /// Mean duration over a minute, in seconds; `None` without calls.
    pub(super) mean: Option<f64>,
    /// Bound below which 95 of 100 calls of that minute were, in seconds.
    pub(super) p95: Option<f64>,
}

/// Calls of a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallerRate {
    pub(super) name: Arc<str>,
    /// Calls since the start.
    pub(super) calls: u64,
    pub(super) failed: u64,
    /// Calls within the last minute.
    pub(super) recent: u64,
}

#[derive(Default)]
struct SampleState {
    samples: VecDeque<LoadSample>,
    callers: VecDeque<BTreeMap<Arc<str>, u64>>,
}

/// The samples. The mutex is held to add one, or to compute points from them.
#[derive(Default)]
pub(super) struct SampleRing(Mutex<SampleState>);

impl SampleRing {
    /// Adds a sample.
    pub(super) fn record(&self, meters: &GateMeters) {
        let (sample, callers) = (LoadSample::read(meters), read_callers(meters));
        let mut state = self.lock();
        state.samples.push_back(sample);
        if state.samples.len() > MOST {
            state.samples.pop_front();
        }
        state.callers.push_back(callers);
        if state.callers.len() > MINUTE {
            state.callers.pop_front();
        }
    }

    /// Returns the points of the charts, oldest first.
    pub(super) fn points(&self) -> Vec<LoadPoint> {
        let state = self.lock();
        (1..state.samples.len())
            .map(|at| {
                let (now, before) = (&state.samples[at], &state.samples[at - 1]);
                let minute = &state.samples[at.saturating_sub(MINUTE)];
                now.since(before, minute)
            })
            .collect()
    }

    /// Returns the callers, the busiest of the last minute first.
    pub(super) fn callers(&self, meters: &GateMeters) -> Vec<CallerRate> {
        let before = self.lock().callers.front().cloned().unwrap_or_default();
        let known = meters.callers.load();
        let rates = known.iter().map(|(name, counts)| {
            let calls = counts.calls.get();
            let recent = calls - before.get(name).copied().unwrap_or_default().min(calls);
            CallerRate { name: Arc::clone(name), calls, failed: counts.failed.get(), recent }
        });
        let mut rates: Vec<_> = rates.collect();
        rates.sort_by(|a, b| (b.recent, b.calls, &a.name).cmp(&(a.recent, a.calls, &b.name)));
        rates
    }

    fn lock(&self) -> MutexGuard<'_, SampleState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_callers(meters: &GateMeters) -> BTreeMap<Arc<str>, u64> {
    let known = meters.callers.load();
    known.iter().map(|(name, counts)| (Arc::clone(name), counts.calls.get())).collect()
}

impl LoadSample {
    fn read(meters: &GateMeters) -> Self {
        let mut sample = Self::default();
        for facade in meters.calls.load().values() {
            for outcomes in facade.actions.load().values() {
                for (outcome, count) in outcomes.counts() {
                    sample.calls += count;
                    if outcome != "ok" {
                        sample.failed += count;
                    }
                }
            }
            let (seconds, buckets) = facade.times.totals();
            sample.seconds += seconds;
            sample.buckets.iter_mut().zip(buckets).for_each(|(sum, count)| *sum += count);
        }
        sample
    }

    #[allow(clippy::cast_precision_loss, reason = "counts for a chart")]
    fn since(&self, before: &Self, minute: &Self) -> LoadPoint {
        let rate = |now: u64, then: u64| now.saturating_sub(then) as f64 / PERIOD.as_secs_f64();
        let buckets: Vec<u64> =
            self.buckets.iter().zip(minute.buckets).map(|(now, then)| now.saturating_sub(then)).collect();
        let ended: u64 = buckets.iter().sum();
        let mean = (ended > 0).then(|| (self.seconds - minute.seconds).max(0.0) / ended as f64);
        LoadPoint {
            calls: rate(self.calls, before.calls),
            failed: rate(self.failed, before.failed),
            mean,
            p95: bound_of(&buckets, ended),
        }
    }
}

/// Upper bound of the bucket in which 95 of 100 calls have ended. Calls above all bounds count as the largest one.
fn bound_of(buckets: &[u64], ended: u64) -> Option<f64> {
    let wanted = (ended > 0).then(|| (ended * 95).div_ceil(100))?;
    let mut seen = 0;
    let at = buckets.iter().position(|count| {
        seen += count;
        seen >= wanted
    })?;
    BUCKET_BOUNDS.get(at).or(BUCKET_BOUNDS.last()).copied()
}

#[cfg(test)]
mod tests {
    use loggia_gate::flow::CallOutcome;

    use super::*;

    #[test]
    fn points_are_the_differences_of_samples() {
        let (ring, meters) = (SampleRing::default(), GateMeters::default());
        ring.record(&meters);
        assert_eq!(ring.points(), []);
        let facade = meters.calls.get_or_insert("notes");
        let outcomes = facade.actions.get_or_insert("add");
        for at in 0..20_u8 {
            outcomes.increment(if at == 0 { CallOutcome::Failed } else { CallOutcome::Ok });
            facade.times.record(Duration::from_millis(if at == 0 { 150 } else { 15 }));
        }
        ring.record(&meters);
        ring.record(&meters);
        let points = ring.points();
        assert_eq!((points[0].calls, points[0].failed), (4.0, 0.2));
        assert!((points[0].mean.unwrap() - 0.021_75).abs() < 1e-6);
        assert_eq!(points[0].p95, Some(0.02));
        assert_eq!((points[1].calls, points[1].p95), (0.0, Some(0.02)), "latencies are over a minute");
        for _ in 0..MOST {
            ring.record(&meters);
        }
        assert_eq!(ring.points().len(), MOST - 1);
        assert_eq!(ring.points().last().and_then(|point| point.mean), None);
    }

    #[test]
    fn the_busiest_caller_is_first() {
        let (ring, meters) = (SampleRing::default(), GateMeters::default());
        let call = |name: &str, times: usize| {
            (0..times).for_each(|at| meters.callers.get_or_insert(name).record(at == 0));
        };
        call("ada", 5);
        ring.record(&meters);
        call("bob", 2);
        let rates = ring.callers(&meters);
        let rates: Vec<_> =
            rates.iter().map(|rate| (&*rate.name, rate.calls, rate.failed, rate.recent)).collect();
        assert_eq!(rates, [("bob", 2, 1, 2), ("ada", 5, 1, 0)]);
    }
}
