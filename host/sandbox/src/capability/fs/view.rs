//! The files of a call while one of WASI's functions runs.

use std::sync::Arc;

use loggia_facade::Effect;
use wasmtime_wasi::filesystem::WasiFilesystemCtxView;

use super::{quota::FileQuota, root::GrantedRoot};
use crate::meter::CpuMeter;

/// Borrowed from a store's data for the time of one function.
pub(crate) struct FsView<'a> {
    pub(super) roots: Option<&'a (Arc<[GrantedRoot]>, Effect)>,
    pub(super) quota: &'a mut FileQuota,
    pub(super) meter: &'a Arc<CpuMeter>,
    pub(super) wasi: WasiFilesystemCtxView<'a>,
}

/// Store data that holds the files of a call.
pub(crate) trait FileView: Send {
    /// Borrows them.
    fn files(&mut self) -> FsView<'_>;
}
