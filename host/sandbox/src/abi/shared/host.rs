//! The interface `host`: logs, progress, cancellation, configuration, questions and calls to other facades.

use loggia_facade::Progress;

use super::{
    bindings::{
        host::{Answer, Host, Level, Request},
        types::{ActionSchema, Description, Failure, Reply},
    },
    description, from_guest, to_guest,
};
use crate::{
    capability::{elicit, invoke, progress},
    guest::GuestState,
};

impl Host for GuestState {
    fn log(&mut self, level: Level, message: String) {
        self.log.log(from_guest::level(level), &message);
    }

    fn progress(&mut self, done: f64, total: Option<f64>, message: Option<String>) {
        progress::report(self.capabilities.session(), Progress { done, total, message });
    }

    fn cancelled(&mut self) -> bool {
        progress::is_cancelled(self.capabilities.session())
    }

    fn config(&mut self, key: String) -> Option<String> {
        self.capabilities.config(&key).map(str::to_owned)
    }

    async fn elicit(&mut self, message: String, schema: String) -> Result<Answer, Failure> {
        let answer = elicit::ask(self.capabilities.session(), message, &schema).await;
        answer.map(to_guest::answer).map_err(to_guest::failure)
    }

    async fn invoke(&mut self, requests: Vec<Request>) -> Vec<Result<Reply, Failure>> {
        let requests = requests.into_iter().map(from_guest::request).collect();
        let capabilities = &self.capabilities;
        let answers = invoke::call_all(capabilities.session(), requests, capabilities.span()).await;
        answers.into_iter().map(|answer| answer.map(to_guest::reply).map_err(to_guest::failure)).collect()
    }

    fn facades(&mut self) -> Result<Vec<Description>, Failure> {
        let facades = invoke::facades(self.capabilities.session()).map_err(to_guest::failure)?;
        Ok(facades.iter().map(description::to_plugin).collect())
    }

    fn lookup(&mut self, facade: String, action: String) -> Result<ActionSchema, Failure> {
        let action = invoke::lookup(self.capabilities.session(), &facade, &action);
        action.map(|action| to_guest::schema(&action)).map_err(to_guest::failure)
    }

    fn check(&mut self, request: Request) -> Result<(), Failure> {
        invoke::check(self.capabilities.session(), from_guest::request(request)).map_err(to_guest::failure)
    }
}
