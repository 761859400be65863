//! The tasks that send.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use loggia_facade::trace::{SpanRecord, SpanRecorder};
use tokio::{sync::mpsc, task::JoinHandle, time::sleep};
use tokio_util::sync::CancellationToken;

use super::{
    collector::{ExportError, OtlpCollector, Signal},
    encode_metrics::encode_metrics,
    encode_spans::encode_spans,
    options::OtlpOptions,
    span_queue::{SpanQueue, count_dropped},
};
use crate::{
    metrics::MetricsSnapshot,
    span_source::{SystemRecorder, random_id},
};

/// Attribute that tells processes apart.
const INSTANCE: &str = "service.instance.id";
/// Spans in one message.
const BATCH: usize = 512;
/// Time for which spans are gathered.
const GATHER: Duration = Duration::from_secs(1);
/// Times between the attempts to send a batch. Spans queue up meanwhile.
const PAUSES: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];
/// Longest time that the end of the process waits for the collector.
const FLUSH: Duration = Duration::from_secs(2);

/// Takes the metrics of this moment.
pub type SnapshotSource = Arc<dyn Fn() -> MetricsSnapshot + Send + Sync>;

/// Sends traces and metrics of this process.
pub struct OtlpExporter {
    options: OtlpOptions,
    recorder: Option<Arc<dyn SpanRecorder>>,
    spans: Mutex<Option<mpsc::Receiver<SpanRecord>>>,
    stop: CancellationToken,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl OtlpExporter {
    /// Creates an exporter, which sends nothing before [`start`](Self::start). Spans queue up.
    pub fn new(mut options: OtlpOptions) -> Self {
        // Several servers may have one name.
        let instance = || format!("{:032x}", u128::from_be_bytes(random_id()));
        options.resource.entry(INSTANCE.to_owned()).or_insert_with(instance);
        let (recorder, spans) = options.traces.map(SpanQueue::new).unzip();
        let recorder = recorder.map(|queue| Arc::new(SystemRecorder(queue)) as Arc<dyn SpanRecorder>);
        let (spans, tasks) = (Mutex::new(spans), Mutex::default());
        Self { options, recorder, spans, stop: CancellationToken::new(), tasks }
    }

    /// Returns what records spans, if traces are sent.
    pub fn recorder(&self) -> Option<Arc<dyn SpanRecorder>> {
        self.recorder.clone()
    }

    /// Begins to send. Must be called on a runtime, once.
    pub fn start(&self, source: SnapshotSource) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let collector = |signal| match OtlpCollector::new(&self.options, signal) {
            Ok(collector) => Some(ReportingCollector { collector, signal, is_failing: false }),
            Err(error) => {
                tracing::error!("no telemetry is sent: {error}");
                None
            }
        };
        let resource = Arc::new(self.options.resource.clone());
        let spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(spans), Some(collector)) = (spans, collector(Signal::Traces)) {
            tasks.push(tokio::spawn(send_spans(spans, collector, Arc::clone(&resource), self.stop.clone())));
        }
        if let (Some(interval), Some(collector)) = (self.options.metrics, collector(Signal::Metrics)) {
            tasks.push(tokio::spawn(send_metrics(source, interval, collector, resource, self.stop.clone())));
        }
    }

    /// Sends what is left, for at most two seconds, and no longer than `patience`.
    pub async fn flush(&self, patience: Duration) {
        self.stop.cancel();
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        let ended = futures_util::future::join_all(tasks);
        if tokio::time::timeout(patience.min(FLUSH), ended).await.is_err() {
            tracing::warn!("the last traces and metrics were not sent in time");
        }
    }
}

impl fmt::Debug for OtlpExporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtlpExporter").field("options", &self.options).finish_non_exhaustive()
    }
}

/// A collector whose failures are logged when they begin and when they end.
struct ReportingCollector {
    collector: OtlpCollector,
    signal: Signal,
    is_failing: bool,
}

impl ReportingCollector {
    async fn send(&mut self, message: Vec<u8>) -> Result<(), ExportError> {
        let sent = self.collector.send(message).await;
        let what = match self.signal {
            Signal::Traces => "traces",
            Signal::Metrics => "metrics",
        };
        match &sent {
            Err(error) if !self.is_failing => tracing::warn!("the collector does not take {what}: {error}"),
            Ok(()) if self.is_failing => tracing::info!("the collector takes {what} again"),
            _ => {}
        }
        self.is_failing = sent.is_err();
        sent
    }
}

async fn send_spans(
    mut spans: mpsc::Receiver<SpanRecord>,
    mut collector: ReportingCollector,
    resource: Arc<BTreeMap<String, String>>,
    stop: CancellationToken,
) {
    loop {
        let mut batch = Vec::new();
        tokio::select! {
            _ = spans.recv_many(&mut batch, 1) => {}
            () = stop.cancelled() => {}
        }
        let fill = async {
            let mut room = BATCH - batch.len();
            while room > 0 {
                match spans.recv_many(&mut batch, room).await {
                    0 => return,
                    more => room -= more,
                }
            }
        };
        tokio::select! {
            () = fill => {}
            () = sleep(GATHER) => {}
            () = stop.cancelled() => {}
        }
        while stop.is_cancelled()
            && batch.len() < BATCH
            && let Ok(span) = spans.try_recv()
        {
            batch.push(span);
        }
        if batch.is_empty() {
            return;
        }
        let count = batch.len();
        if !deliver(&mut collector, encode_spans(batch, &resource), &stop).await {
            count_dropped(count);
        }
    }
}

/// Sends a message, again after a failure that may pass. Returns false if it was not taken.
async fn deliver(collector: &mut ReportingCollector, message: Vec<u8>, stop: &CancellationToken) -> bool {
    let mut pauses = PAUSES.iter();
    loop {
        let error = match collector.send(message.clone()).await {
            Ok(()) => return true,
            Err(error) => error,
        };
        let Some(pause) = pauses.next().filter(|_| error.can_retry() && !stop.is_cancelled()) else {
            return false;
        };
        tokio::select! {
            () = sleep(*pause) => {}
            () = stop.cancelled() => {}
        }
    }
}

async fn send_metrics(
    source: SnapshotSource,
    interval: Duration,
    mut collector: ReportingCollector,
    resource: Arc<BTreeMap<String, String>>,
    stop: CancellationToken,
) {
    loop {
        tokio::select! {
            () = sleep(interval) => {}
            () = stop.cancelled() => {}
        }
        // The next message has all figures of one that is lost.
        let _ = collector.send(encode_metrics(&source(), SystemTime::now(), &resource)).await;
        if stop.is_cancelled() {
            return;
        }
    }
}
