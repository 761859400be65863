//! Agreement between hosts on when a new generation is served: once all have loaded it.
//!
//! A client may list tools at one host and call them at another. So a host that has loaded a new version waits for those that serve
//! the same as it does now, for some time at most. It does not wait for hosts that serve something else, which were started with
//! other files, nor for those that cannot load theirs.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};

/// Longest time for which a host waits for the others.
const PATIENCE: Duration = Duration::from_secs(15);
/// Time without a report after which a host no longer counts.
const SILENCE: Duration = Duration::from_secs(6);
/// Time between two reports, and between two looks at whom to wait for.
pub const REPORT_PERIOD: Duration = Duration::from_secs(2);
/// Time for which the others may serve another generation before a host that cannot load it is behind.
const TOLERANCE: Duration = Duration::from_secs(5);

/// What a host serves, and what it could serve. Generations by their digests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostGenerations {
    /// Served now.
    pub served: String,
    /// Loaded, and to be served.
    pub ready: Option<String>,
    /// True if a file does not load.
    pub has_failed: bool,
}

/// Sends this host's generations to the others.
pub type GenerationSender = Box<dyn Fn(HostGenerations) + Send + Sync>;

/// Agreement of a host with the others.
pub struct SwapAgreement {
    /// Locked for one look or change.
    state: Mutex<AgreementState>,
    /// Signals a report of another host.
    changed: Notify,
    send: GenerationSender,
}

impl SwapAgreement {
    /// Creates an agreement with no other host yet.
    pub fn new(send: GenerationSender) -> Self {
        Self { state: Mutex::default(), changed: Notify::new(), send }
    }

    /// Notes what another host reports.
    pub fn note(&self, host: &str, generations: HostGenerations) {
        self.state().note(host, generations, Instant::now());
        self.changed.notify_one();
    }

    /// Reports this host's generations again.
    pub fn report(&self) {
        let own = self.state().own.clone();
        (self.send)(own);
    }

    /// Returns true if the others left the generation that this host serves, since it cannot load the next.
    pub fn is_behind(&self) -> bool {
        self.state().is_behind(Instant::now())
    }

    /// Announces a generation that is loaded. Returns true if it must not be served yet.
    pub(super) fn propose(&self, digest: &str) -> bool {
        let (is_new, waits) = {
            let mut state = self.state();
            let is_new = state.propose(digest, Instant::now());
            (is_new, state.must_wait(Instant::now()))
        };
        if is_new {
            self.report();
        }
        waits
    }

    /// Announces what is served.
    pub(super) fn serve(&self, digest: String) {
        let own = &mut self.state().own;
        if own.served != digest || own.ready.is_some() {
            (own.served, own.ready) = (digest, None);
            (self.send)(own.clone());
        }
    }

    /// Announces whether a file does not load.
    pub(super) fn set_failed(&self, has_failed: bool) {
        let own = &mut self.state().own;
        if own.has_failed != has_failed {
            own.has_failed = has_failed;
            (self.send)(own.clone());
        }
    }

    /// Waits until what was proposed may be served.
    pub(super) async fn agreed(&self) {
        while self.state().must_wait(Instant::now()) {
            // A host may also end.
            let _ = timeout(REPORT_PERIOD / 4, self.changed.notified()).await;
        }
    }

    fn state(&self) -> MutexGuard<'_, AgreementState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is known of all hosts. Pure.
#[derive(Default)]
struct AgreementState {
    own: HostGenerations,
    /// Time since which `ready` is.
    since: Option<Instant>,
    others: BTreeMap<String, OtherHost>,
}

struct OtherHost {
    generations: HostGenerations,
    seen: Instant,
    /// The generation that it served before, and when it left it.
    left: Option<(String, Instant)>,
}

impl AgreementState {
    fn note(&mut self, host: &str, generations: HostGenerations, now: Instant) {
        self.others.retain(|_, other| now.duration_since(other.seen) < SILENCE);
        let other = self.others.remove(host);
        let left = match other {
            Some(other) if other.generations.served != generations.served => {
                Some((other.generations.served, now))
            }
            other => other.and_then(|other| other.left),
        };
        self.others.insert(host.to_owned(), OtherHost { generations, seen: now, left });
    }

    /// Returns true if that is new.
    fn propose(&mut self, digest: &str, now: Instant) -> bool {
        if self.own.ready.as_deref() == Some(digest) {
            return false;
        }
        self.own.ready = Some(digest.to_owned());
        self.since = Some(now);
        true
    }

    fn must_wait(&self, now: Instant) -> bool {
        let is_early = self.since.is_some_and(|since| now.duration_since(since) < PATIENCE);
        self.own.ready.is_some() && is_early && self.living(now).any(|other| self.is_awaited(other))
    }

    fn is_awaited(&self, OtherHost { generations, .. }: &OtherHost) -> bool {
        generations.served == self.own.served
            && generations.ready != self.own.ready
            && !generations.has_failed
    }

    fn is_behind(&self, now: Instant) -> bool {
        let has_left = |other: &OtherHost| {
            let Some((before, at)) = &other.left else { return false };
            *before == self.own.served
                && other.generations.served != self.own.served
                && now.duration_since(*at) >= TOLERANCE
        };
        self.own.has_failed && self.living(now).any(has_left)
    }

    fn living(&self, now: Instant) -> impl Iterator<Item = &OtherHost> {
        self.others.values().filter(move |other| now.duration_since(other.seen) < SILENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generations(served: &str, ready: Option<&str>) -> HostGenerations {
        HostGenerations { served: served.into(), ready: ready.map(str::to_owned), has_failed: false }
    }

    /// A host that serves `old` and has loaded `new`, beside others.
    fn state(others: &[HostGenerations], now: Instant) -> AgreementState {
        let mut state = AgreementState { own: generations("old", None), ..AgreementState::default() };
        for (n, other) in others.iter().enumerate() {
            state.note(&n.to_string(), other.clone(), now);
        }
        assert!(state.propose("new", now));
        state
    }

    #[test]
    fn a_host_waits_for_those_that_serve_the_same() {
        let now = Instant::now();
        let failed = HostGenerations { has_failed: true, ..generations("old", None) };
        for (others, waits) in [
            (vec![], false),
            (vec![generations("old", None)], true),
            (vec![generations("old", Some("newer"))], true),
            (vec![generations("old", Some("new"))], false),
            (vec![generations("old", Some("new")), generations("old", None)], true),
            (vec![generations("new", None)], false),
            (vec![generations("other", None)], false),
            (vec![failed], false),
        ] {
            assert_eq!(state(&others, now).must_wait(now), waits, "{others:?}");
        }
    }

    #[test]
    fn it_waits_neither_forever_nor_for_hosts_that_ended() {
        let now = Instant::now();
        let mut waiting = state(&[generations("old", None)], now);
        assert!(waiting.must_wait(now + SILENCE / 2));
        assert!(!waiting.must_wait(now + SILENCE), "it ended");
        waiting.note("0", generations("old", None), now + PATIENCE - SILENCE / 2);
        assert!(waiting.must_wait(now + PATIENCE - SILENCE / 2));
        assert!(!waiting.must_wait(now + PATIENCE));
        assert!(!waiting.propose("new", now + PATIENCE), "it was proposed before");
        assert!(waiting.propose("newer", now + PATIENCE));
    }

    #[test]
    fn a_host_that_cannot_follow_is_behind() {
        let now = Instant::now();
        let later = now + TOLERANCE;
        for (before, after, has_failed, behind) in [
            ("old", "new", true, true),
            ("old", "new", false, false),
            ("old", "old", true, false),
            // It was started with other files.
            ("new", "new", true, false),
            ("other", "new", true, false),
        ] {
            let own = HostGenerations { has_failed, ..generations("old", None) };
            let mut state = AgreementState { own, ..AgreementState::default() };
            state.note("a", generations(before, None), now);
            state.note("a", generations(after, None), now);
            assert!(!state.is_behind(now), "it may be about to follow");
            assert_eq!(state.is_behind(later), behind, "{before} {after} {has_failed}");
            state.own = generations("new", None);
            assert!(!state.is_behind(later));
        }
    }
}
