//! What identifies a version of a facade.

use std::path::Path;

use loggia_sandbox::ArtifactDigest;
use serde::{Deserialize, Serialize};

use crate::facade_kind::{file_stem, is_file_key};

/// Beginning of the names of guards in the lock, as of their tables in the settings. No facade has such a name.
pub const GUARDS: &str = "guards.";

/// What identifies a version of a facade, or of a guard, as the lock records it. Digests are `sha256:` and 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedVersion {
    /// Name under which the facade is served; `guards.NAME` for a guard.
    pub name: String,
    /// Absolute path of its file; for an upstream, `upstream.NAME`.
    pub file: String,
    /// Digest of the file. An upstream has none: that of the surface stands for it.
    pub artifact: String,
    /// Digest of what the facade publishes. A guard publishes nothing.
    pub surface: String,
    /// Digest of the policy file, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Digest of the files of its skill, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// Capabilities that the plugin asks for.
    pub wants: Vec<String>,
    /// What its policy grants, explained.
    pub grants: Vec<String>,
}

impl PinnedVersion {
    /// Digest of the version: what an operator approves.
    pub fn digest(&self) -> String {
        let Self { name, artifact, surface, policy, skill, .. } = self;
        let [policy, skill] = [policy, skill].map(|digest| digest.as_deref().unwrap_or("-"));
        let text =
            format!("loggia version 1\n{name}\n{}\n{artifact}\n{surface}\n{policy}\n{skill}", self.key());
        format!("sha256:{}", ArtifactDigest::of(text.as_bytes()))
    }

    /// What the version is a version of: the path of its file without the suffix, the upstream, or the guard, since several may have
    /// one file.
    pub fn key(&self) -> String {
        match self.name.starts_with(GUARDS) {
            true => self.name.clone(),
            false => version_key(&self.file),
        }
    }

    /// File name, or `upstream.NAME`.
    pub fn file_name(&self) -> &str {
        Path::new(&self.file).file_name().and_then(|name| name.to_str()).unwrap_or(&self.file)
    }

    /// Name and digest, as commands take them.
    pub fn reference(&self) -> String {
        format!("{}@{}", self.name, self.digest())
    }
}

/// What versions of a file are versions of.
pub(super) fn version_key(file: &str) -> String {
    let path = Path::new(file);
    match path.file_name().and_then(|name| name.to_str()) {
        Some(name) if is_file_key(file) => {
            path.with_file_name(file_stem(name)).to_string_lossy().into_owned()
        }
        _ => file.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pins::fixture::version;

    #[test]
    fn versions_of_a_stem_have_one_key() {
        for (file, key) in [
            ("/plugins/notes.wasm", "/plugins/notes"),
            ("/plugins/notes.workflow.yaml", "/plugins/notes"),
            ("/plugins/shop.api.toml", "/plugins/shop"),
            ("upstream.github", "upstream.github"),
        ] {
            assert_eq!(version_key(file), key);
        }
    }

    #[test]
    fn a_digest_covers_what_is_approved() {
        let before = version().digest();
        type Change = fn(&mut PinnedVersion);
        let changes: [Change; 6] = [
            |version| version.name = "memos".into(),
            |version| version.file = "/other/notes.wasm".into(),
            |version| version.artifact = "sha256:2".into(),
            |version| version.surface = "sha256:2".into(),
            |version| version.policy = Some("sha256:2".into()),
            |version| version.skill = Some("sha256:2".into()),
        ];
        for change in changes {
            let mut changed = version();
            change(&mut changed);
            assert_ne!(changed.digest(), before, "{changed:?}");
        }
        assert_eq!(PinnedVersion { grants: vec!["x".into()], ..version() }.digest(), before);
    }
}
