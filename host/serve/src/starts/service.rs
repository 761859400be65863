//! The identities of the settings under which workflows start.

use std::collections::BTreeMap;

use loggia_gate::access::{CallOrigin, CallerRights};
use loggia_policy::settings::{HiddenText, Service};

/// An identity of the settings.
#[derive(Debug, Clone)]
pub struct ServiceIdentity {
    rights: CallerRights,
    hook_secret: Option<HiddenText>,
}

/// Converts the services of the settings.
pub fn to_services(services: &BTreeMap<String, Service>) -> BTreeMap<String, ServiceIdentity> {
    let to_identity = |service: &Service| ServiceIdentity {
        rights: CallerRights::from_scopes(service.scopes.iter().cloned()),
        hook_secret: service.hook_secret.clone(),
    };
    services.iter().map(|(name, service)| (name.clone(), to_identity(service))).collect()
}

impl ServiceIdentity {
    /// Origin of calls of this identity.
    pub fn origin(&self, name: &str) -> CallOrigin {
        CallOrigin::named(&format!("service:{name}"), self.rights.clone())
    }

    /// Secret with which requests to hooks are signed.
    pub fn hook_secret(&self) -> Option<&[u8]> {
        self.hook_secret.as_ref().map(|secret| secret.0.as_bytes())
    }
}
