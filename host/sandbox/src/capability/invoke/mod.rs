//! Calls to other facades.

use futures_util::future::join_all;
use loggia_facade::{Action, Failure, Reply, Request, Session, Surface, code};

use super::denied::denied;
use crate::contract::RawRequest;

/// Calls that one `invoke` may make at once.
const CALLS: usize = 32;

/// Calls other facades through the call's session, which knows what the policy lets the plugin call.
#[derive(Default)]
pub(crate) struct InvokeAccess {
    session: Option<Session>,
}

impl InvokeAccess {
    pub(super) fn new(session: &Session) -> Self {
        Self { session: Some(session.clone()) }
    }

    /// Makes all of these calls at once and returns their answers in order.
    pub(crate) async fn call_all(&self, requests: Vec<RawRequest>) -> Vec<Result<Reply, Failure>> {
        let session = match self.session() {
            Ok(session) => session,
            Err(denied) => return requests.iter().map(|_| Err(denied.clone())).collect(),
        };
        if requests.len() > CALLS {
            let message = format!("at most {CALLS} calls can be made at once");
            let refused = Failure::new(code::INVALID_PARAMS, message);
            return requests.iter().map(|_| Err(refused.clone())).collect();
        }
        let calls = requests.into_iter().map(|request| async move {
            let request = parse_permitted(session, request)?;
            session.invoke(request).await.map_err(Failure::from)
        });
        join_all(calls).await
    }

    /// Returns the facades that the plugin may call, each with the actions that it may call.
    pub(crate) fn facades(&self) -> Result<Vec<Surface>, Failure> {
        self.session()?.facades()
    }

    /// Returns one action of another facade.
    pub(crate) fn lookup(&self, facade: &str, action: &str) -> Result<Action, Failure> {
        self.session()?.lookup(facade, action)
    }

    /// Checks a call without making it.
    pub(crate) fn check(&self, request: RawRequest) -> Result<(), Failure> {
        let session = self.session()?;
        parse_permitted(session, request).and_then(|request| session.check(request))
    }

    fn session(&self) -> Result<&Session, Failure> {
        self.session.as_ref().ok_or_else(|| denied("invoke"))
    }
}

/// Parses a call that the policy permits. Nothing is parsed of one that it does not.
fn parse_permitted(session: &Session, request: RawRequest) -> Result<Request, Failure> {
    session.may_invoke(&request.facade, &request.action)?;
    request.parse()
}

#[cfg(test)]
mod tests;
