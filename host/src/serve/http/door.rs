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

use super::{failures::Failures, per_caller::is_stream};
use crate::serve::{
    auth,
    auth::{Admitted, Authenticator, Ends},
};

/// What knows callers, and counts.
pub struct Door {
    /// None where callers need not say who they are.
    pub authenticator: Option<Authenticator>,
    /// What is counted.
    pub meters: Arc<Meters>,
    /// What the audit trail is told of callers who are refused.
    pub failures: Failures,
}

/// Goes with an answer to somebody who was let in.
#[derive(Clone, Copy)]
pub struct Known;

/// Lets a request in whose sender is known, as that sender's. What it was known by goes no further.
pub async fn known(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let admitted = match &door.authenticator {
        None => {
            auth::strip(&mut parts.headers);
            Ok(Admitted { origin: Origin::anonymous(), ends: Ends::default() })
        }
        Some(authenticator) => authenticator.admit(&mut parts).await,
    };
    let address = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    match admitted {
        Ok(Admitted { origin, ends }) => {
            parts.extensions.insert(origin.sent_from(address));
            parts.extensions.insert(ends);
            let mut response = next.run(Request::from_parts(parts, body)).await;
            response.extensions_mut().insert(Known);
            response
        }
        Err(refusal) => {
            door.meters.http.refused(refusal.reason().label());
            door.failures.tell(&refusal, address, &parts.headers);
            refusal.into_response()
        }
    }
}

/// Ends streams on which a client listens when the token is no longer taken by which they were opened. Calls have an end of their
/// own.
pub async fn lasting(mut request: Request, next: Next) -> Response {
    let ends = request.extensions_mut().remove::<Ends>();
    let listens = is_stream(&request);
    let response = next.run(request).await;
    match ends {
        Some(ends) if listens => {
            response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(ends.over()))))
        }
        _ => response,
    }
}

/// Counts answers by their status.
pub async fn counted(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    door.meters.http.answered(response.status().as_u16());
    response
}
