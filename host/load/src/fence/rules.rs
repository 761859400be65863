//! Refuses grants of directories through which a plugin could read or change what the host trusts.
//!
//! Decides from data alone, except for [`DirChain::resolve`]; `survey.rs` finds the paths.

use std::{
    io,
    path::{Path, PathBuf},
};

use loggia_system::FileIdentity;

/// Caller message for a plugin that the fence refuses.
pub const FENCED: &str = "its policy grants a directory that no plugin may have";

/// A directory and its ancestors, by identity and by path, so that another name or path to the same directory
/// is recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirChain {
    /// The directory first, the root last.
    ids: Vec<FileIdentity>,
    /// Absolute, without links.
    path: PathBuf,
}

impl DirChain {
    /// Resolves a directory and its ancestors up to the root.
    ///
    /// # Errors
    ///
    /// If the metadata of one cannot be read.
    pub fn resolve(dir: &Path) -> io::Result<Self> {
        let path = dir.canonicalize()?;
        let ids = path.ancestors().map(FileIdentity::of_target).collect::<io::Result<_>>()?;
        Ok(Self { ids, path })
    }

    /// Identity of the directory.
    pub fn dir(&self) -> Option<FileIdentity> {
        self.ids.first().copied()
    }

    /// Absolute path without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the other directory is this one or lies in it.
    fn contains(&self, other: &Self) -> bool {
        other.path.starts_with(&self.path) || self.dir().is_some_and(|dir| other.ids.contains(&dir))
    }

    fn is_on_device_of(&self, other: &Self) -> bool {
        self.dir().zip(other.dir()).is_some_and(|(own, other)| own.is_on_volume_of(&other))
    }
}

/// Reasons for which a directory is fenced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenceRole {
    /// Holds plugins and policies.
    Plugins,
    /// Holds machine code.
    Cache,
    /// Holds plugins' state and the name record.
    State,
    /// Holds a link to one of the others, to a plugin or a policy; or the target of such a link.
    Link,
    /// Holds a secret of a policy.
    Secret,
    /// Holds the settings file, with callers' tokens.
    Settings,
    /// Holds the keys that verify callers' tokens. They are public.
    Keys,
    /// Holds a guard, which decides what passes. It holds no secret.
    Guard,
    /// Holds the audit trail.
    Audit,
    /// Holds recordings of calls.
    Recordings,
    /// Kernel files: processes, devices, settings of the machine.
    System,
}

/// Scope of the grants that a role refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FenceReach {
    /// The directory, its ancestors and its descendants.
    Around,
    /// As `Around`, but only descendants on the same file system: another may be mounted below.
    AroundDevice,
    /// The directory and its ancestors.
    Above,
    /// As `Above`, if the plugin may write.
    AboveToWrite,
}

impl FenceRole {
    fn reach(self) -> FenceReach {
        match self {
            Self::Plugins | Self::Cache | Self::State | Self::Recordings => FenceReach::Around,
            Self::System => FenceReach::AroundDevice,
            Self::Secret | Self::Settings | Self::Audit => FenceReach::Above,
            Self::Link | Self::Keys | Self::Guard => FenceReach::AboveToWrite,
        }
    }

    fn relation(self) -> &'static str {
        match self.reach() {
            FenceReach::Around | FenceReach::AroundDevice => "is, contains or lies in",
            FenceReach::Above | FenceReach::AboveToWrite => "is or contains",
        }
    }

    /// Describes the folder, before its path.
    fn folder(self) -> &'static str {
        match self {
            Self::Plugins => "the plugin folder",
            Self::Cache => "the cache folder",
            Self::State => "the state folder",
            Self::Link => "a folder of links or of their targets,",
            Self::Secret => "the folder of a secret",
            Self::Settings => "the folder of the settings file",
            Self::Keys => "the folder of the keys that check callers' tokens",
            Self::Guard => "the folder of a guard",
            Self::Audit => "the folder of the audit trail",
            Self::Recordings => "the folder of recordings",
            Self::System => "the system folder",
        }
    }

    fn harm(self) -> &'static str {
        match self {
            Self::Plugins | Self::Cache | Self::State => "write access there controls what plugins may do",
            Self::Link => "changing a link or its target changes what the host reads or grants",
            Self::Secret => "the plugin could read or replace a secret",
            Self::Settings => "the plugin could read or change who may call",
            Self::Keys => "the plugin could change who may call",
            Self::Guard => "the plugin could change what guards let pass",
            Self::Audit => "the plugin could read or change who called what",
            Self::Recordings => "the plugin could read or change what others were called with",
            Self::System => "it exposes processes, their memory and environment, and devices",
        }
    }
}

/// A fenced directory.
#[derive(Debug)]
pub struct FencePath {
    pub role: FenceRole,
    /// The path as the operator knows it, for messages.
    pub path: PathBuf,
    pub chain: DirChain,
}

/// All fenced directories of a plugin folder.
#[derive(Debug, Default)]
pub struct TrustFence(Vec<FencePath>);

/// A grant that the fence refuses. Displays as a sentence for the operator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the policy grants {}, which {}; grant a directory elsewhere", grant.display(), self.reason())]
pub struct FenceBreach {
    /// The granted directory, as the policy names it.
    grant: PathBuf,
    role: FenceRole,
    path: PathBuf,
}

impl FenceBreach {
    /// Says why the directory is refused, after "it".
    pub fn reason(&self) -> String {
        let Self { role, path, .. } = self;
        format!("{} {} {}: {}", role.relation(), role.folder(), path.display(), role.harm())
    }
}

impl FromIterator<FencePath> for TrustFence {
    fn from_iter<T: IntoIterator<Item = FencePath>>(paths: T) -> Self {
        Self(paths.into_iter().collect())
    }
}

impl TrustFence {
    /// Checks whether a directory may be granted.
    pub fn breach(&self, grant: &Path, chain: &DirChain, writable: bool) -> Option<FenceBreach> {
        let refuses = |fenced: &&FencePath| {
            let above = chain.contains(&fenced.chain);
            match fenced.role.reach() {
                FenceReach::Around => above || fenced.chain.contains(chain),
                FenceReach::AroundDevice => {
                    above || fenced.chain.contains(chain) && chain.is_on_device_of(&fenced.chain)
                }
                FenceReach::Above => above,
                FenceReach::AboveToWrite => above && writable,
            }
        };
        let FencePath { role, path, .. } = self.0.iter().find(refuses)?;
        Some(FenceBreach { grant: grant.to_owned(), role: *role, path: path.clone() })
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    /// A directory whose inodes derive from its path, on device 1; in `/dev/shm` on device 2.
    fn chain(path: &str) -> DirChain {
        let id = |path: &Path| {
            let inode = path.to_string_lossy().bytes().fold(7, |sum: u64, b| sum * 31 + u64::from(b));
            FileIdentity::new(1 + u64::from(path.starts_with("/dev/shm")), inode)
        };
        DirChain { ids: Path::new(path).ancestors().map(id).collect(), path: path.into() }
    }

    #[test]
    fn each_role_refuses_its_grants() {
        use FenceRole::{
            Audit, Cache, Guard, Keys, Link, Plugins, Recordings, Secret, Settings, State, System,
        };
        // The fenced directory; then whether read and write grants are refused of the directory itself, one above, one
        // in it and one beside it.
        let (all, writes, none) = ((true, true), (false, true), (false, false));
        for (role, itself, above, within) in [
            (Plugins, all, all, all),
            (Cache, all, all, all),
            (State, all, all, all),
            (System, all, all, all),
            (Secret, all, all, none),
            (Settings, all, all, none),
            (Audit, all, all, none),
            (Recordings, all, all, all),
            (Link, writes, writes, none),
            (Keys, writes, writes, none),
            (Guard, writes, writes, none),
        ] {
            let fence: TrustFence =
                [FencePath { role, path: "/srv/a".into(), chain: chain("/srv/a") }].into_iter().collect();
            for (grant, expected) in [
                ("/srv/a", itself),
                ("/srv", above),
                ("/", above),
                ("/srv/a/b", within),
                ("/srv/b", none),
                ("/srv/ab", none),
            ] {
                let refused = |writable| fence.breach(Path::new(grant), &chain(grant), writable).is_some();
                assert_eq!((refused(false), refused(true)), expected, "{role:?} {grant}");
            }
        }
    }

    #[test]
    fn a_directory_matches_by_inode_and_by_path() {
        let fence = |path: &str| -> TrustFence {
            [FencePath { role: FenceRole::Plugins, path: path.into(), chain: chain(path) }]
                .into_iter()
                .collect()
        };
        let check = |grant: &DirChain, expected: bool| {
            assert_eq!(fence("/srv/a").breach(&grant.path, grant, false).is_some(), expected, "{grant:?}");
        };
        // The same directory under another path, such as a second mount of a part.
        check(&DirChain { path: "/elsewhere".into(), ..chain("/srv/a") }, true);
        check(&DirChain { path: "/elsewhere/b".into(), ..chain("/srv/a/b") }, true);
        // The same path, on a file system whose inodes change each time.
        check(&DirChain { path: "/srv".into(), ..chain("/other") }, true);
        check(&DirChain { path: "/other".into(), ..chain("/other") }, false);
    }

    #[test]
    fn other_file_systems_in_system_folders_are_allowed() {
        let fence: TrustFence =
            [FencePath { role: FenceRole::System, path: "/dev".into(), chain: chain("/dev") }]
                .into_iter()
                .collect();
        let refused = |grant: &str| fence.breach(Path::new(grant), &chain(grant), false).is_some();
        assert!(refused("/dev/disk") && refused("/dev") && refused("/"));
        assert!(!refused("/dev/shm"));
    }

    #[test]
    fn a_breach_explains_the_problem_and_the_fix() {
        let message = |role| {
            let breach = FenceBreach { grant: "/srv".into(), role, path: "/srv/a".into() };
            breach.to_string()
        };
        assert_eq!(
            message(FenceRole::Plugins),
            "the policy grants /srv, which is, contains or lies in the plugin folder /srv/a: write access there \
            controls what plugins may do; grant a directory elsewhere"
        );
        assert_eq!(
            message(FenceRole::Secret),
            "the policy grants /srv, which is or contains the folder of a secret /srv/a: the plugin could read or \
             replace a secret; grant a directory elsewhere"
        );
    }

    #[test]
    fn links_to_a_directory_resolve_to_it() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir_all(path("plugins/data")).unwrap();
        symlink("plugins", path("link")).unwrap();
        let direct = DirChain::resolve(&path("plugins/data")).unwrap();
        assert_eq!(DirChain::resolve(&path("link/../plugins/./data")).unwrap(), direct);
        assert!(DirChain::resolve(&path("link")).unwrap().contains(&direct));
        assert!(DirChain::resolve(&path("nowhere")).is_err());
    }
}
