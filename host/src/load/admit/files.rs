//! A plugin's files, read whole.

use std::{
    fs::{File, OpenOptions},
    io::Read,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use loggia_sandbox::ArtifactDigest;

use super::error::AdmitError;
use crate::{
    config::{Policy, places},
    load::found::{Found, Stamp},
};

/// Largest policy file.
const POLICY: u64 = 1 << 20;

/// The policy beside a plugin; without one, nothing is granted.
pub(super) fn policy(found: &Found) -> Result<Policy, AdmitError> {
    found.policy.as_deref().map_or_else(|| Ok(Policy::default()), read_policy)
}

/// The digest of the policy beside a plugin, if there is one that can be read.
pub(in crate::load) fn digest_of_policy(found: &Found) -> Option<ArtifactDigest> {
    read(found.policy.as_deref()?, POLICY).ok().map(|text| ArtifactDigest::of(&text))
}

fn read_policy(path: &Path) -> Result<Policy, AdmitError> {
    if let (Ok(to), Err(error)) = (std::fs::read_link(path), std::fs::metadata(path)) {
        return Err(AdmitError::PolicyLink(path.to_owned(), format!("to {}: {error}", to.display())));
    }
    let text = read(path, POLICY)?;
    let text = String::from_utf8_lossy(&text);
    // A policy that is a link is read where it points to, but its paths start where the plugin stands.
    let folder = std::path::absolute(path)?.parent().map(Path::to_owned).unwrap_or_default();
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Policy::parse(&text, &places::setting(&folder)).map_err(|e| AdmitError::Policy(name, e))
}

/// Reads a regular file whole, and only if nobody changes it meanwhile.
pub(super) fn read(path: &Path, most: u64) -> Result<Vec<u8>, AdmitError> {
    // Opening a pipe would wait for its writer.
    const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    // Opening a device may do something; the file is looked at again once it is open.
    if !std::fs::metadata(path)?.is_file() {
        return Err(AdmitError::NotRegular);
    }
    let mut file = OpenOptions::new().read(true).custom_flags(NONBLOCK).open(path)?;
    let before = file.metadata()?;
    if !before.is_file() {
        return Err(AdmitError::NotRegular);
    }
    if before.len() > most {
        return Err(AdmitError::TooLarge(most, None));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(before.len()).unwrap_or(0));
    (&mut file).take(most + 1).read_to_end(&mut bytes)?;
    let same = |after: &File| after.metadata().is_ok_and(|after| Stamp::of(&after) == Stamp::of(&before));
    if bytes.len() as u64 != before.len() || !same(&file) {
        return Err(AdmitError::Changing);
    }
    Ok(bytes)
}
