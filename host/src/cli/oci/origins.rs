//! `origins.json` in a plugin folder: which of its plugins came from a registry, and what they were then.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use loggia_oci::ArtifactReference;
use serde::{Deserialize, Serialize};

use crate::cli::replace_file::put_file;

const FILE: &str = "origins.json";
const GUARD: &str = ".origins.guard";
const VERSION: u32 = 1;
const MAX_BYTES: u64 = 16 << 20;

/// Where a plugin came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PluginOrigin {
    /// Reference as it was given; `update` follows its tag.
    pub from: String,
    /// Digest of the manifest.
    pub manifest: String,
    /// Digest of the file.
    pub artifact: String,
    /// Component of an application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
    /// Name of the `[trust]` table whose key signed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer: Option<String>,
}

impl PluginOrigin {
    /// The reference that `update` follows; `None` if it names no tag.
    pub fn followed(&self) -> anyhow::Result<Option<ArtifactReference>> {
        let from: ArtifactReference =
            self.from.parse().with_context(|| format!("{FILE} has no reference: {:?}", self.from))?;
        Ok(from.unpinned())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OriginDocument {
    version: u32,
    plugins: BTreeMap<String, PluginOrigin>,
}

/// The origins of a plugin folder.
pub struct PluginOrigins {
    folder: PathBuf,
}

impl PluginOrigins {
    /// Locates the origins of a folder.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Reads them, by file name. Empty if there is no file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or something else wrote it.
    pub fn read(&self) -> anyhow::Result<BTreeMap<String, PluginOrigin>> {
        let path = self.folder.join(FILE);
        let failed = || format!("failed to read {}", path.display());
        let size = match fs::metadata(&path) {
            Ok(meta) => meta.len(),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(error).with_context(failed),
        };
        ensure!(size <= MAX_BYTES, "{} is larger than {MAX_BYTES} bytes", path.display());
        let text = fs::read(&path).with_context(failed)?;
        let document: OriginDocument = serde_json::from_slice(&text).with_context(failed)?;
        ensure!(
            document.version == VERSION,
            "{} has version {}, and this release reads version {VERSION}",
            path.display(),
            document.version
        );
        Ok(document.plugins)
    }

    /// Records where a file came from, after `put` has written it. Other processes wait.
    ///
    /// # Errors
    ///
    /// If the origins cannot be read or written, or `put` fails.
    pub fn record(
        &self,
        file: &str,
        origin: PluginOrigin,
        put: impl FnOnce() -> io::Result<()>,
    ) -> anyhow::Result<()> {
        let guard = self.folder.join(GUARD);
        let guarded = File::create(&guard).and_then(|guard| guard.lock().map(|()| guard));
        let _guarded = guarded.with_context(|| format!("failed to lock {}", guard.display()))?;
        let mut plugins = self.read()?;
        put().with_context(|| format!("failed to write {}", self.folder.join(file).display()))?;
        plugins.insert(file.to_owned(), origin);
        let text = serde_json::to_vec_pretty(&OriginDocument { version: VERSION, plugins })?;
        let path = self.folder.join(FILE);
        put_file(&path, [&text[..], b"\n"].concat())
            .with_context(|| format!("failed to write {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(from: &str) -> PluginOrigin {
        PluginOrigin {
            from: from.to_owned(),
            manifest: "sha256:1".to_owned(),
            artifact: "sha256:2".to_owned(),
            component: None,
            signer: None,
        }
    }

    #[test]
    fn origins_are_kept_beside_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let origins = PluginOrigins::new(folder.path());
        assert_eq!(origins.read().unwrap(), BTreeMap::new());
        origins.record("a.wasm", origin("oci://a.example/a:1"), || Ok(())).unwrap();
        origins.record("b.wasm", origin("oci://a.example/b:1"), || Ok(())).unwrap();
        origins.record("a.wasm", origin("oci://a.example/a:2"), || Ok(())).unwrap();
        let failed =
            origins.record("c.wasm", origin("oci://a.example/c"), || Err(ErrorKind::StorageFull.into()));
        assert!(failed.is_err());
        let read = origins.read().unwrap();
        assert_eq!(read.keys().collect::<Vec<_>>(), ["a.wasm", "b.wasm"]);
        assert_eq!(read["a.wasm"].followed().unwrap().unwrap().to_string(), "oci://a.example/a:2");
    }

    #[test]
    fn damaged_origins_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let origins = PluginOrigins::new(folder.path());
        for (text, expected) in [
            ("{", "failed to read"),
            (r#"{"version": 2, "plugins": {}}"#, "this release reads version 1"),
            (r#"{"version": 1, "plugins": {}, "more": 1}"#, "failed to read"),
        ] {
            fs::write(folder.path().join(FILE), text).unwrap();
            let put = || -> io::Result<()> { panic!("written") };
            let error = origins.record("a.wasm", origin("oci://a.example/a"), put).unwrap_err();
            assert!(format!("{error:#}").contains(expected), "{error:#}");
            assert_eq!(fs::read_to_string(folder.path().join(FILE)).unwrap(), text);
        }
    }
}
