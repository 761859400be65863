//! Limits per caller: request rate, concurrent calls and concurrent streams. A detached call holds no permit here; the gate's
//! quotas bound those. Together they prevent a greedy caller from delaying others.

use std::{
    collections::HashMap,
    net::SocketAddr,
    num::NonZero,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    body::Body,
    extract::{ConnectInfo, Request, State},
    http::{Method, StatusCode, header::RETRY_AFTER},
    middleware::Next,
    response::{IntoResponse, Response},
};
use loggia_gate::access::{CallOrigin, Caller, CallerAccount};
use loggia_policy::settings::PerCaller;

use super::{
    guarded_body::GuardedBody,
    message::MessageKind,
    rates::{CallerRates, SharedRates},
};

/// Default limits: requests per second, concurrent calls, concurrent streams.
const DEFAULTS: [u32; 3] = [50, 32, 16];

/// Purpose of a permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PermitKind {
    /// A call, until its response has been sent.
    Call,
    /// A stream of notifications.
    Stream,
}

impl PermitKind {
    /// Returns which permit a request needs. Responses and notifications need none, since they let calls end.
    pub fn of(method: &Method, message: Option<MessageKind>) -> Option<Self> {
        match (method, message) {
            (&Method::GET, _) | (_, Some(MessageKind::Subscription)) => Some(Self::Stream),
            (_, Some(MessageKind::Request)) => Some(Self::Call),
            _ => None,
        }
    }
}

/// One limit.
#[derive(Debug, Clone, Copy)]
struct CallerBound {
    /// `None` if unlimited.
    most: Option<NonZero<u32>>,
    /// Set by the operator, so that it applies to all callers.
    is_explicit: bool,
}

impl CallerBound {
    fn new(set: Option<u32>, default: u32) -> Self {
        Self { most: NonZero::new(set.unwrap_or(default)), is_explicit: set.is_some() }
    }

    fn applies_to(self, who: &CallerAccount) -> Option<NonZero<u32>> {
        self.most.filter(|_| self.is_explicit || !who.is_shared())
    }
}

/// Limits and usage of all callers.
pub struct CallerLimits {
    rate: CallerBound,
    rates: Option<Arc<CallerRates>>,
    /// Concurrent calls.
    calls: CallerBound,
    streams: CallerBound,
    /// Permits in use, by caller and kind; entries without permits are removed. Locked only to count up or down: a caller at
    /// its limit is refused, so no task waits for a permit, or while it holds the lock.
    open: Mutex<HashMap<(CallerAccount, PermitKind), usize>>,
}

impl CallerLimits {
    /// Applies the settings, and the defaults for those that are not set. `shared` says how other servers learn of the requests.
    pub fn new(settings: PerCaller, shared: Option<&SharedRates>) -> Self {
        let [rate, calls, streams] = DEFAULTS;
        let rate = CallerBound::new(settings.rate, rate);
        let rates = rate.most.map(|rate| {
            let twice = rate.saturating_add(rate.get());
            let burst = settings.burst.and_then(NonZero::new).unwrap_or(twice);
            Arc::new(CallerRates::new(rate, burst, shared.map(|shared| shared.secret)))
        });
        Self {
            rate,
            rates,
            calls: CallerBound::new(settings.concurrency, calls),
            streams: CallerBound::new(settings.streams, streams),
            open: Mutex::default(),
        }
    }

    fn limit(&self, who: &CallerAccount, kind: PermitKind) -> Option<usize> {
        let bound = match kind {
            PermitKind::Call => self.calls,
            PermitKind::Stream => self.streams,
        };
        bound.applies_to(who).map(|most| most.get() as usize)
    }

    /// Checks the rate limit, and counts a request.
    fn check_rate(&self, who: &CallerAccount) -> Result<(), LimitExceeded> {
        let (Some(rates), Some(_)) = (&self.rates, self.rate.applies_to(who)) else { return Ok(()) };
        rates.check(who).map_err(|wait| LimitExceeded { what: "requests", after: wait.as_secs() + 1 })
    }

    /// Enforces the rate limit before the body is read. DELETE, which ends a session, is always allowed.
    pub fn check_request(&self, request: &Request) -> Result<(), LimitExceeded> {
        match request.method() {
            &Method::DELETE => Ok(()),
            _ => self.check_rate(&account(request)),
        }
    }

    /// Enforces the concurrency limits.
    pub fn admit(
        self: &Arc<Self>,
        request: &mut Request,
        kind: Option<PermitKind>,
    ) -> Result<RequestPermit, LimitExceeded> {
        let Some(kind) = kind else { return Ok(RequestPermit(None)) };
        let permit = self.acquire(account(request), kind)?.map(Arc::new);
        if let Some(permit) = &permit {
            // In a session a call continues after its client disconnects, and rmcp passes the request's extensions to it.
            request.extensions_mut().insert(CallPermit(Arc::clone(permit)));
        }
        Ok(RequestPermit(permit))
    }

    /// Rates of all callers; `None` if they are unlimited.
    pub(super) fn rates(&self) -> Option<Arc<CallerRates>> {
        self.rates.clone()
    }

    /// Acquires a permit; `None` if there is no limit.
    fn acquire(
        self: &Arc<Self>,
        who: CallerAccount,
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
        Ok(Some(CallerPermit { limits: Arc::clone(self), who, kind }))
    }
}

/// An exceeded limit, and the seconds after which to retry.
#[derive(Debug, PartialEq, Eq)]
pub struct LimitExceeded {
    what: &'static str,
    after: u64,
}

impl IntoResponse for LimitExceeded {
    fn into_response(self) -> Response {
        let Self { what, after } = self;
        let message = format!("too many {what}: try again in {after} s");
        (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, after.to_string())], message).into_response()
    }
}

/// Permit of a caller, returned when it is dropped.
struct CallerPermit {
    limits: Arc<CallerLimits>,
    who: CallerAccount,
    kind: PermitKind,
}

impl Drop for CallerPermit {
    fn drop(&mut self) {
        let mut open = self.limits.open.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (self.who.clone(), self.kind);
        if let Some(count) = open.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                open.remove(&key);
            }
        }
    }
}

/// Permit of a request; `None` if it needs none.
pub struct RequestPermit(Option<Arc<CallerPermit>>);

impl RequestPermit {
    /// Holds the permit until the response has been sent or abandoned.
    pub fn hold(self, response: Response) -> Response {
        match self.0 {
            None => response,
            Some(permit) => response.map(|body| Body::new(GuardedBody::new(body, permit))),
        }
    }
}

/// Treats a request as that of an unauthenticated caller, and enforces its rate limit.
pub async fn limit_unauthenticated(
    State(limits): State<Arc<CallerLimits>>,
    mut request: Request,
    next: Next,
) -> Result<Response, LimitExceeded> {
    let address = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    request.extensions_mut().insert(CallOrigin::anonymous().with_address(address));
    limits.check_request(&request)?;
    Ok(next.run(request).await)
}

/// Keeps the permit until the call ends.
#[derive(Clone)]
struct CallPermit(#[allow(dead_code, reason = "it is held, not read")] Arc<CallerPermit>);

/// Returns the account of a request. Anonymous callers are distinguished by address.
fn account(request: &Request) -> CallerAccount {
    let account = request.extensions().get::<CallOrigin>().and_then(CallOrigin::account);
    account.unwrap_or(CallerAccount::Caller(Caller::Anonymous))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> CallerAccount {
        CallerAccount::Caller(Caller::Named(name.into()))
    }

    #[test]
    fn concurrency_is_limited_per_caller() {
        let accounts =
            Arc::new(CallerLimits::new(PerCaller { concurrency: Some(2), ..PerCaller::default() }, None));
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
        let settings = PerCaller { rate: Some(1), burst: Some(3), ..PerCaller::default() };
        let accounts = Arc::new(CallerLimits::new(settings, None));
        let taken = |who: &CallerAccount| (0..5).filter(|_| accounts.check_rate(who).is_ok()).count();
        let address = |last| CallerAccount::at_address([127, 0, 0, last].into());
        assert_eq!(taken(&address(1)), 3);
        assert_eq!(taken(&address(2)), 3);
        let refused = accounts.check_rate(&address(1)).err().unwrap();
        assert_eq!(refused.what, "requests");
    }

    /// H73: anonymous callers share the limits of their network. On loopback they may be behind a proxy, so there are none.
    #[test]
    fn anonymous_callers_share_limits_per_network() {
        let address = |text: &str| CallerAccount::at_address(text.parse().unwrap());
        let bounds = |settings, who: &CallerAccount| {
            let accounts = CallerLimits::new(settings, None);
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
        for who in [address("127.0.0.1"), address("::1"), CallerAccount::Caller(Caller::Anonymous)] {
            assert_eq!(bounds(PerCaller::default(), &who), (None, None, None), "{who:?}");
            let settings = PerCaller {
                rate: Some(5),
                burst: None,
                concurrency: Some(2),
                streams: Some(1),
                ..PerCaller::default()
            };
            assert_eq!(bounds(settings, &who), (NonZero::new(5), Some(2), Some(1)), "{who:?}");
        }
        let none = PerCaller {
            rate: Some(0),
            burst: None,
            concurrency: Some(0),
            streams: Some(0),
            ..PerCaller::default()
        };
        assert_eq!(bounds(none, &named("ada")), (None, None, None));
        let accounts = Arc::new(CallerLimits::new(
            PerCaller { rate: Some(1), burst: Some(3), ..PerCaller::default() },
            None,
        ));
        let taken =
            (1..=9).filter(|n| accounts.check_rate(&address(&format!("2001:db8::{n}"))).is_ok()).count();
        assert_eq!(taken, 3, "one network is one caller");
    }
}
