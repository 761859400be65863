//! Capabilities: what a policy may grant to a plugin, one module each, in types that no contract version names.
//!
//! | module | contents |
//! |---|---|
//! | `phases` | the trait of all capabilities: *configure* and *prepare*, and when each is called |
//! | `link` | *init*: links those of WASI's functions that have ours in front of them |
//! | `fs`, `http`, `state` | directories, requests, durable state |
//! | `caller`, `config`, `env` | the caller's name, configuration, environment variables |
//! | `elicit`, `invoke`, `progress` | by the call's session, which knows what the policy grants |
//! | `root_fence` | which directories a client may name as its roots |
//! | `denied` | the failure for what is not granted |
//!
//! Clocks and randomness are WASI's own and need no grant, but for the reading of a surface (`store`).
//!
//! A new capability is a module with its `Capability`, a field in both of the types below, and, if it has functions in the
//! contract, a delegation in `abi`.

mod caller;
mod config;
mod denied;
pub(crate) mod elicit;
mod env;
mod fs;
mod http;
pub(crate) mod invoke;
mod link;
mod phases;
pub(crate) mod progress;
mod root_fence;
mod state;

use std::{sync::Arc, time::Duration};

use loggia_facade::{Call, Failure, Reply, Session, trace::ParentSpan};
use loggia_system::FileIdentity;

pub use self::root_fence::{FoundRoot, RootFence};
use self::{
    caller::CallerCapability,
    config::{ConfigCapability, ConfigValues},
    env::EnvCapability,
    fs::{FileAccess, FsCapability},
    http::{HttpAccess, HttpCapability},
    phases::Capability,
    state::{StateAccess, StateCapability},
};
pub(crate) use self::{
    denied::denied,
    fs::{FileView, FsView, OpenedRoots},
    link::init,
    phases::{ConfigureContext, PrepareContext},
};
use crate::{LoadError, call_log::CallLog, contract::PluginCall, meter::CpuMeter, usage::UsageCounters};

/// Configured capabilities, shared by all calls of a facade. None: not granted, so no call prepares it.
pub(crate) struct FacadeCapabilities {
    files: Option<FsCapability>,
    http: Option<HttpCapability>,
    env: Option<EnvCapability>,
    config: Option<ConfigCapability>,
    state: Option<StateCapability>,
    caller: Option<CallerCapability>,
}

/// Prepared capabilities of one call. The default grants nothing.
#[derive(Default)]
pub(crate) struct CallCapabilities {
    files: Option<FileAccess>,
    http: Option<HttpAccess>,
    config: Option<ConfigValues>,
    state: Option<StateAccess>,
    /// Opaque name of the caller; none for anonymous callers.
    caller: Option<String>,
    /// For `elicit`, `invoke` and `progress`. None while a surface is read.
    session: Option<Session>,
    /// Span of the guest.
    span: ParentSpan,
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

    /// Gives a call what its action may use, with the directories that its client named.
    pub(crate) fn prepare(
        &self,
        session: &Session,
        client_roots: OpenedRoots,
        context: &mut PrepareContext<'_>,
    ) -> CallCapabilities {
        if let Some(env) = &self.env {
            env.prepare(context);
        }
        CallCapabilities {
            files: self.files.as_ref().map(|files| files.prepare(context).with_roots(client_roots)),
            http: self.http.as_ref().map(|http| http.prepare(context)),
            config: self.config.as_ref().map(|config| config.prepare(context)),
            state: self.state.as_ref().map(|state| state.prepare(context)),
            caller: self.caller.as_ref().and_then(|caller| caller.prepare(context)),
            session: Some(session.clone()),
            span: context.span.clone(),
        }
    }

    /// Opens the directories that the client of a call names, if a grant takes them.
    pub(crate) async fn open_roots(&self, session: &Session, meter: &Arc<CpuMeter>) -> OpenedRoots {
        match &self.files {
            Some(files) => files.open_roots(session, meter).await,
            None => OpenedRoots::default(),
        }
    }

    /// The directories that were opened.
    pub(crate) fn dirs(&self) -> impl Iterator<Item = FileIdentity> {
        self.files.iter().flat_map(FsCapability::identities)
    }
}

impl CallCapabilities {
    /// Adds to a call what its guest may know of it.
    pub(crate) fn plugin_call<'a>(&mut self, call: &'a Call, time_left: Duration) -> PluginCall<'a> {
        PluginCall { call, time_left, caller: self.caller.take() }
    }

    /// Returns the files. A guest without directories has the functions, and nothing to apply them to.
    pub(crate) fn files(&mut self) -> &mut FileAccess {
        self.files.get_or_insert_default()
    }

    /// Returns the requests. Where none are granted, each is refused, logged and counted, but for those of a guest whose
    /// surface is read: it has no counters.
    pub(crate) fn http(&mut self, log: &CallLog, usage: Option<&Arc<UsageCounters>>) -> &mut HttpAccess {
        self.http.get_or_insert_with(|| match usage {
            Some(usage) => HttpAccess::new(None, log, usage, &self.span),
            None => HttpAccess::default(),
        })
    }

    /// Returns a value of the configuration, as JSON.
    pub(crate) fn config(&self, key: &str) -> Option<&str> {
        self.config.as_ref()?.get(key)
    }

    /// Returns the plugin's state, if it is granted.
    pub(crate) fn state(&self) -> Result<&StateAccess, Failure> {
        self.state.as_ref().ok_or_else(|| denied("store"))
    }

    /// Returns the call's session.
    pub(crate) fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    /// Returns the span of the guest.
    pub(crate) fn span(&self) -> &ParentSpan {
        &self.span
    }

    /// Describes a limit of files that the guest exceeded, with the key that changes it.
    pub(crate) fn exceeded_limit(&self) -> Option<String> {
        self.files.as_ref().and_then(FileAccess::exceeded_limit)
    }

    /// Adds to a failure what its guest cannot know: the limit or the refusal behind it.
    pub(crate) fn explain_failure(&self, failure: &mut Failure) {
        let hint = failure.hint.take().or_else(|| self.explain_refusal(&failure.code));
        failure.hint = match &self.files {
            Some(files) => files.explain_failure(&failure.code, hint),
            None => hint,
        };
    }

    /// Adds to a reply what its guest cannot know: why the call had no directory.
    pub(crate) fn explain_reply(&self, reply: &mut Reply) {
        if let Some(files) = &self.files {
            reply.message = files.explain_reply(reply.message.take());
        }
    }

    /// Explains a refusal of which the guest saw only the code that it failed with.
    fn explain_refusal(&self, code: &str) -> Option<String> {
        self.exceeded_limit().or_else(|| self.http.as_ref()?.explain_failure(code))
    }
}
