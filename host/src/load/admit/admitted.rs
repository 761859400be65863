//! A plugin that passed every check.

use std::{sync::Arc, time::Duration};

use loggia_gate::catalog::Entry;
use loggia_sandbox::ArtifactDigest;

use crate::load::{composed::Composed, fence::VersionGrants};

/// A plugin that passed every check.
pub struct Admitted {
    /// Ready to serve.
    pub entry: Entry,
    /// What the entry is made of anew when the facades that it calls change; of workflows only.
    pub composed: Option<Arc<Composed>>,
    /// What it was granted of what the fence and the record of names are about.
    pub grants: VersionGrants,
    /// What was found out on the way.
    pub facts: Facts,
}

/// What is worth telling of an admission.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Of the plugin's bytes.
    pub digest: ArtifactDigest,
    /// Of the plugin's file.
    pub bytes: usize,
    /// The interfaces that the component imports.
    pub imports: Vec<String>,
    /// Compiled just now rather than taken from the cache.
    pub compiled: bool,
    /// From the first byte read to ready.
    pub took: Duration,
}
