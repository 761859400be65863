//! The files of one call.

use std::sync::Arc;

use loggia_facade::{Limit, Session};
use loggia_system::FileIdentity;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::filesystem::{WasiFilesystemCtx, WasiFilesystemCtxView};

use super::{
    call_dirs::CallDirs,
    client_roots::{OpenedRoots, RootGrants},
    quota::FileQuota,
    root::GrantedRoot,
    view::FsView,
};
use crate::{
    LoadError,
    capability::phases::{Capability, ConfigureContext, PrepareContext},
    meter::CpuMeter,
};

/// The directories that a policy grants.
pub(crate) struct FsCapability {
    granted: Arc<[GrantedRoot]>,
    /// Grants of which clients name the directories.
    roots: Option<Arc<RootGrants>>,
}

/// The files of one call. The default has no directories.
#[derive(Default)]
pub(crate) struct FileAccess {
    dirs: CallDirs,
    quota: FileQuota,
    wasi: WasiFilesystemCtx,
}

impl Capability for FsCapability {
    type CallState = FileAccess;

    fn configure(context: &ConfigureContext<'_>) -> Result<Option<Self>, LoadError> {
        let dirs = &context.grants.dirs;
        let granted = dirs.iter().filter(|grant| !grant.roots).map(GrantedRoot::open);
        let granted = granted.collect::<Result<Arc<[_]>, _>>()?;
        let roots = RootGrants::new(context.name, dirs, context.root_fence).map(Arc::new);
        Ok((!dirs.is_empty()).then_some(Self { granted, roots }))
    }

    fn prepare(&self, context: &mut PrepareContext<'_>) -> FileAccess {
        FileAccess {
            dirs: CallDirs::new(Arc::clone(&self.granted), context.effect),
            quota: FileQuota::new(context.limits.written, context.limits.descriptors),
            wasi: WasiFilesystemCtx::default(),
        }
    }
}

impl FsCapability {
    /// The directories that were opened.
    pub(crate) fn identities(&self) -> impl Iterator<Item = FileIdentity> {
        self.granted.iter().map(|root| root.identity)
    }

    /// Opens the roots of a call's client, if a grant takes them.
    pub(crate) async fn open_roots(&self, session: &Session, meter: &Arc<CpuMeter>) -> OpenedRoots {
        match &self.roots {
            Some(roots) => roots.open_for(session, meter).await,
            None => OpenedRoots::default(),
        }
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

    /// Adds the directories that the call's client named.
    pub(crate) fn with_roots(mut self, roots: OpenedRoots) -> Self {
        self.dirs.set_client(roots);
        self
    }

    /// Adds to the hint of a failure why roots of the client are missing.
    pub(crate) fn explain_failure(&self, code: &str, hint: Option<String>) -> Option<String> {
        self.dirs.explain_failure(code, hint)
    }

    /// Adds to the message of a reply why the call had no directory.
    pub(crate) fn explain_reply(&self, message: Option<String>) -> Option<String> {
        self.dirs.explain_reply(message)
    }

    pub(crate) fn view<'a>(
        &'a mut self,
        table: &'a mut ResourceTable,
        meter: &'a Arc<CpuMeter>,
    ) -> FsView<'a> {
        let Self { dirs, quota, wasi } = self;
        FsView { dirs, quota, meter, wasi: WasiFilesystemCtxView { ctx: wasi, table } }
    }
}
