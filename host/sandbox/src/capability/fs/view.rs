//! The files of a call while one of WASI's functions runs.

use std::sync::Arc;

use wasmtime_wasi::filesystem::WasiFilesystemCtxView;

use super::{call_dirs::CallDirs, quota::FileQuota};
use crate::meter::CpuMeter;

/// Borrowed from a store's data for the time of one function.
pub(crate) struct FsView<'a> {
    pub(super) dirs: &'a mut CallDirs,
    pub(super) quota: &'a mut FileQuota,
    pub(super) meter: &'a Arc<CpuMeter>,
    pub(super) wasi: WasiFilesystemCtxView<'a>,
}

/// Store data that holds the files of a call.
pub(crate) trait FileView: Send {
    /// Borrows them.
    fn files(&mut self) -> FsView<'_>;
}
