//! Rates of callers, by a bucket of tokens each. Several servers may charge each other's requests to their own buckets.
//!
//! Each server reports every [`REPORT_PERIOD`] what it has admitted, and charges what the others report, even beyond what a bucket
//! holds: a caller waits until its debt is paid. No request waits for that. With `N` servers, and `D` the time from a request to
//! its charge (two periods and the answers of the database), all servers together admit in a time `t` at most
//! `N × burst + rate × t + (N − 1) × rate × D`: the last server to admit a request had charged all but the requests of the last `D`
//! to its bucket, and each other one admits in `D` at most `burst + rate × D`.

use std::{
    collections::HashMap,
    num::NonZero,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures_util::future::BoxFuture;
use loggia_gate::access::{Caller, CallerAccount};
use ring::hmac;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// Time between two reports.
pub(super) const REPORT_PERIOD: Duration = Duration::from_secs(1);
/// Buckets above which full ones are removed.
const MAX_IDLE: usize = 4096;
/// Callers of one report, at most. The others are reported later.
const MAX_REPORTED: usize = 4096;
/// Longest time until a debt is paid. The debts that other servers can cause within their reports are far below.
const MAX_DEBT: Duration = Duration::from_secs(3600);
const SECOND: u64 = 1_000_000_000;

/// Hash of a caller's account under the servers' secret.
pub type CallerDigest = [u8; 16];

/// Requests of a caller that a server has admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerUsage {
    /// The caller.
    pub caller: CallerDigest,
    /// Number of requests.
    pub admitted: u64,
}

/// Tells other servers what this one has admitted.
pub trait UsageExchange: Send + Sync + 'static {
    /// Reports what this server has admitted since the last report. Returns what others have reported since then.
    fn exchange(&self, admitted: Vec<CallerUsage>) -> BoxFuture<'_, Result<Vec<CallerUsage>, String>>;
}

/// How servers share the rates of callers.
#[derive(Clone)]
pub struct SharedRates {
    /// Secret of all servers, from which the hashes of callers are made.
    pub secret: [u8; 32],
    /// Tells the others.
    pub exchange: Arc<dyn UsageExchange>,
}

/// Buckets of all callers.
pub(super) struct CallerRates {
    /// Time in which a token comes back, in nanoseconds.
    token: u64,
    /// Time in which an empty bucket is full.
    full: u64,
    key: hmac::Key,
    began: Instant,
    /// Locked to count a request or a report; it is never held across an await.
    buckets: Mutex<BucketTable>,
}

#[derive(Default)]
struct BucketTable {
    by_caller: HashMap<CallerDigest, TokenBucket>,
    /// Number of buckets above which full ones are removed next.
    swept_above: usize,
}

#[derive(Default)]
struct TokenBucket {
    /// Time at which it is full, in nanoseconds since the start. Later than an empty one would be: a debt.
    full_at: u64,
    /// Requests that are not reported yet.
    admitted: u64,
}

fn to_nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl CallerRates {
    /// Allows requests per second, and in one burst. Without a secret, the hashes of callers are this server's own.
    pub(super) fn new(rate: NonZero<u32>, burst: NonZero<u32>, secret: Option<[u8; 32]>) -> Self {
        let token = SECOND / u64::from(rate.get());
        let secret = secret.unwrap_or_else(|| {
            let mut own = [0; 32];
            // Without random bits, hashes are as good: they do not leave this server.
            let _ = getrandom::fill(&mut own);
            own
        });
        Self {
            token,
            full: token.saturating_mul(u64::from(burst.get())),
            key: hmac::Key::new(hmac::HMAC_SHA256, &secret),
            began: Instant::now(),
            buckets: Mutex::default(),
        }
    }

    /// Counts a request, or returns the time after which one would be admitted.
    pub(super) fn check(&self, who: &CallerAccount) -> Result<(), Duration> {
        self.check_at(who, self.began.elapsed())
    }

    fn check_at(&self, who: &CallerAccount, now: Duration) -> Result<(), Duration> {
        let (caller, now) = (self.digest(who), to_nanos(now));
        let mut table = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        table.sweep(now);
        let bucket = table.by_caller.entry(caller).or_default();
        let full_at = bucket.full_at.max(now).saturating_add(self.token);
        let latest = now.saturating_add(self.full);
        if full_at > latest {
            return Err(Duration::from_nanos(full_at - latest));
        }
        *bucket = TokenBucket { full_at, admitted: bucket.admitted.saturating_add(1) };
        Ok(())
    }

    /// Takes what is to be reported.
    fn take_report(&self) -> Vec<CallerUsage> {
        let mut table = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let admitted = table.by_caller.iter_mut().filter(|(_, bucket)| bucket.admitted > 0);
        let report = admitted.take(MAX_REPORTED).map(|(caller, bucket)| CallerUsage {
            caller: *caller,
            admitted: std::mem::take(&mut bucket.admitted),
        });
        report.collect()
    }

    /// Charges what other servers have admitted.
    fn charge(&self, reported: &[CallerUsage]) {
        self.charge_at(reported, self.began.elapsed());
    }

    fn charge_at(&self, reported: &[CallerUsage], now: Duration) {
        let now = to_nanos(now);
        let latest = now.saturating_add(self.full).saturating_add(to_nanos(MAX_DEBT));
        let mut table = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        for CallerUsage { caller, admitted } in reported {
            table.sweep(now);
            let bucket = table.by_caller.entry(*caller).or_default();
            let charged = self.token.saturating_mul(*admitted);
            bucket.full_at = bucket.full_at.max(now).saturating_add(charged).min(latest);
        }
    }

    /// Hash of an account.
    fn digest(&self, who: &CallerAccount) -> CallerDigest {
        let text = match who {
            CallerAccount::Caller(Caller::Local) => "local".to_owned(),
            CallerAccount::Caller(Caller::Anonymous) => "anonymous".to_owned(),
            CallerAccount::Caller(Caller::Named(name)) => format!("named {name}"),
            CallerAccount::Address(block) => format!("address {}", block.network()),
        };
        let digest = hmac::sign(&self.key, text.as_bytes());
        let mut first = CallerDigest::default();
        first.iter_mut().zip(digest.as_ref()).for_each(|(to, from)| *to = *from);
        first
    }
}

impl BucketTable {
    /// Removes full buckets if there are many.
    fn sweep(&mut self, now: u64) {
        if self.by_caller.len() <= self.swept_above.max(MAX_IDLE) {
            return;
        }
        self.by_caller.retain(|_, bucket| bucket.full_at > now || bucket.admitted > 0);
        // So that a crowd of busy callers is not looked through for each request.
        self.swept_above = self.by_caller.len() * 2;
    }
}

/// Reports and charges again and again, until `stop` is cancelled. While the others cannot be reached, each server counts its own
/// requests alone.
pub(super) async fn share(
    rates: Arc<CallerRates>,
    exchange: Arc<dyn UsageExchange>,
    stop: CancellationToken,
) {
    let mut periods = interval(REPORT_PERIOD);
    periods.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_reported = false;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = periods.tick() => {}
        }
        // What a failed report held is not reported again: it may have arrived.
        match exchange.exchange(rates.take_report()).await {
            Ok(reported) => {
                rates.charge(&reported);
                if is_reported {
                    tracing::info!("the rates of callers are shared again");
                }
                is_reported = false;
            }
            Err(error) => {
                if !is_reported {
                    tracing::warn!("the rates of callers apply to this server alone: {error}");
                }
                is_reported = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u32 = 10;
    const BURST: u32 = 30;

    fn number(number: u32) -> NonZero<u32> {
        NonZero::new(number).unwrap()
    }

    fn rates() -> CallerRates {
        CallerRates::new(number(RATE), number(BURST), Some([7; 32]))
    }

    fn named(name: &str) -> CallerAccount {
        CallerAccount::Caller(Caller::Named(name.into()))
    }

    #[test]
    fn a_bucket_holds_a_burst_and_fills_at_the_rate() {
        let (rates, ada) = (rates(), named("ada"));
        let at = |ms| Duration::from_millis(ms);
        let taken = |ms| (0..100).filter(|_| rates.check_at(&ada, at(ms)).is_ok()).count();
        assert_eq!(taken(0), 30);
        assert_eq!(rates.check_at(&ada, at(0)), Err(at(100)));
        assert_eq!(rates.check_at(&ada, at(99)), Err(at(1)));
        assert_eq!(taken(100), 1);
        assert_eq!(taken(1100), 10);
        assert_eq!(taken(60_000), 30, "no more than a burst is saved");
        // A debt is paid first.
        rates.charge_at(&[CallerUsage { caller: rates.digest(&ada), admitted: 5 }], at(60_000));
        assert_eq!(rates.check_at(&ada, at(60_000)), Err(at(600)));
        assert_eq!(taken(60_600), 1);
        rates.charge_at(&[CallerUsage { caller: rates.digest(&ada), admitted: u64::MAX }], at(60_600));
        let wait = rates.check_at(&ada, at(60_600)).unwrap_err();
        assert!(wait <= MAX_DEBT + at(100), "{wait:?}");
        assert!(rates.check_at(&named("bob"), at(60_600)).is_ok());
    }

    #[test]
    fn hashes_depend_on_the_secret_and_the_account() {
        let of = |secret, who: &CallerAccount| CallerRates::new(number(1), number(1), secret).digest(who);
        let address = |last| CallerAccount::at_address([192, 0, 2, last].into());
        assert_eq!(of(Some([1; 32]), &named("ada")), of(Some([1; 32]), &named("ada")));
        assert_ne!(of(Some([1; 32]), &named("ada")), of(Some([2; 32]), &named("ada")));
        assert_ne!(of(None, &named("ada")), of(None, &named("ada")));
        assert_ne!(
            of(Some([1; 32]), &named("anonymous")),
            of(Some([1; 32]), &CallerAccount::Caller(Caller::Anonymous))
        );
        assert_ne!(of(Some([1; 32]), &address(1)), of(Some([1; 32]), &address(2)));
    }

    #[test]
    fn idle_buckets_are_removed() {
        let rates = rates();
        for name in 0..MAX_IDLE + 10 {
            assert!(rates.check_at(&named(&name.to_string()), Duration::ZERO).is_ok());
        }
        assert_eq!(rates.take_report().len(), MAX_REPORTED);
        assert_eq!(rates.take_report().len(), 10);
        // None was removed before it was reported.
        let much_later = Duration::from_secs(60);
        for name in 0..2 * MAX_IDLE {
            assert!(rates.check_at(&named(&format!("later {name}")), much_later).is_ok());
        }
        assert!(rates.buckets.lock().unwrap().by_caller.len() <= 2 * (MAX_IDLE + 10) + 1);
        let buckets = rates.buckets.lock().unwrap();
        assert!(!buckets.by_caller.contains_key(&rates.digest(&named("1"))), "it was full and reported");
    }

    /// Servers that each get as many requests as they admit, and report at different times.
    #[test]
    fn many_servers_admit_little_more_than_one() {
        const STEP: u64 = 10;
        for servers in [1, 2, 3, 10_usize] {
            let fleet: Vec<CallerRates> = (0..servers).map(|_| rates()).collect();
            let (ada, mut inboxes) = (named("ada"), vec![Vec::new(); servers]);
            let mut admitted = Vec::new();
            for step in 0..30_000_u64 {
                let now = Duration::from_millis(step * STEP);
                for (number, server) in fleet.iter().enumerate() {
                    while server.check_at(&ada, now).is_ok() {
                        admitted.push(now);
                    }
                    let offset = number as u64 * 1000 / servers as u64 / STEP;
                    if step % (1000 / STEP) == offset {
                        let report = server.take_report();
                        for (other, inbox) in inboxes.iter_mut().enumerate() {
                            if other != number {
                                inbox.extend(report.clone());
                            }
                        }
                        server.charge_at(&std::mem::take(&mut inboxes[number]), now);
                    }
                }
            }
            let many = servers as f64;
            let (rate, burst, delay) = (f64::from(RATE), f64::from(BURST), 2.0);
            for (count, at) in admitted.iter().enumerate() {
                let most = many * burst + rate * at.as_secs_f64() + (many - 1.0) * rate * delay;
                assert!((count as f64) < most + 1.0, "{servers} servers: {count} at {at:?}");
            }
            // The caller gets its rate, too.
            let all = admitted.len() as f64;
            assert!(all > 0.98 * rate * 300.0, "{servers} servers: {all}");
        }
    }
}
