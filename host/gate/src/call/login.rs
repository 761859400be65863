//! Login of a caller before a call, where the facade needs the caller's own credential and a login can issue one.

use std::{fmt::Arguments, time::Duration};

use futures_util::future::{BoxFuture, Either, select};
use loggia_facade::{Answer, Failure, Object, Question, ScopeKey};
use loggia_schema::{LOGIN_CODE, sanitise_line};
use serde_json::{Value, json};

use super::{audit, checked_question::CheckedQuestion, frame::CallFrame};
use crate::{
    access::{CallOrigin, CallerLogins, LoginPreview, LoginRefusal, LoginStep, PendingLogin},
    catalog::CatalogEntry,
    failures::denied,
};

/// Time that a call waits for its person to log in, and then for the code.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// How a caller sends a code: in `LOGIN_CODE` of the schema.
const SEND_CODE: &str = "make the same call with \"login_code\": \"CODE\"";
/// Length of a reason, in bytes.
const MAX_REASON_BYTES: usize = 300;

/// Requires that the caller has the credential that the facade needs; otherwise asks the person to log in, and waits.
///
/// An unauthenticated caller has no key and passes: the facade itself refuses the call.
pub(super) async fn require_login(frame: &CallFrame, code: Option<&str>) -> Result<(), Failure> {
    match &frame.entry.logins {
        None => Ok(()),
        Some(logins) => Box::pin(complete_login(frame, &**logins, code)).await,
    }
}

async fn complete_login(
    frame: &CallFrame,
    logins: &dyn CallerLogins,
    code: Option<&str>,
) -> Result<(), Failure> {
    let Some(key) = frame.caller_key() else { return Ok(()) };
    let Some(pending) = logins.require(&frame.state.caller, &key).await? else { return Ok(()) };
    let login = CallLogin { frame, logins, key, pending: &*pending };
    let outcome = login.complete(code).await;
    audit::record_decision(
        frame,
        "login",
        outcome.as_ref().map_or_else(|failure| failure.code.as_str(), |()| "completed"),
    );
    outcome
}

/// Adds the login that calls need to what `describe` answers.
pub(super) fn add_to_description(entry: &CatalogEntry, origin: &CallOrigin, description: &mut Value) {
    let name = &entry.surface().name;
    let key = entry.caller_keys.as_ref().and_then(|keys| keys.key_for(&origin.caller, name));
    let preview =
        entry.logins.as_ref().zip(key).and_then(|(logins, key)| logins.preview(&origin.caller, &key));
    if let (Some(preview), Value::Object(data)) = (preview, description) {
        let login = match preview {
            LoginPreview::Link { link, needs_code } => {
                json!({ "needed": true, "link": link, "hint": link_hint(needs_code) })
            }
            LoginPreview::Code => json!({ "needed": true, "hint": code_hint() }),
            LoginPreview::Later => {
                json!({ "needed": true, "hint": "the first call begins it and returns its link" })
            }
        };
        data.insert("login".into(), login);
    }
}

/// The login that one call needs.
struct CallLogin<'a> {
    frame: &'a CallFrame,
    logins: &'a dyn CallerLogins,
    key: ScopeKey,
    pending: &'a dyn PendingLogin,
}

impl CallLogin<'_> {
    async fn complete(&self, code: Option<&str>) -> Result<(), Failure> {
        if let Some(code) = code {
            return self.redeem(code).await.map_err(|refusal| self.refused(refusal));
        }
        let step = match self.pending.step() {
            LoginStep::Open => self.ask_to_open().await?,
            step => step,
        };
        match step {
            LoginStep::Done => Ok(()),
            LoginStep::NeedsCode => self.ask_for_code().await,
            LoginStep::Failed(reason) => Err(self.failed(&reason)),
            LoginStep::Open => Err(self
                .to_failure(format_args!("the login to `{}` was not completed in time", self.frame.name()))),
        }
    }

    /// Asks the person to open the link, and waits for what happens there.
    async fn ask_to_open(&self) -> Result<LoginStep, Failure> {
        let name = self.frame.name();
        if !self.frame.state.can_open_links {
            return Err(self.to_failure(format_args!("`{name}` needs a login first")));
        }
        let message = match self.pending.needs_code() {
            true => {
                format!("Log in to use `{name}`. The last page shows a code, for which you are asked then.")
            }
            false => format!("Log in to use `{name}`. The call goes on once you have."),
        };
        let open = LoginStep::Open;
        let answered = |answer: BoxFuture<'static, Answer>| async {
            let beyond = self.pending.wait_beyond(&open);
            match select(answer, beyond).await {
                // The person is on the way.
                Either::Left((Answer::Accepted(_), beyond)) => Some(beyond.await),
                Either::Left((Answer::Declined | Answer::Cancelled, _)) => None,
                Either::Right((step, _)) => Some(step),
            }
        };
        match self.ask(Question::link(message, self.pending.link()), answered).await? {
            Some(Some(step)) => Ok(step),
            Some(None) => {
                Err(self.to_failure(format_args!("the person did not begin the login to `{name}`")))
            }
            None => Ok(LoginStep::Open),
        }
    }

    /// Asks for the code until it is right, or the login has ended.
    async fn ask_for_code(&self) -> Result<(), Failure> {
        let name = self.frame.name();
        if !self.frame.can_ask() {
            return Err(self.needs_code());
        }
        let mut message = format!("Enter the code that the last page of the login to `{name}` shows.");
        let held = LoginStep::NeedsCode;
        loop {
            // Another call may complete the login meanwhile.
            let answered =
                |answer: BoxFuture<'static, Answer>| select(answer, self.pending.wait_beyond(&held));
            let answered = self.ask(Question::form(message, code_form()), answered).await?;
            let code = match answered {
                Some(Either::Right((LoginStep::Done, _))) => return Ok(()),
                Some(Either::Right((LoginStep::Failed(reason), _))) => return Err(self.failed(&reason)),
                Some(Either::Left((Answer::Accepted(given), _))) => {
                    given.get("code").and_then(Value::as_str).unwrap_or_default().to_owned()
                }
                _ => return Err(self.needs_code()),
            };
            match self.redeem(&code).await {
                Ok(()) => return Ok(()),
                Err(LoginRefusal::Wrong(left)) => {
                    message = format!(
                        "That code is wrong ({left} more can be tried). Enter the code that the page shows."
                    );
                }
                Err(refusal) => return Err(self.refused(refusal)),
            }
        }
    }

    /// Asks a question of the host's own; `None` if the time is over. The policy does not matter here: it is not the facade
    /// that asks.
    async fn ask<F: Future>(
        &self,
        question: Question,
        answered: impl FnOnce(BoxFuture<'static, Answer>) -> F,
    ) -> Result<Option<F::Output>, Failure> {
        let checked = CheckedQuestion::new(&question.kind)?;
        self.frame.ask_checked(&checked, question, LOGIN_TIMEOUT, answered).await
    }

    async fn redeem(&self, code: &str) -> Result<(), LoginRefusal> {
        self.logins.redeem(&self.frame.state.caller, &self.key, code).await
    }

    /// Failure with the link, for a login that was not completed.
    fn to_failure(&self, reason: Arguments<'_>) -> Failure {
        let link = self.pending.link();
        let hint = link_hint(self.pending.needs_code());
        Failure {
            details: Some(json!({ "link": link })),
            ..denied(format_args!("{reason}: {link}")).hint(hint)
        }
    }

    /// Failure for a login that waits for its code.
    fn needs_code(&self) -> Failure {
        let failure = denied(format_args!("the login to `{}` waits for its code", self.frame.name()));
        failure.hint(code_hint())
    }

    fn failed(&self, reason: &str) -> Failure {
        let reason = sanitise_line(reason, MAX_REASON_BYTES);
        let failure = denied(format_args!("the login to `{}` failed: {reason}", self.frame.name()));
        failure.hint("make the same call again to begin another login, if the person wants to")
    }

    fn refused(&self, refusal: LoginRefusal) -> Failure {
        let name = self.frame.name();
        match refusal {
            LoginRefusal::Ended(reason) => self.failed(&reason),
            LoginRefusal::Unasked => {
                self.to_failure(format_args!("`{name}` needs a login before there is a code"))
            }
            LoginRefusal::Wrong(left) => {
                let reason = format_args!("the `{LOGIN_CODE}` is wrong; {left} more can be tried");
                denied(reason).hint(code_hint())
            }
        }
    }
}

/// What to do with a link.
fn link_hint(needs_code: bool) -> String {
    let then = if needs_code {
        format!("when its last page shows a code, ask for it and {SEND_CODE}")
    } else {
        "once they have logged in there, make the same call again".to_owned()
    };
    format!("give the person the link; {then}")
}

/// How to send a code.
fn code_hint() -> String {
    format!("ask the person for the code that the last page of the login shows, and {SEND_CODE}")
}

/// Form with the code.
fn code_form() -> Object {
    let form = json!({
        "type": "object",
        "properties": { "code": { "type": "string", "title": "Code", "minLength": 1, "maxLength": 32 } },
        "required": ["code"],
    });
    let Value::Object(form) = form else { unreachable!("an object was written") };
    form
}
