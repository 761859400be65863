//! Configuration: JSON values of the policy.

use std::{collections::BTreeMap, sync::Arc};

use super::phases::{Capability, ConfigureContext, PrepareContext};
use crate::LoadError;

/// The configuration that a policy grants, as JSON texts.
pub(crate) struct ConfigCapability {
    values: ConfigValues,
}

/// Configuration values by key; shared by all calls of a facade.
#[derive(Clone)]
pub(crate) struct ConfigValues(Arc<BTreeMap<String, String>>);

impl ConfigValues {
    /// Returns a value as JSON.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }
}

impl Capability for ConfigCapability {
    type CallState = ConfigValues;

    fn configure(context: &ConfigureContext<'_>) -> Result<Option<Self>, LoadError> {
        let config = &context.grants.config;
        let texts = config.iter().map(|(key, value)| (key.clone(), value.to_string()));
        Ok((!config.is_empty()).then(|| Self { values: ConfigValues(Arc::new(texts.collect())) }))
    }

    fn prepare(&self, _: &mut PrepareContext<'_>) -> ConfigValues {
        self.values.clone()
    }
}
