//! The caller's opaque name.

use loggia_facade::ScopeKey;

use super::phases::{Capability, ConfigureContext, PrepareContext};
use crate::LoadError;

/// Gives a plugin an opaque name of the caller, which means nothing to another plugin.
pub(crate) struct CallerCapability;

impl Capability for CallerCapability {
    type CallState = Option<String>;

    fn configure(context: &ConfigureContext<'_>) -> Result<Option<Self>, LoadError> {
        Ok(context.grants.caller.then_some(Self))
    }

    fn prepare(&self, context: &mut PrepareContext<'_>) -> Option<String> {
        context.scope.as_ref().map(ScopeKey::caller)
    }
}
