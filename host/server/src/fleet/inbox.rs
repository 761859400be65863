//! Hands the messages of other hosts to whom they are for.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use loggia_gate::mail::MailInbox;
use rmcp::model::ClientJsonRpcMessage;
use tokio_util::sync::CancellationToken;

use super::{
    link::{AnswerChannel, FleetLink},
    message::{FleetMessage, ForwardedRequest, LinkEvent, VersionReport},
};

/// Answers requests that other hosts forward.
pub(crate) trait ForwardedAnswers: Send + Sync + 'static {
    /// Answers a request.
    fn answer(&self, request: ForwardedRequest, answered: AnswerChannel) -> BoxFuture<'static, ()>;
}

/// Takes messages of clients that other hosts have received.
pub(crate) trait SessionMessages: Send + Sync + 'static {
    /// Takes a message for calls of a session.
    fn accept(&self, session: String, message: ClientJsonRpcMessage) -> BoxFuture<'static, ()>;
    /// Forgets a session that its client has ended.
    fn end(&self, session: String) -> BoxFuture<'static, ()>;
}

/// Handles messages of other hosts until `stop` is cancelled. `sessions` is `None` for a host without sessions.
pub(crate) async fn receive_mail(
    link: Arc<FleetLink>,
    mut inbox: MailInbox,
    answers: impl ForwardedAnswers,
    sessions: Option<Arc<dyn SessionMessages>>,
    versions: Arc<dyn Fn(VersionReport) + Send + Sync>,
    stop: CancellationToken,
) {
    loop {
        let message = tokio::select! {
            () = stop.cancelled() => return,
            message = inbox.recv() => match message {
                Some(message) => message,
                None => return,
            },
        };
        // A newer host may send messages that this one does not know.
        let Ok(message) = serde_json::from_slice(&message) else {
            tracing::debug!("a message of another server cannot be read");
            continue;
        };
        match message {
            FleetMessage::Request(request) => {
                if link.is_answering(&request.from, request.channel) {
                    continue;
                }
                let answered = link.answer(request.from.clone(), request.channel);
                tokio::spawn(answers.answer(*request, answered));
            }
            FleetMessage::Event { channel, message } => link.deliver(channel, LinkEvent::Message(message)),
            FleetMessage::Ping { from, channel } => {
                let is_answering = link.is_answering(&from, channel);
                link.post(&from, &FleetMessage::Pong { channel, is_answering });
            }
            FleetMessage::Pong { channel, is_answering } => {
                link.deliver(channel, LinkEvent::Pong(is_answering));
            }
            FleetMessage::Cancel { from, channel } => link.cancel(from, channel),
            FleetMessage::Session { session, message } => {
                if let (Some(sessions), Ok(message)) = (&sessions, serde_json::from_value(message)) {
                    sessions.accept(session, message).await;
                }
            }
            FleetMessage::Versions(report) => versions(report),
            FleetMessage::SessionEnd { session } => {
                if let Some(sessions) = &sessions {
                    sessions.end(session).await;
                }
            }
        }
    }
}
