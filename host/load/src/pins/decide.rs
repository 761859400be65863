//! Decides whether a version is served or waits for approval. Pure.

use loggia_policy::settings::PinMode;

use super::{lock_document::LockDocument, pin_change::PinChange, pinned_version::PinnedVersion};

/// What becomes of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PinDecision {
    /// It is served.
    Serve,
    /// It is served, and the lock must record it.
    Record,
    /// It waits for an operator.
    Hold(Vec<PinChange>),
}

/// Returns true if a version with this change waits in a mode.
fn waits(change: PinChange, mode: PinMode) -> bool {
    match (mode, change) {
        (PinMode::Open, _) | (PinMode::Surface, PinChange::New | PinChange::Artifact | PinChange::Policy) => {
            false
        }
        (PinMode::Surface | PinMode::Artifact, _) => true,
    }
}

/// Decides about a version. `name_given`: the operator's policy sets the name.
pub fn decide(lock: &LockDocument, version: &PinnedVersion, name_given: bool, mode: PinMode) -> PinDecision {
    if mode == PinMode::Open {
        return PinDecision::Serve;
    }
    if lock.rejection(&version.digest()).is_some() {
        return PinDecision::Hold(vec![PinChange::Rejected]);
    }
    let may_rename = name_given && mode == PinMode::Surface;
    let approved = lock.approved(&version.key()).iter();
    let mut changes: Vec<_> =
        approved.map(|entry| find_changes(&entry.version, version, may_rename)).collect();
    if changes.iter().any(Vec::is_empty) {
        return PinDecision::Serve;
    }
    let waits = |changes: &[PinChange]| changes.iter().any(|change| waits(*change, mode));
    let is_new = changes.is_empty() && !waits(&[PinChange::New]);
    if is_new || changes.iter().any(|changes| !waits(changes)) {
        return PinDecision::Record;
    }
    // How it differs from the version that was approved last.
    PinDecision::Hold(changes.pop().unwrap_or_else(|| vec![PinChange::New]))
}

fn find_changes(approved: &PinnedVersion, version: &PinnedVersion, name_given: bool) -> Vec<PinChange> {
    let differs = [
        (PinChange::Name, approved.name != version.name && !name_given),
        (PinChange::Surface, approved.surface != version.surface),
        (PinChange::Wants, approved.wants != version.wants),
        (PinChange::Skill, approved.skill != version.skill),
        (PinChange::Artifact, approved.artifact != version.artifact),
        (PinChange::Policy, approved.policy != version.policy),
    ];
    differs.into_iter().filter(|(_, differs)| *differs).map(|(change, _)| change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pins::{LockEntry, OperatorDecision, fixture::version};

    fn decision() -> OperatorDecision {
        OperatorDecision { by: "ada".into(), at: "2026-01-01T00:00:00Z".into() }
    }

    /// A lock with `version()` approved.
    fn lock() -> LockDocument {
        let mut lock = LockDocument::default();
        lock.approve(version(), decision());
        lock
    }

    fn other(change: impl FnOnce(&mut PinnedVersion)) -> PinnedVersion {
        let mut version = version();
        change(&mut version);
        version
    }

    /// H38, H40: every row of the table, in each mode.
    #[test]
    fn changes_wait_as_the_mode_says() {
        use PinChange::{Artifact, Name, New, Policy, Rejected, Skill, Surface, Wants};
        let hold = |changes: &[PinChange]| PinDecision::Hold(changes.to_vec());
        let (serve, record) = (PinDecision::Serve, PinDecision::Record);
        let (empty, known) = (LockDocument::default(), lock());
        let mut rejected = lock();
        rejected.reject(version().digest(), decision());
        let two = || "sha256:2".to_owned();
        let code = other(|v| v.artifact = two());
        let rug = other(|v| (v.artifact, v.surface) = (two(), two()));
        let wants = other(|v| {
            (v.artifact, v.surface) = (two(), two());
            v.wants.push("http: https://evil.example".into());
        });
        let policy = other(|v| v.policy = Some(two()));
        let skill = other(|v| v.skill = Some(two()));
        let name = other(|v| (v.name, v.artifact) = ("files".into(), two()));
        let file = other(|v| v.file = "/plugins/evil.wasm".into());
        let kind = other(|v| v.file = "/plugins/notes.workflow.yaml".into());
        for (what, lock, version, in_surface, in_artifact) in [
            ("the same", &known, version(), serve.clone(), serve.clone()),
            ("a new name", &empty, version(), record.clone(), hold(&[New])),
            ("another file", &known, file, record.clone(), hold(&[New])),
            ("another kind of file, else the same", &known, kind, serve.clone(), serve.clone()),
            ("other code", &known, code, record.clone(), hold(&[Artifact])),
            ("another surface", &known, rug, hold(&[Surface, Artifact]), hold(&[Surface, Artifact])),
            (
                "more wants",
                &known,
                wants,
                hold(&[Surface, Wants, Artifact]),
                hold(&[Surface, Wants, Artifact]),
            ),
            ("another policy", &known, policy, record, hold(&[Policy])),
            ("another skill", &known, skill, hold(&[Skill]), hold(&[Skill])),
            ("another name", &known, name, hold(&[Name, Artifact]), hold(&[Name, Artifact])),
            ("rejected", &rejected, version(), hold(&[Rejected]), hold(&[Rejected])),
        ] {
            assert_eq!(decide(lock, &version, false, PinMode::Open), PinDecision::Serve, "open: {what}");
            assert_eq!(decide(lock, &version, false, PinMode::Surface), in_surface, "surface: {what}");
            assert_eq!(decide(lock, &version, false, PinMode::Artifact), in_artifact, "artifact: {what}");
        }
    }

    #[test]
    fn an_operator_may_rename_unless_all_changes_wait() {
        let renamed = other(|v| (v.name, v.policy) = ("memos".into(), Some("sha256:2".into())));
        assert_eq!(decide(&lock(), &renamed, true, PinMode::Surface), PinDecision::Record);
        let waits = PinDecision::Hold(vec![PinChange::Name, PinChange::Policy]);
        assert_eq!(decide(&lock(), &renamed, true, PinMode::Artifact), waits);
    }

    #[test]
    fn an_approved_version_is_served_whatever_it_was() {
        let mut lock = lock();
        let rug =
            other(|v| (v.artifact, v.surface, v.name) = ("sha256:3".into(), "sha256:3".into(), "x".into()));
        lock.reject(rug.digest(), decision());
        lock.approve(rug.clone(), decision());
        for mode in [PinMode::Surface, PinMode::Artifact] {
            assert_eq!(decide(&lock, &rug, false, mode), PinDecision::Serve);
            assert!(matches!(decide(&lock, &version(), false, mode), PinDecision::Hold(_)), "the one before");
        }
        let LockEntry { approved, .. } = lock.entry("/plugins/notes").unwrap();
        assert_eq!(approved, &decision());
    }
}
