//! Reads a plugin's files.

use std::{
    fs::{File, OpenOptions},
    io::Read,
    path::Path,
    sync::Arc,
};

use loggia_gate::catalog::PluginSkill;
use loggia_policy::model::Policy;
use loggia_sandbox::ArtifactDigest;
use loggia_system::file::open_at_once;

use super::error::AdmitError;
use crate::{
    places,
    plugin_files::{FileStamp, PluginFiles},
    skill::{SkillError, read_skill},
};

/// Maximum size of a policy.
const MAX_POLICY_BYTES: u64 = 1 << 20;

/// A policy, with the digest of its file.
#[derive(Default)]
pub struct PolicyFile {
    pub policy: Policy,
    /// `None` without a file.
    pub digest: Option<ArtifactDigest>,
}

/// Reads the policy of a plugin; without one, nothing is granted.
pub(super) fn load_policy(found: &PluginFiles) -> Result<PolicyFile, AdmitError> {
    found
        .policy_content()
        .map_or_else(|| Ok(PolicyFile::default()), |(content, path)| parse_policy(content, &path))
}

/// Reads the skill beside a plugin, if it has one.
pub(super) fn load_skill(found: &PluginFiles) -> Result<Option<Arc<PluginSkill>>, AdmitError> {
    match read_skill(&found.skill) {
        Ok(skill) => Ok(skill.map(Arc::new)),
        Err(SkillError::Changing) => Err(AdmitError::Changing),
        Err(error) => {
            let name = found.skill.file_name().map(|name| name.to_string_lossy().into_owned());
            Err(AdmitError::Skill(name.unwrap_or_default(), error))
        }
    }
}

/// Reads a policy file.
pub(crate) fn read_policy(path: &Path) -> Result<PolicyFile, AdmitError> {
    parse_policy(path, path)
}

/// Reads the content of a policy, which may be a copy of that at `path`.
fn parse_policy(content: &Path, path: &Path) -> Result<PolicyFile, AdmitError> {
    if let (Ok(to), Err(error)) = (std::fs::read_link(content), std::fs::metadata(content)) {
        return Err(AdmitError::PolicyLink(path.to_owned(), format!("to {}: {error}", to.display())));
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let unreadable = |error| match error {
        AdmitError::Changing => AdmitError::Changing,
        error => AdmitError::PolicyFile(name.clone(), Box::new(error)),
    };
    let bytes = read_file(content, MAX_POLICY_BYTES).map_err(unreadable)?;
    let text = as_text(&bytes).map_err(unreadable)?;
    // Relative paths start at the policy's own folder, even if it is a link.
    let folder = std::path::absolute(path)?.parent().map(Path::to_owned).unwrap_or_default();
    let policy = Policy::parse(text, &places::setting(&folder)).map_err(|e| AdmitError::Policy(name, e))?;
    Ok(PolicyFile { policy, digest: Some(ArtifactDigest::of(&bytes)) })
}

/// Returns the content of a file as text. Other bytes must not be replaced, which would change what the file says.
pub(crate) fn as_text(bytes: &[u8]) -> Result<&str, AdmitError> {
    str::from_utf8(bytes).map_err(|error| AdmitError::NotText(error.valid_up_to() + 1))
}

/// Reads a regular file; fails if it changes meanwhile.
pub(crate) fn read_file(path: &Path, most: u64) -> Result<Vec<u8>, AdmitError> {
    // Opening a device may have side effects, so check before; the opened file is checked again.
    if !std::fs::metadata(path)?.is_file() {
        return Err(AdmitError::NotRegular);
    }
    // Opening a pipe would block until it has a writer.
    let mut file = open_at_once(OpenOptions::new().read(true)).open(path)?;
    let before = file.metadata()?;
    if !before.is_file() {
        return Err(AdmitError::NotRegular);
    }
    if before.len() > most {
        return Err(AdmitError::TooLarge(most, None));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(before.len()).unwrap_or(0));
    (&mut file).take(most + 1).read_to_end(&mut bytes)?;
    let same = |after: &File| {
        after
            .metadata()
            .is_ok_and(|after| FileStamp::from_metadata(&after) == FileStamp::from_metadata(&before))
    };
    if bytes.len() as u64 != before.len() || !same(&file) {
        return Err(AdmitError::Changing);
    }
    Ok(bytes)
}
