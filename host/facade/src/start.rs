//! Actions that start by themselves.

use crate::Object;

/// A rule by which an action starts without a caller.
#[derive(Debug, Clone, PartialEq)]
pub struct StartRule {
    /// The action.
    pub action: String,
    /// Name of the service identity in whose name it runs. The operator defines it, with its scopes.
    pub service: String,
    /// When it starts.
    pub cause: StartCause,
}

/// Causes for which an action starts.
#[derive(Debug, Clone, PartialEq)]
pub enum StartCause {
    /// At the times of a cron expression.
    Schedule {
        /// Five fields, as cron reads them.
        cron: String,
        /// IANA name of the time zone, such as `Europe/Berlin`.
        time_zone: String,
        /// Parameters of each call.
        params: Object,
    },
    /// When a program of another service posts to its hook.
    Hook {
        /// Parameter that takes the posted JSON.
        parameter: String,
    },
    /// When the shared state of a plugin has changed.
    StateChange {
        /// Facade of the plugin.
        facade: String,
        /// Start of the keys that count.
        prefix: String,
        /// Parameter that takes the changed keys.
        parameter: String,
    },
}
