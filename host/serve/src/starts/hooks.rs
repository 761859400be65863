//! Starts workflows for programs of other services.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use axum::http::HeaderMap;
use futures_util::{FutureExt, future::BoxFuture};
use loggia_facade::{Object, StartCause, code};
use loggia_gate::{
    call::{CallStart, Gate},
    catalog::CatalogSlot,
};
use loggia_server::{
    http::{HookAnswer, HookReceiver, HookRequest},
    mcp::SealSecret,
};
use serde_json::Value;

use super::{
    cause::{derive_id, to_request},
    service::ServiceIdentity,
};
use crate::signature;

/// Receives requests to the hooks of the workflows that are served.
pub struct WorkflowHooks {
    gate: Gate,
    services: BTreeMap<String, ServiceIdentity>,
    secret: SealSecret,
}

impl WorkflowHooks {
    /// Creates a receiver, if any service has a secret for hooks.
    pub fn open(
        gate: Gate,
        services: BTreeMap<String, ServiceIdentity>,
        secret: SealSecret,
    ) -> Option<Arc<dyn HookReceiver>> {
        let any = services.values().any(|service| service.hook_secret().is_some());
        any.then(|| Arc::new(Self { gate, services, secret }) as Arc<dyn HookReceiver>)
    }

    /// Finds a hook: the service in whose name it starts, and the parameter that takes the body.
    fn find(&self, facade: &str, action: &str) -> Option<(&str, &ServiceIdentity, String)> {
        let Some(CatalogSlot::Serving(entry)) = self.gate.catalog().slot(facade) else { return None };
        let mut rules = entry.facade.start_rules().iter().filter(|rule| rule.action == action);
        rules.find_map(|rule| {
            let StartCause::Hook { parameter } = &rule.cause else { return None };
            let (name, service) = self.services.get_key_value(&rule.service)?;
            Some((name.as_str(), service, parameter.clone()))
        })
    }

    /// Verifies a request and prepares the start.
    fn prepare(&self, request: &HookRequest) -> Result<CallStart, HookAnswer> {
        let HookRequest { facade, action, headers, body } = request;
        let (name, service, parameter) = self.find(facade, action).ok_or(HookAnswer::Refused)?;
        let secret = service.hook_secret().ok_or(HookAnswer::Refused)?;
        let message = signature::verify(headers, body, secret, now()).ok_or(HookAnswer::Refused)?;
        let payload: Value = serde_json::from_slice(body)
            .map_err(|error| HookAnswer::Invalid(format!("the body is not JSON: {error}")))?;
        let key = format!("hook/{facade}/{action}/{name}/{message}");
        let params = Object::from_iter([(parameter, payload)]);
        Ok(CallStart {
            origin: service.origin(name),
            id: derive_id((self.secret)().as_ref(), &key),
            request: to_request(facade, action, params, key),
            may_overlap: true,
        })
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

impl HookReceiver for WorkflowHooks {
    fn is_signed(&self, headers: &HeaderMap) -> bool {
        signature::is_present(headers)
    }

    fn receive(&self, request: HookRequest) -> BoxFuture<'static, HookAnswer> {
        let start = match self.prepare(&request) {
            Ok(start) => start,
            Err(answer) => {
                let HookRequest { facade, action, .. } = &request;
                tracing::info!("refused a request to the hook {facade:.80?}/{action:.80?}: {answer:?}");
                return std::future::ready(answer).boxed();
            }
        };
        let (gate, run) = (self.gate.clone(), start.id.to_string());
        async move {
            let HookRequest { facade, action, .. } = request;
            match gate.start_call(start).await {
                Ok(_) => {
                    tracing::info!(facade, action, run, "started by its hook");
                    HookAnswer::Started(run)
                }
                Err(failure) if failure.code == code::INVALID_PARAMS => HookAnswer::Invalid(failure.message),
                Err(failure) => {
                    tracing::warn!(facade, action, "not started by its hook: {}", failure.message);
                    HookAnswer::Unavailable
                }
            }
        }
        .boxed()
    }
}
