//! Configuration: values that the operator sets in the policy.

use serde::de::DeserializeOwned;

use crate::{Failure, Result};

/// Value of this key under `[grants] config` in the policy.
///
/// # Errors
///
/// `internal` if the operator's value has another type; the message names the key.
pub fn config<T: DeserializeOwned>(key: &str) -> Result<Option<T>> {
    let Some(json) = port::config(key) else { return Ok(None) };
    serde_json::from_str(&json).map(Some).map_err(|error| {
        Failure::internal(format!("the configuration `{key}` is invalid: {error}"))
            .hint(format!("The operator sets `config.{key}` in the plugin's policy file."))
    })
}

/// Like [`config`], with a default.
///
/// # Errors
///
/// See [`config`].
pub fn config_or<T: DeserializeOwned>(key: &str, default: T) -> Result<T> {
    Ok(config(key)?.unwrap_or(default))
}

/// Like [`config`], for a required key.
///
/// ```
/// # use loggia_sdk::{prelude::*, testing::Host};
/// let failure = host::require_config::<String>("region").unwrap_err();
/// assert_eq!(failure.message, "not configured: this plugin needs `region`");
/// assert_eq!(failure.hint.as_deref(), Some("The operator sets it in the plugin's policy file: `[grants] config = { region = … }`."));
/// ```
///
/// # Errors
///
/// `unavailable` if the policy does not set it: names the key and the line to add; otherwise like [`config`].
pub fn require_config<T: DeserializeOwned>(key: &str) -> Result<T> {
    config(key)?.ok_or_else(|| unconfigured(key))
}

// Not generic, so that a guest contains it once.
fn unconfigured(key: &str) -> Failure {
    Failure::unavailable(format!("not configured: this plugin needs `{key}`")).hint(format!(
        "The operator sets it in the plugin's policy file: `[grants] config = {{ {key} = … }}`."
    ))
}

#[cfg(target_family = "wasm")]
mod port {
    use crate::bindings::loggia::plugin::host;

    pub fn config(key: &str) -> Option<String> {
        host::config(key)
    }
}

#[cfg(not(target_family = "wasm"))]
mod port {
    use serde::Serialize;

    use crate::testing::{Host, current};

    pub fn config(key: &str) -> Option<String> {
        current(|host| host.config.get(key).cloned()).flatten()
    }

    impl Host {
        /// A key of the configuration.
        ///
        /// # Panics
        ///
        /// If the value cannot be serialised as JSON.
        #[must_use]
        pub fn config(self, key: impl Into<String>, value: impl Serialize) -> Self {
            let json = serde_json::to_string(&value).expect("a configuration is JSON");
            self.with(|host| drop(host.config.insert(key.into(), json)))
        }
    }
}
