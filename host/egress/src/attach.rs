//! Adds secrets to requests, and refuses a guest's headers in their place.

use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::{destination::RequestTarget, error::SendError, grants::EgressGrants, known::KnownSecrets, refusal::RequestRefusal};

/// Refuses a guest's header that has a secret's name.
pub(crate) fn check_guest(grants: &EgressGrants, headers: &HeaderMap, to: &RequestTarget) -> Result<(), RequestRefusal> {
    let taken =
        grants.secrets.iter().find(|secret| secret.is_for(to) && headers.contains_key(&secret.header));
    match taken {
        Some(secret) => {
            Err(RequestRefusal::Header { name: secret.header.clone(), why: "is added by the host; send none" })
        }
        None => Ok(()),
    }
}

/// Adds the secrets of a target, after all other headers. From then on all responses are searched for them.
pub(crate) async fn add_secrets(
    grants: &EgressGrants,
    known: &KnownSecrets,
    headers: &mut HeaderMap,
    to: &RequestTarget,
) -> Result<(), SendError> {
    for (at, secret) in grants.secrets.iter().enumerate() {
        if !secret.is_for(to) {
            known.ensure(at, secret).await;
            continue;
        }
        let (value, header) = secret.load().await.map_err(|why| {
            let (host, header) = (&secret.host, &secret.header);
            tracing::error!(host, header, source = ?secret.source, why, "a secret cannot be used");
            SendError::Secret(host.clone())
        })?;
        let name: HeaderName = secret.header.parse().map_err(|_| SendError::Secret(secret.host.clone()))?;
        known.learn(at, value, &header, secret.public());
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
