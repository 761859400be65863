//! What all calls share.

use std::sync::{Arc, atomic::AtomicBool};

use crate::{
    catalog::Catalog,
    flow::{Meters, PermitPools, Quotas, UnfinishedCalls},
    run::{Parking, Runs},
    schedule::Executor,
};

/// Everything that calls share.
pub struct Shared {
    pub catalog: Arc<Catalog>,
    pub executor: Executor,
    pub permits: PermitPools,
    pub parking: Parking,
    pub runs: Runs,
    pub unfinished: UnfinishedCalls,
    /// What one caller may leave unfinished.
    pub quotas: Quotas,
    pub meters: Arc<Meters>,
    /// No call begins any more.
    pub ending: AtomicBool,
}
