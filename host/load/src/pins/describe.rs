//! Describes an admitted plugin as the lock has it.

use std::path::Path;

use loggia_gate::catalog::PluginSkill;
use loggia_sandbox::ArtifactDigest;

use super::{
    canonical::surface_digest,
    keeper::PinKeeper,
    lock_document::LockEntry,
    pinned_version::{GUARDS, PinnedVersion, version_key},
};
use crate::{admit::AdmittedPlugin, facade_kind::is_file_key};

/// Describes a plugin from this file, or an upstream with this key; `None` if nothing waits.
pub fn describe(pins: &PinKeeper, file: &Path, admitted: &AdmittedPlugin) -> Option<PinnedVersion> {
    if !pins.is_active() {
        return None;
    }
    let file = absolute_file(file);
    let approved = pins.approved(&version_key(&file));
    Some(describe_version(file, admitted, &approved))
}

/// Describes the guard of this name, from this file.
pub fn describe_guard(name: &str, file: &Path, digest: &ArtifactDigest) -> PinnedVersion {
    PinnedVersion {
        name: format!("{GUARDS}{name}"),
        file: absolute_file(file),
        artifact: format!("sha256:{digest}"),
        surface: format!("sha256:{}", ArtifactDigest::of(b"")),
        policy: None,
        skill: None,
        wants: Vec::new(),
        grants: Vec::new(),
    }
}

/// Returns the key in the lock of versions of this offer.
pub fn pin_key(file: &Path) -> String {
    version_key(&absolute_file(file))
}

fn absolute_file(file: &Path) -> String {
    let key = file.to_string_lossy().into_owned();
    match is_file_key(&key) {
        true => std::path::absolute(file).map_or(key, |path| path.to_string_lossy().into_owned()),
        false => key,
    }
}

fn describe_version(file: String, admitted: &AdmittedPlugin, approved: &[LockEntry]) -> PinnedVersion {
    let surface = admitted.entry.facade.surface();
    let digest = format!("sha256:{}", admitted.facts.digest);
    let is_file = is_file_key(&file);
    // Of other files, too: then the surface may change although its own file does not.
    let refers = admitted.workflow_file.as_ref().is_some_and(|bundle| bundle.has_references);
    // The same file has the same surface, even if another release of Loggia would describe it otherwise.
    let mut known = approved.iter().filter(|entry| is_file && !refers && entry.version.artifact == digest);
    let surface_digest =
        known.next().map_or_else(|| surface_digest(surface), |entry| entry.version.surface.clone());
    PinnedVersion {
        name: admitted.entry.surface().name.clone(),
        file,
        artifact: if is_file { digest } else { surface_digest.clone() },
        surface: surface_digest,
        policy: admitted.facts.policy.map(|digest| format!("sha256:{digest}")),
        skill: admitted.entry.skill.as_deref().map(skill_digest),
        wants: surface.wants.iter().map(|want| want.grant.clone()).collect(),
        grants: admitted.facts.grants.clone(),
    }
}

/// Computes the digest of a skill's files.
fn skill_digest(skill: &PluginSkill) -> String {
    let mut files: Vec<_> =
        skill.files.iter().map(|file| format!("{} {}\n", file.digest, file.path)).collect();
    files.sort();
    format!("sha256:{}", ArtifactDigest::of(files.concat().as_bytes()))
}
