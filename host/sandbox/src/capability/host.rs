//! The interface `host`: logs, progress and cancellation for every plugin; the rest is denied until a policy can
//! grant it.

use loggia_facade::{Failure, Level, Progress, code};

use crate::{
    abi::v0_1::{
        failure_down,
        host::{Answer, Host, Level as AbiLevel, Request},
        types,
    },
    guest::Guest,
};

/// Characters of a progress message.
const MESSAGE: usize = 500;

fn denied(grant: &str) -> types::Failure {
    let hint = format!("the policy of this plugin does not grant `{grant}`");
    failure_down(Failure::new(code::DENIED, "access denied").hint(hint))
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

    fn config(&mut self, _key: String) -> Option<String> {
        None
    }

    async fn elicit(&mut self, _message: String, _schema: String) -> Result<Answer, types::Failure> {
        Err(denied("elicit"))
    }

    async fn invoke(&mut self, requests: Vec<Request>) -> Vec<Result<types::Reply, types::Failure>> {
        requests.iter().map(|_| Err(denied("invoke"))).collect()
    }

    fn facades(&mut self) -> Result<Vec<types::Description>, types::Failure> {
        Err(denied("invoke"))
    }

    fn lookup(&mut self, _facade: String, _action: String) -> Result<types::ActionSchema, types::Failure> {
        Err(denied("invoke"))
    }

    fn check(&mut self, _request: Request) -> Result<(), types::Failure> {
        Err(denied("invoke"))
    }
}
