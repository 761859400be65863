//! What all calls share.

use std::sync::{Arc, atomic::AtomicBool};

use crate::{
    catalog::Catalog,
    flow::{Meters, PermitPools, Quotas, UnfinishedCalls},
    run::{ParkedCalls, RunRegistry},
    schedule::Executor,
};

/// Everything that calls share.
pub(crate) struct GateState {
    pub catalog: Arc<Catalog>,
    pub executor: Executor,
    pub permits: PermitPools,
    pub parking: ParkedCalls,
    pub runs: RunRegistry,
    pub unfinished: UnfinishedCalls,
    /// What one caller may leave unfinished.
    pub quotas: Quotas,
    pub meters: Arc<Meters>,
    /// No call begins any more.
    pub draining: AtomicBool,
}
