//! Checks of requests against the grants of a policy. Pure.

use std::net::IpAddr;

use http::Method;

use crate::{
    RuleDestination, EgressGrants, HostPattern, RequestRefusal, HttpRule, address::AddressClass, destination::RequestTarget, host::UrlHost,
};

/// Rights of the running action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EgressMode {
    /// A `read` action: GET and HEAD, and methods that a rule declares to only read.
    Reads,
    /// Any other action: every method that a rule grants.
    Writes,
}

/// Returns the rule that allows a request, before its host is resolved.
///
/// # Errors
///
/// The missing grant, and what would grant it.
pub fn check<'a>(grants: &'a EgressGrants, mode: EgressMode, method: &Method, to: &RequestTarget) -> Result<&'a HttpRule, RequestRefusal> {
    // TRACE echoes the request, secrets included; CONNECT opens a tunnel past all checks.
    if *method == Method::TRACE || *method == Method::CONNECT {
        return Err(RequestRefusal::Forbidden(method.to_string()));
    }
    let mut nearest = None;
    for rule in grants.rules.iter().filter(|rule| rule.to.covers(to)) {
        match rule.admits(mode, method) {
            Ok(()) => return Ok(rule),
            // Of two refusals, keep the one that is closer to a grant.
            Err(refusal) if nearest.is_none() || matches!(refusal, RequestRefusal::ReadOnly { .. }) => {
                nearest = Some(refusal);
            }
            Err(_) => {}
        }
    }
    Err(nearest
        .unwrap_or_else(|| RequestRefusal::Destination { to: to.to_string(), near: nearest_grant(grants, to) }))
}

/// Checks a host's address: it must be public and none of this machine's `own`, or a rule must name it literally, with this
/// scheme and port.
///
/// # Errors
///
/// The class of the address.
pub fn check_address(
    grants: &EgressGrants,
    own: Option<&[IpAddr]>,
    to: &RequestTarget,
    address: IpAddr,
) -> Result<(), AddressClass> {
    let class = AddressClass::classify_with_own(address, own);
    if class == AddressClass::Public {
        return Ok(());
    }
    let literal = RequestTarget { host: UrlHost::Address(address.to_canonical()), ..to.clone() };
    let granted = grants.rules.iter().any(|rule| rule.to.covers(&literal));
    if granted { Ok(()) } else { Err(class) }
}

impl HttpRule {
    /// Checks the method. Methods in `reads` are granted even if `methods` does not repeat them.
    fn admits(&self, mode: EgressMode, method: &Method) -> Result<(), RequestRefusal> {
        let name = method.as_str();
        let reads = self.reads.iter().any(|m| m == name);
        let listed = self.methods.as_ref().is_none_or(|methods| methods.iter().any(|m| m == name));
        let to = || self.to.to_string();
        if !listed && !reads {
            return Err(RequestRefusal::Method { method: name.into(), to: to() });
        }
        let plain = *method == Method::GET || *method == Method::HEAD;
        if mode == EgressMode::Reads && !plain && !reads {
            return Err(RequestRefusal::ReadOnly { method: name.into(), to: to() });
        }
        Ok(())
    }
}

/// Finds a grant for the same host under another scheme or port: most likely a mistake in the request.
fn nearest_grant(grants: &EgressGrants, to: &RequestTarget) -> Option<String> {
    let same = |rule: &&HttpRule| rule.to.host.covers(&to.host);
    grants.rules.iter().find(same).map(|rule| {
        let host = match &to.host {
            UrlHost::Name(name) => HostPattern::Name(name.clone()),
            UrlHost::Address(address) => HostPattern::Address(*address),
        };
        RuleDestination { host, ..rule.to.clone() }.to_string()
    })
}
