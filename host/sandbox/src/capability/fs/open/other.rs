//! wasmtime-wasi opens files.

use wasmtime_wasi::{
    filesystem::{Descriptor, Dir},
    p2::FsResult,
};

use super::how::OpenHow;

/// Returns `None`: the system resolves no path beneath a directory.
pub(in super::super) fn open_beneath(_dir: &Dir, _path: &str, _how: OpenHow) -> Option<FsResult<Descriptor>> {
    None
}
