//! Ended spans on their way to the exporter.

use std::sync::atomic::{AtomicU64, Ordering};

use loggia_facade::trace::{SpanRecord, TraceContext};
use tokio::sync::mpsc;

use super::sampler::TraceSampler;
use crate::span_source::SpanSink;

/// Spans that wait: some 2 MiB. Further ones are dropped, as a call must never wait for them.
const MAX_QUEUED: usize = 4096;

/// Counts the dropped spans of this process.
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// Returns how many spans were dropped, since the collector did not take them in time.
pub fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

/// Counts spans as dropped.
pub(super) fn count_dropped(spans: usize) {
    DROPPED.fetch_add(spans as u64, Ordering::Relaxed);
}

/// Records spans into the queue.
#[derive(Debug)]
pub(super) struct SpanQueue {
    sampler: TraceSampler,
    queue: mpsc::Sender<SpanRecord>,
}

impl SpanQueue {
    /// Creates a queue, and its other end.
    pub(super) fn new(sampler: TraceSampler) -> (Self, mpsc::Receiver<SpanRecord>) {
        let (queue, spans) = mpsc::channel(MAX_QUEUED);
        (Self { sampler, queue }, spans)
    }
}

impl SpanSink for SpanQueue {
    fn samples(&self, trace: &[u8; 16], remote: Option<&TraceContext>) -> bool {
        self.sampler.samples(trace, remote)
    }

    fn record(&self, span: SpanRecord) {
        if self.queue.try_send(span).is_err() {
            count_dropped(1);
        }
    }
}
