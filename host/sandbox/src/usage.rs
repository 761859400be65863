//! Resources that the calls of one facade have used so far, for the host's metrics.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use loggia_egress::SendError;
use loggia_facade::Usage;

use crate::meter::CpuMeter;

/// Counters shared by all calls of a facade.
#[derive(Default)]
pub(crate) struct UsageCounters {
    nanos: AtomicU64,
    answered: AtomicU64,
    denied: AtomicU64,
    failed: AtomicU64,
    prepared: AtomicU64,
}

impl UsageCounters {
    /// Counts a request by its outcome.
    pub(crate) fn count_request<T>(&self, outcome: &Result<T, SendError>) {
        let count = match outcome {
            Ok(_) => &self.answered,
            Err(SendError::Denied(_)) => &self.denied,
            Err(_) => &self.failed,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a call that runs in a prepared instance.
    pub(crate) fn count_prepared(&self) {
        self.prepared.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds a call's CPU time when the guard is dropped, however the call ends.
    pub(crate) fn count_cpu(self: &Arc<Self>, meter: &Arc<CpuMeter>) -> CpuGuard {
        CpuGuard { counters: Arc::clone(self), meter: Arc::clone(meter) }
    }

    pub(crate) fn snapshot(&self) -> Usage {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Usage {
            cpu: Duration::from_nanos(get(&self.nanos)),
            answered: get(&self.answered),
            denied: get(&self.denied),
            failed: get(&self.failed),
            prepared: get(&self.prepared),
        }
    }
}

/// A call whose CPU time is counted when it ends.
pub(crate) struct CpuGuard {
    counters: Arc<UsageCounters>,
    meter: Arc<CpuMeter>,
}

impl Drop for CpuGuard {
    fn drop(&mut self) {
        self.counters.nanos.fetch_add(self.meter.spent(), Ordering::Relaxed);
    }
}
