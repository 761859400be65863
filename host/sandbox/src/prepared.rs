//! Instances that are made before the call that uses them, each for one call: those of large guests take longer to make than many
//! calls to run.
//!
//! The next one is made once a call has ended, so that it takes nothing from that call: on another thread if that takes long, and
//! otherwise on the same one, if its responses are sent first.
//!
//! Nothing tells one from an instance that its call makes: it is discarded if its start called an import, so that neither the
//! caller, the time nor anything else of the host has reached it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use loggia_policy::model::PluginLimits;
use tokio::{runtime::Handle, time::timeout};

use crate::{
    PluginComponent, SandboxEngine,
    meter::{CpuMeter, MeteredFuture},
    shelf::PreparedInstance,
    store::{StorePurpose, new_store},
    usage::UsageCounters,
};

/// Time from which on making an instance is work for another thread, which costs a call some 20 µs.
const SLOW: Duration = Duration::from_micros(200);
/// Slow instances after which the next one is prepared: the first maps code, and a machine may be busy.
const SLOW_INSTANCES: u8 = 3;
/// Time that a call waits for an instance that is being made: longer than making one takes, unless the machine is busy.
const PATIENCE: Duration = Duration::from_millis(10);
/// State of a facade whose instances are made quickly.
const QUICK: u8 = u8::MAX - 1;
/// State of a facade whose instances are not prepared.
const NEVER: u8 = u8::MAX;

/// Prepares the instances of one facade.
pub(crate) struct InstancePreparer {
    engine: SandboxEngine,
    facade: u64,
    /// Slow instances so far, at most [`SLOW_INSTANCES`], or [`QUICK`], or [`NEVER`], which is final.
    slow: AtomicU8,
}

impl InstancePreparer {
    pub(crate) fn new(engine: &SandboxEngine) -> Self {
        let shelf = &engine.state.prepared;
        let slow = AtomicU8::new(if shelf.is_usable() { 0 } else { NEVER });
        Self { engine: engine.clone(), facade: shelf.number_facade(), slow }
    }

    /// Prepares none from now on.
    pub(crate) fn disable(&self) {
        self.slow.store(NEVER, Ordering::Relaxed);
    }

    /// Whether the time that an instance takes is still to be measured.
    pub(crate) fn is_measuring(&self) -> bool {
        self.slow.load(Ordering::Relaxed) < SLOW_INSTANCES
    }

    /// Takes note of the time that an instance took, and of whether its start called an import: then no other may be made ahead, since
    /// the start may tell whether it was.
    pub(crate) fn note(&self, took: Duration, has_entered_host: bool) {
        if has_entered_host {
            return self.disable();
        }
        let quick = if self.engine.state.quick.is_usable() { QUICK } else { NEVER };
        let next = |slow: u8| (slow < SLOW_INSTANCES).then(|| if took < SLOW { quick } else { slow + 1 });
        // Several calls may be measured at once.
        let _ = self.slow.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    }

    /// Whether instances are made on another thread.
    pub(crate) fn is_slow(&self) -> bool {
        self.slow.load(Ordering::Relaxed) == SLOW_INSTANCES
    }

    /// Returns the instance that was prepared; waits briefly for one that is being made on another thread.
    pub(crate) async fn take(&self) -> Option<PreparedInstance> {
        match self.slow.load(Ordering::Relaxed) {
            SLOW_INSTANCES => {
                let made = self.engine.state.prepared.take(self.facade)?;
                timeout(PATIENCE, made).await.ok()?.ok()
            }
            QUICK => self.engine.state.quick.take(self.facade)?.try_recv().ok(),
            _ => None,
        }
    }

    /// Makes an instance for the next call if that is quick.
    pub(crate) async fn prepare_quickly(
        &self,
        component: &PluginComponent,
        limits: &PluginLimits,
        usage: &Arc<UsageCounters>,
    ) {
        if self.slow.load(Ordering::Relaxed) == QUICK
            && let Some((made, place)) = self.engine.state.quick.put(self.facade)
        {
            if let Some(instance) = self.make(component, limits, usage).await {
                drop(made.send(instance));
            }
            drop(place);
        }
    }

    /// Makes an instance for the next call, on another thread.
    pub(crate) fn prepare_next(
        self: &Arc<Self>,
        component: &PluginComponent,
        limits: &PluginLimits,
        usage: &Arc<UsageCounters>,
    ) {
        let Some((made, place)) = self.engine.state.prepared.put(self.facade) else { return };
        let preparer = Arc::clone(self);
        let (component, limits, usage) = (component.clone(), limits.clone(), Arc::clone(usage));
        tokio::task::spawn_blocking(move || {
            let making = preparer.make(&component, &limits, &usage);
            if let Some(instance) = Handle::current().block_on(making) {
                // It was evicted meanwhile if it cannot be sent.
                drop(made.send(instance));
            }
            drop(place);
        });
    }

    /// Makes an instance. `None` if it cannot be made, or its start called an import.
    async fn make(
        &self,
        component: &PluginComponent,
        limits: &PluginLimits,
        usage: &Arc<UsageCounters>,
    ) -> Option<PreparedInstance> {
        let meter = CpuMeter::new(limits.cpu);
        let _cpu = usage.count_cpu(&meter);
        let mut store = new_store(&self.engine, limits, Arc::clone(&meter), StorePurpose::Prepare);
        let future = Box::pin(component.pre.instantiate(&mut store));
        let made = timeout(limits.wall, MeteredFuture { meter, future }).await;
        let guest = store.data_mut();
        if guest.has_entered_host {
            self.disable();
            return None;
        }
        guest.running = None;
        Some(PreparedInstance { plugin: made.ok()?.ok()?.ok()?, store })
    }
}

impl Drop for InstancePreparer {
    fn drop(&mut self) {
        drop(self.engine.state.prepared.take(self.facade));
        drop(self.engine.state.quick.take(self.facade));
    }
}
