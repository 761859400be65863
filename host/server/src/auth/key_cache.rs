//! Cache of the authorization server's keys.
//!
//! A background task fetches them. Requests read the cache without waiting, unless they name an unknown key. Such requests
//! share one more fetch, and these are rate-limited, so that invented key names cause no extra load.

use std::{
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use arc_swap::ArcSwapOption;
use jsonwebtoken::{Algorithm, DecodingKey};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::task::AbortOnDropHandle;

use super::{
    fetch_schedule::FetchSchedule,
    keys::{KeySet, NoKey},
    source::{self, KeySource, SourceError},
};

/// Time that a request waits for a fetch: longer than a fetch may take.
const FETCH_WAIT: Duration = Duration::from_secs(6);

/// Error of looking up a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyLookupError {
    /// No keys have been fetched yet.
    NotYet,
    /// There are keys, but none for this token.
    Key(NoKey),
}

/// Keys, and the task that refreshes them.
pub(super) struct KeyCache {
    state: Arc<CacheState>,
    task: OnceLock<AbortOnDropHandle<()>>,
}

struct CacheState {
    source: Box<dyn KeySource>,
    schedule: FetchSchedule,
    /// The current keys; `None` until the first successful fetch. A failed fetch leaves them. Requests load them without
    /// waiting, and only the refreshing task (or startup) stores them.
    keys: ArcSwapOption<KeySet>,
    /// Progress of fetching. Locked to read or update a few flags, and never held across an await, so requests and the
    /// refreshing task delay each other by no more than that.
    fetch_state: Mutex<FetchState>,
    /// Wakes the refreshing task when a request needs another fetch.
    wanted: Notify,
    /// Number of finished fetches. Requests subscribe before their first lookup, so that a fetch which ends in between is not
    /// missed, and wait for the next value with a timeout.
    fetches: watch::Sender<u64>,
}

/// Progress of fetching.
#[derive(Default)]
struct FetchState {
    /// Start of the last fetch.
    started: Option<Instant>,
    /// Set while it runs.
    fetching: bool,
    /// Set if a request needs another one.
    requested: bool,
    /// Last logged error, so that it is logged once.
    logged: Option<String>,
}

impl KeyCache {
    pub fn new(source: Box<dyn KeySource>, schedule: FetchSchedule) -> Arc<Self> {
        let state = CacheState {
            source,
            schedule,
            keys: ArcSwapOption::empty(),
            fetch_state: Mutex::default(),
            wanted: Notify::new(),
            fetches: watch::Sender::new(0),
        };
        Arc::new(Self { state: Arc::new(state), task: OnceLock::new() })
    }

    /// Starts the refreshing task, which ends when the cache is dropped.
    pub fn start(&self) {
        let state = &self.state;
        self.task.get_or_init(|| AbortOnDropHandle::new(tokio::spawn(state.clone().refresh())));
    }

    /// Reads a key file immediately, so that its errors are reported at startup.
    pub fn read_file(&self, path: &std::path::Path) -> Result<(), SourceError> {
        let text = source::read_key_file(path)?;
        let set = KeySet::parse(&text)?;
        if set.len() == 0 {
            return Err(SourceError::NoUsableKey);
        }
        self.state.keys.store(Some(Arc::new(set)));
        Ok(())
    }

    /// Returns true once there are keys.
    pub fn has_keys(&self) -> bool {
        self.state.keys.load().is_some()
    }

    /// Finds the key of this name and runs `check` with it. Waits for a fetch if the key is unknown.
    pub async fn with_key<T>(
        &self,
        name: Option<&str>,
        algorithm: Algorithm,
        check: impl Fn(&DecodingKey) -> T,
    ) -> Result<T, KeyLookupError> {
        // Subscribe first, or a fetch that ends in between would be missed.
        let mut ended = self.state.fetches.subscribe();
        let tried = self.state.try_key(name, algorithm, &check);
        if !matches!(tried, Err(KeyLookupError::Key(NoKey::Unknown))) {
            return tried;
        }
        if self.task.get().is_some() && self.state.request_fetch() {
            let _ = timeout(FETCH_WAIT, ended.changed()).await;
        }
        self.state.try_key(name, algorithm, &check)
    }
}

impl CacheState {
    fn try_key<T>(
        &self,
        name: Option<&str>,
        algorithm: Algorithm,
        check: impl Fn(&DecodingKey) -> T,
    ) -> Result<T, KeyLookupError> {
        let known = self.keys.load();
        let set = known.as_ref().ok_or(KeyLookupError::NotYet)?;
        set.choose(name, algorithm).map(check).map_err(KeyLookupError::Key)
    }

    fn fetch_state(&self) -> std::sync::MutexGuard<'_, FetchState> {
        self.fetch_state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests a fetch; returns whether to wait for one.
    fn request_fetch(&self) -> bool {
        let mut fetches = self.fetch_state();
        if fetches.fetching || fetches.requested {
            return true;
        }
        if fetches.started.is_some_and(|begun| begun.elapsed() < self.schedule.gap) {
            return false;
        }
        fetches.requested = true;
        self.wanted.notify_one();
        true
    }

    async fn refresh(self: Arc<Self>) {
        loop {
            let next = Instant::now() + self.fetch().await;
            // A stale permit, of a request that came during the last fetch, is no request for another one.
            while !self.fetch_state().requested {
                tokio::select! {
                    () = sleep_until(next) => break,
                    () = self.wanted.notified() => {}
                }
            }
        }
    }

    /// Fetches once; returns the pause before the next fetch.
    async fn fetch(&self) -> Duration {
        {
            let mut fetches = self.fetch_state();
            (fetches.started, fetches.fetching, fetches.requested) = (Some(Instant::now()), true, false);
        }
        let found = self.source.fetch().await;
        let found = found.and_then(|text| Ok(text.map(|text| KeySet::parse(&text)).transpose()?));
        let failed = found.as_ref().err().map(ToString::to_string);
        if let Ok(Some(set)) = found {
            // By an empty set, an authorization server revokes all of its tokens.
            tracing::info!(keys = set.len(), "read the token keys from {}", self.source);
            self.keys.store(Some(Arc::new(set)));
        }
        let has_keys = self.keys.load().is_some();
        let pause = match &failed {
            None => self.schedule.refresh,
            Some(_) if has_keys => self.schedule.gap.max(self.schedule.retry),
            Some(_) => self.schedule.retry,
        };
        {
            let mut fetches = self.fetch_state();
            fetches.fetching = false;
            if let Some(why) = failed.as_ref().filter(|_| fetches.logged != failed) {
                let consequence =
                    if has_keys { "the previous ones stay in use" } else { "tokens cannot be verified" };
                tracing::warn!("failed to read the token keys from {}: {why}; {consequence}", self.source);
            }
            fetches.logged = failed;
        }
        self.fetches.send_modify(|fetches| *fetches += 1);
        pause
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fmt,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use futures_util::{
        FutureExt,
        future::{BoxFuture, join_all},
    };
    use serde_json::json;

    use super::*;

    /// Keys that a test changes, and the number of fetches.
    #[derive(Default)]
    struct FakeServer {
        keys: Mutex<Vec<&'static str>>,
        fetches: AtomicUsize,
        broken: std::sync::atomic::AtomicBool,
    }

    struct FakeSource(Arc<FakeServer>);

    impl fmt::Display for FakeSource {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a server")
        }
    }

    impl KeySource for FakeSource {
        fn fetch(&self) -> BoxFuture<'_, Result<Option<Vec<u8>>, SourceError>> {
            async move {
                self.0.fetches.fetch_add(1, Ordering::SeqCst);
                // A fetch over a slow network.
                tokio::time::sleep(Duration::from_secs(2)).await;
                if self.0.broken.load(Ordering::SeqCst) {
                    return Err(SourceError::Status(500));
                }
                let point = "A".repeat(43);
                let key = |kid: &&str| json!({"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": point});
                let keys: Vec<_> = self.0.keys.lock().unwrap().iter().map(key).collect();
                Ok(Some(json!({ "keys": keys }).to_string().into_bytes()))
            }
            .boxed()
        }
    }

    const PACE: FetchSchedule = FetchSchedule {
        refresh: Duration::from_secs(3600),
        gap: Duration::from_secs(60),
        retry: Duration::from_secs(5),
    };

    fn kept(server: &Arc<FakeServer>) -> Arc<KeyCache> {
        let keeper = KeyCache::new(Box::new(FakeSource(server.clone())), PACE);
        keeper.start();
        keeper
    }

    async fn find(keeper: &KeyCache, name: &str) -> Option<KeyLookupError> {
        keeper.with_key(Some(name), Algorithm::EdDSA, |_| ()).await.err()
    }

    const UNKNOWN: Option<KeyLookupError> = Some(KeyLookupError::Key(NoKey::Unknown));

    #[tokio::test(start_paused = true)]
    async fn unknown_keys_cause_one_fetch_a_minute() {
        let server = Arc::new(FakeServer::default());
        server.keys.lock().unwrap().push("old");
        let keeper = kept(&server);
        assert_eq!(
            find(&keeper, "old").await,
            Some(KeyLookupError::NotYet),
            "requests do not wait for the first fetch"
        );
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(find(&keeper, "old").await, None);
        for _ in 0..1000 {
            assert_eq!(find(&keeper, "made up").await, UNKNOWN);
        }
        assert_eq!(server.fetches.load(Ordering::SeqCst), 1);

        // A minute later the authorization server has another key, and many want it at once.
        tokio::time::sleep(Duration::from_secs(60)).await;
        server.keys.lock().unwrap().push("new");
        let finding = (0..500).map(|n| find(&keeper, if n % 2 == 0 { "new" } else { "made up" }));
        let mut finding = Box::pin(join_all(finding));
        assert!(futures_util::poll!(&mut finding).is_pending());
        // A request with a known key does not wait.
        assert_eq!(find(&keeper, "old").now_or_never(), Some(None));
        let found = finding.await;
        assert!(found.iter().step_by(2).all(Option::is_none));
        assert!(found.iter().skip(1).step_by(2).all(|missing| *missing == UNKNOWN));
        assert_eq!(server.fetches.load(Ordering::SeqCst), 2);

        for _ in 0..5 * 60 {
            assert_eq!(find(&keeper, "made up").await, UNKNOWN);
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        let fetches = server.fetches.load(Ordering::SeqCst);
        assert!((6..=7).contains(&fetches), "{fetches} fetches in six minutes");
    }

    #[tokio::test(start_paused = true)]
    async fn only_an_empty_set_drops_keys() {
        let server = Arc::new(FakeServer::default());
        server.keys.lock().unwrap().push("one");
        server.broken.store(true, Ordering::SeqCst);
        let keeper = kept(&server);
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(find(&keeper, "one").await, Some(KeyLookupError::NotYet));
        assert!(!keeper.has_keys());
        server.broken.store(false, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(8)).await;
        assert_eq!(find(&keeper, "one").await, None, "it was tried again soon");

        server.broken.store(true, Ordering::SeqCst);
        let before = server.fetches.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(3700)).await;
        assert!(server.fetches.load(Ordering::SeqCst) > before, "it was fetched again after an hour");
        assert_eq!(find(&keeper, "one").await, None);

        server.broken.store(false, Ordering::SeqCst);
        server.keys.lock().unwrap().clear();
        tokio::time::sleep(Duration::from_secs(120)).await;
        assert_eq!(find(&keeper, "one").await, UNKNOWN);
    }

    #[tokio::test(start_paused = true)]
    async fn fetching_stops_when_the_cache_is_dropped() {
        let server = Arc::new(FakeServer::default());
        let keeper = kept(&server);
        tokio::time::sleep(Duration::from_secs(3)).await;
        drop(keeper);
        tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
        assert_eq!(server.fetches.load(Ordering::SeqCst), 1);
        assert_eq!(Arc::strong_count(&server), 1);
    }
}
