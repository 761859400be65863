//! What a version was granted: looked at again whenever the plugins of the folder change.

use std::{io, path::PathBuf};

use loggia_egress::SecretSource;
use loggia_sandbox::{DirGrant, PluginGrants};

use super::rules::{Chain, FenceBreach, TrustFence};
use crate::config::policy::{Policy, PolicyPaths};

/// What a version was granted of what the fence and the record of names are about.
#[derive(Debug, Clone, Default)]
pub struct VersionGrants {
    /// Whether the policy gives it its name.
    pub name_given: bool,
    /// The directories that were opened for it.
    pub dirs: Vec<OpenedDir>,
    /// The paths that its policy names.
    pub paths: PolicyPaths,
}

/// A directory that was opened for a plugin.
#[derive(Debug, Clone)]
pub struct OpenedDir {
    /// As the policy names it.
    grant: PathBuf,
    /// As it was when it was opened.
    chain: Chain,
    writable: bool,
}

impl OpenedDir {
    /// A granted directory as it is now.
    ///
    /// # Errors
    ///
    /// If it cannot be looked at.
    pub fn of(grant: &DirGrant) -> io::Result<Self> {
        let chain = Chain::of(&grant.path)?;
        Ok(Self { grant: grant.path.clone(), chain, writable: grant.writable })
    }

    /// The directory by device and inode.
    pub fn id(&self) -> Option<(u64, u64)> {
        self.chain.dir()
    }

    /// Checks the directory as it was found.
    ///
    /// # Errors
    ///
    /// If the fence refuses it.
    pub fn check(&self, fence: &TrustFence) -> Result<(), FenceBreach> {
        fence.breach(&self.grant, &self.chain, self.writable).map_or(Ok(()), Err)
    }

    /// Why the directory may not be had now; none if it may. One that was moved is still the one that was opened, and is
    /// judged by where it was then.
    pub fn breach(&self, fence: &TrustFence) -> Option<FenceBreach> {
        let now = Chain::of(self.chain.path()).ok().filter(|now| now.dir() == self.chain.dir());
        fence.breach(&self.grant, now.as_ref().unwrap_or(&self.chain), self.writable)
    }
}

impl VersionGrants {
    /// What a policy says, without its directories.
    pub fn of(policy: &Policy) -> Self {
        let PluginGrants { dirs, http, .. } = &policy.grants;
        let secrets = http.secrets.iter().filter_map(|secret| match &secret.source {
            SecretSource::File(path) => Some(path.clone()),
            SecretSource::Value(..) => None,
        });
        let dirs = dirs.iter().map(|grant| grant.path.clone());
        let paths = PolicyPaths { secrets: secrets.collect(), dirs: dirs.collect() };
        Self { name_given: policy.expose.name.is_some(), dirs: Vec::new(), paths }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::load::fence::rules::{FencePath, FenceRole};

    #[test]
    fn a_directory_is_looked_at_where_it_is_now() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir_all(path("data")).unwrap();
        let grant = DirGrant { path: path("data"), at: "/data".into(), writable: true };
        let dir = OpenedDir::of(&grant).unwrap();
        let fence = |name: &str| -> TrustFence {
            let chain = Chain::of(&path(name)).unwrap();
            [FencePath { role: FenceRole::Secret, path: path(name), chain }].into_iter().collect()
        };
        fs::create_dir(path("other")).unwrap();
        assert!(dir.breach(&fence("other")).is_none());
        // A secret came later.
        fs::create_dir(path("data/keys")).unwrap();
        assert!(dir.breach(&fence("data/keys")).is_some());
        // It is the same directory wherever it is moved, and what takes its place is another.
        fs::rename(path("data"), path("moved")).unwrap();
        assert!(dir.breach(&fence("moved")).is_some());
        fs::create_dir(path("data")).unwrap();
        assert!(dir.breach(&fence("moved")).is_some());
        assert!(dir.breach(&fence("other")).is_none());
    }
}
