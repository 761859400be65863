//! The port of a call that has a tape: what comes from outside is kept, or comes from the tape.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use loggia_facade::{
    Answer, CallJournal, ClientRoots, Failure, LogLevel, PeerAction, Port, Progress, Question, Reply,
    Request, Session, Stop, Surface, trace::ParentSpan,
};

use super::call_tape::{CallTape, describe_input};

/// The port of a call, with its tape.
pub(super) struct TapedPort {
    pub(super) session: Session,
    pub(super) tape: Arc<CallTape>,
}

impl TapedPort {
    /// Answers a call of another facade from the tape, or makes it; keeps it either way.
    async fn invoke_taped(
        &self,
        request: Request,
        make: impl AsyncFnOnce(Request) -> Result<Reply, Stop>,
    ) -> Result<Reply, Stop> {
        let (facade, input) = (request.facade.clone(), describe_input(&request.input));
        let outcome = match self.tape.play_call(&request) {
            Some(outcome) => outcome,
            None => make(request).await,
        };
        self.tape.keep_nested(&facade, input, &outcome);
        outcome
    }
}

impl Port for TapedPort {
    fn progress(&self, progress: Progress) {
        self.session.progress(progress);
    }

    fn log(&self, level: LogLevel, text: &str) {
        self.session.log(level, text);
    }

    fn span(&self) -> ParentSpan {
        self.session.span()
    }

    fn is_cancelled(&self) -> bool {
        self.session.is_cancelled()
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        self.session.cancelled()
    }

    fn leave_io(&self) -> BoxFuture<'_, ()> {
        self.session.leave_io()
    }

    fn elicit(&self, question: Question) -> BoxFuture<'_, Result<Answer, Failure>> {
        Box::pin(async move {
            let message = question.message.clone();
            let outcome = match self.tape.play_question(&message) {
                Some(outcome) => outcome,
                None => self.session.elicit(question).await,
            };
            self.tape.keep_question(&message, &outcome);
            outcome
        })
    }

    fn may_elicit(&self) -> Result<(), Failure> {
        self.session.may_elicit()
    }

    fn client_roots(&self) -> BoxFuture<'_, ClientRoots> {
        self.session.client_roots()
    }

    fn may_invoke(&self, facade: &str, action: &str) -> Result<(), Failure> {
        self.session.may_invoke(facade, action)
    }

    fn take_journal(&self) -> Option<CallJournal> {
        self.session.take_journal()
    }

    fn invoke(&self, request: Request) -> BoxFuture<'_, Result<Reply, Stop>> {
        Box::pin(self.invoke_taped(request, async |request| self.session.invoke(request).await))
    }

    fn invoke_apart(
        &self,
        request: Request,
        cancelled: BoxFuture<'static, ()>,
    ) -> BoxFuture<'_, Result<Reply, Stop>> {
        let make = async |request| self.session.invoke_apart(request, cancelled).await;
        Box::pin(self.invoke_taped(request, make))
    }

    fn begin_cleanup(&self, most: Duration) {
        self.session.begin_cleanup(most);
    }

    fn facades(&self) -> Result<Vec<Surface>, Failure> {
        self.session.facades()
    }

    fn lookup(&self, facade: &str, action: &str) -> Result<PeerAction, Failure> {
        self.session.lookup(facade, action)
    }

    fn check(&self, request: Request) -> Result<(), Failure> {
        self.session.check(request)
    }
}
