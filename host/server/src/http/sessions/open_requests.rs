//! Ids of a session's requests that have no response yet. rmcp sends each response by the id of its request: of two requests with one
//! id, only one would get a response.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use rmcp::{ErrorData, model::RequestId};

use crate::jsonrpc::ids::error_answer;

const REASON: &str =
    "another request of the session with this id is open: give each request an id of its own";

/// The open requests of a session.
#[derive(Clone, Default)]
pub struct OpenRequests(Arc<Mutex<HashSet<RequestId>>>);

/// Keeps a request open until it is dropped.
pub struct OpenRequest {
    all: OpenRequests,
    id: RequestId,
}

impl OpenRequests {
    /// Opens a request.
    ///
    /// # Errors
    ///
    /// The id, if a request with it is open.
    pub fn open(&self, id: RequestId) -> Result<OpenRequest, RequestId> {
        match self.lock().insert(id.clone()) {
            true => Ok(OpenRequest { all: self.clone(), id }),
            false => Err(id),
        }
    }

    /// Held for one lookup, insertion or removal.
    fn lock(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.all.lock().remove(&self.id);
    }
}

/// Responds to a request with the id of an open one.
pub fn refuse_id(id: RequestId) -> Response {
    let body = error_answer(Some(id.into_json_value()), ErrorData::invalid_request(REASON, None));
    (StatusCode::BAD_REQUEST, [(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_free_once_its_request_is_dropped() {
        let requests = OpenRequests::default();
        let first = requests.open(RequestId::Number(1));
        assert!(first.is_ok());
        assert!(requests.open(RequestId::Number(1)).is_err());
        assert!(requests.open(RequestId::Number(2)).is_ok());
        assert!(requests.open(RequestId::String("1".into())).is_ok(), "another id");
        drop(first);
        assert!(requests.open(RequestId::Number(1)).is_ok());
    }
}
