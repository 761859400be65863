//! Outside the sandbox: directories that are given explicitly, with the sandbox's rule about links.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::Named;

/// A directory of this machine.
pub struct Base(PathBuf);

/// Native tests have no grants.
pub fn granted() -> Vec<(String, Base)> {
    Vec::new()
}

/// Tests whether a move failed because the target is on another device.
pub fn crosses_devices(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::CrossesDevices
}

impl Base {
    /// This directory.
    pub fn at(directory: PathBuf) -> Self {
        Self(directory)
    }

    /// Real path; refused if a link leads outside of the directory.
    pub fn real(&self, _at: &str, below: &str, follow: bool) -> io::Result<PathBuf> {
        let path = self.0.join(below);
        if below.is_empty() {
            return Ok(path);
        }
        let checked = if follow && path.is_symlink() { Some(path.as_path()) } else { path.parent() };
        let inside = fs::canonicalize(&self.0)?;
        let nearest =
            checked.into_iter().flat_map(Path::ancestors).find_map(|path| fs::canonicalize(path).ok());
        if nearest.is_none_or(|nearest| nearest.starts_with(inside)) {
            return Ok(path);
        }
        Err(io::ErrorKind::PermissionDenied.into())
    }

    /// The names in the directory.
    pub fn names(&self, below: &str) -> io::Result<Vec<Named>> {
        let named = |entry: io::Result<fs::DirEntry>| {
            let entry = entry?;
            Ok(Named { name: entry.file_name().into_string().ok(), kind: entry.file_type()?.into() })
        };
        fs::read_dir(self.0.join(below))?.map(named).collect()
    }
}
