//! What a source offers under one key: a version that serves, or why none does. Plain data.

use std::{borrow::Cow, sync::Arc};

use loggia_facade::Surface;
use loggia_gate::catalog::Entry;
use loggia_sandbox::ArtifactDigest;

use super::{
    admit::{AdmitError, Admitted},
    composed::Composed,
    fence::VersionGrants,
    found::stem,
    names::Claim,
    standing::{Stands, State},
};

/// All offers of all sources, by key. A key is a file name, or the name of another source's entry.
pub type OfferMap<'a> = std::collections::BTreeMap<&'a str, &'a mut Offer>;

/// One offer.
#[derive(Default)]
pub struct Offer {
    /// The newest version that could be loaded. It serves if its name is its own.
    pub version: Option<OfferedVersion>,
    /// Why the newest version of all could not be loaded.
    pub error: Option<OfferError>,
    /// The names of its versions, the current one last.
    pub names: Vec<String>,
    /// Whether the source still has it.
    pub is_present: bool,
}

/// A version that was loaded.
pub struct OfferedVersion {
    /// Of its bytes.
    pub digest: ArtifactDigest,
    /// What serves.
    pub entry: Arc<Entry>,
    /// Of workflows: what the entry is built from when the facades that it calls change.
    pub composed: Option<Arc<Composed>>,
    /// What it was granted of what the fence and the record of names are about.
    pub grants: VersionGrants,
}

/// Why a version could not be loaded.
pub struct OfferError {
    /// Without paths of the host or text of the plugin.
    pub for_callers: Cow<'static, str>,
    /// The sentence in the log.
    pub for_operator: String,
}

impl Offer {
    /// Replaces the version.
    pub fn accept(&mut self, Admitted { entry, composed, grants, facts }: Admitted) {
        let name = &entry.surface().name;
        self.names.retain(|known| known != name);
        self.names.push(name.clone());
        let (digest, entry) = (facts.digest, Arc::new(entry));
        self.version = Some(OfferedVersion { digest, entry, composed, grants });
        self.error = None;
        self.is_present = true;
    }

    /// Keeps the version, if there is one, and the reason why a newer one does not serve.
    pub fn reject(&mut self, error: &AdmitError) {
        let keeps = if self.version.is_some() { "; the version before it keeps serving" } else { "" };
        self.error = Some(OfferError { for_callers: error.told(), for_operator: format!("{error}{keeps}") });
        self.is_present = true;
    }

    /// Drops the version: the source no longer has it.
    pub fn withdraw(&mut self) {
        self.version = None;
        self.error =
            Some(OfferError { for_callers: "its file was removed".into(), for_operator: String::new() });
        self.is_present = false;
    }

    /// The digest and the surface of the version: bytes that did not change need not be described again.
    pub fn known(&self) -> Option<(ArtifactDigest, Arc<Surface>)> {
        self.version.as_ref().map(|version| (version.digest, Arc::clone(version.entry.facade.surface())))
    }

    /// The name that it claims: that of its version. One that never loaded claims that of its key, so that no other gets
    /// it meanwhile.
    pub fn claim<'a>(&'a self, key: &'a str) -> Option<Claim<'a>> {
        if let Some(OfferedVersion { entry, grants, .. }) = &self.version {
            return Some(Claim {
                file: key,
                name: &entry.surface().name,
                given: grants.name_given,
                loads: true,
            });
        }
        let never_loaded = self.is_present && self.names.is_empty();
        never_loaded.then(|| Claim { file: key, name: stem(key), given: false, loads: false })
    }

    /// How it stands, as far as it alone decides; none once it was withdrawn.
    pub fn stands(&self, key: &str) -> Option<Stands> {
        self.is_present.then_some(())?;
        let facade = self.version.as_ref().map(|version| version.entry.surface().name.clone());
        let state = match (&facade, &self.error) {
            (None, _) => State::Failed,
            (Some(_), Some(_)) => State::Stale,
            (Some(_), None) => State::Serving,
        };
        let why = self.error.as_ref().map(|error| error.for_operator.clone());
        Some(Stands { file: key.to_owned(), facade, state, why })
    }

    /// What the version was granted.
    pub fn grants(&self) -> Option<&VersionGrants> {
        self.version.as_ref().map(|version| &version.grants)
    }
}
