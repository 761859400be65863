//! *Init* of WASI's file functions.

use wasmtime::component::{HasData, Linker};
use wasmtime_wasi::p2::bindings::filesystem;

use super::view::{FileView, FsView};

struct HasFiles;

impl HasData for HasFiles {
    type Data<'a> = FsView<'a>;
}

/// Links WASI's file functions with our limits in front of them, in the place of those that are linked already.
pub(in crate::capability) fn init<T: FileView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    filesystem::preopens::add_to_linker::<T, HasFiles>(linker, T::files)?;
    filesystem::types::add_to_linker::<T, HasFiles>(linker, T::files)
}
