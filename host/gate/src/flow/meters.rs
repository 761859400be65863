//! What is counted while calls run: plain atomics, so that counting costs a call next to nothing and waits for nobody.
//! Who counts knows neither the names that `metrics.rs` gives these figures nor who reads them.
//!
//! What is told apart is bounded: facades, actions and tools by what was declared, everything else by what stands here.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use loggia_facade::{Failure, code};

/// A number that grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// One more.
    pub fn up(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How many so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// How many there are now.
#[derive(Debug, Default)]
pub struct Gauge(AtomicU64);

impl Gauge {
    /// One more, for as long as what is returned lives.
    pub fn enter(self: &Arc<Self>) -> GaugeGuard {
        self.0.fetch_add(1, Ordering::Relaxed);
        GaugeGuard(Arc::clone(self))
    }

    /// There are so many now.
    pub fn set(&self, now: usize) {
        self.0.store(now as u64, Ordering::Relaxed);
    }

    /// How many there are.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// One of those that are counted by a [`Gauge`].
#[derive(Debug)]
pub struct GaugeGuard(Arc<Gauge>);

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The upper bounds of [`Histogram`], in seconds: those that OpenTelemetry advises for MCP.
pub const BOUNDS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// How long something took, each time.
#[derive(Debug, Default)]
pub struct Histogram {
    /// In each bucket, not below it; the last is for what took longer than all bounds.
    buckets: [Counter; BOUNDS.len() + 1],
    nanos: AtomicU64,
}

impl Histogram {
    /// It took so long.
    pub fn add(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
        self.buckets[bucket].up();
        self.nanos.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// The sum in seconds, and how many there are in each bucket.
    pub fn get(&self) -> (f64, [u64; BOUNDS.len() + 1]) {
        let sum = Duration::from_nanos(self.nanos.load(Ordering::Relaxed)).as_secs_f64();
        (sum, self.buckets.each_ref().map(Counter::get))
    }
}

/// What is counted by name. Read without locks; a name that is new is put in beside it, once there are too many all new ones
/// are `other`.
#[derive(Debug)]
pub struct MeterTable<T> {
    names: ArcSwap<BTreeMap<Arc<str>, Arc<T>>>,
    most: usize,
}

/// Stands for all names that are not told apart.
pub const OTHER: &str = "other";

impl<T: Default> MeterTable<T> {
    /// At most so many names are told apart.
    pub fn new(most: usize) -> Self {
        Self { names: ArcSwap::default(), most }
    }

    /// What is counted under a name. The caller vouches for it: no stranger may choose it.
    pub fn of(&self, name: &str) -> Arc<T> {
        if let Some(known) = self.names.load().get(name) {
            return Arc::clone(known);
        }
        let new: Arc<T> = Arc::default();
        self.names.rcu(|names| {
            let name = if names.len() < self.most { name } else { OTHER };
            let mut names = BTreeMap::clone(names);
            names.entry(name.into()).or_insert_with(|| Arc::clone(&new));
            names
        });
        let names = self.names.load();
        names.get(name).or_else(|| names.get(OTHER)).map_or(new, Arc::clone)
    }

    /// All that were counted.
    pub fn all(&self) -> Arc<BTreeMap<Arc<str>, Arc<T>>> {
        self.names.load_full()
    }
}

/// How a call ended, as far as it is told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It worked.
    Ok,
    /// It failed with one of the host's codes: an index of `CODES`.
    Code(usize),
    /// It failed with a code of the facade's own.
    Failed,
    /// Too many calls run already.
    Busy,
    /// The facade rests after too many faults.
    Resting,
}

/// The codes that are told apart.
const CODES: [&str; 8] = [
    code::INVALID_PARAMS,
    code::NOT_FOUND,
    code::DENIED,
    code::CONFLICT,
    code::UNAVAILABLE,
    code::TIMED_OUT,
    code::CANCELLED,
    code::INTERNAL,
];

impl Outcome {
    /// How many there are.
    const COUNT: usize = CODES.len() + 4;

    /// What came of a call.
    pub fn from_result<T>(outcome: &Result<T, Failure>) -> Self {
        outcome.as_ref().err().map_or(Self::Ok, |failure| Self::of_code(&failure.code))
    }

    /// It failed with this code.
    pub fn of_code(code: &str) -> Self {
        CODES.iter().position(|known| *known == code).map_or(Self::Failed, Self::Code)
    }

    fn index(self) -> usize {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Busy => 2,
            Self::Resting => 3,
            Self::Code(index) => 4 + index,
        }
    }

    fn label(index: usize) -> &'static str {
        match index {
            0 => "ok",
            1 => "failed",
            2 => "busy",
            3 => "resting",
            index => CODES[index - 4],
        }
    }
}

/// The calls of one facade, of whatever version.
#[derive(Debug)]
pub struct FacadeMeters {
    /// By action.
    pub actions: MeterTable<OutcomeCounters>,
    /// That run now.
    pub running: Arc<Gauge>,
    /// From when it might run to its end.
    pub times: Histogram,
}

impl Default for FacadeMeters {
    fn default() -> Self {
        Self { actions: MeterTable::new(MAX_ACTIONS), running: Arc::default(), times: Histogram::default() }
    }
}

/// How the calls of one action ended.
#[derive(Debug, Default)]
pub struct OutcomeCounters([Counter; Outcome::COUNT]);

impl OutcomeCounters {
    /// One more ended so.
    pub fn up(&self, outcome: Outcome) {
        self.0[outcome.index()].up();
    }

    /// Those that happened, with their words.
    pub fn get(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.0.iter().map(Counter::get).enumerate();
        counts.filter(|(_, count)| *count > 0).map(|(index, count)| (Outcome::label(index), count))
    }
}

/// One kind of MCP request.
#[derive(Debug, Default)]
pub struct Operation {
    /// How long they took, by the error that they were answered with: an index of `ERRORS`.
    times: [OnceLock<Histogram>; ERRORS.len()],
}

/// What a request is answered with, as OpenTelemetry's `error.type` has it: nothing where it worked, the tool's own error, a
/// code of JSON-RPC.
const ERRORS: [&str; 8] = ["", "tool_error", "cancelled", "-32600", "-32601", "-32602", "-32603", "_OTHER"];

impl Operation {
    /// One took so long, and was answered with this error.
    pub fn add(&self, error: &str, took: Duration) {
        let index = ERRORS.iter().position(|known| *known == error).unwrap_or(ERRORS.len() - 1);
        self.times[index].get_or_init(Histogram::default).add(took);
    }

    /// By error.
    pub fn get(&self) -> impl Iterator<Item = (&'static str, &Histogram)> {
        ERRORS.iter().zip(&self.times).filter_map(|(error, times)| Some((*error, times.get()?)))
    }
}

/// What is counted of HTTP.
#[derive(Debug)]
pub struct HttpMeters {
    /// Answers, by status from 100 to 599.
    statuses: Box<[Counter]>,
    /// Open now.
    pub connections: Arc<Gauge>,
    /// Sessions of clients before 2026-07-28.
    pub sessions: Arc<Gauge>,
    /// Callers that were not let in, by reason.
    refusals_by_reason: MeterTable<Counter>,
}

impl Default for HttpMeters {
    fn default() -> Self {
        let statuses = (100..600).map(|_| Counter::default()).collect();
        Self {
            statuses,
            connections: Arc::default(),
            sessions: Arc::default(),
            refusals_by_reason: MeterTable::new(MAX_REASONS),
        }
    }
}

impl HttpMeters {
    /// A request was answered with this status.
    pub fn answered(&self, status: u16) {
        if let Some(count) = status.checked_sub(100).and_then(|at| self.statuses.get(usize::from(at))) {
            count.up();
        }
    }

    /// A caller was not let in. The reason is one of a few words.
    pub fn refused(&self, reason: &'static str) {
        self.refusals_by_reason.of(reason).up();
    }

    /// Answers by status, of those that happened.
    pub fn statuses(&self) -> impl Iterator<Item = (u64, u64)> {
        (100..).zip(self.statuses.iter().map(Counter::get)).filter(|(_, count)| *count > 0)
    }

    /// Callers that were not let in, by reason.
    pub fn refusals(&self) -> impl Iterator<Item = (Arc<str>, u64)> {
        let refused = self.refusals_by_reason.all();
        let counts: Vec<_> =
            refused.iter().map(|(reason, count)| (Arc::clone(reason), count.get())).collect();
        counts.into_iter()
    }
}

/// Facades that are told apart; a folder has fewer.
const MAX_FACADES: usize = 5000;
/// Actions of one facade.
const MAX_ACTIONS: usize = 500;
/// Why callers are not let in.
const MAX_REASONS: usize = 50;

/// All that is counted. One for each gate.
#[derive(Debug)]
pub struct Meters {
    /// Calls, by facade.
    pub calls: MeterTable<FacadeMeters>,
    /// `tools/call`, by tool.
    pub tool_calls: MeterTable<Operation>,
    /// Other requests of MCP, by method.
    pub operations: MeterTable<Operation>,
    /// Where it is served over HTTP.
    pub http: HttpMeters,
}

impl Default for Meters {
    fn default() -> Self {
        Self {
            calls: MeterTable::new(MAX_FACADES),
            tool_calls: MeterTable::new(MAX_FACADES),
            operations: MeterTable::new(MAX_REASONS),
            http: HttpMeters::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_tells_apart_only_so_many_names() {
        let table: MeterTable<Counter> = MeterTable::new(2);
        for name in ["a", "b", "a", "c", "d", "c"] {
            table.of(name).up();
        }
        let all = table.all();
        let counts: Vec<_> = all.iter().map(|(name, count)| (&**name, count.get())).collect();
        assert_eq!(counts, [("a", 2), ("b", 1), (OTHER, 3)]);
    }

    #[test]
    fn names_that_come_at_once_lose_nothing() {
        let table: MeterTable<Counter> = MeterTable::new(10);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let table = &table;
                scope.spawn(move || (0..1000).for_each(|n| table.of(["a", "b", "c"][(n + thread) % 3]).up()));
            }
        });
        assert_eq!(table.all().values().map(|count| count.get()).sum::<u64>(), 4000);
    }

    #[test]
    fn each_outcome_has_a_word_of_its_own() {
        let ends = OutcomeCounters::default();
        let own = Failure::new("gone_fishing", "");
        let outcomes = [Outcome::Ok, Outcome::Busy, Outcome::Resting, Outcome::from_result::<()>(&Err(own))];
        let known = CODES.iter().map(|code| Outcome::from_result::<()>(&Err(Failure::new(code, ""))));
        outcomes.into_iter().chain(known).for_each(|outcome| ends.up(outcome));
        let words: Vec<_> = ends.get().map(|(word, count)| format!("{word} {count}")).collect();
        insta::assert_snapshot!(words.join(", "));
    }

    #[test]
    fn times_fall_into_buckets_by_their_upper_bounds() {
        let times = Histogram::default();
        for millis in [0, 10, 11, 300_000, 300_001] {
            times.add(Duration::from_millis(millis));
        }
        let (sum, buckets) = times.get();
        assert!((sum - 600.022).abs() < 1e-9, "{sum}");
        assert_eq!(buckets, [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
    }
}
