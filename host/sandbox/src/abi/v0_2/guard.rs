//! Guards.

use loggia_facade::{Detail, GuardedCall, ScopeKey};
use wasmtime::{Store, component::types::ComponentFunc};

use super::{
    super::exported_function::ExportedFunction,
    bindings::{GuardPre, guarding, types},
    from_guest, to_guest,
};
use crate::{contract::RawVerdict, guest::GuestState};

/// The functions of the exported interface.
pub(in crate::abi) const GUARD_FUNCTIONS: [ExportedFunction; 2] = [
    ExportedFunction {
        name: "before",
        signature: "func(call: guarded-call) -> verdict",
        check: ComponentFunc::typecheck::<(guarding::GuardedCall,), (guarding::Verdict,)>,
    },
    ExportedFunction {
        name: "after",
        signature: "func(call: guarded-call, outcome: json) -> verdict",
        check: ComponentFunc::typecheck::<(guarding::GuardedCall, String), (guarding::Verdict,)>,
    },
];

pub(in crate::abi) async fn before(
    pre: &GuardPre<GuestState>,
    store: &mut Store<GuestState>,
    call: &GuardedCall,
) -> wasmtime::Result<RawVerdict> {
    let guard = pre.instantiate_async(&mut *store).await?;
    guard.loggia_plugin_guarding().call_before(store, &to_guarded(call)).await.map(verdict)
}

pub(in crate::abi) async fn after(
    pre: &GuardPre<GuestState>,
    store: &mut Store<GuestState>,
    call: &GuardedCall,
    outcome: String,
) -> wasmtime::Result<RawVerdict> {
    let guard = pre.instantiate_async(&mut *store).await?;
    guard.loggia_plugin_guarding().call_after(store, &to_guarded(call), &outcome).await.map(verdict)
}

fn to_guarded(call: &GuardedCall) -> guarding::GuardedCall {
    guarding::GuardedCall {
        facade: call.facade.clone(),
        action: call.action.clone(),
        effect: to_guest::effect(call.effect),
        params: call.params.clone(),
        detail: match call.detail {
            Detail::Minimal => types::Detail::Minimal,
            Detail::Standard => types::Detail::Standard,
            Detail::Full => types::Detail::Full,
        },
        caller: call.scope.as_ref().map(ScopeKey::caller),
        extras: Vec::new(),
    }
}

fn verdict(verdict: guarding::Verdict) -> RawVerdict {
    match verdict {
        guarding::Verdict::Allow => RawVerdict::Allow,
        guarding::Verdict::Refuse(failure) => RawVerdict::Refuse(from_guest::failure(failure)),
        guarding::Verdict::Replace(text) => RawVerdict::Replace(text),
    }
}
