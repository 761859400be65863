//! Files, policies and surfaces of versions, by digest, in the state folder: an approved version is served although its file was
//! replaced, and a version that waits can be compared with it.

use std::{
    collections::HashSet,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
    time::Duration,
};

use loggia_facade::Surface;
use loggia_sandbox::ArtifactDigest;
use loggia_system::folder::ensure_private;

use crate::admit::read_file;

/// Folder in the state folder.
const FOLDER: &str = "versions";
/// Age from which a file that the lock does not name is removed.
const UNUSED: Duration = Duration::from_secs(60 * 60);
/// Bytes of such files that are kept until then, so that a file that is replaced again and again does not fill the disk.
const MAX_UNUSED: u64 = 512 << 20;
/// Age from which they are removed beyond that. Until then, another process may be about to name them.
const JUST_STORED: Duration = Duration::from_secs(60);

/// Bytes of the largest file that is stored.
const MAX_FILE: u64 = 1 << 30;

/// The store of a state folder.
pub struct VersionStore {
    folder: PathBuf,
    /// Digests that are stored, listed at the first look: most versions of a start are. Locked for a look-up.
    stored: OnceLock<Mutex<HashSet<String>>>,
}

impl VersionStore {
    /// Locates the store of a state folder.
    pub fn new(state: &Path) -> Self {
        Self { folder: state.join(FOLDER), stored: OnceLock::new() }
    }

    /// Returns the path of a stored file, `sha256:…`.
    pub fn path(&self, digest: &str) -> Option<PathBuf> {
        let name = file_name(digest)?;
        self.contains(name).then(|| self.folder.join(name))
    }

    /// Stores bytes under their digest.
    ///
    /// # Errors
    ///
    /// If they have another digest, or cannot be written.
    pub fn put(&self, digest: &str, bytes: &[u8]) -> io::Result<()> {
        let name = file_name(digest).filter(|name| ArtifactDigest::of(bytes).to_string() == *name);
        let name = name.ok_or_else(|| io::Error::other("the file was replaced meanwhile"))?;
        if self.contains(name) {
            return Ok(());
        }
        self.write(name, bytes)
    }

    /// Stores a file under its digest.
    ///
    /// # Errors
    ///
    /// If it cannot be read, has another digest by now, or cannot be written.
    pub fn put_file(&self, digest: &str, file: &Path) -> io::Result<()> {
        match self.path(digest) {
            Some(_) => Ok(()),
            // By now it may be a pipe, or very large.
            None => self.put(digest, &read_file(file, MAX_FILE).map_err(io::Error::other)?),
        }
    }

    /// Stores a surface under the digest that the lock has.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn put_surface(&self, digest: &str, surface: &Surface) -> io::Result<()> {
        let Some(name) = file_name(digest).map(surface_name) else { return Ok(()) };
        if self.contains(&name) {
            return Ok(());
        }
        self.write(&name, &serde_json::to_vec(surface)?)
    }

    /// Reads a surface, as JSON. It is only shown, so its content is not verified.
    pub(super) fn surface(&self, digest: &str) -> Option<Vec<u8>> {
        fs::read(self.folder.join(surface_name(file_name(digest)?))).ok()
    }

    /// Removes files that have not been named for an hour, and the oldest ones of those that take too much room. Another process may
    /// remove the same.
    pub fn prune<'a>(&self, named: impl Iterator<Item = &'a str>) {
        let named: HashSet<&str> = named.filter_map(file_name).collect();
        let mut unused = self.unused_files(&named);
        unused.sort_by_key(|file| file.age);
        let mut size = 0;
        for UnusedFile { name, age, bytes } in unused {
            size += bytes;
            if age >= UNUSED || age >= JUST_STORED && size > MAX_UNUSED {
                self.stored().lock().unwrap_or_else(PoisonError::into_inner).remove(&name);
                if let Err(error) = fs::remove_file(self.folder.join(name)) {
                    tracing::debug!("an unused version cannot be removed: {error}");
                }
            }
        }
    }

    fn unused_files(&self, named: &HashSet<&str>) -> Vec<UnusedFile> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let unused = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let meta = entry.metadata().ok()?;
            let age = meta.modified().ok()?.elapsed().ok()?;
            let is_named = named.contains(name.strip_suffix(SURFACE).unwrap_or(&name));
            (!is_named).then_some(UnusedFile { name, age, bytes: meta.len() })
        });
        unused.collect()
    }

    /// Writes a file atomically.
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        ensure_private(&self.folder)?;
        let mut file = tempfile::Builder::new().prefix(".version-").tempfile_in(&self.folder)?;
        file.write_all(bytes)?;
        file.persist(self.folder.join(name)).map_err(|error| error.error)?;
        self.stored().lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        Ok(())
    }

    fn contains(&self, name: &str) -> bool {
        let known = self.stored().lock().unwrap_or_else(PoisonError::into_inner).contains(name);
        // Another process may have stored it since.
        known || self.folder.join(name).exists()
    }

    fn stored(&self) -> &Mutex<HashSet<String>> {
        self.stored.get_or_init(|| {
            let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
            Mutex::new(entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
        })
    }
}

/// A stored file that the lock does not name.
struct UnusedFile {
    name: String,
    age: Duration,
    bytes: u64,
}

/// Suffix of a surface's file.
const SURFACE: &str = ".surface.json";

fn surface_name(name: &str) -> String {
    format!("{name}{SURFACE}")
}

/// Returns the file name of a digest: only of a real one, which leads to no other folder.
fn file_name(digest: &str) -> Option<&str> {
    digest.strip_prefix("sha256:").filter(|hex| ArtifactDigest::parse(hex).is_some())
}

#[cfg(test)]
mod tests {
    use std::{fs::File, time::SystemTime};

    use super::*;
    use crate::pins::{canonical::surface_digest, fixture::surface};

    #[test]
    fn what_is_stored_is_found_by_its_digest() {
        let state = tempfile::tempdir().unwrap();
        let store = VersionStore::new(state.path());
        let digest = format!("sha256:{}", ArtifactDigest::of(b"a"));
        assert_eq!(store.path(&digest), None);
        store.put(&digest, b"a").unwrap();
        store.put(&digest, b"a").unwrap();
        assert_eq!(fs::read(store.path(&digest).unwrap()).unwrap(), b"a");
        assert!(store.put(&digest, b"b").unwrap_err().to_string().contains("replaced"));
        assert_eq!(store.path("sha256:../../secret"), None);
        let digest = surface_digest(&surface());
        store.put_surface(&digest, &surface()).unwrap();
        let stored = VersionStore::new(state.path()).surface(&digest).unwrap();
        assert_eq!(serde_json::from_slice::<Surface>(&stored).unwrap(), surface());
    }

    #[test]
    fn only_old_unnamed_files_are_removed() {
        let state = tempfile::tempdir().unwrap();
        let store = VersionStore::new(state.path());
        let put = |text: &str, age: u64| {
            let digest = format!("sha256:{}", ArtifactDigest::of(text.as_bytes()));
            store.put(&digest, text.as_bytes()).unwrap();
            let file = File::options().write(true).open(store.path(&digest).unwrap()).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
            digest
        };
        let [named, young, old] = [put("named", 9000), put("young", 0), put("old", 9000)];
        store.prune([named.as_str()].into_iter());
        let kept = [&named, &young, &old].map(|digest| store.path(digest).is_some());
        assert_eq!(kept, [true, true, false]);
    }

    #[test]
    fn unnamed_files_that_take_too_much_room_are_removed() {
        let state = tempfile::tempdir().unwrap();
        let store = VersionStore::new(state.path());
        let put = |text: &str, age: u64, bytes: u64| {
            let digest = format!("sha256:{}", ArtifactDigest::of(text.as_bytes()));
            store.put(&digest, text.as_bytes()).unwrap();
            let file = File::options().write(true).open(store.path(&digest).unwrap()).unwrap();
            // Sparse: it takes no room here.
            file.set_len(bytes).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
            digest
        };
        let files = [
            put("named", 200, MAX_UNUSED),
            put("just stored", 0, MAX_UNUSED),
            put("newer", 100, 1),
            put("older", 200, 1),
        ];
        store.prune([files[0].as_str()].into_iter());
        let kept = files.each_ref().map(|digest| store.path(digest).is_some());
        assert_eq!(kept, [true, true, false, false]);
        fs::remove_file(store.path(&files[1]).unwrap()).unwrap();
        let [newer, older] = [put("newer", 100, MAX_UNUSED), put("older", 200, 1)];
        store.prune([files[0].as_str()].into_iter());
        assert_eq!([&newer, &older].map(|digest| store.path(digest).is_some()), [true, false]);
    }
}
