//! wasmtime-wasi's file functions, each on a thread that may block, at the call's expense.
//!
//! wasmtime-wasi by itself sends each function to such a thread too, where nothing can measure it. So its descriptors are
//! configured to block the thread that they are used on, and that thread is one of ours.

use std::sync::LazyLock;

use futures_util::FutureExt;
use wasmtime::component::{Resource, ResourceTable};
use wasmtime_wasi::{
    WasiCtx,
    filesystem::{Descriptor, WasiFilesystemCtx, WasiFilesystemCtxView},
    p2::{FsError, FsResult},
};

use super::view::FsView;

/// A descriptor, by its handle in the table.
pub(super) type FdResource = Resource<Descriptor>;

/// Context in which the descriptors that wasmtime-wasi opens may block, as ours may.
static BLOCKING: LazyLock<WasiFilesystemCtx> =
    LazyLock::new(|| WasiCtx::builder().allow_blocking_current_thread(true).build().filesystem().clone());

impl FsView<'_> {
    /// Runs a file function on a thread that may block, and charges the call for it. The function gets a table of its own
    /// with copies of these descriptors, which refer to the same open files.
    pub(super) fn run_blocking<const N: usize, T: Send + 'static, F>(
        &self,
        fds: [&FdResource; N],
        act: F,
    ) -> impl Future<Output = FsResult<T>> + Send + use<N, T, F>
    where
        F: AsyncFnOnce(&mut WasiFilesystemCtxView<'_>, [FdResource; N]) -> FsResult<T> + Send + 'static,
    {
        let copies: Result<Vec<Descriptor>, _> =
            fds.into_iter().map(|fd| self.wasi.table.get(fd).cloned()).collect();
        let working = copies.map(|copies| self.meter.run_blocking(move || run_with_copies(copies, act)));
        async move { (&mut *working?).await.unwrap_or_else(|error| Err(FsError::trap(error))) }
    }
}

/// Runs a file function with a table that holds these descriptors alone.
fn run_with_copies<const N: usize, T>(
    copies: Vec<Descriptor>,
    act: impl AsyncFnOnce(&mut WasiFilesystemCtxView<'_>, [FdResource; N]) -> FsResult<T>,
) -> FsResult<T> {
    let (mut ctx, mut table) = (BLOCKING.clone(), ResourceTable::new());
    let given = copies.into_iter().map(|copy| table.push(copy)).collect::<Result<Vec<FdResource>, _>>()?;
    let given =
        given.try_into().map_err(|_| FsError::trap(wasmtime::Error::msg("a descriptor is missing")))?;
    let mut wasi = WasiFilesystemCtxView { ctx: &mut ctx, table: &mut table };
    let ended = act(&mut wasi, given).now_or_never();
    // None of the descriptors has to wait on another thread.
    ended.unwrap_or_else(|| Err(FsError::trap(wasmtime::Error::msg("a file function did not end"))))
}
