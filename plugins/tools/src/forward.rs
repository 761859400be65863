//! `validate`, `read` and `execute`: calls to other facades.

use loggia_sdk::{failure::code, prelude::*};

use crate::{
    call_name::{CallName, caller_of, effect_word},
    unknown::explain,
};

/// Result of `validate` for an accepted call.
#[derive(Serialize, JsonSchema)]
pub struct Verdict {
    call: String,
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<&'static str>,
    /// True if a person is asked first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    confirm: bool,
}

/// Checks a call without making it. Fails as the call would.
pub fn validate(call: &CallName, mut arguments: Object) -> Result<Verdict> {
    take_detail(&mut arguments, Detail::Standard);
    match call.request(arguments).check() {
        Err(failure) if !exceeds_effect(&failure) => return Err(explain(failure, call)),
        // `validate` is a read action. The call would be made by `execute`, which may have any effect.
        _ => {}
    }
    let found = host::lookup(&call.facade, &call.action).ok();
    let name = found.as_ref().map_or_else(|| call.clone(), |found| call.resolved(found));
    Ok(Verdict {
        call: name.to_string(),
        valid: true,
        effect: found.as_ref().and_then(|found| found.effect).map(effect_word),
        confirm: found.is_some_and(|found| found.confirm),
    })
}

/// Makes a call and passes its reply or failure on.
pub fn forward(context: &Call, call: &CallName, mut arguments: Object) -> Result<Reply<Value>> {
    let detail = take_detail(&mut arguments, context.detail());
    let mut request = call.request(arguments).detail(detail);
    request.idempotency_key = context.idempotency_key().map(str::to_owned);
    match request.call() {
        Ok(mut reply) => {
            reply.next = reply.next.map(|next| own_call(next, call));
            Ok(reply)
        }
        Err(failure) if exceeds_effect(&failure) && context.action() == "read" => {
            Err(failure.hint("`read` calls only actions that read: use `execute`."))
        }
        Err(failure) => Err(explain(failure, call)),
    }
}

/// Returns true if a call was refused only for its effect, which the host checks last.
fn exceeds_effect(failure: &Failure) -> bool {
    failure.code == code::DENIED
        && failure.details.as_ref().is_some_and(|details| details["effect"].is_string())
}

/// Takes the level of detail out of the arguments, where models put it as in a direct call.
fn take_detail(arguments: &mut Object, given: Detail) -> Detail {
    let level = match arguments.get("detail").and_then(Value::as_str) {
        Some("minimal") => Detail::Minimal,
        Some("standard") => Detail::Standard,
        Some("full") => Detail::Full,
        _ => return given,
    };
    arguments.remove("detail");
    if given == Detail::Standard { level } else { given }
}

/// Addresses a follow-up call to this plugin: its client may see no other tool.
pub fn own_call(next: Next, from: &CallName) -> Next {
    let facade = next.facade.filter(|facade| !facade.is_empty()).unwrap_or_else(|| from.facade.clone());
    let call = CallName::new(facade, next.action);
    let effect = host::lookup(&call.facade, &call.action).ok().and_then(|found| found.effect);
    let mut own = Next::action(caller_of(effect)).param("call", call.to_string());
    if !next.params.is_empty() {
        own = own.param("arguments", next.params);
    }
    own.reason = next.reason;
    own
}
