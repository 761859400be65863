//! Surfaces of components, kept over restarts in one file beside the compiled code, so that a start reads one file and not
//! every plugin.
//!
//! An entry counts for a file with exactly the metadata that it had when its bytes were checked. Nothing relies on that: the
//! digest of the bytes is verified before the component runs. A file that is damaged, or that another build of Loggia wrote,
//! is ignored, and replaced after the load.
//!
//! ```text
//! loggia-surfaces 1 <size>-<mtime of this binary> <checksum of the rest>
//! {"path":"/srv/plugins/notes.wasm","stamp":{…},"digest":"…","imports":[…]}
//! {"name":"notes",…}                                              the surface, after each key
//! ```

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    ops::Range,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use loggia_facade::Surface;
use loggia_sandbox::{ArtifactDigest, CodeCache};
use loggia_system::FileStat;
use serde::{Deserialize, Serialize};

use crate::plugin_files::{FileStamp, PluginFiles};

const FILE: &str = "surfaces";
/// Version of the format.
const FORMAT: u32 = 1;

/// A surface that was admitted before.
pub struct IndexedSurface {
    /// Digest of the component's bytes.
    pub digest: ArtifactDigest,
    /// Interfaces that the component imports.
    pub imports: Vec<String>,
    /// The surface, sanitised.
    pub surface: Arc<Surface>,
}

/// Surfaces by the paths of their files.
pub struct SurfaceIndex {
    cache: CodeCache,
    /// Locked for a look-up or a change, never across a wait or while a surface is parsed.
    state: Mutex<IndexState>,
}

#[derive(Default)]
struct IndexState {
    /// The file as it was at the first look-up, until it is [released](SurfaceIndex::release).
    stored: Option<Arc<StoredIndex>>,
    /// Entries to write, or to remove.
    changes: BTreeMap<String, Option<StoredEntry>>,
}

/// The content of the file, with the components whose code is in the cache.
#[derive(Default)]
struct StoredIndex {
    text: String,
    entries: BTreeMap<String, (EntryKey, Range<usize>)>,
    compiled: HashSet<ArtifactDigest>,
}

/// An entry to write: its key and its surface as JSON.
struct StoredEntry {
    key: EntryKey,
    surface: String,
}

#[derive(Clone, Serialize, Deserialize)]
struct EntryKey {
    path: String,
    stamp: FileStamp,
    digest: String,
    imports: Vec<String>,
}

impl SurfaceIndex {
    /// Uses the file beside the code of this cache.
    pub fn new(cache: CodeCache) -> Self {
        Self { cache, state: Mutex::default() }
    }

    /// Finds the surface of an unchanged file whose code is in the cache.
    pub fn find(&self, found: &PluginFiles) -> Option<IndexedSurface> {
        let (path, stored) = self.stored(found)?;
        let (key, digest, surface) = stored.entry(&path, found)?;
        let surface = serde_json::from_str(surface).ok()?;
        Some(IndexedSurface { digest, imports: key.imports.clone(), surface: Arc::new(surface) })
    }

    /// Whether there is a surface of an unchanged file whose code is in the cache.
    pub fn contains(&self, found: &PluginFiles) -> bool {
        self.stored(found).is_some_and(|(path, stored)| stored.entry(&path, found).is_some())
    }

    /// The key of a file, and what was read from the index, unless there is something newer for the file.
    fn stored(&self, found: &PluginFiles) -> Option<(String, Arc<StoredIndex>)> {
        let path = key_of(&found.path)?;
        let mut state = self.lock();
        let stored = || Arc::new(StoredIndex::read(&self.cache));
        if state.changes.contains_key(&path) {
            return None;
        }
        Some((path, Arc::clone(state.stored.get_or_insert_with(stored))))
    }

    /// Records the surface of a file that was admitted.
    pub fn record(&self, found: &PluginFiles, digest: ArtifactDigest, imports: &[String], surface: &Surface) {
        let (Some(path), Ok(surface)) = (key_of(&found.path), serde_json::to_string(surface)) else { return };
        let (stamp, digest) = (found.stamp(), digest.to_string());
        let key = EntryKey { path: path.clone(), stamp, digest, imports: imports.to_vec() };
        self.lock().changes.insert(path, Some(StoredEntry { key, surface }));
    }

    /// Removes a file whose bytes are not those of its entry.
    pub fn remove(&self, path: &Path) {
        if let Some(path) = key_of(path) {
            self.lock().changes.insert(path, None);
        }
    }

    /// Drops what was read from the file, which a start alone needs much of.
    pub fn release(&self) {
        self.lock().stored = None;
    }

    /// Whether there is something to save.
    pub fn has_changes(&self) -> bool {
        !self.lock().changes.is_empty()
    }

    /// Writes the changes. Hosts that share a cache may save at the same time; then the entries of one are missing, and the next
    /// start of the other makes them again.
    pub fn save(&self) {
        let changes = std::mem::take(&mut self.lock().changes);
        if changes.is_empty() {
            return;
        }
        let stored = StoredIndex::read(&self.cache);
        let mut body = String::new();
        let mut add = |key: &EntryKey, surface: &str| {
            if let Ok(key) = serde_json::to_string(key) {
                body.extend([&key, "\n", surface, "\n"]);
            }
        };
        let kept = stored.entries.iter().filter(|(path, (key, _))| {
            let now = fs::metadata(path).map(|meta| FileStamp::from_metadata(&meta));
            !changes.contains_key(*path) && now.is_ok_and(|now| now == key.stamp)
        });
        kept.for_each(|(_, (key, surface))| add(key, &stored.text[surface.clone()]));
        changes.values().flatten().for_each(|entry| add(&entry.key, &entry.surface));
        let text = format!("{}\n{body}", header(&body));
        if let Err(error) = self.cache.write_beside(FILE, text.as_bytes()) {
            tracing::debug!("the index of surfaces cannot be written: {error}");
        }
    }

    fn lock(&self) -> MutexGuard<'_, IndexState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoredIndex {
    /// Reads the file; empty if it cannot be used.
    fn read(cache: &CodeCache) -> Self {
        let text = cache.read_beside(FILE).and_then(|bytes| String::from_utf8(bytes).ok());
        let parsed = text.and_then(Self::parse);
        parsed.map_or_else(Self::default, |stored| Self { compiled: cache.digests(), ..stored })
    }

    /// Key, digest and JSON of the surface of an unchanged file whose code is in the cache.
    fn entry(&self, path: &str, found: &PluginFiles) -> Option<(&EntryKey, ArtifactDigest, &str)> {
        let (key, surface) = self.entries.get(path)?;
        let digest = ArtifactDigest::parse(&key.digest)?;
        let is_usable = key.stamp == found.stamp() && self.compiled.contains(&digest);
        is_usable.then(|| (key, digest, &self.text[surface.clone()]))
    }

    fn parse(text: String) -> Option<Self> {
        let (first, body) = text.split_once('\n')?;
        if first != header(body) {
            return None;
        }
        let mut entries = BTreeMap::new();
        let mut start = first.len() + 1;
        while start < text.len() {
            let (key, _) = text[start..].split_once('\n')?;
            let surface = start + key.len() + 1;
            let length = text[surface..].split_once('\n')?.0.len();
            let key: EntryKey = serde_json::from_str(key).ok()?;
            entries.insert(key.path.clone(), (key, surface..surface + length));
            start = surface + length + 1;
        }
        Some(Self { text, entries, compiled: HashSet::new() })
    }
}

/// The first line: format, build and checksum. Another build may check surfaces by other rules.
fn header(body: &str) -> String {
    let own = std::env::current_exe().and_then(fs::metadata).map(|own| FileStat::from_metadata(&own));
    let build =
        own.map(|FileStat { size, modified: (seconds, nanos), .. }| format!("{size}-{seconds}.{nanos:09}"));
    let (build, sum) = (build.unwrap_or_default(), ArtifactDigest::of(body.as_bytes()));
    format!("loggia-surfaces {FORMAT} {build} {sum}")
}

/// The key of a path: absolute. `None` if it is not UTF-8.
fn key_of(path: &Path) -> Option<String> {
    std::path::absolute(path).ok()?.into_os_string().into_string().ok()
}
