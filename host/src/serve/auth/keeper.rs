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
    keys::{KeySet, NoKey},
    pace::Pace,
    source::{self, Source, SourceError},
};

/// Longer than a look may take.
const WAIT: Duration = Duration::from_secs(6);

/// Why no key checks a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// None have been fetched yet.
    NotYet,
    /// There are some.
    Key(NoKey),
}

/// The keys that are now known, and what keeps them so.
pub(super) struct Keeper {
    keys: Arc<Keys>,
    task: OnceLock<AbortOnDropHandle<()>>,
}

struct Keys {
    source: Box<dyn Source>,
    pace: Pace,
    /// None until the first look that found some. A look that fails leaves it as it is.
    known: ArcSwapOption<KeySet>,
    looks: Mutex<Looks>,
    /// Someone waits for a look.
    wanted: Notify,
    /// How many looks have ended.
    ended: watch::Sender<u64>,
}

/// Never held while anything is waited for.
#[derive(Default)]
struct Looks {
    /// When the last one began.
    begun: Option<Instant>,
    /// Whether it still goes on.
    looking: bool,
    /// Whether another one is wanted.
    asked: bool,
    /// What was last said of a failure, so that it is said once.
    said: Option<String>,
}

impl Keeper {
    pub fn new(source: Box<dyn Source>, pace: Pace) -> Arc<Self> {
        let keys = Keys {
            source,
            pace,
            known: ArcSwapOption::empty(),
            looks: Mutex::default(),
            wanted: Notify::new(),
            ended: watch::Sender::new(0),
        };
        Arc::new(Self { keys: Arc::new(keys), task: OnceLock::new() })
    }

    /// Looks from now on, until this is dropped.
    pub fn start(&self) {
        let keys = &self.keys;
        self.task.get_or_init(|| AbortOnDropHandle::new(tokio::spawn(keys.clone().keep())));
    }

    /// Reads a file now, so that a mistake in it is told before anything is served.
    pub fn read_file(&self, path: &std::path::Path) -> Result<(), SourceError> {
        let text = source::read(path)?;
        let set = KeySet::parse(&text)?;
        if set.len() == 0 {
            return Err(SourceError::Useless);
        }
        self.keys.known.store(Some(Arc::new(set)));
        Ok(())
    }

    /// Whether there are keys.
    pub fn are_known(&self) -> bool {
        self.keys.known.load().is_some()
    }

    /// Does something with the key that has this name.
    pub async fn with_key<T>(
        &self,
        name: Option<&str>,
        algorithm: Algorithm,
        check: impl Fn(&DecodingKey) -> T,
    ) -> Result<T, Missing> {
        // Before the first try, or a look that ends in between would be missed.
        let mut ended = self.keys.ended.subscribe();
        let tried = self.keys.try_key(name, algorithm, &check);
        if !matches!(tried, Err(Missing::Key(NoKey::Unknown))) {
            return tried;
        }
        if self.task.get().is_some() && self.keys.ask() {
            let _ = timeout(WAIT, ended.changed()).await;
        }
        self.keys.try_key(name, algorithm, &check)
    }
}

impl Keys {
    fn try_key<T>(
        &self,
        name: Option<&str>,
        algorithm: Algorithm,
        check: impl Fn(&DecodingKey) -> T,
    ) -> Result<T, Missing> {
        let known = self.known.load();
        let set = known.as_ref().ok_or(Missing::NotYet)?;
        set.choose(name, algorithm).map(check).map_err(Missing::Key)
    }

    fn looks(&self) -> std::sync::MutexGuard<'_, Looks> {
        self.looks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for a look, and says whether one is to be waited for.
    fn ask(&self) -> bool {
        let mut looks = self.looks();
        if looks.looking || looks.asked {
            return true;
        }
        if looks.begun.is_some_and(|begun| begun.elapsed() < self.pace.gap) {
            return false;
        }
        looks.asked = true;
        self.wanted.notify_one();
        true
    }

    async fn keep(self: Arc<Self>) {
        loop {
            let next = Instant::now() + self.look().await;
            // Who was told to wait for a look that had just ended left a permit behind, but asks for nothing.
            while !self.looks().asked {
                tokio::select! {
                    () = sleep_until(next) => break,
                    () = self.wanted.notified() => {}
                }
            }
        }
    }

    /// Looks once, and says how long to wait before the next look.
    async fn look(&self) -> Duration {
        {
            let mut looks = self.looks();
            (looks.begun, looks.looking, looks.asked) = (Some(Instant::now()), true, false);
        }
        let found = self.source.look().await;
        let found = found.and_then(|text| Ok(text.map(|text| KeySet::parse(&text)).transpose()?));
        let failed = found.as_ref().err().map(ToString::to_string);
        if let Ok(Some(set)) = found {
            // An empty set is how an authorization server says that none of its tokens count any more.
            tracing::info!(keys = set.len(), "the keys that check tokens were read from {}", self.source);
            self.known.store(Some(Arc::new(set)));
        }
        let some = self.known.load().is_some();
        let pause = match &failed {
            None => self.pace.refresh,
            Some(_) if some => self.pace.gap.max(self.pace.retry),
            Some(_) => self.pace.retry,
        };
        {
            let mut looks = self.looks();
            looks.looking = false;
            if let Some(why) = failed.as_ref().filter(|_| looks.said != failed) {
                let so =
                    if some { "the ones that were read before are used" } else { "no token can be checked" };
                tracing::warn!("failed to read the keys that check tokens from {}: {why}; {so}", self.source);
            }
            looks.said = failed;
        }
        self.ended.send_modify(|looks| *looks += 1);
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

    impl Source for Looker {
        fn look(&self) -> BoxFuture<'_, Result<Option<Vec<u8>>, SourceError>> {
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

    const PACE: Pace = Pace {
        refresh: Duration::from_secs(3600),
        gap: Duration::from_secs(60),
        retry: Duration::from_secs(5),
    };

    fn kept(shelf: &Arc<Shelf>) -> Arc<Keeper> {
        let keeper = Keeper::new(Box::new(Looker(shelf.clone())), PACE);
        keeper.start();
        keeper
    }

    async fn find(keeper: &Keeper, name: &str) -> Option<Missing> {
        keeper.with_key(Some(name), Algorithm::EdDSA, |_| ()).await.err()
    }

    const UNKNOWN: Option<Missing> = Some(Missing::Key(NoKey::Unknown));

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_unknown_keys_leads_to_one_look_a_minute() {
        let shelf = Arc::new(Shelf::default());
        shelf.keys.lock().unwrap().push("old");
        let keeper = kept(&shelf);
        assert_eq!(find(&keeper, "old").await, Some(Missing::NotYet), "nothing waits for the first look");
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
    async fn a_look_that_fails_takes_no_keys_away_and_an_empty_set_does() {
        let shelf = Arc::new(Shelf::default());
        shelf.keys.lock().unwrap().push("one");
        shelf.broken.store(true, Ordering::SeqCst);
        let keeper = kept(&shelf);
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(find(&keeper, "one").await, Some(Missing::NotYet));
        assert!(!keeper.are_known());
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
    async fn nobody_looks_any_more_once_the_keeper_is_gone() {
        let shelf = Arc::new(Shelf::default());
        let keeper = kept(&shelf);
        tokio::time::sleep(Duration::from_secs(3)).await;
        drop(keeper);
        tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
        assert_eq!(shelf.looks.load(Ordering::SeqCst), 1);
        assert_eq!(Arc::strong_count(&shelf), 1);
    }
}
