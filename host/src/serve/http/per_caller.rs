//! What one caller may ask for: so many requests a second, so many calls and so many streams at once. A greedy one waits for
//! its own, not others for it.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    num::NonZero,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use axum::{
    body::{Body, HttpBody},
    extract::{ConnectInfo, Request, State},
    http::{Method, StatusCode, header::RETRY_AFTER},
    middleware::Next,
    response::{IntoResponse, Response},
};
use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    state::keyed::HashMapStateStore,
};

use crate::{
    config::server::PerCaller,
    gate::{Caller, Origin},
};

/// Accounts of callers that have rested are given up when there are so many.
const ACCOUNTS: usize = 4096;

/// Who is counted as one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Who {
    Caller(Caller),
    Address(IpAddr),
}

/// What a caller has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Call,
    Stream,
}

/// What callers may ask for, and do.
pub struct Accounts {
    rate: Option<RateLimiter<Who, HashMapStateStore<Who>, DefaultClock>>,
    /// At most so many, where there is a bound.
    calls: Option<usize>,
    streams: Option<usize>,
    open: Mutex<HashMap<(Who, Kind), usize>>,
}

impl Accounts {
    /// The bounds of the file; where it does not say, callers with names have some and others none.
    pub fn new(said: PerCaller, named: bool) -> Self {
        let bound = |said: Option<u32>, usual: u32| match said {
            None if !named => None,
            said => NonZero::new(said.unwrap_or(usual)),
        };
        let rate = bound(said.rate, 50).map(|rate| {
            let burst = said
                .burst
                .and_then(NonZero::new)
                .unwrap_or(rate.saturating_mul(NonZero::new(2).unwrap_or(rate)));
            RateLimiter::hashmap(Quota::per_second(rate).allow_burst(burst))
        });
        let count = |said, usual| bound(said, usual).map(|most| most.get() as usize);
        Self {
            rate,
            calls: count(said.concurrency, 32),
            streams: count(said.streams, 16),
            open: Mutex::default(),
        }
    }

    fn most(&self, kind: Kind) -> Option<usize> {
        match kind {
            Kind::Call => self.calls,
            Kind::Stream => self.streams,
        }
    }

    /// Takes a place for what is asked.
    fn take(self: &Arc<Self>, who: Who, kind: Kind) -> Result<Place, Refused> {
        if let Some(rate) = &self.rate {
            if rate.len() > ACCOUNTS {
                rate.retain_recent();
            }
            if let Err(until) = rate.check_key(&who) {
                let wait = until.wait_time_from(DefaultClock::default().now());
                return Err(Refused { what: "requests in so short a time", after: wait.as_secs() + 1 });
            }
        }
        let Some(most) = self.most(kind) else { return Ok(Place(None)) };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry((who.clone(), kind)).or_default();
        if *count >= most {
            let what = match kind {
                Kind::Call => "calls at once",
                Kind::Stream => "streams at once",
            };
            return Err(Refused { what, after: 1 });
        }
        *count += 1;
        Ok(Place(Some((Arc::clone(self), who, kind))))
    }
}

/// What there was too much of, and after how many seconds to try again.
#[derive(Debug, PartialEq, Eq)]
struct Refused {
    what: &'static str,
    after: u64,
}

/// A place that is given back.
struct Place(Option<(Arc<Accounts>, Who, Kind)>);

impl Drop for Place {
    fn drop(&mut self) {
        let Some((accounts, who, kind)) = self.0.take() else { return };
        let mut open = accounts.open.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (who, kind);
        if let Some(count) = open.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                open.remove(&key);
            }
        }
    }
}

/// Refuses what is too much of one caller's.
pub async fn bound(State(accounts): State<Arc<Accounts>>, request: Request, next: Next) -> Response {
    let place = match accounts.take(who(&request), kind(&request)) {
        Ok(place) => place,
        Err(Refused { what, after }) => {
            let said = format!("too many {what}: try again in {after} s");
            return (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, after.to_string())], said).into_response();
        }
    };
    let response = next.run(request).await;
    if place.0.is_none() {
        return response;
    }
    response.map(|body| Body::new(Held { body, _place: place }))
}

fn who(request: &Request) -> Who {
    match request.extensions().get::<Origin>() {
        Some(Origin { caller: caller @ Caller::Named(_), .. }) => Who::Caller(caller.clone()),
        _ => {
            let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
            peer.map_or(Who::Caller(Caller::Anonymous), |ConnectInfo(peer)| Who::Address(peer.ip()))
        }
    }
}

/// A stream that is there for news is none that is answered.
fn kind(request: &Request) -> Kind {
    let method = request.headers().get("mcp-method").map(|method| method.as_bytes());
    match request.method() == Method::GET || method == Some(b"subscriptions/listen") {
        true => Kind::Stream,
        false => Kind::Call,
    }
}

/// A body that holds its request's place until it has been sent.
struct Held {
    body: Body,
    _place: Place,
}

impl HttpBody for Held {
    type Data = <Body as HttpBody>::Data;
    type Error = <Body as HttpBody>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Who {
        Who::Caller(Caller::Named(name.into()))
    }

    #[test]
    fn a_greedy_caller_is_refused_and_another_is_not() {
        let accounts =
            Arc::new(Accounts::new(PerCaller { concurrency: Some(2), ..PerCaller::default() }, true));
        let held = [Kind::Call; 2].map(|kind| accounts.take(named("ada"), kind).ok().unwrap());
        let refused = accounts.take(named("ada"), Kind::Call).err();
        assert_eq!(refused, Some(Refused { what: "calls at once", after: 1 }));
        assert!(accounts.take(named("bob"), Kind::Call).is_ok());
        assert!(accounts.take(named("ada"), Kind::Stream).is_ok(), "streams are counted apart");
        drop(held);
        assert!(accounts.take(named("ada"), Kind::Call).is_ok());
        assert!(accounts.open.lock().unwrap().is_empty());
    }

    #[test]
    fn the_rate_is_each_callers_own() {
        let said = PerCaller { rate: Some(1), burst: Some(3), ..PerCaller::default() };
        let accounts = Arc::new(Accounts::new(said, false));
        let taken = |who: &Who| (0..5).filter(|_| accounts.take(who.clone(), Kind::Call).is_ok()).count();
        let address = |last| Who::Address(IpAddr::from([127, 0, 0, last]));
        assert_eq!(taken(&address(1)), 3);
        assert_eq!(taken(&address(2)), 3);
        let refused = accounts.take(address(1), Kind::Call).err().unwrap();
        assert_eq!(refused.what, "requests in so short a time");
    }

    #[test]
    fn who_has_no_name_is_bounded_only_where_the_file_says_so() {
        let unbounded = |said, named| {
            let accounts = Accounts::new(said, named);
            (accounts.rate.is_none(), accounts.calls.is_none(), accounts.streams.is_none())
        };
        assert_eq!(unbounded(PerCaller::default(), false), (true, true, true));
        assert_eq!(unbounded(PerCaller::default(), true), (false, false, false));
        let none = PerCaller { rate: Some(0), burst: None, concurrency: Some(0), streams: Some(0) };
        assert_eq!(unbounded(none, true), (true, true, true));
    }
}
