//! What an upstream may ask of its client.

use std::sync::Arc;

use loggia_facade::Answer;
use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCapability,
        ErrorCode, FormElicitationCapability, Implementation, ListRootsRequestMethod,
        ProgressNotificationParam, UrlElicitationCapability,
    },
    service::{InboundStreamOrigin, NotificationContext, RequestContext},
};
use tokio::sync::{Notify, Semaphore, oneshot};

use super::{
    call_registry::{CallRegistry, PendingQuestion},
    close_reason::CloseSignal,
    questions::{read_question, write_answer},
};

/// Questions that one upstream has open.
const QUESTIONS: usize = 8;

/// The client that an upstream sees: it answers forms and opens links, and neither samples nor has roots.
pub(super) struct UpstreamClient {
    pub(super) calls: Arc<CallRegistry>,
    /// Notified when the upstream says that its tools have changed.
    pub(super) changed: Arc<Notify>,
    pub(super) signal: CloseSignal,
    open_questions: Semaphore,
}

impl UpstreamClient {
    pub(super) fn new(signal: CloseSignal) -> Self {
        Self {
            calls: Arc::default(),
            changed: Arc::default(),
            signal,
            open_questions: Semaphore::new(QUESTIONS),
        }
    }
}

fn refused(reason: impl Into<String>) -> ErrorData {
    ErrorData::new(ErrorCode::INVALID_REQUEST, reason.into(), None)
}

impl ClientHandler for UpstreamClient {
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let _permit = self
            .open_questions
            .try_acquire()
            .map_err(|_| refused(format!("{QUESTIONS} questions are open already")))?;
        let question = read_question(request)
            .map_err(|reason| ErrorData::new(ErrorCode::INVALID_PARAMS, reason, None))?;
        let asker = self.calls.questions(context.extensions.get::<InboundStreamOrigin>()).map_err(refused)?;
        let (answer, answered) = oneshot::channel();
        let ask = async {
            asker.send(PendingQuestion { question, answer }).await.ok()?;
            answered.await.ok()
        };
        tokio::select! {
            answer = ask => match answer {
                Some(Ok(answer)) => Ok(write_answer(answer)),
                Some(Err(failure)) => Err(refused(failure.message)),
                // The call has ended.
                None => Ok(write_answer(Answer::Cancelled)),
            },
            () = context.ct.cancelled() => Ok(write_answer(Answer::Cancelled)),
            () = self.signal.drained() => Ok(write_answer(Answer::Cancelled)),
        }
    }

    #[expect(deprecated, reason = "roots are deprecated, but servers still ask for them")]
    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::ListRootsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListRootsRequestMethod>())
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.calls.report(params);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        // Links are declared for all callers: one whose client opens none gets the link in a failure.
        let elicitation = ElicitationCapability::new()
            .with_form(FormElicitationCapability::new())
            .with_url(UrlElicitationCapability::new());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
        ClientConfig::new(capabilities, Implementation::new("loggia", env!("CARGO_PKG_VERSION")))
    }
}
