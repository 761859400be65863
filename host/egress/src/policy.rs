//! Whether a request may be sent: pure, from what the policy grants.

use std::net::IpAddr;

use http::Method;

use crate::{
    Destination, Grants, HostPattern, Refusal, Rule, address::Class, destination::Target, host::Host,
};

/// What the running action may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A `read` action: GET and HEAD, and what a rule says only reads.
    Reads,
    /// Any other action: every method that a rule grants.
    Writes,
}

/// The rule that allows a request, before its host is resolved.
///
/// # Errors
///
/// What is not granted, and what would grant it.
pub fn check<'a>(grants: &'a Grants, mode: Mode, method: &Method, to: &Target) -> Result<&'a Rule, Refusal> {
    // TRACE exists to echo what was sent, secrets included; CONNECT asks for a tunnel past all of this.
    if *method == Method::TRACE || *method == Method::CONNECT {
        return Err(Refusal::Forbidden(method.to_string()));
    }
    let mut nearest = None;
    for rule in grants.rules.iter().filter(|rule| rule.to.covers(to)) {
        match rule.admits(mode, method) {
            Ok(()) => return Ok(rule),
            // Of two refusals, the one that is nearer to a grant.
            Err(refusal) if nearest.is_none() || matches!(refusal, Refusal::ReadOnly { .. }) => {
                nearest = Some(refusal);
            }
            Err(_) => {}
        }
    }
    Err(nearest.unwrap_or_else(|| Refusal::Destination { to: to.to_string(), near: near(grants, to) }))
}

/// Whether a connection to one of a host's addresses is allowed: it is public and none of this machine's `own`, or a rule
/// names it literally, with this scheme and port.
///
/// # Errors
///
/// What the address is.
pub fn check_address(
    grants: &Grants,
    own: Option<&[IpAddr]>,
    to: &Target,
    address: IpAddr,
) -> Result<(), Class> {
    let class = Class::among(address, own);
    if class == Class::Public {
        return Ok(());
    }
    let literal = Target { host: Host::Address(address.to_canonical()), ..to.clone() };
    let granted = grants.rules.iter().any(|rule| rule.to.covers(&literal));
    if granted { Ok(()) } else { Err(class) }
}

impl Rule {
    /// What is in `reads` is granted even where `methods` does not repeat it.
    fn admits(&self, mode: Mode, method: &Method) -> Result<(), Refusal> {
        let name = method.as_str();
        let reads = self.reads.iter().any(|m| m == name);
        let listed = self.methods.as_ref().is_none_or(|methods| methods.iter().any(|m| m == name));
        let to = || self.to.to_string();
        if !listed && !reads {
            return Err(Refusal::Method { method: name.into(), to: to() });
        }
        let plain = *method == Method::GET || *method == Method::HEAD;
        if mode == Mode::Reads && !plain && !reads {
            return Err(Refusal::ReadOnly { method: name.into(), to: to() });
        }
        Ok(())
    }
}

/// A grant for the same host under another scheme or port: most likely a slip.
fn near(grants: &Grants, to: &Target) -> Option<String> {
    let same = |rule: &&Rule| rule.to.host.covers(&to.host);
    grants.rules.iter().find(same).map(|rule| {
        let host = match &to.host {
            Host::Name(name) => HostPattern::Name(name.clone()),
            Host::Address(address) => HostPattern::Address(*address),
        };
        Destination { host, ..rule.to.clone() }.to_string()
    })
}
