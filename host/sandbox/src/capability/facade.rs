//! All capabilities of a facade.

use loggia_facade::Session;

use super::{
    call::CallCapabilities,
    caller::CallerCapability,
    config::ConfigCapability,
    elicit::ElicitAccess,
    env::EnvCapability,
    fs::FsCapability,
    http::HttpCapability,
    invoke::InvokeAccess,
    phases::{Capability, ConfigureContext, PrepareContext},
    progress::ProgressAccess,
    state::StateCapability,
};
use crate::LoadError;

/// Configured capabilities, shared by all calls of a facade.
pub(crate) struct FacadeCapabilities {
    files: FsCapability,
    http: HttpCapability,
    env: EnvCapability,
    config: ConfigCapability,
    state: StateCapability,
    caller: CallerCapability,
}

impl FacadeCapabilities {
    /// Opens what is granted.
    pub(crate) fn configure(context: &ConfigureContext<'_>) -> Result<Self, LoadError> {
        Ok(Self {
            files: Capability::configure(context)?,
            http: Capability::configure(context)?,
            env: Capability::configure(context)?,
            config: Capability::configure(context)?,
            state: Capability::configure(context)?,
            caller: Capability::configure(context)?,
        })
    }

    /// Gives a call what its action may use.
    pub(crate) fn prepare(&self, session: &Session, context: &mut PrepareContext<'_>) -> CallCapabilities {
        self.env.prepare(context);
        CallCapabilities {
            files: self.files.prepare(context),
            http: self.http.prepare(context),
            config: self.config.prepare(context),
            state: self.state.prepare(context),
            caller: self.caller.prepare(context),
            elicit: ElicitAccess::new(session),
            invoke: InvokeAccess::new(session),
            progress: ProgressAccess::new(session),
        }
    }

    /// The directories that were opened, by device and inode.
    pub(crate) fn dirs(&self) -> impl Iterator<Item = (u64, u64)> {
        self.files.identities()
    }
}
