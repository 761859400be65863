//! Adds secrets to requests, and refuses a guest's headers in their place.

use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::{
    connect::PluginNetwork, destination::RequestTarget, error::SendError, grants::EgressGrants,
    refusal::RequestRefusal, secret::SecretFault,
};

/// Refuses a guest's header that has a secret's name.
pub(crate) fn check_guest(
    grants: &EgressGrants,
    headers: &HeaderMap,
    to: &RequestTarget,
) -> Result<(), RequestRefusal> {
    let taken =
        grants.secrets.iter().find(|secret| secret.is_for(to) && headers.contains_key(&secret.header));
    match taken {
        Some(secret) => Err(RequestRefusal::Header {
            name: secret.header.clone(),
            why: "is added by the host; send none",
        }),
        None => Ok(()),
    }
}

/// Adds the secrets of a target, after all other headers. From then on all responses are searched for them.
pub(crate) async fn add_secrets(
    network: &PluginNetwork,
    headers: &mut HeaderMap,
    to: &RequestTarget,
) -> Result<(), SendError> {
    let PluginNetwork { grants, known, owner, .. } = network;
    for (at, secret) in grants.secrets.iter().enumerate() {
        if !secret.is_for(to) {
            known.ensure(at, secret, owner.as_ref()).await;
            continue;
        }
        let (value, header) = secret.load(owner.as_ref()).await.map_err(|fault| {
            let (host, header) = (&secret.host, &secret.header);
            match fault {
                SecretFault::Missing(why) => SendError::Credential { host: host.clone(), why },
                SecretFault::Unusable(why) => {
                    tracing::error!(host, header, source = ?secret.source, why, "a secret cannot be used");
                    SendError::Secret(host.clone())
                }
            }
        })?;
        let name: HeaderName = secret.header.parse().map_err(|_| SendError::Secret(secret.host.clone()))?;
        known.learn(at, secret, value, &header);
        headers.insert(name, header);
        // A part of an echo could hold the end of a secret, which cannot be recognised. A server may always answer with
        // the whole.
        headers.remove(header::RANGE);
        headers.remove(header::IF_RANGE);
    }
    if !grants.secrets.is_empty() {
        // Compressed text cannot be searched for secrets.
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    }
    Ok(())
}
