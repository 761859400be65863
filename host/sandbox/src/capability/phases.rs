//! The phases of a capability.

use std::sync::Arc;

use loggia_egress::CallerCredentials;
use loggia_facade::{CallId, Effect, ScopeKey, trace::ParentSpan};
use loggia_policy::model::{PluginGrants, PluginLimits};
use loggia_state::StateStore;
use wasmtime_wasi::WasiCtxBuilder;

use super::root_fence::RootFence;
use crate::{
    LoadError,
    call_log::CallLog,
    meter::CpuMeter,
    probes::{CallProbes, GuestTape},
    usage::UsageCounters,
};

/// One capability that a policy may grant.
///
/// A capability goes through three phases:
///
/// 1. *init* links its functions, once per engine, before any facade exists. Functions of the contract are linked by
///    `abi`, which delegates to [`Capability::CallState`]; those capabilities that stand in front of WASI's functions have
///    a free function `init`, generic over the store's data. Linked is not granted: nothing may be decided here.
/// 2. [`configure`](Capability::configure), once per facade.
/// 3. [`prepare`](Capability::prepare), once per call.
pub(crate) trait Capability: Sized {
    /// State of one call.
    type CallState;

    /// Opens what the policy grants, once, when a facade is made, before any call of it. None where it grants nothing: calls
    /// then do not prepare the capability. May block for as long as opening a directory takes. Must not open what only some
    /// calls use: connections and files are opened by the first call that needs them.
    ///
    /// # Errors
    ///
    /// If something that is granted cannot be opened: the facade is not served.
    fn configure(context: &ConfigureContext<'_>) -> Result<Option<Self>, LoadError>;

    /// Gives a call what its action may use. Called once per call, before its instance exists, on a thread that answers
    /// clients: must not block, and should cost next to nothing for a call that does not use the capability. Capabilities
    /// are prepared in no particular order and must not rely on one another.
    fn prepare(&self, context: &mut PrepareContext<'_>) -> Self::CallState;
}

/// Inputs of [`Capability::configure`].
pub(crate) struct ConfigureContext<'a> {
    /// Name of the facade.
    pub name: &'a str,
    pub grants: &'a PluginGrants,
    pub limits: &'a PluginLimits,
    /// The facade's own store, where the policy grants one.
    pub store: Option<StateStore>,
    /// Credentials of its callers, where the policy grants secrets that are theirs.
    pub credentials: Option<Arc<dyn CallerCredentials>>,
    /// What stands beside calls.
    pub probes: &'a CallProbes,
    /// Decides which directories clients may name.
    pub root_fence: &'a Arc<dyn RootFence>,
}

/// Inputs of [`Capability::prepare`].
pub(crate) struct PrepareContext<'a> {
    pub limits: &'a PluginLimits,
    pub call: &'a CallId,
    /// Effect of the action that is called. A `read` action changes nothing.
    pub effect: Effect,
    /// Key of the caller's own state and credential; none for anonymous callers.
    pub scope: Option<ScopeKey>,
    pub log: &'a CallLog,
    /// Charged for the work that the call causes on other threads.
    pub meter: &'a Arc<CpuMeter>,
    /// Counters of the facade.
    pub usage: &'a Arc<UsageCounters>,
    /// Span of the guest.
    pub span: &'a ParentSpan,
    /// Keeps what the guest reads and writes, if anything does.
    pub tape: Option<&'a Arc<dyn GuestTape>>,
    pub wasi: &'a mut WasiCtxBuilder,
}
