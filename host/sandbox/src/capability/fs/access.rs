//! The files of one call.

use std::sync::Arc;

use loggia_facade::{Effect, Limit};
use wasmtime::component::ResourceTable;
use wasmtime_wasi::filesystem::{WasiFilesystemCtx, WasiFilesystemCtxView};

use super::{quota::FileQuota, root::GrantedRoot, view::FsView};
use crate::{
    LoadError,
    capability::phases::{Capability, ConfigureContext, PrepareContext},
    meter::CpuMeter,
};

/// The directories that a policy grants.
pub(crate) struct FsCapability {
    roots: Arc<[GrantedRoot]>,
}

/// The files of one call. The default has no directories.
#[derive(Default)]
pub(crate) struct FileAccess {
    roots: Option<(Arc<[GrantedRoot]>, Effect)>,
    quota: FileQuota,
    wasi: WasiFilesystemCtx,
}

impl Capability for FsCapability {
    type CallState = FileAccess;

    fn configure(context: &ConfigureContext<'_>) -> Result<Option<Self>, LoadError> {
        let roots = context.grants.dirs.iter().map(GrantedRoot::open).collect::<Result<Vec<_>, _>>()?;
        Ok((!roots.is_empty()).then(|| Self { roots: roots.into() }))
    }

    fn prepare(&self, context: &mut PrepareContext<'_>) -> FileAccess {
        FileAccess {
            roots: Some((Arc::clone(&self.roots), context.effect)),
            quota: FileQuota::new(context.limits.written, context.limits.descriptors),
            wasi: WasiFilesystemCtx::default(),
        }
    }
}

impl FsCapability {
    /// The directories that were opened, by device and inode.
    pub(crate) fn identities(&self) -> impl Iterator<Item = (u64, u64)> {
        self.roots.iter().map(|root| root.identity)
    }
}

impl FileAccess {
    /// Describes a limit that the guest exceeded, with the key that changes it.
    pub(crate) fn exceeded_limit(&self) -> Option<String> {
        let exceeded = self.quota.exceeded()?;
        let text = exceeded.as_str();
        Some(match self.quota.limit(exceeded) {
            Some(Limit { key, value }) => format!("{text}, which is {value}; the operator can raise `{key}`"),
            None => text.to_owned(),
        })
    }

    pub(crate) fn view<'a>(
        &'a mut self,
        table: &'a mut ResourceTable,
        meter: &'a Arc<CpuMeter>,
    ) -> FsView<'a> {
        let Self { roots, quota, wasi } = self;
        FsView { roots: roots.as_ref(), quota, meter, wasi: WasiFilesystemCtxView { ctx: wasi, table } }
    }
}
