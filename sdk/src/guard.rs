//! Guards: components that look at calls of facades before they run, and at their outcomes before anyone sees them.
//!
//! ```
//! use loggia_sdk::guard::{Guard, GuardedCall, Outcome, Verdict};
//! use loggia_sdk::prelude::*;
//!
//! struct Discreet;
//!
//! impl Guard for Discreet {
//!     fn before(&self, call: &GuardedCall) -> Result<Verdict<Object>> {
//!         match call.action.as_str() {
//!             "purge" => Err(Failure::denied("access denied: nothing is purged here")),
//!             _ => Ok(Verdict::Allow),
//!         }
//!     }
//!
//!     fn after(&self, _: &GuardedCall, mut outcome: Outcome) -> Result<Verdict<Outcome>> {
//!         let masked = outcome.replace_texts(|text| text.contains("hunter2").then(|| text.replace("hunter2", "***")));
//!         Ok(if masked > 0 { Verdict::Replace(outcome) } else { Verdict::Allow })
//!     }
//! }
//!
//! loggia_sdk::export_guard!(Discreet);
//! # let call = GuardedCall::new("notes", "list");
//! # let outcome = Outcome::reply(json!({"text": "It is hunter2."}));
//! # let Ok(Verdict::Replace(outcome)) = Discreet.after(&call, outcome) else { panic!() };
//! # assert_eq!(outcome.data(), &json!({"text": "It is ***."}));
//! ```

mod outcome;
mod texts;

pub use self::{outcome::Outcome, texts::replace_texts};
use crate::{Detail, Effect, Object, Result};

/// A guard. Each look runs in a new instance, so nothing of one call is left in another.
///
/// A failure that is returned refuses the call, or the outcome; a panic does as well, with a text of the host's.
pub trait Guard {
    /// Looks at a validated call. Parameters in place of those of the call are validated again, before a person is asked to consent
    /// to the call.
    ///
    /// # Errors
    ///
    /// The failure that the caller gets instead of a result.
    fn before(&self, call: &GuardedCall) -> Result<Verdict<Object>> {
        let _ = call;
        Ok(Verdict::Allow)
    }

    /// Looks at the outcome of a call: a reply, or a failure of its facade.
    ///
    /// # Errors
    ///
    /// The failure that the caller gets instead of the outcome. What the action did remains.
    fn after(&self, call: &GuardedCall, outcome: Outcome) -> Result<Verdict<Outcome>> {
        let _ = (call, outcome);
        Ok(Verdict::Allow)
    }
}

/// What a guard lets pass.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict<T> {
    /// What it was shown.
    Allow,
    /// This in its place.
    Replace(T),
}

/// A call as guards see it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GuardedCall {
    /// Name of the facade, as it is served.
    pub facade: String,
    /// Name of the action.
    pub action: String,
    /// Effect of the action.
    pub effect: Effect,
    /// Parameters with their defaults; for [`Guard::after`], those that the action ran with.
    pub params: Object,
    /// Level of detail that the caller requests.
    pub detail: Detail,
    /// Opaque id of the caller, if the operator grants it (`caller = true`).
    pub caller: Option<String>,
}

impl GuardedCall {
    /// A `read` call without parameters, for tests.
    pub fn new(facade: impl Into<String>, action: impl Into<String>) -> Self {
        let (facade, action, params) = (facade.into(), action.into(), Object::new());
        Self { facade, action, effect: Effect::Read, params, detail: Detail::Standard, caller: None }
    }

    /// The same call with other parameters, for tests.
    #[must_use]
    pub fn with_params(self, params: Object) -> Self {
        Self { params, ..self }
    }
}

/// Checks the type of a guard, natively.
#[doc(hidden)]
pub fn require<G: Guard>(_: &G) {}

/// Makes the crate a Loggia component that exports this guard.
///
/// Takes an expression for the guard, evaluated once for each look. Natively it does nothing but check the type.
#[cfg(target_family = "wasm")]
#[macro_export]
macro_rules! export_guard {
    ($guard:expr $(,)?) => {
        #[allow(unsafe_code, clippy::all)]
        const _: () = {
            struct Exported;
            impl $crate::abi::GuardGuest for Exported {
                fn before(call: $crate::abi::GuardedCall) -> $crate::abi::Verdict {
                    $crate::abi::guard_before(&$guard, call)
                }
                fn after(
                    call: $crate::abi::GuardedCall,
                    outcome: ::std::string::String,
                ) -> $crate::abi::Verdict {
                    $crate::abi::guard_after(&$guard, call, outcome)
                }
            }
    $crate::guard_bindings::__export_guard!(Exported with_types_in $crate::guard_bindings);
            $crate::__mark_exported!();
        };
    };
}

/// Makes the crate a Loggia component that exports this guard.
///
/// Takes an expression for the guard, evaluated once for each look. Natively it does nothing but check the type.
#[cfg(not(target_family = "wasm"))]
#[macro_export]
macro_rules! export_guard {
    ($guard:expr $(,)?) => {
        const _: fn() = || $crate::guard::require(&$guard);
    };
}
