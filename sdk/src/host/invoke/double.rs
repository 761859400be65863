//! Calls to other facades, by a test.

use std::{collections::HashMap, rc::Rc};

use super::{Peer, Request, Schema};
use crate::{
    Failure, Object, Reply, Result, Value,
    testing::{Host, current},
};

/// Answer of another facade's action.
type Answer = Rc<dyn Fn(&Object) -> Result<Reply<Value>>>;

/// Facade and action.
type ActionKey = (String, String);

/// What a test says of other facades, and the calls to them.
#[derive(Default)]
pub(crate) struct PeerDoubles {
    peers: Vec<Peer>,
    schemas: HashMap<ActionKey, Schema>,
    refusals: HashMap<ActionKey, Failure>,
    answers: HashMap<ActionKey, Answer>,
    requests: Vec<Request>,
}

pub(super) fn facades() -> Result<Vec<Peer>> {
    let peers = current(|host| host.invoke.peers.clone()).unwrap_or_default();
    if peers.is_empty() {
        Err(Failure::denied("access denied: the policy grants no `invoke`"))
    } else {
        Ok(peers)
    }
}

pub(super) fn lookup(facade: &str, action: &str) -> Result<Schema> {
    let key = (facade.to_owned(), action.to_owned());
    current(|host| host.invoke.schemas.get(&key).cloned()).flatten().ok_or_else(|| ungranted(&key))
}

pub(super) fn check(request: &Request) -> Result<()> {
    let key = (request.facade.clone(), request.action.clone());
    let checked = current(|host| match host.invoke.refusals.get(&key) {
        Some(refusal) => Some(Err(refusal.clone())),
        None => host.invoke.answers.contains_key(&key).then_some(Ok(())),
    });
    checked.flatten().unwrap_or_else(|| Err(ungranted(&key)))
}

pub(super) fn invoke(requests: Vec<Request>) -> Vec<Result<Reply<Value>>> {
    requests.into_iter().map(answer).collect()
}

fn answer(request: Request) -> Result<Reply<Value>> {
    let key = (request.facade.clone(), request.action.clone());
    let params = request.params.clone();
    // The answer is computed outside the borrow, as it may use the host itself.
    let answer = current(|host| {
        host.invoke.requests.push(request);
        match host.invoke.refusals.get(&key) {
            Some(refusal) => Some(Err(refusal.clone())),
            None => host.invoke.answers.get(&key).cloned().map(Ok),
        }
    });
    match answer.flatten() {
        Some(answer) => answer?(&params),
        None => Err(ungranted(&key)),
    }
}

fn ungranted((facade, action): &ActionKey) -> Failure {
    Failure::denied(format!("access denied: the policy does not grant `invoke` of `{facade}:{action}`"))
}

impl Host {
    /// Sets the schemas of another facade's action, for [`host::lookup`](crate::host::lookup).
    #[must_use]
    pub fn schema(self, facade: impl Into<String>, action: impl Into<String>, schema: Schema) -> Self {
        self.with(|host| drop(host.invoke.schemas.insert((facade.into(), action.into()), schema)))
    }

    /// Sets the refusal of calls to another facade's action, and of their [checks](Request::check); without it, actions
    /// with an [`answer`](Self::answer) pass.
    #[must_use]
    pub fn refuse(self, facade: impl Into<String>, action: impl Into<String>, failure: Failure) -> Self {
        self.with(|host| drop(host.invoke.refusals.insert((facade.into(), action.into()), failure)))
    }

    /// Adds a facade that the plugin may call, for [`host::facades`](crate::host::facades).
    #[must_use]
    pub fn peer(self, peer: Peer) -> Self {
        self.with(|host| host.invoke.peers.push(peer))
    }

    /// Sets the answer of another facade.
    #[must_use]
    pub fn answer(
        self,
        facade: impl Into<String>,
        action: impl Into<String>,
        answer: impl Fn(&Object) -> Result<Reply<Value>> + 'static,
    ) -> Self {
        self.with(|host| drop(host.invoke.answers.insert((facade.into(), action.into()), Rc::new(answer))))
    }

    /// Calls to other facades.
    pub fn requests(&self) -> Vec<Request> {
        self.double().invoke.requests.clone()
    }
}
