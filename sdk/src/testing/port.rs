//! Native implementation of [`crate::host`]: the test double of the current thread.

use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap, VecDeque},
    rc::Rc,
};

pub(crate) use super::store::{now, state_commit, state_get, state_scan};

use crate::{
    Answer, Effect, Failure, Level, Object, Reply, Result, Value,
    host::{Peer, Request, Schema},
    http,
    testing::{Question, Store, web::Route},
};

/// Answer of another facade's action.
type Peered = Rc<dyn Fn(&Object) -> Result<Reply<Value>>>;

/// Grants and records of a test's host.
#[derive(Default)]
pub(super) struct Double {
    pub config: BTreeMap<String, String>,
    pub peers: Vec<Peer>,
    pub answers: HashMap<(String, String), Peered>,
    pub person: VecDeque<Answer<Value>>,
    pub questions: Vec<Question>,
    pub cancelled: bool,
    pub logs: Vec<(Level, String)>,
    pub progress: Vec<(f64, Option<f64>, Option<String>)>,
    pub requests: Vec<Request>,
    pub schemas: HashMap<(String, String), Schema>,
    pub refusals: HashMap<(String, String), Failure>,
    /// Effect of the running action.
    pub effect: Option<Effect>,
    pub caller: Option<String>,
    pub store: Option<Store>,
    pub routes: Vec<Route>,
    pub sent: Vec<http::Request>,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<RefCell<Double>>>> = const { RefCell::new(None) };
}

/// Runs `call` with this host; afterwards, and also if `call` panics, the one before is back.
pub(super) fn with<T>(double: &Rc<RefCell<Double>>, call: impl FnOnce() -> T) -> T {
    struct Restore(Option<Rc<RefCell<Double>>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _restore = Restore(CURRENT.replace(Some(Rc::clone(double))));
    call()
}

/// Runs a function with the current host, if there is one.
pub(super) fn current<T>(act: impl FnOnce(&mut Double) -> T) -> Option<T> {
    let double = CURRENT.with_borrow(Clone::clone)?;
    let mut double = double.borrow_mut();
    Some(act(&mut double))
}

pub(crate) fn log(level: Level, message: &str) {
    current(|host| host.logs.push((level, message.to_owned())));
}

pub(crate) fn progress(done: f64, total: Option<f64>, message: Option<&str>) {
    current(|host| host.progress.push((done, total, message.map(str::to_owned))));
}

pub(crate) fn is_cancelled() -> bool {
    current(|host| host.cancelled).unwrap_or_default()
}

pub(crate) fn config(key: &str) -> Option<String> {
    current(|host| host.config.get(key).cloned()).flatten()
}

pub(crate) fn facades() -> Result<Vec<Peer>> {
    let peers = current(|host| host.peers.clone()).unwrap_or_default();
    if peers.is_empty() {
        Err(Failure::denied("access denied: the policy grants no `invoke`"))
    } else {
        Ok(peers)
    }
}

pub(crate) fn elicit(message: &str, form: Object) -> Result<Answer<Value>> {
    let answer = current(|host| {
        host.questions.push(Question { message: message.to_owned(), form });
        host.person.pop_front()
    });
    answer.flatten().ok_or_else(|| {
        Failure::denied("access denied").hint("the policy of this plugin does not grant `elicit`")
    })
}

pub(crate) fn lookup(facade: &str, action: &str) -> Result<Schema> {
    let key = (facade.to_owned(), action.to_owned());
    current(|host| host.schemas.get(&key).cloned()).flatten().ok_or_else(|| ungranted(&key))
}

pub(crate) fn check(request: &Request) -> Result<()> {
    let key = (request.facade.clone(), request.action.clone());
    let checked = current(|host| match host.refusals.get(&key) {
        Some(refusal) => Some(Err(refusal.clone())),
        None => host.answers.contains_key(&key).then_some(Ok(())),
    });
    checked.flatten().unwrap_or_else(|| Err(ungranted(&key)))
}

pub(crate) fn invoke(requests: Vec<Request>) -> Vec<Result<Reply<Value>>> {
    requests.into_iter().map(answer).collect()
}

fn answer(request: Request) -> Result<Reply<Value>> {
    let key = (request.facade.clone(), request.action.clone());
    let params = request.params.clone();
    // The answer is computed outside the borrow, as it may use the host itself.
    let answer = current(|host| {
        host.requests.push(request);
        match host.refusals.get(&key) {
            Some(refusal) => Some(Err(refusal.clone())),
            None => host.answers.get(&key).cloned().map(Ok),
        }
    });
    match answer.flatten() {
        Some(answer) => answer?(&params),
        None => Err(ungranted(&key)),
    }
}

fn ungranted((facade, action): &(String, String)) -> Failure {
    Failure::denied(format!("access denied: the policy does not grant `invoke` of `{facade}:{action}`"))
}
