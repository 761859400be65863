//! Calls to other facades.

use futures_util::future::join_all;
use loggia_facade::{Failure, PeerAction, Reply, Request, Session, Surface, code, trace::ParentSpan};

use super::denied::denied;
use crate::contract::RawRequest;

/// Calls that one `invoke` may make at once.
const CALLS: usize = 32;

/// Makes all of these calls at once, under this span, and returns their answers in order.
pub(crate) async fn call_all(
    session: Option<&Session>,
    requests: Vec<RawRequest>,
    span: &ParentSpan,
) -> Vec<Result<Reply, Failure>> {
    let session = match permitted(session) {
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
        session.invoke(Request { span: span.clone(), ..request }).await.map_err(Failure::from)
    });
    join_all(calls).await
}

/// Returns the facades that the plugin may call, each with the actions that it may call.
pub(crate) fn facades(session: Option<&Session>) -> Result<Vec<Surface>, Failure> {
    permitted(session)?.facades()
}

/// Returns one action of another facade.
pub(crate) fn lookup(session: Option<&Session>, facade: &str, action: &str) -> Result<PeerAction, Failure> {
    permitted(session)?.lookup(facade, action)
}

/// Checks a call without making it.
pub(crate) fn check(session: Option<&Session>, request: RawRequest) -> Result<(), Failure> {
    let session = permitted(session)?;
    parse_permitted(session, request).and_then(|request| session.check(request))
}

/// Returns the call's session, which knows what the policy lets the plugin call. None: nothing.
fn permitted(session: Option<&Session>) -> Result<&Session, Failure> {
    session.ok_or_else(|| denied("invoke"))
}

/// Parses a call that the policy permits. Nothing is parsed of one that it does not.
fn parse_permitted(session: &Session, request: RawRequest) -> Result<Request, Failure> {
    session.may_invoke(&request.facade, &request.action)?;
    request.parse()
}

#[cfg(test)]
mod tests;
