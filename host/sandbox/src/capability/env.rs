//! Environment variables.

use super::phases::{Capability, ConfigureContext, PrepareContext};
use crate::LoadError;

/// The plugin's environment: what the policy grants and nothing of the host's own.
pub(crate) struct EnvCapability {
    variables: Vec<(String, String)>,
}

impl Capability for EnvCapability {
    type CallState = ();

    fn configure(context: &ConfigureContext<'_>) -> Result<Option<Self>, LoadError> {
        let env = &context.grants.env;
        let variables = env.iter().map(|(name, value)| (name.clone(), value.clone()));
        Ok((!env.is_empty()).then(|| Self { variables: variables.collect() }))
    }

    fn prepare(&self, context: &mut PrepareContext<'_>) {
        context.wasi.envs(&self.variables);
    }
}
