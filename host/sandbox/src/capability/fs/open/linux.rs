//! By `openat2`, beneath a directory.

use std::{fs::File, io, path::Path, sync::OnceLock};

use rustix::{
    fs::{Mode, OFlags, ResolveFlags, fcntl_setfl, openat2},
    io::Errno,
};
use wasmtime_wasi::{
    OpenMode,
    filesystem::{self, Descriptor, Dir},
    p2::{
        FsResult,
        bindings::filesystem::types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags},
    },
};

use super::how::OpenHow;

/// The mode of a new file, before the process's mask.
const MODE: Mode = Mode::from_raw_mode(0o666);
/// Attempts to resolve a path: a rename anywhere on the machine makes the kernel give up a path with `..` in it.
const ATTEMPTS: usize = 64;

impl OpenHow {
    /// Converts to the system's flags and the mode of the descriptor, as wasmtime-wasi does.
    fn flags(self) -> Result<(OFlags, OpenMode), ErrorCode> {
        let Self { path, open, descriptor } = self;
        let sync = DescriptorFlags::FILE_INTEGRITY_SYNC
            | DescriptorFlags::DATA_INTEGRITY_SYNC
            | DescriptorFlags::REQUESTED_WRITE_SYNC;
        if descriptor.intersects(sync) {
            return Err(ErrorCode::Unsupported);
        }
        if open.contains(OpenFlags::DIRECTORY) && open != OpenFlags::DIRECTORY {
            return Err(ErrorCode::Invalid);
        }
        let changes = open.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE);
        let writes = descriptor.contains(DescriptorFlags::WRITE) || changes;
        // A file that is not opened for writing must be opened for reading.
        let reads =
            descriptor.contains(DescriptorFlags::READ) || !descriptor.contains(DescriptorFlags::WRITE);
        let mut mode = OpenMode::empty();
        mode.set(OpenMode::READ, reads);
        mode.set(OpenMode::WRITE, writes);
        let mut flags = match (reads, writes) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
        flags.set(OFlags::CREATE, open.contains(OpenFlags::CREATE));
        flags.set(OFlags::EXCL, open.contains(OpenFlags::CREATE | OpenFlags::EXCLUSIVE));
        flags.set(OFlags::TRUNC, open.contains(OpenFlags::TRUNCATE) && !flags.contains(OFlags::EXCL));
        flags.set(OFlags::NOFOLLOW, !path.contains(PathFlags::SYMLINK_FOLLOW));
        Ok((flags | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC, mode))
    }
}

/// Opens a regular file or a directory beneath this one; `None` if the kernel resolves no path beneath a directory.
pub(in super::super) fn open_beneath(dir: &Dir, path: &str, how: OpenHow) -> Option<FsResult<Descriptor>> {
    can_open_beneath(dir).then(|| open(dir, path, how))
}

/// Tests whether the kernel resolves paths beneath a directory: Linux since 5.6, unless a filter of system calls forbids it.
fn can_open_beneath(dir: &Dir) -> bool {
    static POSSIBLE: OnceLock<bool> = OnceLock::new();
    *POSSIBLE.get_or_init(|| {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        openat2(&*dir.dir, ".", flags, Mode::empty(), ResolveFlags::BENEATH).is_ok()
    })
}

fn open(dir: &Dir, path: &str, how: OpenHow) -> FsResult<Descriptor> {
    let (flags, mode) = how.flags()?;
    if dir.perms.write_not_permitted() && mode.contains(OpenMode::WRITE) {
        return Err(ErrorCode::NotPermitted.into());
    }
    let opened = resolve(&dir.dir, Path::new(path), flags)?;
    let kind = opened.metadata()?.file_type();
    if kind.is_dir() {
        return Ok(Descriptor::Dir(Dir::new(opened, dir.perms, mode, true)));
    }
    if !kind.is_file() {
        return Err(ErrorCode::NotPermitted.into());
    }
    if how.open.contains(OpenFlags::DIRECTORY) {
        return Err(ErrorCode::NotDirectory.into());
    }
    fcntl_setfl(&opened, OFlags::empty()).map_err(io::Error::from)?;
    Ok(Descriptor::File(filesystem::File::new(opened, dir.perms, mode, true)))
}

fn resolve(dir: &File, path: &Path, flags: OFlags) -> Result<File, ErrorCode> {
    let mode = if flags.contains(OFlags::CREATE) { MODE } else { Mode::empty() };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..ATTEMPTS {
        match openat2(dir, path, flags, mode, resolve) {
            Ok(opened) => return Ok(File::from(opened)),
            Err(Errno::AGAIN) => {}
            // The path leads out of the directory, or to a pipe or socket that no process has open.
            Err(Errno::XDEV | Errno::NXIO) => return Err(ErrorCode::NotPermitted),
            Err(error) => return Err(io::Error::from(error).into()),
        }
    }
    Err(ErrorCode::Busy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_those_of_wasi() {
        let check = |open, descriptor, expected: Result<OFlags, ErrorCode>| {
            let flags =
                OpenHow { path: PathFlags::SYMLINK_FOLLOW, open, descriptor }.flags().map(|(flags, _)| flags);
            let always = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
            match (flags, expected) {
                (Ok(flags), Ok(expected)) => assert_eq!(flags, expected | always),
                (Err(code), Err(expected)) => assert_eq!(code, expected),
                (flags, expected) => panic!("{flags:?}, expected {expected:?}"),
            }
        };
        let (read, write) = (DescriptorFlags::READ, DescriptorFlags::WRITE);
        check(OpenFlags::empty(), DescriptorFlags::empty(), Ok(OFlags::RDONLY));
        check(OpenFlags::empty(), read, Ok(OFlags::RDONLY));
        check(OpenFlags::empty(), write, Ok(OFlags::WRONLY));
        check(OpenFlags::CREATE, read, Ok(OFlags::RDWR | OFlags::CREATE));
        check(OpenFlags::TRUNCATE, write, Ok(OFlags::WRONLY | OFlags::TRUNC));
        check(
            OpenFlags::CREATE | OpenFlags::EXCLUSIVE,
            read | write,
            Ok(OFlags::RDWR | OFlags::CREATE | OFlags::EXCL),
        );
        check(OpenFlags::EXCLUSIVE, read, Ok(OFlags::RDONLY));
        check(OpenFlags::DIRECTORY | OpenFlags::CREATE, read, Err(ErrorCode::Invalid));
        check(OpenFlags::empty(), DescriptorFlags::DATA_INTEGRITY_SYNC, Err(ErrorCode::Unsupported));
    }
}
