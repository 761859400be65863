//! Where instances wait for their calls.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use tokio::sync::oneshot::{Receiver, Sender, channel};
use wasmtime::Store;

use crate::{abi::PluginInstance, guest::GuestState};

/// An instance with its store.
pub(crate) struct PreparedInstance {
    pub store: Store<GuestState>,
    pub plugin: PluginInstance,
}

/// Instances that wait for calls, or are being made, of all facades: those of the last calls.
pub(crate) struct PreparedShelf {
    /// The facade of each, the oldest first. Locked to take and to put one; instances are dropped outside.
    waiting: Mutex<VecDeque<(u64, Receiver<PreparedInstance>)>>,
    /// Instances that are being made now: they are not cancelled when they are evicted.
    making: Arc<AtomicUsize>,
    /// Most instances that wait, and most that are being made.
    capacity: usize,
    /// Number of the next facade.
    next: AtomicU64,
}

/// An instance that is being made, while it lives.
pub(crate) struct MakingGuard(Arc<AtomicUsize>);

impl Drop for MakingGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl PreparedShelf {
    /// Creates a shelf of at most this many instances, which count against those that live at once.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { waiting: Mutex::default(), making: Arc::default(), capacity, next: AtomicU64::new(0) }
    }

    /// Whether any instance may wait.
    pub(crate) fn is_usable(&self) -> bool {
        self.capacity > 0
    }

    /// Returns the number of a facade, by which its instance is found.
    pub(crate) fn number_facade(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the instance of a facade; it may still be being made.
    pub(crate) fn take(&self, facade: u64) -> Option<Receiver<PreparedInstance>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let at = waiting.iter().position(|(owner, _)| *owner == facade)?;
        waiting.remove(at).map(|(_, instance)| instance)
    }

    /// Adds an instance that is to be made, unless there is one of the facade, or too many are being made.
    pub(crate) fn put(&self, facade: u64) -> Option<(Sender<PreparedInstance>, MakingGuard)> {
        let making = MakingGuard(Arc::clone(&self.making));
        if self.making.fetch_add(1, Ordering::Relaxed) >= self.capacity {
            return None;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.iter().any(|(owner, _)| *owner == facade) {
            return None;
        }
        let (made, instance) = channel();
        waiting.push_back((facade, instance));
        let evicted = (waiting.len() > self.capacity).then(|| waiting.pop_front());
        drop(waiting);
        drop(evicted);
        Some((made, making))
    }
}
