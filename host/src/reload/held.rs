//! What the reloader knows of one file.

use std::{borrow::Cow, sync::Arc, time::Duration};

use loggia_facade::Surface;
use loggia_gate::catalog::Entry;
use loggia_sandbox::Digest;
use loggia_text::printable;
use tokio::time::Instant;

use super::{
    AdmitError, Admitted, RESCAN,
    claims::Claim,
    compose::Composed,
    granted::VersionGrants,
    scan::{Found, stem},
    standing::{Stands, State},
};
use crate::config::PolicyPaths;

/// Trying again takes at most this part of the time: what costs a minute waits for twenty.
const RETRIES: u32 = 20;

/// What the reloader knows of one file.
#[derive(Default)]
pub struct Held {
    /// The version that was tried last, whatever came of it; none when the file is gone.
    tried: Option<Found>,
    /// When that version is worth another try.
    retry: Option<Instant>,
    /// The version that serves.
    pub(super) serving: Option<(Digest, Arc<Entry>)>,
    /// What that version was granted of what other plugins must not reach.
    grants: VersionGrants,
    /// Of workflows: what that version is made of anew when the facades that it calls change.
    pub(super) composed: Option<Arc<Composed>>,
    /// Why the last version does not serve: what callers are told, and what the log was told.
    pub(super) error: Option<(Cow<'static, str>, String)>,
    /// The names that its versions have had. The last is the one that is served, or was.
    pub(super) names: Vec<String>,
}

impl Held {
    /// Whether a version need not be tried (again).
    pub fn is_done_with(&self, found: &Found, now: Instant) -> bool {
        self.tried.as_ref().is_some_and(|tried| {
            // A file may refer to others, and only the folder says which there are.
            let refers =
                self.error.is_some() || self.composed.as_ref().is_none_or(|composed| composed.refers);
            tried.is_same(found) && (!refers || tried.workflows == found.workflows)
        }) && self.retry.is_none_or(|retry| now < retry)
    }

    /// Whether there was a file when it was last looked for.
    pub fn has_file(&self) -> bool {
        self.tried.is_some()
    }

    /// How the file stands, as far as it alone decides; none when it is gone.
    pub fn stands(&self, file: &str) -> Option<Stands> {
        self.tried.as_ref()?;
        let facade = self.serving.as_ref().map(|(_, entry)| entry.surface().name.clone());
        let state = match (&facade, &self.error) {
            (None, _) => State::Failed,
            (Some(_), Some(_)) => State::Stale,
            (Some(_), None) => State::Serving,
        };
        let why = self.error.as_ref().map(|(_, said)| said.clone());
        Some(Stands { file: file.to_owned(), facade, state, why })
    }

    /// The digest and the surface of what serves: bytes that did not change need not be described again.
    pub fn known(&self) -> Option<(Digest, Arc<Surface>)> {
        self.serving.as_ref().map(|(digest, entry)| (*digest, Arc::clone(entry.facade.surface())))
    }

    /// Takes what an admission came to, and how long it took.
    pub fn attempted(
        &mut self,
        file: &str,
        found: &Found,
        admitted: Result<Admitted, AdmitError>,
        took: Duration,
    ) {
        self.tried = Some(found.clone());
        self.retry = None;
        match admitted {
            Ok(Admitted { entry, composed, grants, facts }) => {
                let name = entry.surface().name.clone();
                let (digest, actions) = (facts.digest.to_string(), entry.surface().actions.len());
                let took = facts.took.as_millis();
                let how = match (&composed, facts.compiled) {
                    (Some(_), _) => "read",
                    (None, true) => "compiled",
                    (None, false) => "cached",
                };
                tracing::info!(
                    file,
                    facade = name,
                    actions,
                    digest = &digest[..12],
                    "loaded ({how}, {took} ms)"
                );
                self.names.retain(|known| *known != name);
                self.names.push(name);
                for warning in composed.iter().flat_map(|composed| composed.warnings()) {
                    tracing::warn!(file, "{}", printable(&warning.to_string()));
                }
                self.serving = Some((facts.digest, Arc::new(entry)));
                self.composed = composed;
                self.grants = grants;
                self.error = None;
            }
            Err(error) => {
                let keeps = if self.serving.is_some() { "; the version before it keeps serving" } else { "" };
                let said = format!("{error}{keeps}");
                if self.error.as_ref().is_none_or(|(_, before)| *before != said) {
                    tracing::error!(file, "{}", printable(&said));
                }
                self.retry = error.may_pass().then(|| Instant::now() + RESCAN.max(took * RETRIES));
                self.error = Some((error.told(), said));
            }
        }
    }

    /// The file is gone.
    pub fn remove(&mut self) {
        self.tried = None;
        self.serving = None;
        self.composed = None;
        self.grants = VersionGrants::default();
        self.error = Some(("its file was removed".into(), String::new()));
    }

    /// The name that the file claims: that of the version that serves. One that never loaded claims that of its file, so
    /// that nobody else gets it meanwhile.
    pub fn claim<'a>(&'a self, file: &'a str) -> Option<Claim<'a>> {
        if let Some((_, entry)) = &self.serving {
            let given = self.grants.name_given;
            return Some(Claim { file, name: &entry.surface().name, given, loads: true });
        }
        let never_loaded = self.tried.is_some() && self.names.is_empty();
        never_loaded.then(|| Claim { file, name: stem(file), given: false, loads: false })
    }

    /// What the version that serves was granted.
    pub fn grants(&self) -> Option<&VersionGrants> {
        self.serving.as_ref().map(|_| &self.grants)
    }

    /// The paths of the host's that the policy of the version that serves names.
    pub fn paths(&self) -> Option<&PolicyPaths> {
        self.grants().map(|grants| &grants.paths)
    }
}
