//! Authentication layer: runs before any other work for a request.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    body::Body,
    extract::{ConnectInfo, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures_util::StreamExt;
use loggia_gate::{access::CallOrigin, flow::GateMeters};

use super::{auth_failures::AuthFailureLog, per_caller::is_stream, profiles::BoundProfile};
use crate::{
    auth,
    auth::{AuthenticatedCaller, Authenticator, TokenLifetime},
};

/// State of the layer.
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

/// Authenticates a request and attaches its origin. Credentials are removed, so that nothing behind this layer sees them.
pub async fn authenticate(State(state): State<Arc<AuthState>>, request: Request, next: Next) -> Response {
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
    match authenticated {
        Ok(AuthenticatedCaller { origin, lifetime: ends, profile }) => {
            parts.extensions.insert(origin.with_address(address));
            if let Some(profile) = profile {
                parts.extensions.insert(BoundProfile(profile));
            }
            parts.extensions.insert(ends);
            let mut response = next.run(Request::from_parts(parts, body)).await;
            response.extensions_mut().insert(KnownCaller);
            response
        }
        Err(refusal) => {
            state.meters.http.record_refusal(refusal.reason().label());
            state.failures.record(&refusal, address, &parts.headers);
            refusal.into_response()
        }
    }
}

/// Ends notification streams when the token that opened them expires or is revoked. Calls end by themselves.
pub async fn end_expired_streams(mut request: Request, next: Next) -> Response {
    let ends = request.extensions_mut().remove::<TokenLifetime>();
    let listens = is_stream(&request);
    let response = next.run(request).await;
    match ends {
        Some(ends) if listens => {
            response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(ends.ended()))))
        }
        _ => response,
    }
}

/// Counts responses by status.
pub async fn count_response(State(state): State<Arc<AuthState>>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    state.meters.http.record_status(response.status().as_u16());
    response
}
