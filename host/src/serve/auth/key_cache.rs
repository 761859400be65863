//! The keys that are now known.
//!
//! They are fetched by a task of their own: a request reads what is there and waits for nothing, unless it names a key
//! that is not there. Then it waits for one more look, which all such requests share, and of which there is at most one
//! in a while: whoever makes names up gets no more work done than anybody else.

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

/// Longer than a look may take.
const FETCH_WAIT: Duration = Duration::from_secs(6);

/// Why no key checks a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyLookupError {
    /// None have been fetched yet.
    NotYet,
    /// There are some.
    Key(NoKey),
}

/// The keys that are now known, and what keeps them so.
pub(super) struct KeyCache {
    state: Arc<CacheState>,
    task: OnceLock<AbortOnDropHandle<()>>,
}

struct CacheState {
    source: Box<dyn KeySource>,
    schedule: FetchSchedule,
    /// None until the first look that found some. A look that fails leaves it as it is.
    keys: ArcSwapOption<KeySet>,
    fetch_state: Mutex<FetchState>,
    /// Someone waits for a look.
    wanted: Notify,
    /// How many looks have ended.
    fetches: watch::Sender<u64>,
}

/// Never held while anything is waited for.
#[derive(Default)]
struct FetchState {
    /// When the last one began.
    started: Option<Instant>,
    /// Whether it still goes on.
    fetching: bool,
    /// Whether another one is wanted.
    requested: bool,
    /// What was last said of a failure, so that it is said once.
    logged: Option<String>,
}

impl KeyCache {
    pub fn new(source: Box<dyn KeySource>, pace: FetchSchedule) -> Arc<Self> {
        let keys = CacheState {
            source,
            schedule: pace,
            keys: ArcSwapOption::empty(),
            fetch_state: Mutex::default(),
            wanted: Notify::new(),
            fetches: watch::Sender::new(0),
        };
        Arc::new(Self { state: Arc::new(keys), task: OnceLock::new() })
    }

    /// Looks from now on, until this is dropped.
    pub fn start(&self) {
        let keys = &self.state;
        self.task.get_or_init(|| AbortOnDropHandle::new(tokio::spawn(keys.clone().refresh())));
    }

    /// Reads a file now, so that a mistake in it is told before anything is served.
    pub fn read_file(&self, path: &std::path::Path) -> Result<(), SourceError> {
        let text = source::read_key_file(path)?;
        let set = KeySet::parse(&text)?;
        if set.len() == 0 {
            return Err(SourceError::NoUsableKey);
        }
        self.state.keys.store(Some(Arc::new(set)));
        Ok(())
    }

    /// Whether there are keys.
    pub fn has_keys(&self) -> bool {
        self.state.keys.load().is_some()
    }

    /// Does something with the key that has this name.
    pub async fn with_key<T>(
        &self,
        name: Option<&str>,
        algorithm: Algorithm,
        check: impl Fn(&DecodingKey) -> T,
    ) -> Result<T, KeyLookupError> {
        // Before the first try, or a look that ends in between would be missed.
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

    /// Asks for a look, and says whether one is to be waited for.
    fn request_fetch(&self) -> bool {
        let mut looks = self.fetch_state();
        if looks.fetching || looks.requested {
            return true;
        }
        if looks.started.is_some_and(|begun| begun.elapsed() < self.schedule.gap) {
            return false;
        }
        looks.requested = true;
        self.wanted.notify_one();
        true
    }

    async fn refresh(self: Arc<Self>) {
        loop {
            let next = Instant::now() + self.fetch().await;
            // Who was told to wait for a look that had just ended left a permit behind, but asks for nothing.
            while !self.fetch_state().requested {
                tokio::select! {
                    () = sleep_until(next) => break,
                    () = self.wanted.notified() => {}
                }
            }
        }
    }

    /// Looks once, and says how long to wait before the next look.
    async fn fetch(&self) -> Duration {
        {
            let mut looks = self.fetch_state();
            (looks.started, looks.fetching, looks.requested) = (Some(Instant::now()), true, false);
        }
        let found = self.source.fetch().await;
        let found = found.and_then(|text| Ok(text.map(|text| KeySet::parse(&text)).transpose()?));
        let failed = found.as_ref().err().map(ToString::to_string);
        if let Ok(Some(set)) = found {
            // An empty set is how an authorization server says that none of its tokens count any more.
            tracing::info!(keys = set.len(), "the keys that check tokens were read from {}", self.source);
            self.keys.store(Some(Arc::new(set)));
        }
        let some = self.keys.load().is_some();
        let pause = match &failed {
            None => self.schedule.refresh,
            Some(_) if some => self.schedule.gap.max(self.schedule.retry),
            Some(_) => self.schedule.retry,
        };
        {
            let mut looks = self.fetch_state();
            looks.fetching = false;
            if let Some(why) = failed.as_ref().filter(|_| looks.logged != failed) {
                let so =
                    if some { "the ones that were read before are used" } else { "no token can be checked" };
                tracing::warn!("failed to read the keys that check tokens from {}: {why}; {so}", self.source);
            }
            looks.logged = failed;
        }
        self.fetches.send_modify(|looks| *looks += 1);
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

    /// Keys that a test changes, and how often they were looked at.
    #[derive(Default)]
    struct Shelf {
        keys: Mutex<Vec<&'static str>>,
        looks: AtomicUsize,
        broken: std::sync::atomic::AtomicBool,
    }

    struct Looker(Arc<Shelf>);

    impl fmt::Display for Looker {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a shelf")
        }
    }

    impl KeySource for Looker {
        fn fetch(&self) -> BoxFuture<'_, Result<Option<Vec<u8>>, SourceError>> {
            async move {
                self.0.looks.fetch_add(1, Ordering::SeqCst);
                // As long as a fetch over a slow network takes.
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

    fn kept(shelf: &Arc<Shelf>) -> Arc<KeyCache> {
        let keeper = KeyCache::new(Box::new(Looker(shelf.clone())), PACE);
        keeper.start();
        keeper
    }

    async fn find(keeper: &KeyCache, name: &str) -> Option<KeyLookupError> {
        keeper.with_key(Some(name), Algorithm::EdDSA, |_| ()).await.err()
    }

    const UNKNOWN: Option<KeyLookupError> = Some(KeyLookupError::Key(NoKey::Unknown));

    #[tokio::test(start_paused = true)]
    async fn unknown_keys_cause_one_fetch_a_minute() {
        let shelf = Arc::new(Shelf::default());
        shelf.keys.lock().unwrap().push("old");
        let keeper = kept(&shelf);
        assert_eq!(
            find(&keeper, "old").await,
            Some(KeyLookupError::NotYet),
            "nothing waits for the first look"
        );
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(find(&keeper, "old").await, None);
        for _ in 0..1000 {
            assert_eq!(find(&keeper, "made up").await, UNKNOWN);
        }
        assert_eq!(shelf.looks.load(Ordering::SeqCst), 1);

        // A minute later the authorization server has another key, and many want it at once.
        tokio::time::sleep(Duration::from_secs(60)).await;
        shelf.keys.lock().unwrap().push("new");
        let finding = (0..500).map(|n| find(&keeper, if n % 2 == 0 { "new" } else { "made up" }));
        let mut finding = Box::pin(join_all(finding));
        assert!(futures_util::poll!(&mut finding).is_pending());
        // Who names a key that is there waits for nobody.
        assert_eq!(find(&keeper, "old").now_or_never(), Some(None));
        let found = finding.await;
        assert!(found.iter().step_by(2).all(Option::is_none));
        assert!(found.iter().skip(1).step_by(2).all(|missing| *missing == UNKNOWN));
        assert_eq!(shelf.looks.load(Ordering::SeqCst), 2);

        for _ in 0..5 * 60 {
            assert_eq!(find(&keeper, "made up").await, UNKNOWN);
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        let looks = shelf.looks.load(Ordering::SeqCst);
        assert!((6..=7).contains(&looks), "{looks} looks in six minutes");
    }

    #[tokio::test(start_paused = true)]
    async fn only_an_empty_set_drops_keys() {
        let shelf = Arc::new(Shelf::default());
        shelf.keys.lock().unwrap().push("one");
        shelf.broken.store(true, Ordering::SeqCst);
        let keeper = kept(&shelf);
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(find(&keeper, "one").await, Some(KeyLookupError::NotYet));
        assert!(!keeper.has_keys());
        shelf.broken.store(false, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(8)).await;
        assert_eq!(find(&keeper, "one").await, None, "it was tried again soon");

        shelf.broken.store(true, Ordering::SeqCst);
        let before = shelf.looks.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(3700)).await;
        assert!(shelf.looks.load(Ordering::SeqCst) > before, "it was looked again after an hour");
        assert_eq!(find(&keeper, "one").await, None);

        shelf.broken.store(false, Ordering::SeqCst);
        shelf.keys.lock().unwrap().clear();
        tokio::time::sleep(Duration::from_secs(120)).await;
        assert_eq!(find(&keeper, "one").await, UNKNOWN);
    }

    #[tokio::test(start_paused = true)]
    async fn fetching_stops_when_the_cache_is_dropped() {
        let shelf = Arc::new(Shelf::default());
        let keeper = kept(&shelf);
        tokio::time::sleep(Duration::from_secs(3)).await;
        drop(keeper);
        tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
        assert_eq!(shelf.looks.load(Ordering::SeqCst), 1);
        assert_eq!(Arc::strong_count(&shelf), 1);
    }
}
