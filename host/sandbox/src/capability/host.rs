//! The interface `host`: logs, progress, cancellation and configuration for every plugin; questions and what concerns
//! other facades by the port, which knows what the policy grants.

use futures_util::future::join_all;
use loggia_facade::{
    Answer, Failure, Level, Object, Progress, Question, Session, Stop, code,
    json::{JsonError, parse},
};
use serde_json::Value;

use crate::{
    abi::v0_1::{
        description_down, failure_down,
        host::{Answer as AbiAnswer, Host, Level as AbiLevel, Request},
        reply_down, request, schema_down, types,
    },
    guest::Guest,
};

/// Calls that one `invoke` may make at once.
const CALLS: usize = 32;

/// Characters of a question's name.
const NAME: usize = 64;

/// Characters of a progress message.
const MESSAGE: usize = 500;

pub(super) fn denied(grant: &str) -> types::Failure {
    let hint = format!("the policy of this plugin does not grant `{grant}`");
    failure_down(Failure::new(code::DENIED, "access denied").hint(hint))
}

fn is_name(name: &str) -> bool {
    let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-');
    (1..=NAME).contains(&name.len()) && name.bytes().all(plain)
}

/// A call that the policy lets the plugin make; nothing is parsed of one that it does not.
fn permitted(session: &Session, asked: Request) -> Result<loggia_facade::Request, Failure> {
    session.may_invoke(&asked.facade, &asked.action)?;
    request(asked)
}

impl Host for Guest {
    fn log(&mut self, level: AbiLevel, message: String) {
        let level = match level {
            AbiLevel::Trace => Level::Trace,
            AbiLevel::Debug => Level::Debug,
            AbiLevel::Info => Level::Info,
            AbiLevel::Warn => Level::Warn,
            AbiLevel::Error => Level::Error,
        };
        self.output.log(level, &message);
    }

    fn progress(&mut self, done: f64, total: Option<f64>, message: Option<String>) {
        // JSON knows no infinity, and a client shows a line.
        if let Some(session) = self.session.as_ref().filter(|_| done.is_finite()) {
            let total = total.filter(|total| total.is_finite());
            let message = message.map(|message| message.chars().take(MESSAGE).collect());
            session.progress(Progress { done, total, message });
        }
    }

    fn cancelled(&mut self) -> bool {
        self.session.as_ref().is_some_and(|session| session.is_cancelled())
    }

    fn config(&mut self, key: String) -> Option<String> {
        self.given.config.as_ref()?.get(&key).cloned()
    }

    async fn elicit(&mut self, message: String, schema: String) -> Result<AbiAnswer, types::Failure> {
        let Some(session) = self.session.clone() else { return Err(denied("elicit")) };
        // Before anything is parsed for whoever may not ask.
        session.may_elicit().map_err(failure_down)?;
        let mut schema: Object = match parse(&schema) {
            Ok(Value::Object(schema)) => schema,
            Err(error @ JsonError::Values) => {
                let said = format!("the question's schema cannot be read: {error}");
                return Err(failure_down(Failure::new(code::INVALID_PARAMS, said)));
            }
            _ => {
                let said = "the question's schema is not a JSON object";
                return Err(failure_down(Failure::new(code::INVALID_PARAMS, said)));
            }
        };
        let name = match schema.remove("$anchor") {
            None => None,
            Some(Value::String(name)) if is_name(&name) => Some(name),
            Some(_) => {
                let said = format!("the question's name has letters, digits, _ and -, at most {NAME}");
                return Err(failure_down(Failure::new(code::INVALID_PARAMS, said)));
            }
        };
        match session.elicit(Question { message, schema, name, timeout: None }).await {
            Ok(Answer::Accepted(answer)) => Ok(AbiAnswer::Accepted(answer.to_string())),
            Ok(Answer::Declined) => Ok(AbiAnswer::Declined),
            Ok(Answer::Cancelled) => Ok(AbiAnswer::Cancelled),
            Err(failure) => Err(failure_down(failure)),
        }
    }

    async fn invoke(&mut self, requests: Vec<Request>) -> Vec<Result<types::Reply, types::Failure>> {
        let Some(session) = self.session.clone() else {
            return requests.iter().map(|_| Err(denied("invoke"))).collect();
        };
        if requests.len() > CALLS {
            let said = format!("at most {CALLS} calls can be made at once");
            let refused = || Err(failure_down(Failure::new(code::INVALID_PARAMS, said.clone())));
            return requests.iter().map(|_| refused()).collect();
        }
        let calls = requests.into_iter().map(|asked| {
            let session = session.clone();
            async move {
                let request = permitted(&session, asked).map_err(failure_down)?;
                let reply = session.invoke(request).await;
                reply.map(reply_down).map_err(|stop: Stop| failure_down(Failure::from(stop)))
            }
        });
        join_all(calls).await
    }

    fn facades(&mut self) -> Result<Vec<types::Description>, types::Failure> {
        let session = self.session.as_ref().ok_or_else(|| denied("invoke"))?;
        let facades = session.facades().map_err(failure_down)?;
        Ok(facades.iter().map(description_down).collect())
    }

    fn lookup(&mut self, facade: String, action: String) -> Result<types::ActionSchema, types::Failure> {
        let session = self.session.as_ref().ok_or_else(|| denied("invoke"))?;
        session.lookup(&facade, &action).map(|action| schema_down(&action)).map_err(failure_down)
    }

    fn check(&mut self, asked: Request) -> Result<(), types::Failure> {
        let session = self.session.as_ref().ok_or_else(|| denied("invoke"))?;
        permitted(session, asked).and_then(|asked| session.check(asked)).map_err(failure_down)
    }
}
