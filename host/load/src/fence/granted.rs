//! The grants of a version that the fence checks again whenever the folder changes.

use std::{io, path::PathBuf};

use loggia_egress::SecretSource;
use loggia_policy::model::{DirGrant, PluginGrants, Policy, PolicyPaths};
use loggia_system::FileIdentity;

use super::rules::{DirChain, FenceBreach, TrustFence};

/// The grants of a version that concern the fence and the name record.
#[derive(Debug, Clone, Default)]
pub struct VersionGrants {
    /// Whether the policy sets the facade's name.
    pub name_given: bool,
    /// Opened directories. Those that clients name are opened and checked in each call.
    pub dirs: Vec<OpenedDir>,
    /// Paths that the policy names.
    pub paths: PolicyPaths,
}

/// A directory that was opened for a plugin.
#[derive(Debug, Clone)]
pub struct OpenedDir {
    /// The path in the policy.
    grant: PathBuf,
    /// The directory as it was when it was opened.
    chain: DirChain,
    writable: bool,
}

impl OpenedDir {
    /// Opens a granted directory.
    ///
    /// # Errors
    ///
    /// If its metadata cannot be read.
    pub fn open(grant: &DirGrant) -> io::Result<Self> {
        let chain = DirChain::resolve(&grant.path)?;
        Ok(Self { grant: grant.path.clone(), chain, writable: grant.writable })
    }

    /// Identity of the directory.
    pub fn id(&self) -> Option<FileIdentity> {
        self.chain.dir()
    }

    /// Checks the directory as it was when it was opened.
    ///
    /// # Errors
    ///
    /// If the fence refuses it.
    pub fn check(&self, fence: &TrustFence) -> Result<(), FenceBreach> {
        fence.breach(&self.grant, &self.chain, self.writable).map_or(Ok(()), Err)
    }

    /// Checks the directory as it is now. A directory that was moved is still the opened one; if it cannot be found,
    /// its old path counts.
    pub fn breach(&self, fence: &TrustFence) -> Option<FenceBreach> {
        let now = DirChain::resolve(self.chain.path()).ok().filter(|now| now.dir() == self.chain.dir());
        fence.breach(&self.grant, now.as_ref().unwrap_or(&self.chain), self.writable)
    }
}

impl VersionGrants {
    /// Collects the grants of a policy, without opening its directories.
    pub fn from_policy(policy: &Policy) -> Self {
        let PluginGrants { dirs, http, .. } = &policy.grants;
        let secrets = http.secrets.iter().filter_map(|secret| match &secret.source {
            SecretSource::File(path) => Some(path.clone()),
            SecretSource::Value(..) | SecretSource::Caller => None,
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
    use crate::fence::rules::{FencePath, FenceRole};

    #[test]
    fn an_opened_directory_is_followed_when_moved() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir_all(path("data")).unwrap();
        let grant = DirGrant { path: path("data"), roots: false, at: "/data".into(), writable: true };
        let dir = OpenedDir::open(&grant).unwrap();
        let fence = |name: &str| -> TrustFence {
            let chain = DirChain::resolve(&path(name)).unwrap();
            [FencePath { role: FenceRole::Secret, path: path(name), chain }].into_iter().collect()
        };
        fs::create_dir(path("other")).unwrap();
        assert!(dir.breach(&fence("other")).is_none());
        // A secret is added later.
        fs::create_dir(path("data/keys")).unwrap();
        assert!(dir.breach(&fence("data/keys")).is_some());
        // A moved directory keeps its identity; another at its old path does not get it.
        fs::rename(path("data"), path("moved")).unwrap();
        assert!(dir.breach(&fence("moved")).is_some());
        fs::create_dir(path("data")).unwrap();
        assert!(dir.breach(&fence("moved")).is_some());
        assert!(dir.breach(&fence("other")).is_none());
    }
}
