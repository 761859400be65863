//! Offers of sources: a version that can be served, or the reason why there is none. Plain data.

use std::{borrow::Cow, sync::Arc};

use loggia_facade::Surface;
use loggia_gate::catalog::CatalogEntry;
use loggia_sandbox::ArtifactDigest;

use super::{
    admit::{AdmissionFacts, AdmitError, AdmittedPlugin},
    fence::VersionGrants,
    load_status::{LoadState, OfferStatus},
    names::FileClaim,
    plugin_files::file_stem,
    workflow_bundle::WorkflowBundle,
};

/// Offers of all sources, by key: a file name, or the name of another source's entry.
pub type OfferMap<'a> = std::collections::BTreeMap<&'a str, &'a mut FacadeOffer>;

/// One offer of a facade.
#[derive(Default)]
pub struct FacadeOffer {
    /// The newest version that loaded. It is served if it owns its name.
    pub version: Option<OfferedVersion>,
    /// The error of the newest version, if it did not load.
    pub error: Option<OfferError>,
    /// Names of its versions, the current one last.
    pub names: Vec<String>,
    /// Name that it claims before any version loaded; `None`: the stem of its key.
    pub reserved: Option<String>,
    /// Whether the source still has it.
    pub is_present: bool,
}

/// A loaded version.
pub struct OfferedVersion {
    /// Facts about its admission.
    pub facts: AdmissionFacts,
    pub entry: Arc<CatalogEntry>,
    /// The workflow file from which the entry is rebuilt when the facades that it calls change; `None` for components.
    pub workflow_file: Option<Arc<WorkflowBundle>>,
    /// Grants that concern the fence and the name record.
    pub grants: VersionGrants,
}

/// Reason for which a version did not load.
pub struct OfferError {
    /// Message without host paths and plugin text.
    pub for_callers: Cow<'static, str>,
    /// Sentence in the log.
    pub for_operator: String,
}

impl FacadeOffer {
    /// Replaces the version.
    pub fn accept(&mut self, AdmittedPlugin { entry, workflow_file, grants, facts }: AdmittedPlugin) {
        let name = &entry.surface().name;
        self.names.retain(|known| known != name);
        self.names.push(name.clone());
        self.version = Some(OfferedVersion { facts, entry: Arc::new(entry), workflow_file, grants });
        self.error = None;
        self.is_present = true;
    }

    /// Keeps the current version, if any, and records the error of a newer one.
    pub fn reject(&mut self, error: &AdmitError) {
        let keeps = if self.version.is_some() { "; the previous version keeps serving" } else { "" };
        self.error =
            Some(OfferError { for_callers: error.caller_message(), for_operator: format!("{error}{keeps}") });
        self.is_present = true;
    }

    /// Drops the version, since the source no longer has it.
    pub fn withdraw(&mut self) {
        self.version = None;
        self.error =
            Some(OfferError { for_callers: "its file was removed".into(), for_operator: String::new() });
        self.is_present = false;
    }

    /// Returns digest and surface of the version, so that unchanged bytes need not be described again.
    pub fn known_surface(&self) -> Option<(ArtifactDigest, Arc<Surface>)> {
        self.version
            .as_ref()
            .map(|version| (version.facts.digest, Arc::clone(version.entry.facade.surface())))
    }

    /// Returns the name that it claims: that of its version. An offer that never loaded reserves the name of its key.
    pub fn claim<'a>(&'a self, key: &'a str) -> Option<FileClaim<'a>> {
        if let Some(OfferedVersion { entry, grants, .. }) = &self.version {
            return Some(FileClaim {
                file: key,
                name: &entry.surface().name,
                given: grants.name_given,
                loads: true,
            });
        }
        let never_loaded = self.is_present && self.names.is_empty();
        never_loaded.then(|| FileClaim {
            file: key,
            name: self.fallback_name(key),
            given: self.reserved.is_some(),
            loads: false,
        })
    }

    /// Returns the name that it has before any version loaded.
    pub fn fallback_name<'a>(&'a self, key: &'a str) -> &'a str {
        self.reserved.as_deref().unwrap_or_else(|| file_stem(key))
    }

    /// Reports its status, without names and fence; `None` once it was withdrawn, and before anything is known.
    pub fn status(&self, key: &str) -> Option<OfferStatus> {
        let is_known = self.version.is_some() || self.error.is_some();
        (self.is_present && is_known).then_some(())?;
        let facade = self.version.as_ref().map(|version| version.entry.surface().name.clone());
        let state = match (&facade, &self.error) {
            (None, _) => LoadState::Failed,
            (Some(_), Some(_)) => LoadState::Stale,
            (Some(_), None) => LoadState::Serving,
        };
        let why = self.error.as_ref().map(|error| error.for_operator.clone());
        Some(OfferStatus { file: key.to_owned(), facade, state, why })
    }

    /// Grants of its version.
    pub fn grants(&self) -> Option<&VersionGrants> {
        self.version.as_ref().map(|version| &version.grants)
    }
}
