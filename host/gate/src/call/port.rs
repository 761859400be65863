//! The port that a facade is given: the gate as seen from within a call.

use std::{
    future::ready,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use loggia_facade::{
    Answer, CallJournal, ClientRoots, Failure, LogLevel, PeerAction, Port, Progress, Question, Reply,
    Request, Stop, Surface, trace::ParentSpan,
};
use loggia_text::printable;
use tokio::task::yield_now;

use super::frame::CallFrame;

/// Reason for which a call has no roots: its client may be a program of another person, on another machine.
const NO_ROOT_SOURCE: &str =
    "over HTTP the host takes no roots; a client that starts `loggia serve` itself may name some";

/// Port of one call. Holds its frame, which nested calls keep as their parent.
pub(super) struct FramePort(pub(super) Arc<CallFrame>);

impl Port for FramePort {
    fn progress(&self, progress: Progress) {
        // Clients see the progress of the call that they made, not that of nested calls.
        if self.0.parent.is_none() {
            let message = progress.message.filter(|_| !self.0.withholds_texts());
            self.0.state.record_progress(Progress { message, ..progress });
        }
    }

    fn log(&self, level: LogLevel, text: &str) {
        let facade = self.0.name();
        if !self.0.withholds_texts() {
            self.0.state.record_log(level, text);
        }
        let text = printable(text);
        match level {
            LogLevel::Trace => tracing::trace!(target: "plugin", facade, "{text}"),
            LogLevel::Debug => tracing::debug!(target: "plugin", facade, "{text}"),
            LogLevel::Info => tracing::info!(target: "plugin", facade, "{text}"),
            LogLevel::Warn => tracing::warn!(target: "plugin", facade, "{text}"),
            LogLevel::Error => tracing::error!(target: "plugin", facade, "{text}"),
        }
    }

    fn span(&self) -> ParentSpan {
        self.0.span.clone()
    }

    fn is_cancelled(&self) -> bool {
        self.0.cancel.is_cancelled()
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        self.0.cancel.cancelled().boxed()
    }

    fn leave_io(&self) -> BoxFuture<'_, ()> {
        // Its task, which is polling this, looks at the flag after the poll.
        self.0.state.leaves_io.store(true, Ordering::Relaxed);
        yield_now().boxed()
    }

    fn elicit(&self, question: Question) -> BoxFuture<'_, Result<Answer, Failure>> {
        self.0.ask_for_facade(question).boxed()
    }

    fn may_elicit(&self) -> Result<(), Failure> {
        self.0.check_may_elicit()
    }

    fn client_roots(&self) -> BoxFuture<'_, ClientRoots> {
        match &self.0.state.roots {
            Some(source) => source.roots(),
            None => ready(ClientRoots::absent(NO_ROOT_SOURCE)).boxed(),
        }
    }

    fn may_invoke(&self, facade: &str, action: &str) -> Result<(), Failure> {
        self.0.check_may_invoke(facade, action)
    }

    fn take_journal(&self) -> Option<CallJournal> {
        self.0.take_journal()
    }

    fn invoke(&self, request: Request) -> BoxFuture<'_, Result<Reply, Stop>> {
        self.0.answer_nested(request, None).boxed()
    }

    fn invoke_apart(
        &self,
        request: Request,
        cancelled: BoxFuture<'static, ()>,
    ) -> BoxFuture<'_, Result<Reply, Stop>> {
        self.0.answer_apart(request, cancelled).boxed()
    }

    fn begin_cleanup(&self, most: Duration) {
        self.0.begin_cleanup(most);
    }

    fn facades(&self) -> Result<Vec<Surface>, Failure> {
        self.0.list_peers()
    }

    fn lookup(&self, facade: &str, action: &str) -> Result<PeerAction, Failure> {
        self.0.lookup_action(facade, action)
    }

    fn check(&self, request: Request) -> Result<(), Failure> {
        self.0.check_request(request)
    }
}
