//! The files of a trail, and opening them.

use std::{
    ffi::OsString,
    fs::{File, TryLockError},
    io,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use loggia_system::file::{is_exposed, open_no_link, private_options};

use crate::key::KeyError;

/// Bytes from the end of a file in which its last line is looked for.
const TAIL: u64 = 64 << 10;

/// Error of opening the audit file. Its text follows "failed to open the audit file", and begins with the path.
#[derive(Debug, thiserror::Error)]
pub enum TrailError {
    /// The file cannot be opened.
    #[error("{0}")]
    Io(PathBuf, #[source] io::Error),
    /// The path is a folder, a pipe or a device.
    #[error("{0}, which is not a regular file")]
    Irregular(PathBuf),
    /// The mode allows access to others than the owner.
    #[error("{0}, which others than its owner may use: `chmod 600` it")]
    Exposed(PathBuf),
    /// The key cannot be used.
    #[error("its key")]
    Key(#[from] KeyError),
}

/// The path of a process's file: `{pid}` in its name becomes the id of this process.
///
/// # Errors
///
/// If the working directory is gone.
pub fn resolve_path(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    std::path::absolute(path.with_file_name(name.replace("{pid}", &std::process::id().to_string())))
}

/// The path of the rotated file with this number; 1 is the newest.
pub(crate) fn rotated(path: &Path, number: usize) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

/// Most rotated files that settings can keep.
const ROTATED_FILES: usize = 1000;

/// Lists the files of a trail that exist, the oldest first. Looks for older files behind a missing one, so that the gap is found.
pub fn list_files(path: &Path) -> Vec<PathBuf> {
    let numbers = (1..=ROTATED_FILES).rev();
    let mut files: Vec<PathBuf> =
        numbers.map(|number| rotated(path, number)).filter(|file| file.exists()).collect();
    if path.exists() {
        files.push(path.to_owned());
    }
    files
}

/// Opens or creates a file, and takes its lock. If another process has it, takes a file with the id of this process in its name.
pub(crate) fn open(path: &Path) -> Result<(File, PathBuf), TrailError> {
    let file = open_private(path)?;
    match file.try_lock() {
        Ok(()) => return Ok((file, path.to_owned())),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(TrailError::Io(path.to_owned(), error)),
    }
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
    let own = path.with_file_name(format!("{stem}-{}{ending}", std::process::id()));
    let file = open_private(&own)?;
    file.try_lock().map_err(|error| TrailError::Io(own.clone(), error.into()))?;
    Ok((file, own))
}

fn open_private(path: &Path) -> Result<File, TrailError> {
    let failed = |error| TrailError::Io(path.to_owned(), error);
    // A symlink could point elsewhere at the next start, and opening a pipe would block until it has a reader.
    let file =
        open_no_link(private_options().read(true).append(true).create(true)).open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(TrailError::Irregular(path.to_owned()));
    }
    if is_exposed(&metadata) {
        return Err(TrailError::Exposed(path.to_owned()));
    }
    Ok(file)
}

/// Reads the last whole line of a file, and the number of bytes that end with it.
pub(crate) fn last_line(file: &mut File) -> io::Result<(Vec<u8>, u64)> {
    let size = file.metadata()?.len();
    let Some(end) = last_feed(file, size)? else { return Ok((Vec::new(), 0)) };
    let start = last_feed(file, end)?.map_or(0, |feed| feed + 1);
    let mut line = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take((end - start).min(TAIL)).read_to_end(&mut line)?;
    Ok((line, end + 1))
}

/// Finds the last line feed before a position.
fn last_feed(file: &mut File, mut end: u64) -> io::Result<Option<u64>> {
    let mut part = Vec::new();
    while end > 0 {
        let from = end.saturating_sub(TAIL);
        file.seek(SeekFrom::Start(from))?;
        part.clear();
        Read::take(&mut *file, end - from).read_to_end(&mut part)?;
        if let Some(at) = part.iter().rposition(|byte| *byte == b'\n') {
            return Ok(Some(from + at as u64));
        }
        end = from;
    }
    Ok(None)
}
