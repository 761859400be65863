//! The files of one plugin, by their metadata.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

pub use super::file_stamp::FileStamp;
use super::{
    facade_kind::{FileKind, file_stem},
    skill::{skill_folder, stamp_skill},
};

/// A plugin's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginFiles {
    /// The file that defines the facade.
    pub path: PathBuf,
    /// Kind of facade, by the file name.
    pub kind: FileKind,
    /// `<name>.toml` beside it, if there is one.
    pub policy: Option<PathBuf>,
    /// Workflow files of the folder, to which this one may refer; empty for a component.
    pub workflows: Arc<[(PathBuf, FileStamp)]>,
    /// `<name>.skill`, which need not exist.
    pub skill: PathBuf,
    /// Copies that are read instead: those of the version that was approved.
    stored: Option<StoredFiles>,
    stamps: (FileStamp, PolicyStamp, Option<u64>),
}

/// Copies of the files of an earlier version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFiles {
    /// The plugin file.
    pub artifact: PathBuf,
    /// The policy; `None`: the current one counts.
    pub policy: Option<StoredPolicy>,
}

/// The policy of an earlier version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredPolicy {
    /// It had none.
    None,
    /// A copy of its policy.
    Copy(PathBuf),
}

/// Metadata of the policy beside a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PolicyStamp {
    /// There is no such file.
    None,
    /// A file, possibly reached through links.
    File(FileStamp),
    /// A name whose metadata cannot be read, such as a dangling link. It counts as an invalid policy, never as none:
    /// without one, the plugin would be served without its limits.
    Unusable,
}

impl PolicyStamp {
    /// Reads the metadata of a policy, which need not exist.
    pub(super) fn read(path: &Path) -> Self {
        let meta = match fs::symlink_metadata(path) {
            Ok(meta) if meta.is_symlink() => fs::metadata(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self::None,
            found => found,
        };
        meta.map_or(Self::Unusable, |meta| Self::File(FileStamp::from_metadata(&meta)))
    }
}

impl PluginFiles {
    /// Stamp of the plugin file.
    pub fn stamp(&self) -> FileStamp {
        self.stamps.0
    }

    /// Looks up a single plugin, with the policy beside it.
    ///
    /// # Errors
    ///
    /// If its metadata cannot be read.
    pub(super) fn from_path(path: &Path) -> io::Result<Self> {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        // A dangling link is a plugin that cannot be read, not none.
        let meta = fs::metadata(path).or_else(|_| fs::symlink_metadata(path))?;
        let (kind, policy) = match FileKind::from_file_name(name) {
            Some((kind, stem)) => (kind, path.with_file_name(format!("{stem}.toml"))),
            // A file that is named explicitly is taken for a plugin.
            None => (FileKind::Component, path.with_extension("toml")),
        };
        let skill = skill_folder(path, file_stem(name));
        let stamps = (FileStamp::from_metadata(&meta), PolicyStamp::read(&policy), stamp_skill(&skill));
        let policy = (stamps.1 != PolicyStamp::None).then_some(policy);
        Ok(Self {
            path: path.to_owned(),
            kind,
            policy,
            workflows: Arc::default(),
            skill,
            stored: None,
            stamps,
        })
    }

    /// Returns the files of an earlier version, of which these copies exist. It has the skill only if that is still the same.
    #[must_use]
    pub fn with_stored(&self, stored: StoredFiles, has_same_skill: bool) -> Self {
        let skill = if has_same_skill { self.skill.clone() } else { PathBuf::new() };
        Self { stored: Some(stored), skill, ..self.clone() }
    }

    /// Path of the file's content.
    pub fn content(&self) -> &Path {
        self.stored.as_ref().map_or(&self.path, |stored| &stored.artifact)
    }

    /// Path of the policy's content, and of the policy, at whose folder its relative paths start. `None` without a policy.
    pub fn policy_content(&self) -> Option<(&Path, PathBuf)> {
        match self.stored.as_ref().and_then(|stored| stored.policy.as_ref()) {
            Some(StoredPolicy::None) => None,
            Some(StoredPolicy::Copy(copy)) => Some((copy, self.policy_path())),
            None => self.policy.as_deref().map(|policy| (policy, policy.to_owned())),
        }
    }

    fn policy_path(&self) -> PathBuf {
        let name = self.path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        self.path.with_file_name(format!("{}.toml", file_stem(name)))
    }

    /// Whether file, policy and skill are unchanged.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.path, self.kind, self.stamps) == (&other.path, other.kind, other.stamps)
    }
}
