//! Locates on this machine what the host trusts: the only step that resolves paths for the fence.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ffi::{OsStr, OsString},
    fs, io,
    path::{Component, Path, PathBuf},
};

use loggia_policy::model::PolicyPaths;

use super::{
    rules::{DirChain, FencePath, FenceRole, TrustFence},
    system_folders::system_folders,
};
use crate::{facade_kind::FileKind, file_stamp::FileStamp, places};

/// Maximum number of links to follow, as in operating systems.
const MAX_LINKS: usize = 40;
/// Maximum size of a policy to read; the admitter accepts no larger one.
const MAX_POLICY_BYTES: u64 = 1 << 20;
/// Paths that the host trusts, besides the plugin folder and its policies. Fixed while it runs.
#[derive(Debug, Clone, Default)]
pub struct TrustPlaces {
    /// Cache of compiled components.
    pub cache: PathBuf,
    /// Plugins' state.
    pub state: PathBuf,
    /// The settings file, if there is one.
    pub settings: Option<PathBuf>,
    /// The key file (JWKS) that the settings name.
    pub keys: Option<PathBuf>,
    /// The file of the audit trail.
    pub audit: Option<PathBuf>,
    /// The folder of recordings of calls.
    pub recordings: Option<PathBuf>,
    /// The file with the password of the database.
    pub database_password: Option<PathBuf>,
    /// The components of guards.
    pub guards: Vec<PathBuf>,
}

/// Paths of a folder's policies. Rereads only changed files.
#[derive(Default)]
pub struct PolicyFiles(BTreeMap<PathBuf, (FileStamp, PolicyPaths)>);

/// A path with its links resolved.
#[derive(Debug, PartialEq, Eq)]
struct ResolvedPath {
    /// Directories that hold the links on the path.
    links: BTreeSet<PathBuf>,
    /// The final target, or the last existing directory before a missing component.
    end: PathBuf,
    /// Whether every component exists.
    whole: bool,
}

/// Builds the fence for all plugins of a folder. `more` are the paths of versions that keep serving after their files
/// changed.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn survey<'a>(
    places: &TrustPlaces,
    folder: &Path,
    files: &mut PolicyFiles,
    more: impl IntoIterator<Item = &'a PolicyPaths>,
) -> io::Result<TrustFence> {
    let mut fence = FenceDraft::default();
    fence.folder(FenceRole::Plugins, folder)?;
    fence.folder(FenceRole::Cache, &places.cache)?;
    fence.folder(FenceRole::State, &places.state)?;
    if let Some(recordings) = &places.recordings {
        fence.folder(FenceRole::Recordings, recordings)?;
    }
    let TrustPlaces { settings, keys, audit, database_password, guards, .. } = places;
    for (role, file) in [
        (FenceRole::Settings, settings),
        (FenceRole::Keys, keys),
        (FenceRole::Audit, audit),
        (FenceRole::Secret, database_password),
    ] {
        if let Some(file) = file {
            fence.file(role, file)?;
        }
    }
    for guard in guards {
        fence.file(FenceRole::Guard, guard)?;
    }
    for link in links(folder)? {
        fence.file(FenceRole::Link, &link)?;
    }
    files.refresh(folder)?;
    for (_, paths) in files.0.values() {
        fence.policy(paths)?;
    }
    for paths in more {
        fence.policy(paths)?;
    }
    for system in system_folders() {
        fence.add(FenceRole::System, &system, &system)?;
    }
    Ok(fence.0.into_iter().collect())
}

#[derive(Default)]
struct FenceDraft(Vec<FencePath>);

impl FenceDraft {
    fn folder(&mut self, role: FenceRole, path: &Path) -> io::Result<()> {
        let ResolvedPath { links, end, whole } = resolve_path(path)?;
        // Nothing in a missing folder is trusted yet, but another user could create it.
        self.add(if whole { role } else { FenceRole::Link }, path, &end)?;
        self.links(links);
        Ok(())
    }

    fn file(&mut self, role: FenceRole, path: &Path) -> io::Result<()> {
        let ResolvedPath { links, end, whole } = resolve_path(path)?;
        let dir = if whole { end.parent().unwrap_or(&end) } else { &end };
        self.add(role, dir, dir)?;
        self.links(links);
        Ok(())
    }

    fn policy(&mut self, paths: &PolicyPaths) -> io::Result<()> {
        for secret in &paths.secrets {
            self.file(FenceRole::Secret, secret)?;
        }
        for dir in &paths.dirs {
            // Changing a link on the path changes what is granted.
            self.links(resolve_path(dir)?.links);
        }
        Ok(())
    }

    fn links(&mut self, links: BTreeSet<PathBuf>) {
        for dir in links {
            // A missing directory holds no link.
            let _ = self.add(FenceRole::Link, &dir, &dir);
        }
    }

    fn add(&mut self, role: FenceRole, path: &Path, at: &Path) -> io::Result<()> {
        match DirChain::resolve(at) {
            Ok(chain) => self.0.push(FencePath { role, path: path.to_owned(), chain }),
            // Plugins cannot reach what is missing or unreachable for the host.
            Err(error) if is_out_of_reach(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

fn is_out_of_reach(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | PermissionDenied | NotADirectory)
}

/// Returns the directories that hold the links on a path.
///
/// # Errors
///
/// If metadata cannot be read.
pub fn link_dirs(path: &Path) -> io::Result<BTreeSet<PathBuf>> {
    Ok(resolve_path(path)?.links)
}

/// Resolves a path link by link.
fn resolve_path(path: &Path) -> io::Result<ResolvedPath> {
    let path = std::path::absolute(path)?;
    let mut left: VecDeque<OsString> = path.components().map(|part| part.as_os_str().to_owned()).collect();
    let mut found = ResolvedPath { links: BTreeSet::new(), end: PathBuf::from("/"), whole: false };
    let mut hops = 0;
    while let Some(part) = left.pop_front() {
        match Path::new(&part).components().next() {
            // On Windows, a root follows a prefix, and a link may have the root alone.
            Some(Component::RootDir) => found.end.push(&part),
            Some(Component::ParentDir) => drop(found.end.pop()),
            Some(Component::Normal(name)) => {
                let next = found.end.join(name);
                let meta = match fs::symlink_metadata(&next) {
                    Ok(meta) => meta,
                    Err(error) if is_out_of_reach(&error) => return Ok(found),
                    Err(error) => return Err(error),
                };
                if !meta.is_symlink() {
                    found.end = next;
                    continue;
                }
                hops += 1;
                found.links.insert(found.end.clone());
                if hops > MAX_LINKS {
                    return Ok(found);
                }
                let to = fs::read_link(&next)?;
                for part in to.components().rev() {
                    left.push_front(part.as_os_str().to_owned());
                }
            }
            Some(Component::Prefix(prefix)) => found.end = PathBuf::from(prefix.as_os_str()),
            Some(Component::CurDir) | None => {}
        }
    }
    found.whole = true;
    Ok(found)
}

/// Lists the plugins, workflows and policies of a folder that are links. A missing folder has none.
fn links(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = entries(folder)?.into_iter();
    Ok(entries.filter(|entry| entry.is_symlink()).collect())
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let listed = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed?,
    };
    let mut entries = Vec::new();
    for entry in listed {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if FileKind::from_file_name(name).is_some() || name.ends_with(".toml") {
            entries.push(path);
        }
    }
    Ok(entries)
}

impl PolicyFiles {
    /// Rereads changed policies, including those without a plugin.
    fn refresh(&mut self, folder: &Path) -> io::Result<()> {
        let before = std::mem::take(&mut self.0);
        for path in entries(folder)?.into_iter().filter(|path| is_policy(path)) {
            // An unreadable file is no version's policy; the caller passes the paths of versions that serve.
            let Ok(meta) = fs::metadata(&path) else { continue };
            let stamp = FileStamp::from_metadata(&meta);
            let known = before.get(&path).filter(|(before, _)| *before == stamp);
            let paths = known.map_or_else(|| read_policy_paths(&path, &meta), |(_, paths)| paths.clone());
            self.0.insert(path, (stamp, paths));
        }
        Ok(())
    }
}

/// Reads the paths that a policy names. Relative paths start at the policy's own folder, even if it is a link.
fn read_policy_paths(path: &Path, meta: &fs::Metadata) -> PolicyPaths {
    if !meta.is_file() || meta.len() > MAX_POLICY_BYTES {
        return PolicyPaths::default();
    }
    let Ok(bytes) = fs::read(path) else { return PolicyPaths::default() };
    let folder = std::path::absolute(path).ok();
    let folder = folder.as_deref().and_then(Path::parent).unwrap_or(Path::new("/"));
    PolicyPaths::parse(&String::from_utf8_lossy(&bytes), &places::setting(folder))
}

/// Whether a file is a policy. Descriptions of APIs are TOML, too.
fn is_policy(path: &Path) -> bool {
    let is_facade =
        path.file_name().and_then(OsStr::to_str).is_some_and(|name| FileKind::from_file_name(name).is_some());
    path.extension().is_some_and(|extension| extension == "toml") && !is_facade
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn resolving_a_path_lists_folders_with_links() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let at = |name: &str| root.join(name);
        for dir in ["links", "v1/plugins", "other"] {
            fs::create_dir_all(at(dir)).unwrap();
        }
        fs::write(at("other/file"), "").unwrap();
        symlink("../v1", at("links/current")).unwrap();
        symlink(at("other/file"), at("v1/plugins/a.toml")).unwrap();
        symlink("loop", at("links/loop")).unwrap();
        symlink("../gone/file", at("links/broken")).unwrap();
        let check = |path: &str, links: &[&str], end: &str, whole: bool| {
            let links = links.iter().map(|link| at(link)).collect();
            assert_eq!(
                resolve_path(&at(path)).unwrap(),
                ResolvedPath { links, end: at(end), whole },
                "{path}"
            );
        };
        check("v1/plugins", &[], "v1/plugins", true);
        check("v1/./x/../plugins", &[], "v1", false);
        check("links/current/plugins", &["links"], "v1/plugins", true);
        check("links/current/../other", &["links"], "other", true);
        check("links/current/plugins/a.toml", &["links", "v1/plugins"], "other/file", true);
        check("links/broken", &["links"], "", false);
        check("links/loop", &["links"], "links", false);
        check("gone/file", &[], "", false);
    }

    #[test]
    fn policies_with_mistakes_keep_their_secrets_fenced() {
        let folder = tempfile::tempdir().unwrap();
        let policy = folder.path().join("a.toml");
        fs::write(
            &policy,
            "[grants]\ndris = 1\nsecrets = [{ from-file = 'token', hots = 'x' }]\n[limits]\nx = 1",
        )
        .unwrap();
        let mut files = PolicyFiles::default();
        files.refresh(folder.path()).unwrap();
        assert_eq!(files.0[&policy].1.secrets, [folder.path().join("token")]);
        fs::write(&policy, "[grants]\nsecrets = [{ from-file = 'other-token' }]\n").unwrap();
        files.refresh(folder.path()).unwrap();
        assert_eq!(files.0[&policy].1.secrets, [folder.path().join("other-token")]);
        fs::remove_file(&policy).unwrap();
        files.refresh(folder.path()).unwrap();
        assert!(files.0.is_empty());
    }
}
