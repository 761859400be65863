//! Who a request is from: asked before anything is done for it.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::{
    gate::Origin,
    serve::auth::{self, Authenticator},
    telemetry::meters::Meters,
};

/// What knows callers, and counts.
pub struct Door {
    /// None where callers need not say who they are.
    pub authenticator: Option<Authenticator>,
    /// What is counted.
    pub meters: Arc<Meters>,
}

/// Goes with an answer to somebody who was let in.
#[derive(Clone, Copy)]
pub struct Known;

/// Lets a request in whose sender is known, as that sender's. What it was known by goes no further.
pub async fn known(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let origin = match &door.authenticator {
        None => {
            auth::strip(&mut parts.headers);
            Ok(Origin::anonymous())
        }
        Some(authenticator) => authenticator.admit(&mut parts).await,
    };
    match origin {
        Ok(origin) => {
            parts.extensions.insert(origin);
            let mut response = next.run(Request::from_parts(parts, body)).await;
            response.extensions_mut().insert(Known);
            response
        }
        Err(refusal) => {
            door.meters.http.refused(refusal.reason().label());
            refusal.into_response()
        }
    }
}

/// Counts answers by their status.
pub async fn counted(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    door.meters.http.answered(response.status().as_u16());
    response
}
