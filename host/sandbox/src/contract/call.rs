//! A call on its way to the guest.

use std::time::Duration;

use loggia_facade::Call;

/// A call with what the host adds to it.
pub(crate) struct PluginCall<'a> {
    pub call: &'a Call,
    /// Wall clock time until the call's deadline.
    pub time_left: Duration,
    /// Opaque name of the caller, where the policy grants it.
    pub caller: Option<String>,
}
