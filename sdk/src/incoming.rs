//! A call as it arrives, from which the parameters are taken one by one.

use serde::de::DeserializeOwned;

use crate::{Call, Detail, Failure, Object, Result, call::Facts, failure::code, table::ParamValue};

/// A call with its parameters. The host has validated them against the action's schema; the checks here cover the rest,
/// and other hosts.
pub struct Incoming {
    pub(crate) facts: Facts,
    pub(crate) params: Object,
}

impl Incoming {
    /// Returns the context of the call.
    pub fn call(&self) -> Call {
        Call::new(self.facts.clone())
    }

    /// Level of detail that the caller requests.
    pub fn detail(&self) -> Detail {
        self.facts.detail
    }

    /// A parameter that must be given.
    ///
    /// # Errors
    ///
    /// `invalid_params` if it is missing or invalid.
    pub fn take<T: ParamValue>(&mut self, name: &str) -> Result<T> {
        self.given(name)?.ok_or_else(|| Failure::new(code::INVALID_PARAMS, format!("`{name}` is required")))
    }

    /// Takes an optional parameter; `null` counts as missing.
    ///
    /// # Errors
    ///
    /// `invalid_params` if it does not fit.
    pub fn take_optional<T: ParamValue>(&mut self, name: &str) -> Result<Option<T>> {
        if self.params.get(name).is_some_and(serde_json::Value::is_null) {
            return Ok(None);
        }
        self.given(name)
    }

    /// A parameter that has a default.
    ///
    /// # Errors
    ///
    /// `invalid_params` if it does not fit.
    pub fn take_or<T: ParamValue>(&mut self, name: &str, default: impl FnOnce() -> T) -> Result<T> {
        self.given(name).map(|given| given.unwrap_or_else(default))
    }

    fn given<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>> {
        let Some(value) = self.params.get_mut(name) else { return Ok(None) };
        serde_json::from_value(value.take()).map(Some).map_err(|error| unfit(name, &error))
    }
}

// Not generic, so that a guest contains it once.
fn unfit(name: &str, error: &serde_json::Error) -> Failure {
    Failure::new(code::INVALID_PARAMS, format!("`{name}` does not fit: {error}"))
}
