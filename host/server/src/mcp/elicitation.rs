//! Elicitation in both lifecycles: a request of the server, for clients before 2026-07-28, and an `input_required` result,
//! which makes the client retry the call with the answers.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use data_encoding::HEXLOWER;
use loggia_facade::{Answer, Object, Question, QuestionKind};
use loggia_gate::{access::Caller, run::RunId};
use rmcp::{
    Peer, RoleServer, ServiceError,
    model::{
        CancelledNotificationParam, ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams,
        ElicitResult, ElicitationAction, ElicitationCapability, InitializeRequestParams, InputRequest,
        InputRequiredResult, InputResponses, ProtocolVersion, ServerRequest,
    },
    service::{PeerRequestOptions, RequestContext},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::seal::ValueSealer;

/// TTL of a sealed state: longer than any question stays open.
const STATE_TTL: Duration = Duration::from_secs(31 * 24 * 3600);

/// A client's support of elicitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElicitationSupport {
    /// The client shows forms.
    pub forms: bool,
    /// The client opens links, which MCP calls URL mode.
    pub links: bool,
    /// Questions are part of an `input_required` result, after which the client retries the call (2026-07-28). Otherwise each
    /// is a request of the server.
    pub by_retry: bool,
}

impl ElicitationSupport {
    /// Reads the client's capabilities and protocol version.
    pub fn of_client(context: &RequestContext<RoleServer>) -> Self {
        let elicits = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        let version = context.protocol_version();
        Self::declared(elicits, version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28))
    }

    /// Reads what a client has said of itself, in the `initialize` of a session or in a request.
    pub fn of_params(client: &InitializeRequestParams, is_stateless: bool) -> Self {
        Self::declared(client.capabilities.elicitation.clone(), is_stateless)
    }

    /// Returns true if a client with these capabilities shows forms.
    pub fn has_forms(client: &ClientCapabilities) -> bool {
        Self::declared(client.elicitation.clone(), false).forms
    }

    fn declared(elicits: Option<ElicitationCapability>, is_stateless: bool) -> Self {
        let links = elicits.as_ref().is_some_and(|elicits| elicits.url.is_some());
        // `elicitation: {}` means forms.
        let forms = elicits.is_some_and(|elicits| elicits.form.is_some() || elicits.url.is_none());
        Self { forms, links, by_retry: is_stateless && (forms || links) }
    }

    /// Returns true if a result can ask by a form.
    pub fn shows_form_by_retry(self) -> bool {
        self.by_retry && self.forms
    }

    /// Returns true if the client can show the question.
    pub fn shows(self, question: &Question) -> bool {
        match question.kind {
            QuestionKind::Form { .. } => self.forms,
            QuestionKind::Link { .. } => self.links,
        }
    }
}

/// Converts a question to the parameters of its request. The id identifies a link to clients before 2026-07-28.
fn to_params(question: &Question, id: &str) -> Option<ElicitRequestParams> {
    let message = question.message.clone();
    Some(match &question.kind {
        QuestionKind::Form { schema } => {
            let mut schema = schema.clone();
            schema.entry("type").or_insert("object".into());
            schema.entry("properties").or_insert(Value::Object(serde_json::Map::new()));
            let requested_schema = serde_json::from_value(Value::Object(schema)).ok()?;
            ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema }
        }
        QuestionKind::Link { url } => ElicitRequestParams::UrlElicitationParams {
            meta: None,
            message,
            url: url.clone(),
            elicitation_id: id.to_owned(),
        },
    })
}

/// Returns true if MCP can express the question.
pub fn is_expressible(question: &Question) -> bool {
    to_params(question, "").is_some()
}

/// Creates the id of a link. `notifications/elicitation/complete` would refer to it; the host sends none, since mostly it does not
/// learn what happens at a link. A call that waits for a login ends when the login does.
fn new_elicitation_id() -> String {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).unwrap_or_else(|e| unreachable!("the kernel gave no random bits: {e}"));
    format!("link_{:032x}", u128::from_be_bytes(bits))
}

/// Sends an elicitation request and waits for its answer. Must be called in the task that handles the client's own request,
/// since rmcp ties server requests to it. If the question is `closed` first, the request is cancelled, so that the client
/// closes its form.
pub async fn elicit(peer: Peer<RoleServer>, question: Question, closed: impl Future<Output = ()>) -> Answer {
    let Some(params) = to_params(&question, &new_elicitation_id()) else {
        tracing::warn!("failed to send a question to the client: MCP cannot express its form");
        return Answer::Cancelled;
    };
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
    let sent = match peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await {
        Ok(sent) => sent,
        Err(error) => return unanswered(&error),
    };
    let id = sent.id.clone();
    tokio::select! {
        biased;
        response = sent.await_response() => match response {
            Ok(ClientResult::ElicitResult(result)) => to_answer(result),
            Ok(_) => unanswered(&ServiceError::UnexpectedResponse),
            Err(error) => unanswered(&error),
        },
        () = closed => {
            let reason = "the question is no longer open".to_owned();
            let cancelled = CancelledNotificationParam::new(Some(id), Some(reason));
            // A disconnected client has no form open.
            let _ = peer.notify_cancelled(cancelled).await;
            Answer::Cancelled
        }
    }
}

fn unanswered(error: &ServiceError) -> Answer {
    tracing::debug!(%error, "the client did not answer a question");
    Answer::Cancelled
}

fn to_answer(result: ElicitResult) -> Answer {
    match result.action {
        ElicitationAction::Accept => {
            Answer::Accepted(result.content.unwrap_or_else(|| Value::Object(serde_json::Map::new())))
        }
        ElicitationAction::Decline => Answer::Declined,
        _ => Answer::Cancelled,
    }
}

/// Parses the answers that came with a call. A malformed one is ignored, so that its question stays open.
pub fn parse_answers(responses: InputResponses) -> impl Iterator<Item = (String, Answer)> {
    responses.into_iter().filter_map(|(key, response)| {
        let result = serde_json::from_value::<ElicitResult>(response).ok()?;
        Some((key, to_answer(result)))
    })
}

/// Converts questions to the input requests of an `input_required` result or a task. 2026-07-28 has no ids of links, but
/// rmcp writes one; clients that still require it get the question's key.
pub fn to_input_requests(asks: &BTreeMap<String, Question>) -> BTreeMap<String, InputRequest> {
    let request = |(key, question): (&String, &Question)| {
        let params = to_params(question, key)?;
        Some((key.clone(), InputRequest::Elicitation(ElicitRequest::new(params))))
    };
    asks.iter().filter_map(request).collect()
}

/// Reference to a waiting call, which a retried request resumes.
#[derive(Serialize, Deserialize, Debug, PartialEq)]
pub struct ParkedCall {
    run: String,
    /// Set if the call only watches the run (`run_status`), and does not own it.
    pub is_watched: bool,
    /// Address of the host that has the call, if there are several.
    #[serde(default)]
    pub host: Option<String>,
}

impl ParkedCall {
    /// Refers to the call's run.
    pub fn new(run: &RunId, is_watched: bool, host: Option<String>) -> Self {
        Self { run: run.to_string(), is_watched, host }
    }

    /// Returns the handle of the run.
    pub fn run(&self) -> RunId {
        RunId::from_client(&self.run)
    }
}

/// Seals the state that passes through clients, so that a question survives a restart if the key does.
pub struct StateSealer(Arc<ValueSealer>);

impl StateSealer {
    /// Creates a sealer with this key.
    pub fn new(values: Arc<ValueSealer>) -> Self {
        Self(values)
    }

    /// Builds the `input_required` result, with the sealed state.
    pub fn seal(
        &self,
        parked: &ParkedCall,
        asks: &BTreeMap<String, Question>,
        caller: &Caller,
        call: &CallBinding,
    ) -> InputRequiredResult {
        let mut result = InputRequiredResult::from_input_requests(to_input_requests(asks));
        result.request_state = self.0.seal(parked, &associated_data(caller, call), STATE_TTL);
        result
    }

    /// Opens a state that a client sent back. Returns `None` if it was modified, has expired, or belongs to another caller,
    /// call or state folder.
    pub fn open(&self, state: &str, caller: &Caller, call: &CallBinding) -> Option<ParkedCall> {
        self.0.open(state, &associated_data(caller, call))
    }
}

/// Binding of a sealed state to one tool and its arguments.
pub struct CallBinding(String);

impl CallBinding {
    /// Binds to this tool with these arguments.
    pub fn new(tool: &str, arguments: Option<&Object>) -> Self {
        let text = serde_json::to_string(&arguments).unwrap_or_default();
        let digest = Sha256::digest(text.as_bytes());
        Self(format!("{tool} {}", HEXLOWER.encode(&digest)))
    }
}

fn associated_data(caller: &Caller, call: &CallBinding) -> String {
    format!("{caller:?}\n{}", call.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_state_is_bound_to_caller_and_call() {
        let keyed = |secret| StateSealer::new(Arc::new(ValueSealer::new(secret)));
        let (sealer, other) = (keyed(None), keyed(None));
        let parked = || ParkedCall::new(&RunId::from_client("run_x"), false, None);
        let call = |tool: &str, n: u32| CallBinding::new(tool, serde_json::json!({ "n": n }).as_object());
        let notes = call("notes", 1);
        let state = sealer.seal(&parked(), &BTreeMap::new(), &Caller::Local, &notes).request_state.unwrap();
        assert_eq!(sealer.open(&state, &Caller::Local, &notes), Some(parked()));
        assert_eq!(sealer.open(&state, &Caller::Local, &call("other", 1)), None);
        assert_eq!(sealer.open(&state, &Caller::Local, &call("notes", 2)), None);
        assert_eq!(sealer.open(&state, &Caller::Anonymous, &notes), None);
        assert_eq!(other.open(&state, &Caller::Local, &notes), None);
        let kept = |byte: u8| keyed(Some(Arc::new(move || Some([byte; 32]))));
        let state = kept(1).seal(&parked(), &BTreeMap::new(), &Caller::Local, &notes).request_state.unwrap();
        assert_eq!(kept(1).open(&state, &Caller::Local, &notes), Some(parked()), "after a restart");
        assert_eq!(kept(2).open(&state, &Caller::Local, &notes), None);
        assert_eq!(sealer.open("nonsense", &Caller::Local, &notes), None);
    }

    #[test]
    fn capabilities_name_forms_and_links() {
        for (declared, forms, links) in [
            (None, false, false),
            (Some("{}"), true, false),
            (Some(r#"{"form": {}}"#), true, false),
            (Some(r#"{"url": {}}"#), false, true),
            (Some(r#"{"form": {}, "url": {}}"#), true, true),
        ] {
            for is_stateless in [false, true] {
                let elicits = declared.map(|text| serde_json::from_str(text).unwrap());
                let by_retry = is_stateless && declared.is_some();
                let expected = ElicitationSupport { forms, links, by_retry };
                assert_eq!(ElicitationSupport::declared(elicits, is_stateless), expected, "{declared:?}");
            }
        }
    }

    #[test]
    fn malformed_answers_are_ignored() {
        let answers: BTreeMap<String, Answer> = parse_answers(BTreeMap::from([
            ("q1".to_owned(), serde_json::json!({"action": "accept", "content": {"n": 1}})),
            ("q2".to_owned(), serde_json::json!({"action": "decline"})),
            ("q3".to_owned(), serde_json::json!("nonsense")),
        ]))
        .collect();
        assert_eq!(answers["q1"], Answer::Accepted(serde_json::json!({"n": 1})));
        assert_eq!((&answers["q2"], answers.get("q3")), (&Answer::Declined, None));
    }
}
