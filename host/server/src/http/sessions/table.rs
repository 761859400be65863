//! Table of sessions: owner, last use and activity. Decides which session is evicted, hibernates or expires. Pure.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use loggia_gate::access::Caller;
use rmcp::{model::InitializeRequestParams, transport::common::server_side_http::SessionId};
use tokio::sync::{Mutex, watch};

use super::{
    phase::{PendingChanges, SessionPhase},
    request_ids::OpenRequestIds,
};

/// Timeout of the handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(60);

/// Entry of a session.
pub struct SessionEntry {
    owner: Caller,
    /// Time of the last request, or of a running call.
    last_active: Instant,
    /// Time of the last request or running call, or at which the client listened.
    last_present: Instant,
    /// Cloned by each request and call in progress; the count tells whether the session is busy.
    activity: Arc<()>,
    /// Ids of its open requests.
    pub request_ids: OpenRequestIds,
    /// Cloned by each notification stream.
    pub listeners: Arc<()>,
    /// Cloned by each subscription to a resource.
    pub subscriptions: Arc<()>,
    /// Changes that were not sent yet.
    pub pending: PendingChanges,
    /// Changes since the session began, sent or not.
    pub changes: watch::Receiver<()>,
    /// Set once there was a notification stream.
    pub has_listened: bool,
    /// Set once it has hibernated: rmcp's buffered events are lost then.
    pub has_hibernated: bool,
    /// Parameters of `initialize`, enough to restore the session.
    pub initialize_params: Option<Arc<InitializeRequestParams>>,
    /// Current phase. Requests that wait for another one to wake the session subscribe to it.
    pub phase: watch::Sender<SessionPhase>,
    /// rmcp's workers that were stopped for hibernation, whose `close_session` is still to come and must be ignored.
    pub expected_closes: usize,
}

impl SessionEntry {
    /// Returns true if the session is in this phase.
    pub fn is_in(&self, state: SessionPhase) -> bool {
        *self.phase.borrow() == state
    }

    fn is_busy(&self) -> bool {
        Arc::strong_count(&self.activity) > 1
    }

    /// Returns true if its client hears of changed resources, which only rmcp can send it.
    fn is_subscribed(&self) -> bool {
        self.is_listening() && Arc::strong_count(&self.subscriptions) > 1
    }

    fn is_open(&self) -> bool {
        self.is_busy() || self.is_listening()
    }

    fn is_listening(&self) -> bool {
        Arc::strong_count(&self.listeners) > 1
    }
}

/// What a request needs of its session.
pub struct SessionVisit {
    /// Keeps the session busy.
    pub activity: Arc<()>,
    /// Ids of its open requests.
    pub request_ids: OpenRequestIds,
    /// Keeps the session awake while its client listens for resources.
    pub subscriptions: Arc<()>,
    /// Whether rmcp has the session.
    pub is_awake: bool,
    /// The client, once its handshake is done.
    pub client: Option<Arc<InitializeRequestParams>>,
}

/// All sessions, awake or hibernated.
#[derive(Default)]
pub struct SessionTable(pub HashMap<SessionId, SessionEntry>);

impl SessionTable {
    /// Marks a session as used, and returns what keeps it busy. Returns `None` for other callers' sessions.
    pub fn touch(&mut self, id: &SessionId, caller: &Caller, now: Instant) -> Option<SessionVisit> {
        let session = self.0.get_mut(id).filter(|session| session.owner.is_same(caller))?;
        (session.last_active, session.last_present) = (now, now);
        Some(SessionVisit {
            activity: Arc::clone(&session.activity),
            request_ids: session.request_ids.clone(),
            subscriptions: Arc::clone(&session.subscriptions),
            is_awake: session.is_in(SessionPhase::Awake),
            client: session.initialize_params.clone(),
        })
    }

    /// Inserts a new session, which sees the changes of `news` from now on. At capacity, evicts and returns another session.
    pub fn insert(
        &mut self,
        id: SessionId,
        owner: Caller,
        mut news: watch::Receiver<()>,
        most: usize,
        now: Instant,
    ) -> Option<SessionId> {
        news.mark_unchanged();
        let evicted = (self.0.len() >= most).then(|| self.eviction_candidate()).flatten();
        if let Some(evicted) = &evicted {
            self.0.remove(evicted);
        }
        let session = SessionEntry {
            owner,
            last_active: now,
            last_present: now,
            activity: Arc::default(),
            request_ids: OpenRequestIds::default(),
            listeners: Arc::default(),
            subscriptions: Arc::default(),
            changes: news.clone(),
            pending: PendingChanges::new(Mutex::new(news)),
            has_listened: false,
            has_hibernated: false,
            initialize_params: None,
            phase: watch::Sender::new(SessionPhase::Awake),
            expected_closes: 0,
        };
        self.0.insert(id, session);
        evicted
    }

    /// Makes a new session one that hibernates: its client began it elsewhere, or before it was evicted.
    pub fn restore(&mut self, id: &SessionId, client: Arc<InitializeRequestParams>) {
        let Some(session) = self.0.get_mut(id) else { return };
        session.initialize_params = Some(client);
        session.has_hibernated = true;
        // It may have missed changes.
        session.has_listened = true;
        session.changes.mark_changed();
        session.phase.send_replace(SessionPhase::Hibernated);
    }

    /// Returns the longest-idle session of the caller with the most sessions, so that no caller can evict others' by opening
    /// many.
    fn eviction_candidate(&self) -> Option<SessionId> {
        let mut counts: HashMap<&Caller, usize> = HashMap::new();
        self.0.values().for_each(|session| *counts.entry(&session.owner).or_default() += 1);
        let most = counts.values().copied().max()?;
        let greedy = self.0.iter().filter(|(_, session)| counts[&session.owner] == most);
        greedy
            .min_by_key(|(_, session)| (session.is_busy(), session.is_listening(), session.last_active))
            .map(|(id, _)| id.clone())
    }

    /// Hibernates sessions that were silent for `silence` and can be restored; returns them. Activity counts as use.
    pub fn hibernate_idle(&mut self, silence: Duration, now: Instant) -> Vec<SessionId> {
        let mut asleep = Vec::new();
        for (id, session) in &mut self.0 {
            if session.is_busy() || session.is_subscribed() {
                session.last_active = now;
            }
            if session.is_open() {
                session.last_present = now;
            }
            let silent = now.saturating_duration_since(session.last_active) >= silence;
            if silent && session.is_in(SessionPhase::Awake) && session.initialize_params.is_some() {
                session.has_hibernated = true;
                session.phase.send_replace(SessionPhase::Hibernated);
                session.expected_closes += 1;
                asleep.push(id.clone());
            }
        }
        asleep
    }

    /// Returns the number of hibernated sessions.
    pub fn hibernated(&self) -> usize {
        self.0.values().filter(|session| session.is_in(SessionPhase::Hibernated)).count()
    }

    /// Removes sessions whose client was absent for `silence`, or never completed its handshake; returns them. The caller must
    /// release them in rmcp.
    pub fn expire_idle(&mut self, silence: Duration, now: Instant) -> Vec<SessionId> {
        let over = |session: &SessionEntry| {
            let most =
                if session.initialize_params.is_some() { silence } else { silence.min(HANDSHAKE_TIMEOUT) };
            !session.is_open()
                && !session.is_in(SessionPhase::Waking)
                && now.saturating_duration_since(session.last_present) >= most
        };
        let gone: Vec<SessionId> =
            self.0.iter().filter(|(_, session)| over(session)).map(|(id, _)| id.clone()).collect();
        gone.iter().for_each(|id| _ = self.0.remove(id));
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn id(n: usize) -> SessionId {
        SessionId::from(format!("s{n}"))
    }

    fn named(name: &str) -> Caller {
        Caller::Named(name.into())
    }

    fn begin(
        uses: &mut SessionTable,
        n: usize,
        owner: Caller,
        most: usize,
        now: Instant,
    ) -> Option<SessionId> {
        uses.insert(id(n), owner, watch::channel(()).1, most, now)
    }

    /// A clock that advances by a second at each reading.
    fn clock() -> impl FnMut() -> Instant {
        let mut now = Instant::now();
        move || {
            now += Duration::from_secs(1);
            now
        }
    }

    #[test]
    fn eviction_prefers_idle_sessions_without_streams() {
        const MOST: usize = 4;
        let (mut uses, mut now) = (SessionTable::default(), clock());
        for n in 0..MOST {
            assert_eq!(begin(&mut uses, n, Caller::Anonymous, MOST, now()), None, "{n}");
        }
        let stream = uses.touch(&id(0), &Caller::Anonymous, now());
        uses.touch(&id(1), &Caller::Anonymous, now());
        let listening = Arc::clone(&uses.0[&id(2)].listeners);
        let mut further = |n, now| begin(&mut uses, n, Caller::Anonymous, MOST, now);
        assert_eq!(further(4, now()), Some(id(3)), "the least lately used that nobody listens on");
        assert_eq!(further(5, now()), Some(id(1)), "0 longer ago, but it is busy");
        let more: Vec<_> = [6, 7].map(|n| further(n, now())).into();
        assert_eq!(more, [Some(id(4)), Some(id(5))]);
        // Nobody listens on 2 any more, and 0 is no longer busy.
        drop((stream, listening));
        assert_eq!(begin(&mut uses, 8, Caller::Anonymous, MOST, now()), Some(id(2)));
        assert_eq!(begin(&mut uses, 9, Caller::Anonymous, MOST, now()), Some(id(0)));
    }

    #[test]
    fn the_caller_with_most_sessions_loses_one() {
        let (mut uses, mut now) = (SessionTable::default(), clock());
        assert_eq!(begin(&mut uses, 0, named("bob"), 4, now()), None);
        for n in 1..4 {
            assert_eq!(begin(&mut uses, n, named("ada"), 4, now()), None);
        }
        assert_eq!(begin(&mut uses, 4, named("ada"), 4, now()), Some(id(1)), "bob's is the idlest");
        assert_eq!(begin(&mut uses, 5, named("bob"), 4, now()), Some(id(2)));
    }

    #[test]
    fn other_callers_sessions_are_not_found() {
        let (mut uses, mut now) = (SessionTable::default(), clock());
        begin(&mut uses, 0, named("ada"), 4, now());
        assert!(uses.touch(&id(0), &named("ada"), now()).is_some());
        assert!(uses.touch(&id(0), &named("bob"), now()).is_none());
        assert!(uses.touch(&id(0), &Caller::Anonymous, now()).is_none());
    }

    /// Some sessions that can be restored, except the last.
    fn sessions(many: usize, begun: Instant) -> SessionTable {
        let mut uses = SessionTable::default();
        for n in 0..many {
            begin(&mut uses, n, Caller::Anonymous, 9, begun);
            if n + 1 != many {
                uses.0.get_mut(&id(n)).unwrap().initialize_params = Some(Arc::default());
            }
        }
        uses
    }

    #[test]
    fn only_idle_sessions_hibernate() {
        let begun = Instant::now();
        let mut uses = sessions(4, begun);
        let call = uses.touch(&id(1), &Caller::Anonymous, begun);
        uses.touch(&id(2), &Caller::Anonymous, begun + MINUTE);
        let now = |minutes| begun + minutes * MINUTE;
        assert_eq!(
            uses.hibernate_idle(MINUTE, now(1)),
            [id(0)],
            "1 is busy, 2 was used, 3 cannot be restored"
        );
        assert_eq!(uses.hibernate_idle(MINUTE, now(1)), []);
        drop(call);
        assert_eq!(uses.hibernate_idle(2 * MINUTE, now(2)), [], "1 was busy a minute ago");
        assert_eq!(uses.hibernate_idle(MINUTE, now(2)).len(), 2);
        assert_eq!(uses.expire_idle(3 * MINUTE, now(1)), [id(3)], "it never began");
        assert_eq!(uses.expire_idle(3 * MINUTE, now(3)), [id(0)]);
        let mut left: Vec<_> = uses.0.keys().cloned().collect();
        left.sort();
        assert_eq!(left, [id(1), id(2)]);
    }

    #[test]
    fn a_session_that_listens_for_a_resource_stays_awake() {
        let begun = Instant::now();
        let mut uses = sessions(2, begun);
        let subscription = Arc::clone(&uses.0[&id(0)].subscriptions);
        let stream = Arc::clone(&uses.0[&id(0)].listeners);
        let now = |minutes| begun + minutes * MINUTE;
        assert_eq!(uses.hibernate_idle(MINUTE, now(2)), []);
        // Its client went away.
        drop(stream);
        assert_eq!(uses.hibernate_idle(MINUTE, now(3)), [id(0)]);
        drop(subscription);
    }

    #[test]
    fn a_listening_session_hibernates_but_does_not_expire() {
        let begun = Instant::now();
        let mut uses = sessions(3, begun);
        let stream = Arc::clone(&uses.0[&id(0)].listeners);
        let now = |minutes| begun + minutes * MINUTE;
        assert_eq!(uses.hibernate_idle(MINUTE, now(1)).len(), 2);
        assert_eq!(uses.expire_idle(MINUTE, now(2)).len(), 2);
        assert_eq!(uses.hibernate_idle(MINUTE, now(3)), []);
        drop(stream);
        assert_eq!(uses.expire_idle(MINUTE, now(3)), [], "its client was there a moment ago");
        assert_eq!(uses.expire_idle(MINUTE, now(4)), [id(0)]);
    }
}
