//! Guards, to and from the types of `wit/loggia.wit`.

use super::convert::{from_detail, from_effect, read, to_failure, write};
pub use crate::guard_bindings::exports::loggia::plugin::guarding::{
    GuardedCall, Guest as GuardGuest, Verdict,
};
use crate::{
    Object, Value,
    guard::{self, Guard, Outcome},
    json_text,
};

/// Looks at a call.
pub fn guard_before<G: Guard>(guard: &G, call: GuardedCall) -> Verdict {
    match guard.before(&from_call(call)) {
        Ok(guard::Verdict::Allow) => Verdict::Allow,
        Ok(guard::Verdict::Replace(params)) => Verdict::Replace(write(&Value::Object(params))),
        Err(failure) => Verdict::Refuse(to_failure(failure)),
    }
}

/// Looks at an outcome.
///
/// # Panics
///
/// If the host did not send JSON: then nothing passes.
pub fn guard_after<G: Guard>(guard: &G, call: GuardedCall, outcome: String) -> Verdict {
    let outcome = json_text::read_value(&outcome).expect("the host sends JSON");
    match guard.after(&from_call(call), Outcome::from_json(outcome)) {
        Ok(guard::Verdict::Allow) => Verdict::Allow,
        Ok(guard::Verdict::Replace(outcome)) => Verdict::Replace(write(outcome.as_json())),
        Err(failure) => Verdict::Refuse(to_failure(failure)),
    }
}

fn from_call(call: GuardedCall) -> guard::GuardedCall {
    let mut own = guard::GuardedCall::new(call.facade, call.action);
    own.params = match read(&call.params) {
        Value::Object(params) => params,
        _ => Object::new(),
    };
    own.effect = from_effect(call.effect);
    own.detail = from_detail(call.detail);
    own.caller = call.caller;
    own
}
