//! One guard: admits what is in its file, and follows it.

use std::{fs, future::poll_fn, panic::AssertUnwindSafe, path::Path, pin::pin, sync::Arc};

use futures_util::FutureExt;
use loggia_facade::CallGuard;
use loggia_gate::{
    call::TARGET as AUDIT,
    guard::{GuardPost, GuardState},
};
use loggia_sandbox::WasmGuard;
use loggia_text::printable;
use tokio::task::block_in_place;

use super::look::FileLooks;
use crate::{
    admit::{AdmitError, AdmittedGuard, PluginAdmitter},
    file_stamp::FileStamp,
    guard_spec::GuardSpec,
    pins::{
        GUARDS, LockEntry, LockState, PendingVersion, PinChange, PinDecision, PinKeeper, PinReport,
        PinnedVersion, describe_guard, format_now,
    },
};

/// A guard and its file.
pub(super) struct FollowedGuard {
    pub(super) spec: GuardSpec,
    pub(super) post: Arc<GuardPost>,
    looks: FileLooks,
    /// The version in the file; `None` if it was not admitted.
    version: Option<GuardVersion>,
    /// State of the lock when it was decided about.
    lock: LockState,
    /// Why the file could not be read last; it is tried again.
    trouble: Option<String>,
}

/// A version of a guard, and what the lock says of it.
struct GuardVersion {
    pin: PinnedVersion,
    /// Why it waits for approval; empty if it does not.
    changes: Vec<PinChange>,
}

impl FollowedGuard {
    pub(super) fn new(spec: GuardSpec, post: Arc<GuardPost>) -> Self {
        let looks = FileLooks { loaded: None, seen: None };
        Self { spec, post, looks, version: None, lock: LockState::default(), trouble: None }
    }

    /// Loads what is in the file, if it is new or may have been approved meanwhile. Returns true if anything was decided.
    pub(super) async fn look(&mut self, admitter: &PluginAdmitter, pins: &PinKeeper) -> bool {
        let now = block_in_place(|| {
            fs::metadata(&self.spec.component).ok().map(|meta| FileStamp::from_metadata(&meta))
        });
        let lock = pins.state();
        let is_new = self.looks.is_due(now);
        let is_decided = is_new || lock == self.lock || !self.has_new_decision(pins);
        self.looks.seen = now;
        if is_decided && !is_new {
            self.lock = lock;
            return false;
        }
        match admit(admitter, &self.spec, &self.spec.component).await {
            Ok(admitted) => self.arrive(admitted, admitter, pins).await,
            // Read again at the next look; calls wait, or the version before goes on.
            Err(AdmitError::Changing) => return false,
            Err(error) if now.is_some() && error.is_transient() => {
                self.note_trouble(error.to_string());
                return false;
            }
            Err(error) => self.reject(&error),
        }
        self.looks.loaded = Some(now);
        (self.lock, self.trouble) = (lock, None);
        true
    }

    /// Whether the lock says something else of the version in the file than before.
    fn has_new_decision(&self, pins: &PinKeeper) -> bool {
        self.version.as_ref().is_some_and(|GuardVersion { pin, changes }| match pins.decide(pin, true) {
            PinDecision::Serve | PinDecision::Record => !changes.is_empty(),
            PinDecision::Hold(now) => now != *changes,
        })
    }

    /// Logs why the file cannot be read, once.
    fn note_trouble(&mut self, why: String) {
        if self.trouble.as_ref() != Some(&why) {
            let (guard, file) = (self.spec.rule.name.as_str(), self.spec.component.display());
            tracing::error!(guard, "{file}: {}; it is tried again", printable(&why));
            self.trouble = Some(why);
        }
    }

    /// Adds to what the lock records.
    pub(super) fn report(&self, report: &mut PinReport) {
        match &self.version {
            Some(GuardVersion { pin, changes }) if !changes.is_empty() => report.held.push(PendingVersion {
                version: pin.clone(),
                changes: changes.clone(),
                flags: Vec::new(),
                since: format_now(),
                until: None,
            }),
            version => {
                report.served.extend(version.as_ref().map(|version| version.pin.clone()));
                report.settled.push(format!("{GUARDS}{}", self.spec.rule.name));
            }
        }
    }

    /// Uses a version, or has it wait, as the lock says.
    async fn arrive(&mut self, admitted: AdmittedGuard, admitter: &PluginAdmitter, pins: &PinKeeper) {
        let AdmittedGuard { guard, digest } = admitted;
        let pin = describe_guard(&self.spec.rule.name, &self.spec.component, &digest);
        if pins.is_active() {
            block_in_place(|| pins.keep_guard(&pin, &self.spec.component));
        }
        let before = self.version.take().filter(|version| version.pin == pin);
        // Its name is the operator's own.
        match pins.decide(&pin, true) {
            PinDecision::Serve | PinDecision::Record => {
                // A lock that can be used again is no approval.
                if before.is_some_and(|version| {
                    !version.changes.is_empty() && version.changes != [PinChange::Lock]
                }) {
                    self.record_approval(&pin, pins);
                }
                self.accept(Arc::new(guard));
                self.version = Some(GuardVersion { pin, changes: Vec::new() });
            }
            PinDecision::Hold(changes) => {
                let is_known = before.is_some_and(|version| version.changes == changes);
                let keeps = self.keep_approved(&pin, admitter, pins).await;
                if !keeps {
                    self.post.set(GuardState::Failed);
                }
                let version = GuardVersion { pin, changes };
                if !is_known {
                    self.record_wait(&version, keeps, pins);
                }
                self.version = Some(version);
            }
        }
    }

    /// Has an approved version go on, from its copy if need be. Returns false if there is none.
    async fn keep_approved(&self, pin: &PinnedVersion, admitter: &PluginAdmitter, pins: &PinKeeper) -> bool {
        for LockEntry { version: approved, .. } in pins.approved(&pin.key()) {
            if pins.is_rejected(&approved) {
                continue;
            }
            if let GuardState::Ready(guard) = self.post.state()
                && guard.origin() == approved.artifact
            {
                return true;
            }
            let Some(copy) = pins.stored_files(&approved) else { continue };
            match admit(admitter, &self.spec, &copy.artifact).await {
                Ok(AdmittedGuard { guard, .. }) if guard.origin() == approved.artifact => {
                    self.accept(Arc::new(guard));
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    fn accept(&self, guard: Arc<WasmGuard>) {
        let (name, artifact) = (self.spec.rule.name.as_str(), guard.origin());
        tracing::info!(guard = name, artifact, "a guard is loaded");
        tracing::debug!(target: AUDIT, event = "loaded", guard = name, bytes = artifact, "guard {name} is loaded");
        self.post.set(GuardState::Ready(guard));
    }

    fn reject(&mut self, error: &AdmitError) {
        let (name, why, file) =
            (self.spec.rule.name.as_str(), error.to_string(), self.spec.component.display());
        let why = printable(&why);
        tracing::error!(
            guard = name,
            "{file}: {why}; no call that the guard would look at is made until this is fixed"
        );
        tracing::debug!(target: AUDIT, event = "not_loaded", guard = name, why = &*why, "guard {name} is not loaded");
        self.post.set(GuardState::Failed);
        self.version = None;
    }

    fn record_approval(&self, pin: &PinnedVersion, pins: &PinKeeper) {
        let by = pins.approver(pin).unwrap_or_default();
        let (name, digest) = (self.spec.rule.name.as_str(), pin.digest());
        tracing::info!(guard = name, "{} approved it", printable(&by));
        tracing::debug!(
            target: AUDIT,
            event = "approved", guard = name, version = digest, by, "guard {name} is approved"
        );
    }

    fn record_wait(&self, version: &GuardVersion, keeps: bool, pins: &PinKeeper) {
        let GuardVersion { pin, changes } = version;
        let (name, file) = (self.spec.rule.name.as_str(), self.spec.component.display());
        let consequence = match keeps {
            true => "the approved version goes on",
            false => "no call that the guard would look at is made until then",
        };
        let why = match changes[..] {
            [PinChange::Rejected] => format!("an operator rejected this version, {}", pin.reference()),
            [PinChange::Lock] => pins.trouble().unwrap_or_default(),
            _ => format!("waits for approval: `loggia approve {}{}`", pin.reference(), pins.option()),
        };
        tracing::warn!(guard = name, "{file}: {}; {consequence}", printable(&why));
        let changes = changes.iter().map(|change| change.as_str()).collect::<Vec<_>>().join(", ");
        let (digest, bytes) = (pin.digest(), &pin.artifact);
        tracing::debug!(
            target: AUDIT,
            event = "held", guard = name, version = digest, bytes, changes, "guard {name} waits for approval"
        );
    }
}

/// Admits a guard as blocking work: it reads, hashes, maps and checks. A panic fails only this guard.
async fn admit(
    admitter: &PluginAdmitter,
    spec: &GuardSpec,
    file: &Path,
) -> Result<AdmittedGuard, AdmitError> {
    let mut admission = pin!(admitter.admit_guard(spec, file));
    let polled = poll_fn(|context| block_in_place(|| admission.as_mut().poll(context)));
    AssertUnwindSafe(polled).catch_unwind().await.unwrap_or(Err(AdmitError::Panicked))
}
