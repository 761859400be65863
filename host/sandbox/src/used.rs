//! What the calls of one facade have used so far, for whoever runs the host.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use loggia_egress::SendError;
use loggia_facade::Usage;

use crate::meter::Meter;

/// Counted by all calls of a facade.
#[derive(Default)]
pub(crate) struct Used {
    nanos: AtomicU64,
    answered: AtomicU64,
    denied: AtomicU64,
    failed: AtomicU64,
}

impl Used {
    /// A request came to this.
    pub fn sent<T>(&self, sent: &Result<T, SendError>) {
        let count = match sent {
            Ok(_) => &self.answered,
            Err(SendError::Denied(_)) => &self.denied,
            Err(_) => &self.failed,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// What a call computes, counted when it ends, however it does.
    pub fn computes(self: &Arc<Self>, meter: &Arc<Meter>) -> Computes {
        Computes { used: Arc::clone(self), meter: Arc::clone(meter) }
    }

    pub fn usage(&self) -> Usage {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Usage {
            cpu: Duration::from_nanos(get(&self.nanos)),
            answered: get(&self.answered),
            denied: get(&self.denied),
            failed: get(&self.failed),
        }
    }
}

/// A call that computes.
pub(crate) struct Computes {
    used: Arc<Used>,
    meter: Arc<Meter>,
}

impl Drop for Computes {
    fn drop(&mut self) {
        self.used.nanos.fetch_add(self.meter.spent(), Ordering::Relaxed);
    }
}
