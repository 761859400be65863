//! Who a request is from: asked before anything is done for it.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    body::Body,
    extract::{ConnectInfo, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures_util::StreamExt;
use loggia_gate::{access::Origin, flow::Meters};

use super::{auth_failures::AuthFailureLog, per_caller::is_stream};
use crate::serve::{
    auth,
    auth::{AuthenticatedCaller, Authenticator, TokenLifetime},
};

/// What knows callers, and counts.
pub struct AuthState {
    /// None where callers need not say who they are.
    pub authenticator: Option<Authenticator>,
    /// What is counted.
    pub meters: Arc<Meters>,
    /// What the audit trail is told of callers who are refused.
    pub failures: AuthFailureLog,
}

/// Goes with an answer to somebody who was let in.
#[derive(Clone, Copy)]
pub struct KnownCaller;

/// Lets a request in whose sender is known, as that sender's. What it was known by goes no further.
pub async fn authenticate(State(door): State<Arc<AuthState>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let admitted = match &door.authenticator {
        None => {
            auth::strip_credentials(&mut parts.headers);
            Ok(AuthenticatedCaller { origin: Origin::anonymous(), lifetime: TokenLifetime::default() })
        }
        Some(authenticator) => authenticator.admit(&mut parts).await,
    };
    let address = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    match admitted {
        Ok(AuthenticatedCaller { origin, lifetime: ends }) => {
            parts.extensions.insert(origin.sent_from(address));
            parts.extensions.insert(ends);
            let mut response = next.run(Request::from_parts(parts, body)).await;
            response.extensions_mut().insert(KnownCaller);
            response
        }
        Err(refusal) => {
            door.meters.http.refused(refusal.reason().label());
            door.failures.record(&refusal, address, &parts.headers);
            refusal.into_response()
        }
    }
}

/// Ends streams on which a client listens when the token is no longer taken by which they were opened. Calls have an end of their
/// own.
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

/// Counts answers by their status.
pub async fn count_response(State(door): State<Arc<AuthState>>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    door.meters.http.answered(response.status().as_u16());
    response
}
