//! Tells operators of opened approvals: in the log, and through a webhook.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use axum::http::{
    Request, StatusCode,
    header::{CONTENT_TYPE, USER_AGENT},
};
use http_body_util::{BodyExt, Full};
use loggia_egress::{EgressLimits, EgressMode, OperatorClient, SendError, SendTimeouts};
use loggia_gate::approval::{ApprovalNotice, ApprovalRecord, StoredApproval};
use loggia_text::printable;
use serde_json::json;
use tokio::sync::Semaphore;

use super::{
    options::WebhookTarget,
    render::{format_time, now_ms, render_approval},
};
use crate::signature;

/// Messages that are sent at once. More wait.
const AT_ONCE: usize = 8;
/// Messages that wait or are sent.
const MOST: usize = 256;
/// Bytes of a message: an approval has the arguments of a call.
const MESSAGE: usize = 4 << 20;
/// Bytes of a response, which is not read.
const RESPONSE: usize = 64 << 10;
/// Time of one attempt.
const ATTEMPT: Duration = Duration::from_secs(10);
/// Times between the attempts.
const PAUSES: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(30)];

/// Tells operators of opened approvals.
pub struct OperatorNotice {
    /// Option of the commands that decide, after a space.
    place: String,
    webhook: Option<Arc<WebhookTarget>>,
    sending: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

/// Why a message was not delivered.
#[derive(Debug, thiserror::Error)]
enum DeliveryError {
    #[error("{0}")]
    Send(#[from] SendError),
    #[error("its name does not resolve to this machine, and it is not an https:// URL")]
    Exposed,
    #[error("the message cannot be built")]
    Malformed,
    #[error("the response has the status {0}")]
    Status(StatusCode),
}

impl OperatorNotice {
    /// Creates a notice. `place` is the option by which commands find the approvals, after a space.
    pub fn new(webhook: Option<WebhookTarget>, place: String) -> Self {
        Self {
            place,
            webhook: webhook.map(Arc::new),
            sending: Arc::new(Semaphore::new(AT_ONCE)),
            waiting: Arc::new(Semaphore::new(MOST)),
        }
    }
}

impl ApprovalNotice for OperatorNotice {
    fn opened(&self, record: &ApprovalRecord) {
        let ApprovalRecord { id, facade, action, .. } = record;
        let caller = printable(&record.caller).into_owned();
        tracing::warn!(
            "{facade}.{action} of {caller} waits for your approval until {}: `loggia approvals show {id}{}`",
            format_time(record.expires_ms),
            self.place
        );
        let Some(webhook) = self.webhook.clone() else { return };
        let Ok(place) = Arc::clone(&self.waiting).try_acquire_owned() else {
            tracing::warn!(
                "no message about the approval {id} is sent to the webhook: {MOST} others wait already"
            );
            return;
        };
        let (sending, record) = (Arc::clone(&self.sending), record.clone());
        tokio::spawn(async move {
            let _place = place;
            let _turn = sending.acquire_owned().await;
            deliver(&webhook, record).await;
        });
    }
}

/// Sends a message, again after a failure.
async fn deliver(webhook: &WebhookTarget, record: ApprovalRecord) {
    let id = record.id.clone();
    let stored = StoredApproval { record, decision: None, closed: None };
    let message = json!({
        "type": "approval.opened",
        "timestamp": format_time(stored.record.opened_ms),
        "data": render_approval(&stored, now_ms()),
    });
    let body = message.to_string();
    let mut pauses = PAUSES.iter();
    loop {
        let error = match tokio::time::timeout(ATTEMPT, send(webhook, &id, body.clone())).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no response within {} s", ATTEMPT.as_secs()),
        };
        let Some(pause) = pauses.next() else {
            tracing::error!("the webhook did not take the approval {id}: {error}");
            return;
        };
        tracing::debug!("the webhook did not take the approval {id}, which is sent again: {error}");
        tokio::time::sleep(*pause).await;
    }
}

async fn send(webhook: &WebhookTarget, id: &str, body: String) -> Result<(), DeliveryError> {
    let timestamp = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let signed = signature::sign(id, timestamp, body.as_bytes(), webhook.secret.0.as_bytes());
    let limits = EgressLimits {
        requests: 1,
        at_once: 1,
        request: MESSAGE,
        response: RESPONSE,
        time: ATTEMPT,
        redirects: 0,
    };
    let request = Request::post(webhook.url.as_str())
        .header(CONTENT_TYPE, "application/json")
        .header(USER_AGENT, concat!("loggia/", env!("CARGO_PKG_VERSION")))
        .header("webhook-id", id)
        .header("webhook-timestamp", timestamp)
        .header("webhook-signature", signed)
        .body(Full::new(body.into()).map_err(|never| match never {}).boxed_unsync())
        .map_err(|_| DeliveryError::Malformed)?;
    let OperatorClient { client, is_private } =
        OperatorClient::resolve(&webhook.url, request.method(), limits).await?;
    if !is_private {
        return Err(DeliveryError::Exposed);
    }
    let response = client.call(EgressMode::Writes).send(request, SendTimeouts::default()).await?;
    match response.status() {
        status if status.is_success() => Ok(()),
        status => Err(DeliveryError::Status(status)),
    }
}
