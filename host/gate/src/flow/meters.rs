//! Counters, gauges and histograms in plain atomics: counting takes no lock and costs a call a few nanoseconds.
//!
//! Metric names and formats are `telemetry/metrics.rs`'s alone. The number of labels is bounded: facades, actions and tools
//! by what was declared, everything else by the tables here. Relaxed ordering throughout, since a count guards no data.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use loggia_facade::{Failure, code, trace::names};

/// Monotonic counter.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one.
    pub fn increment(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Current value.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Number of things that exist now.
#[derive(Debug, Default)]
pub struct Gauge(AtomicU64);

impl Gauge {
    /// Adds one until the returned guard is dropped.
    pub fn track(self: &Arc<Self>) -> GaugeGuard {
        self.0.fetch_add(1, Ordering::Relaxed);
        GaugeGuard(Arc::clone(self))
    }

    /// Sets the value.
    pub fn set(&self, now: usize) {
        self.0.store(now as u64, Ordering::Relaxed);
    }

    /// Current value.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// One unit of a [`Gauge`], subtracted on drop.
#[derive(Debug)]
pub struct GaugeGuard(Arc<Gauge>);

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Upper bounds of the buckets of [`Histogram`], in seconds: those that OpenTelemetry advises for MCP.
pub const BUCKET_BOUNDS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// Histogram of durations.
#[derive(Debug, Default)]
pub struct Histogram {
    /// Counts per bucket, not cumulative. The last bucket is for durations above all bounds.
    buckets: [Counter; BUCKET_BOUNDS.len() + 1],
    nanos: AtomicU64,
}

impl Histogram {
    /// Adds one duration.
    pub fn record(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = BUCKET_BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BUCKET_BOUNDS.len());
        self.buckets[bucket].increment();
        self.nanos.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Sum in seconds, and the count of each bucket.
    pub fn totals(&self) -> (f64, [u64; BUCKET_BOUNDS.len() + 1]) {
        let sum = Duration::from_nanos(self.nanos.load(Ordering::Relaxed)).as_secs_f64();
        (sum, self.buckets.each_ref().map(Counter::get))
    }
}

/// Meters by name. Reads take no lock; a new name swaps in a copy of the table. At most `most` names are kept apart, and all
/// further ones share the entry `other`.
#[derive(Debug)]
pub struct MeterTable<T> {
    names: ArcSwap<BTreeMap<Arc<str>, Arc<T>>>,
    most: usize,
}

/// Name for all that have no entry of their own.
pub const OTHER_NAME: &str = "other";

impl<T: Default> MeterTable<T> {
    /// Creates a table of at most this many names.
    pub fn new(most: usize) -> Self {
        Self { names: ArcSwap::default(), most }
    }

    /// Finds the meters of a name, or adds them. The name must be a declared one: clients must not create labels.
    pub fn get_or_insert(&self, name: &str) -> Arc<T> {
        if let Some(known) = self.names.load().get(name) {
            return Arc::clone(known);
        }
        self.get_or_insert_all(std::iter::once(name)).pop().unwrap_or_default()
    }

    /// Finds the meters of several names, in their order, or adds them, all in one copy of the table.
    pub fn get_or_insert_all<'n>(&self, names: impl Iterator<Item = &'n str> + Clone) -> Vec<Arc<T>> {
        self.names.rcu(|known| {
            let mut table = BTreeMap::clone(known);
            for name in names.clone() {
                if !table.contains_key(name) {
                    let name = if table.len() < self.most { name } else { OTHER_NAME };
                    table.entry(name.into()).or_default();
                }
            }
            table
        });
        let table = self.names.load();
        let find = |name| table.get(name).or_else(|| table.get(OTHER_NAME)).map(Arc::clone);
        names.map(|name| find(name).unwrap_or_default()).collect()
    }

    /// All entries.
    pub fn load(&self) -> Arc<BTreeMap<Arc<str>, Arc<T>>> {
        self.names.load_full()
    }
}

/// End of a call, as a metric label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    /// Ended with a reply.
    Ok,
    /// Failed with one of the host's codes, by its index in `CODES`.
    Code(usize),
    /// Failed with a code of the facade's own.
    Failed,
    /// Refused: no permit.
    Busy,
    /// Refused: open circuit breaker.
    Resting,
}

/// Failure codes with labels of their own.
const CODES: [&str; 8] = code::ALL;

impl CallOutcome {
    /// Number of labels.
    const COUNT: usize = CODES.len() + 4;

    /// Outcome of a result.
    pub fn from_result<T>(outcome: &Result<T, Failure>) -> Self {
        outcome.as_ref().err().map_or(Self::Ok, |failure| Self::from_code(&failure.code))
    }

    /// Outcome of a failure with this code.
    pub fn from_code(code: &str) -> Self {
        CODES.iter().position(|known| *known == code).map_or(Self::Failed, Self::Code)
    }

    /// Word for it.
    pub fn as_str(self) -> &'static str {
        Self::label(self.index())
    }

    /// OpenTelemetry's `error.type`. Codes that a facade made up are one.
    pub fn error_type(self) -> Option<&'static str> {
        match self {
            Self::Ok => None,
            Self::Failed => Some(names::OTHER),
            outcome => Some(outcome.as_str()),
        }
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

/// Meters of one facade, across its versions.
#[derive(Debug)]
pub struct FacadeMeters {
    /// Outcomes by action.
    pub actions: MeterTable<OutcomeCounters>,
    /// Calls that run now.
    pub running: Arc<Gauge>,
    /// Durations of calls from their permit to their end.
    pub times: Histogram,
}

impl Default for FacadeMeters {
    fn default() -> Self {
        Self { actions: MeterTable::new(MAX_ACTIONS), running: Arc::default(), times: Histogram::default() }
    }
}

/// Calls of one caller, without those that its calls make.
#[derive(Debug, Default)]
pub struct CallerMeters {
    /// Calls that ended.
    pub calls: Counter,
    /// Those that failed.
    pub failed: Counter,
}

impl CallerMeters {
    /// Adds one call.
    pub fn record(&self, has_failed: bool) {
        self.calls.increment();
        if has_failed {
            self.failed.increment();
        }
    }
}

/// Outcomes of the calls of one action.
#[derive(Debug, Default)]
pub struct OutcomeCounters([Counter; CallOutcome::COUNT]);

impl OutcomeCounters {
    /// Adds one call with this outcome.
    pub fn increment(&self, outcome: CallOutcome) {
        self.0[outcome.index()].increment();
    }

    /// Labels with a count above zero.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.0.iter().map(Counter::get).enumerate();
        counts.filter(|(_, count)| *count > 0).map(|(index, count)| (CallOutcome::label(index), count))
    }
}

/// Meters of one kind of MCP request.
#[derive(Debug, Default)]
pub struct OperationMeters {
    /// Durations by error, in the order of `ERRORS`.
    times: [OnceLock<Histogram>; ERRORS.len()],
}

/// Values of OpenTelemetry's `error.type`: empty for success, the tool's own error, or a JSON-RPC code.
const ERRORS: [&str; 8] = ["", "tool_error", "cancelled", "-32600", "-32601", "-32602", "-32603", "_OTHER"];

impl OperationMeters {
    /// Adds one request with its error and duration.
    pub fn record(&self, error: &str, took: Duration) {
        let index = ERRORS.iter().position(|known| *known == error).unwrap_or(ERRORS.len() - 1);
        self.times[index].get_or_init(Histogram::default).record(took);
    }

    /// Durations by error, of those that happened.
    pub fn by_error(&self) -> impl Iterator<Item = (&'static str, &Histogram)> {
        ERRORS.iter().zip(&self.times).filter_map(|(error, times)| Some((*error, times.get()?)))
    }
}

/// Meters of the HTTP server.
#[derive(Debug)]
pub struct HttpMeters {
    /// Responses by status, 100 to 599.
    statuses: Box<[Counter]>,
    /// Open connections.
    pub connections: Arc<Gauge>,
    /// Sessions of clients before 2026-07-28.
    pub sessions: Arc<Gauge>,
    /// Those that had hibernated at the last check for idle sessions.
    pub sessions_hibernated: Arc<Gauge>,
    /// Rejected callers by reason.
    refusals_by_reason: MeterTable<Counter>,
}

impl Default for HttpMeters {
    fn default() -> Self {
        let statuses = (100..600).map(|_| Counter::default()).collect();
        Self {
            statuses,
            connections: Arc::default(),
            sessions: Arc::default(),
            sessions_hibernated: Arc::default(),
            refusals_by_reason: MeterTable::new(MAX_REASONS),
        }
    }
}

impl HttpMeters {
    /// Counts a response.
    pub fn record_status(&self, status: u16) {
        if let Some(count) = status.checked_sub(100).and_then(|at| self.statuses.get(usize::from(at))) {
            count.increment();
        }
    }

    /// Counts a rejected caller. The reason is one of a fixed set.
    pub fn record_refusal(&self, reason: &'static str) {
        self.refusals_by_reason.get_or_insert(reason).increment();
    }

    /// Responses by status, of those that happened.
    pub fn statuses(&self) -> impl Iterator<Item = (u64, u64)> {
        (100..).zip(self.statuses.iter().map(Counter::get)).filter(|(_, count)| *count > 0)
    }

    /// Rejected callers by reason.
    pub fn refusals(&self) -> impl Iterator<Item = (Arc<str>, u64)> {
        let refused = self.refusals_by_reason.load();
        let counts: Vec<_> =
            refused.iter().map(|(reason, count)| (Arc::clone(reason), count.get())).collect();
        counts.into_iter()
    }
}

/// Facades with meters of their own; a folder has fewer.
const MAX_FACADES: usize = 5000;
/// Actions of one facade with meters of their own.
const MAX_ACTIONS: usize = 500;
/// Callers with meters of their own.
const MAX_CALLERS: usize = 500;
/// Reasons and methods with meters of their own.
const MAX_REASONS: usize = 50;

/// All meters of a gate, and of the servers in front of it.
#[derive(Debug)]
pub struct GateMeters {
    /// Calls by facade.
    pub calls: MeterTable<FacadeMeters>,
    /// Calls by caller, for operators: names of callers are no labels of metrics.
    pub callers: MeterTable<CallerMeters>,
    /// `tools/call` by tool.
    pub tool_calls: MeterTable<OperationMeters>,
    /// Other MCP requests by method.
    pub operations: MeterTable<OperationMeters>,
    /// HTTP server.
    pub http: HttpMeters,
}

impl Default for GateMeters {
    fn default() -> Self {
        Self {
            calls: MeterTable::new(MAX_FACADES),
            callers: MeterTable::new(MAX_CALLERS),
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
            table.get_or_insert(name).increment();
        }
        let all = table.load();
        let counts: Vec<_> = all.iter().map(|(name, count)| (&**name, count.get())).collect();
        assert_eq!(counts, [("a", 2), ("b", 1), (OTHER_NAME, 3)]);
    }

    #[test]
    fn names_are_added_together_as_one_by_one() {
        let names: Vec<String> = (0..1200).map(|n| format!("n{n}")).collect();
        let (together, single): (MeterTable<Counter>, MeterTable<Counter>) =
            (MeterTable::new(10), MeterTable::new(10));
        let all = together.get_or_insert_all(names.iter().map(String::as_str));
        all.iter().for_each(|counter| counter.increment());
        names.iter().for_each(|name| single.get_or_insert(name).increment());
        let counts = |table: &MeterTable<Counter>| -> Vec<(String, u64)> {
            table.load().iter().map(|(name, count)| (name.to_string(), count.get())).collect()
        };
        assert_eq!(counts(&together), counts(&single));
        assert_eq!(counts(&together).last(), Some(&(OTHER_NAME.to_owned(), 1190)));
    }

    #[test]
    fn names_that_come_at_once_lose_nothing() {
        let table: MeterTable<Counter> = MeterTable::new(10);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let table = &table;
                scope.spawn(move || {
                    (0..1000).for_each(|n| table.get_or_insert(["a", "b", "c"][(n + thread) % 3]).increment())
                });
            }
        });
        assert_eq!(table.load().values().map(|count| count.get()).sum::<u64>(), 4000);
    }

    #[test]
    fn each_outcome_has_a_word_of_its_own() {
        let ends = OutcomeCounters::default();
        let own = Failure::new("gone_fishing", "");
        let outcomes = [
            CallOutcome::Ok,
            CallOutcome::Busy,
            CallOutcome::Resting,
            CallOutcome::from_result::<()>(&Err(own)),
        ];
        let known = CODES.iter().map(|code| CallOutcome::from_result::<()>(&Err(Failure::new(code, ""))));
        outcomes.into_iter().chain(known).for_each(|outcome| ends.increment(outcome));
        let words: Vec<_> = ends.counts().map(|(word, count)| format!("{word} {count}")).collect();
        insta::assert_snapshot!(words.join(", "));
    }

    #[test]
    fn times_fall_into_buckets_by_their_upper_bounds() {
        let times = Histogram::default();
        for millis in [0, 10, 11, 300_000, 300_001] {
            times.record(Duration::from_millis(millis));
        }
        let (sum, buckets) = times.totals();
        assert!((sum - 600.022).abs() < 1e-9, "{sum}");
        assert_eq!(buckets, [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
    }
}
