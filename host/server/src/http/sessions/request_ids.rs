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

/// Ids of the open requests of a session.
#[derive(Clone, Default)]
pub struct OpenRequestIds(Arc<Mutex<HashSet<RequestId>>>);

/// Holds the id of an open request until it is dropped.
pub struct RequestIdHold {
    all: OpenRequestIds,
    id: RequestId,
}

impl OpenRequestIds {
    /// Takes the id of a request.
    ///
    /// # Errors
    ///
    /// The id, if a request with it is open.
    pub fn take(&self, id: RequestId) -> Result<RequestIdHold, RequestId> {
        match self.lock().insert(id.clone()) {
            true => Ok(RequestIdHold { all: self.clone(), id }),
            false => Err(id),
        }
    }

    /// Held for one lookup, insertion or removal.
    fn lock(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RequestIdHold {
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
        let ids = OpenRequestIds::default();
        let first = ids.take(RequestId::Number(1));
        assert!(first.is_ok());
        assert!(ids.take(RequestId::Number(1)).is_err());
        assert!(ids.take(RequestId::Number(2)).is_ok());
        assert!(ids.take(RequestId::String("1".into())).is_ok(), "another id");
        drop(first);
        assert!(ids.take(RequestId::Number(1)).is_ok());
    }
}
