//! Authentication: comes before any other work for a request.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    body::Body,
    extract::{ConnectInfo, Request},
    response::Response,
};
use futures_util::StreamExt;
use loggia_gate::{access::CallOrigin, flow::GateMeters};

use super::auth_failures::AuthFailureLog;
use crate::{
    auth,
    auth::{AuthRefusal, AuthenticatedCaller, Authenticator, TokenLifetime},
};

/// What authentication needs, and counts.
pub struct AuthState {
    /// `None` if access is unauthenticated.
    pub authenticator: Option<Authenticator>,
    /// Counters of responses and refusals.
    pub meters: Arc<GateMeters>,
    /// Records refusals in the audit trail.
    pub failures: AuthFailureLog,
}

/// Marks the response to an authenticated request, for its connection's clock.
#[derive(Clone, Copy)]
pub struct KnownCaller;

/// A request whose caller is known.
pub struct AuthenticatedRequest {
    /// The request, with the origin of its calls.
    pub request: Request,
    /// Lifetime of its token.
    pub lifetime: TokenLifetime,
    /// The only profile that its caller may use.
    pub profile: Option<Arc<str>>,
}

/// Authenticates a request and attaches its origin. Credentials are removed, so that nothing behind this step sees them.
pub async fn authenticate(state: &AuthState, request: Request) -> Result<AuthenticatedRequest, AuthRefusal> {
    let (mut parts, body) = request.into_parts();
    let authenticated = match &state.authenticator {
        None => {
            auth::strip_credentials(&mut parts.headers);
            let (origin, lifetime) = (CallOrigin::anonymous(), TokenLifetime::default());
            Ok(AuthenticatedCaller { origin, lifetime, profile: None })
        }
        Some(authenticator) => authenticator.admit(&mut parts).await,
    };
    let address = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    let AuthenticatedCaller { origin, lifetime, profile } = authenticated.inspect_err(|refusal| {
        state.meters.http.record_refusal(refusal.reason().label());
        state.failures.record(refusal, address, &parts.headers);
    })?;
    parts.extensions.insert(origin.with_address(address));
    Ok(AuthenticatedRequest { request: Request::from_parts(parts, body), lifetime, profile })
}

/// Ends the stream of a response when its token expires or is revoked.
pub fn limit_stream(response: Response, lifetime: TokenLifetime) -> Response {
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(lifetime.ended()))))
}
