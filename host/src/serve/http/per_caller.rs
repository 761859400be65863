//! What one caller may ask for: so many requests a second, so many calls and so many streams at once. That is all that is known
//! here: a call that nobody waits for holds no place. What calls hold once they have begun, the gate shares out among callers
//! (`gate/pool.rs`, `gate/quotas.rs`). Both together keep a greedy caller from making others wait.

use std::{
    collections::HashMap,
    num::NonZero,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{Method, StatusCode, header::RETRY_AFTER},
    middleware::Next,
    response::{IntoResponse, Response},
};
use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    state::keyed::HashMapStateStore,
};
use loggia_gate::access::{Account, Caller, Origin};

use super::{guarded_body::GuardedBody, message::MessageKind};
use crate::config::server::PerCaller;

/// Requests a second, calls and streams at once, where the file does not say.
const DEFAULTS: [u32; 3] = [50, 32, 16];
/// Accounts of callers that have rested are given up when there are so many.
const MAX_IDLE_RATES: usize = 4096;

/// What a caller has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum PermitKind {
    Call,
    Stream,
}

/// How much there may be of something.
#[derive(Debug, Clone, Copy)]
struct CallerBound {
    /// None where there is no bound.
    most: Option<NonZero<u32>>,
    /// Whether the file says so: then it holds for whoever asks.
    is_explicit: bool,
}

impl CallerBound {
    fn new(said: Option<u32>, usual: u32) -> Self {
        Self { most: NonZero::new(said.unwrap_or(usual)), is_explicit: said.is_some() }
    }

    fn applies_to(self, who: &Account) -> Option<NonZero<u32>> {
        self.most.filter(|_| self.is_explicit || !who.is_many())
    }
}

/// What callers may ask for, and do.
pub struct CallerLimits {
    rate: CallerBound,
    rates: Option<RateLimiter<Account, HashMapStateStore<Account>, DefaultClock>>,
    /// At once.
    calls: CallerBound,
    streams: CallerBound,
    open: Mutex<HashMap<(Account, PermitKind), usize>>,
}

impl CallerLimits {
    /// The bounds of the file, and the usual ones where it does not say.
    pub fn new(said: PerCaller) -> Self {
        let [rate, calls, streams] = DEFAULTS;
        let rate = CallerBound::new(said.rate, rate);
        let rates = rate.most.map(|rate| {
            let twice = rate.saturating_add(rate.get());
            let burst = said.burst.and_then(NonZero::new).unwrap_or(twice);
            RateLimiter::hashmap(Quota::per_second(rate).allow_burst(burst))
        });
        Self {
            rate,
            rates,
            calls: CallerBound::new(said.concurrency, calls),
            streams: CallerBound::new(said.streams, streams),
            open: Mutex::default(),
        }
    }

    fn limit(&self, who: &Account, kind: PermitKind) -> Option<usize> {
        let bound = match kind {
            PermitKind::Call => self.calls,
            PermitKind::Stream => self.streams,
        };
        bound.applies_to(who).map(|most| most.get() as usize)
    }

    /// Counts a request.
    fn check_rate(&self, who: &Account) -> Result<(), LimitExceeded> {
        let (Some(rates), Some(_)) = (&self.rates, self.rate.applies_to(who)) else { return Ok(()) };
        if rates.len() > MAX_IDLE_RATES {
            rates.retain_recent();
        }
        rates.check_key(who).map_err(|until| {
            let wait = until.wait_time_from(DefaultClock::default().now());
            LimitExceeded { what: "requests in so short a time", after: wait.as_secs() + 1 }
        })
    }

    /// Takes a place for what is asked; none where there is no bound.
    fn acquire(
        self: &Arc<Self>,
        who: Account,
        kind: PermitKind,
    ) -> Result<Option<CallerPermit>, LimitExceeded> {
        let Some(most) = self.limit(&who, kind) else { return Ok(None) };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry((who.clone(), kind)).or_default();
        if *count >= most {
            let what = match kind {
                PermitKind::Call => "calls at once",
                PermitKind::Stream => "streams at once",
            };
            return Err(LimitExceeded { what, after: 1 });
        }
        *count += 1;
        Ok(Some(CallerPermit { accounts: Arc::clone(self), who, kind }))
    }
}

/// What there was too much of, and after how many seconds to try again.
#[derive(Debug, PartialEq, Eq)]
struct LimitExceeded {
    what: &'static str,
    after: u64,
}

impl IntoResponse for LimitExceeded {
    fn into_response(self) -> Response {
        let Self { what, after } = self;
        let said = format!("too many {what}: try again in {after} s");
        (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, after.to_string())], said).into_response()
    }
}

/// A place that is given back.
struct CallerPermit {
    accounts: Arc<CallerLimits>,
    who: Account,
    kind: PermitKind,
}

impl Drop for CallerPermit {
    fn drop(&mut self) {
        let mut open = self.accounts.open.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (self.who.clone(), self.kind);
        if let Some(count) = open.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                open.remove(&key);
            }
        }
    }
}

/// Refuses a request too many of one caller's, before its body is read. To say goodbye is always allowed.
pub async fn limit_rate(State(accounts): State<Arc<CallerLimits>>, request: Request, next: Next) -> Response {
    if request.method() != Method::DELETE
        && let Err(refused) = accounts.check_rate(&account(&request))
    {
        return refused.into_response();
    }
    next.run(request).await
}

/// Refuses a call or a stream too many of one caller's. What answers or takes back needs no place: it is how others end.
pub async fn limit_concurrency(
    State(accounts): State<Arc<CallerLimits>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(kind) = permit_kind(&request) else { return next.run(request).await };
    let place = match accounts.acquire(account(&request), kind) {
        Ok(Some(place)) => Arc::new(place),
        Ok(None) => return next.run(request).await,
        Err(refused) => return refused.into_response(),
    };
    // In a session a call goes on when its client goes away, and rmcp hands it the request's extensions.
    request.extensions_mut().insert(CallPermit(Arc::clone(&place)));
    next.run(request).await.map(|body| Body::new(GuardedBody::new(body, place)))
}

/// A place that a call holds.
#[derive(Clone)]
struct CallPermit(#[allow(dead_code, reason = "it is held, not read")] Arc<CallerPermit>);

/// Callers without a name are told apart by their address.
fn account(request: &Request) -> Account {
    let account = request.extensions().get::<Origin>().and_then(Origin::account);
    account.unwrap_or(Account::Caller(Caller::Anonymous))
}

/// What a request needs a place for.
fn permit_kind(request: &Request) -> Option<PermitKind> {
    match (request.method(), request.extensions().get::<MessageKind>()) {
        (&Method::GET, _) | (_, Some(MessageKind::Subscription)) => Some(PermitKind::Stream),
        (_, Some(MessageKind::Request)) => Some(PermitKind::Call),
        _ => None,
    }
}

/// Whether a client listens there.
pub fn is_stream(request: &Request) -> bool {
    permit_kind(request) == Some(PermitKind::Stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Account {
        Account::Caller(Caller::Named(name.into()))
    }

    #[test]
    fn concurrency_is_limited_per_caller() {
        let accounts =
            Arc::new(CallerLimits::new(PerCaller { concurrency: Some(2), ..PerCaller::default() }));
        let held = [PermitKind::Call; 2].map(|kind| accounts.acquire(named("ada"), kind).ok().unwrap());
        let refused = accounts.acquire(named("ada"), PermitKind::Call).err();
        assert_eq!(refused, Some(LimitExceeded { what: "calls at once", after: 1 }));
        assert!(accounts.acquire(named("bob"), PermitKind::Call).is_ok());
        assert!(accounts.acquire(named("ada"), PermitKind::Stream).is_ok(), "streams are counted apart");
        drop(held);
        assert!(accounts.acquire(named("ada"), PermitKind::Call).is_ok());
        assert!(accounts.open.lock().unwrap().is_empty());
    }

    #[test]
    fn rates_are_limited_per_caller() {
        let said = PerCaller { rate: Some(1), burst: Some(3), ..PerCaller::default() };
        let accounts = Arc::new(CallerLimits::new(said));
        let taken = |who: &Account| (0..5).filter(|_| accounts.check_rate(who).is_ok()).count();
        let address = |last| Account::at([127, 0, 0, last].into());
        assert_eq!(taken(&address(1)), 3);
        assert_eq!(taken(&address(2)), 3);
        let refused = accounts.check_rate(&address(1)).err().unwrap();
        assert_eq!(refused.what, "requests in so short a time");
    }

    /// H73: whoever need not say who they are share the bounds of their network; on this machine they may be a proxy's.
    #[test]
    fn anonymous_callers_share_limits_per_network() {
        let address = |text: &str| Account::at(text.parse().unwrap());
        let bounds = |said, who: &Account| {
            let accounts = CallerLimits::new(said);
            (
                accounts.rate.applies_to(who),
                accounts.limit(who, PermitKind::Call),
                accounts.limit(who, PermitKind::Stream),
            )
        };
        let usual = (NonZero::new(50), Some(32), Some(16));
        for who in [named("ada"), address("192.0.2.1"), address("2001:db8::1")] {
            assert_eq!(bounds(PerCaller::default(), &who), usual, "{who:?}");
        }
        for who in [address("127.0.0.1"), address("::1"), Account::Caller(Caller::Anonymous)] {
            assert_eq!(bounds(PerCaller::default(), &who), (None, None, None), "{who:?}");
            let said = PerCaller {
                rate: Some(5),
                burst: None,
                concurrency: Some(2),
                streams: Some(1),
                ..PerCaller::default()
            };
            assert_eq!(bounds(said, &who), (NonZero::new(5), Some(2), Some(1)), "{who:?}");
        }
        let none = PerCaller {
            rate: Some(0),
            burst: None,
            concurrency: Some(0),
            streams: Some(0),
            ..PerCaller::default()
        };
        assert_eq!(bounds(none, &named("ada")), (None, None, None));
        let accounts =
            Arc::new(CallerLimits::new(PerCaller { rate: Some(1), burst: Some(3), ..PerCaller::default() }));
        let taken =
            (1..=9).filter(|n| accounts.check_rate(&address(&format!("2001:db8::{n}"))).is_ok()).count();
        assert_eq!(taken, 3, "one network is one caller");
    }
}
