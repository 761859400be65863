//! `/approvals`: an API by which operators and their programs decide approvals. Lists need the token of operators; a decision
//! needs the token, or a signature by the secret of the webhook.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use axum::{
    Router,
    body::{Bytes, to_bytes},
    extract::{Path, Request, State as Axum},
    http::{
        HeaderMap, StatusCode,
        header::{CONTENT_TYPE, WWW_AUTHENTICATE},
    },
    response::{IntoResponse, Response},
    routing::get,
};
use loggia_gate::{
    approval::{ApprovalDecision, ApprovalDesk, DecisionOutcome, StoredApproval},
    call::TARGET as AUDIT,
    journal::JournalError,
};
use loggia_policy::settings::{HiddenText, credential::TokenHash};
use loggia_text::{printable, shorten};
use serde::Deserialize;
use serde_json::{Value, json};

use super::operator::has_token;
use crate::{
    approvals::{now_ms, render_approval},
    signature,
};

/// Bytes of a decision: an answer to a form.
const BODY: usize = 64 << 10;
/// Approvals that are listed.
const LISTED: usize = 200;
/// Characters of the name of who decided.
const NAME: usize = 100;
/// Refused requests of a minute that have a line in the audit trail.
const REFUSALS: u32 = 20;
const MINUTE: Duration = Duration::from_secs(60);

/// What the API works on.
pub struct ApprovalAdmin {
    /// The approvals of this host.
    pub desk: Arc<ApprovalDesk>,
    /// Hash of the token of operators.
    pub token: Option<TokenHash>,
    /// Secret of the webhook.
    pub secret: Option<HiddenText>,
    /// Refused requests.
    pub refused: RefusalMeter,
}

/// Decides which refused requests have a line in the audit trail: some in each minute, so that a flood cannot fill the disk.
#[derive(Default)]
pub struct RefusalMeter(Mutex<Option<(Instant, u32)>>);

impl RefusalMeter {
    /// Returns true if the request that is refused now has a line.
    fn has_line(&self, now: Instant) -> bool {
        let mut minute = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *minute {
            Some((began, count)) if now.saturating_duration_since(*began) < MINUTE => {
                *count += 1;
                *count <= REFUSALS
            }
            other => {
                *other = Some((now, 1));
                true
            }
        }
    }
}

type ApprovalExtract = Axum<Arc<ApprovalAdmin>>;

/// Builds the routes, if this host keeps approvals.
pub(super) fn routes(admin: Option<ApprovalAdmin>) -> Router {
    let Some(admin) = admin else { return Router::new() };
    Router::new()
        .route("/approvals", get(list))
        .route("/approvals/{id}", get(show).post(decide))
        .with_state(Arc::new(admin))
}

/// A decision, as a request has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DecisionBody {
    /// The approval, as in the path, which no signature covers.
    id: String,
    /// The subject that the person has seen.
    subject: String,
    decision: DecisionWord,
    /// Answer to a form.
    answer: Option<Value>,
    /// Who decided, as the sender says.
    by: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum DecisionWord {
    Approve,
    Deny,
}

impl DecisionBody {
    /// The decision; `way` is how it came.
    fn to_decision(&self, way: &str) -> ApprovalDecision {
        let by = self.by.as_deref().map(|by| format!(": {}", shorten(&printable(by), NAME)));
        ApprovalDecision {
            accepted: self.decision == DecisionWord::Approve,
            answer: self.answer.clone(),
            by: format!("{way}{}", by.unwrap_or_default()),
            at_ms: now_ms(),
        }
    }
}

async fn list(Axum(admin): ApprovalExtract, headers: HeaderMap) -> Response {
    if !admin.has_token(&headers) {
        return admin.refuse("list");
    }
    match admin.desk.list(LISTED).await {
        Ok(stored) => {
            let now = now_ms();
            json_response(StatusCode::OK, &stored.iter().map(|stored| render_approval(stored, now)).collect())
        }
        Err(error) => broken(&error),
    }
}

async fn show(Axum(admin): ApprovalExtract, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if !admin.has_token(&headers) {
        return admin.refuse("show");
    }
    match admin.desk.load(&id).await {
        Ok(Some(stored)) => json_response(StatusCode::OK, &render_approval(&stored, now_ms())),
        Ok(None) => missing(),
        Err(error) => broken(&error),
    }
}

async fn decide(Axum(admin): ApprovalExtract, Path(id): Path<String>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, BODY).await else {
        return problem(StatusCode::PAYLOAD_TOO_LARGE, &format!("a decision has at most {BODY} bytes"));
    };
    let Some(way) = admin.sender(&head.headers, &body) else { return admin.refuse("decide") };
    let decision: DecisionBody = match serde_json::from_slice(&body) {
        Ok(decision) => decision,
        Err(error) => {
            let message = format!(
                "the body must be {{\"id\", \"subject\", \"decision\": \"approve\" or \"deny\"}}, with `answer` for a form: {error}"
            );
            return problem(StatusCode::BAD_REQUEST, &message);
        }
    };
    if decision.id != id {
        return problem(StatusCode::BAD_REQUEST, "`id` is another approval than that of the path");
    }
    match admin.desk.decide(&id, &decision.subject, decision.to_decision(way)).await {
        Ok(Ok(DecisionOutcome::Recorded)) => StatusCode::NO_CONTENT.into_response(),
        Ok(Ok(DecisionOutcome::Refused(stored))) => conflict(&stored, &decision.subject),
        Ok(Ok(DecisionOutcome::Unknown)) => missing(),
        Ok(Err(reason)) => problem(StatusCode::BAD_REQUEST, &reason.to_string()),
        Err(error) => broken(&error),
    }
}

impl ApprovalAdmin {
    fn has_token(&self, headers: &HeaderMap) -> bool {
        self.token.as_ref().is_some_and(|token| has_token(headers, token))
    }

    fn refuse(&self, request: &'static str) -> Response {
        if self.refused.has_line(Instant::now()) {
            tracing::debug!(target: AUDIT, event = "approvals_refused", request, "a request without the token of operators was refused");
        }
        let message = "this needs the token of `admin.token` (Authorization: Bearer TOKEN); a decision may have a signature by \
                       `approvals.webhook-secret` instead";
        let mut response = problem(StatusCode::UNAUTHORIZED, message);
        response.headers_mut().insert(WWW_AUTHENTICATE, axum::http::HeaderValue::from_static("Bearer"));
        response
    }

    /// How a decision came, if its sender may decide.
    fn sender(&self, headers: &HeaderMap, body: &Bytes) -> Option<&'static str> {
        if self.has_token(headers) {
            return Some("admin token");
        }
        let secret = self.secret.as_ref()?.0.as_bytes();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        signature::verify(headers, body, secret, now).map(|_| "webhook")
    }
}

fn json_response(status: StatusCode, value: &Value) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], format!("{value}\n")).into_response()
}

fn problem(status: StatusCode, message: &str) -> Response {
    json_response(status, &json!({ "error": message }))
}

fn missing() -> Response {
    problem(StatusCode::NOT_FOUND, "there is no such approval; ended ones are kept for a week")
}

fn conflict(stored: &StoredApproval, subject: &str) -> Response {
    if stored.record.subject != subject {
        return problem(StatusCode::CONFLICT, "`subject` is not that of this approval: look at it again");
    }
    let state = stored.state(now_ms()).as_str();
    let by = stored.decision.as_ref().map(|decision| format!(" by {}", decision.by)).unwrap_or_default();
    problem(StatusCode::CONFLICT, &format!("the approval cannot be decided any more: it is {state}{by}"))
}

fn broken(error: &JournalError) -> Response {
    tracing::error!("the approvals cannot be used: {error}");
    problem(StatusCode::INTERNAL_SERVER_ERROR, "the server's log has the reason")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_refusals_leaves_a_few_lines_a_minute() {
        let (meter, start) = (RefusalMeter::default(), Instant::now());
        let lines = |at: Instant| (0..1000).filter(|_| meter.has_line(at)).count();
        assert_eq!((lines(start), lines(start + MINUTE / 2)), (REFUSALS as usize, 0));
        assert_eq!(lines(start + MINUTE), REFUSALS as usize);
    }
}
