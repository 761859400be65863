//! How sessions are used: by whom, when last, and whether anything of them is under way. Decides which of them makes room, sleeps
//! or ends. Pure.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use loggia_gate::access::Caller;
use rmcp::{model::InitializeRequestParams, transport::common::server_side_http::SessionId};
use tokio::sync::{Mutex, watch};

use super::state::{News, State};

/// How long a client may take for its handshake.
const GREETING: Duration = Duration::from_secs(60);

/// How a session is used.
pub struct Use {
    owner: Caller,
    /// When something was heard of it, or a call ran.
    last: Instant,
    /// When its client was there: that, or it listened.
    there: Instant,
    /// Held by each of its requests and calls too.
    open: Arc<()>,
    /// Held by each stream on which its client waits for news.
    pub listening: Arc<()>,
    /// What it has not told yet.
    pub news: News,
    /// What changed since it began, told or not.
    pub changes: watch::Receiver<()>,
    /// Whether there was such a stream before.
    pub listened: bool,
    /// Whether it ever slept: what rmcp kept for its streams is gone then.
    pub slept: bool,
    /// What its client said when it began: enough to begin it anew.
    pub greeting: Option<InitializeRequestParams>,
    /// Whether rmcp holds it; who waits for it to wake looks here.
    pub state: watch::Sender<State>,
    /// Workers of rmcp's that were ended to let it sleep, and have not said yet that they did.
    pub leaving: usize,
}

impl Use {
    /// Whether it is so now.
    pub fn is(&self, state: State) -> bool {
        *self.state.borrow() == state
    }

    fn is_busy(&self) -> bool {
        Arc::strong_count(&self.open) > 1
    }

    fn is_open(&self) -> bool {
        self.is_busy() || self.is_listening()
    }

    fn is_listening(&self) -> bool {
        Arc::strong_count(&self.listening) > 1
    }
}

/// All sessions, awake or asleep.
#[derive(Default)]
pub struct Uses(pub HashMap<SessionId, Use>);

impl Uses {
    /// A session is used now by who began it; what keeps it from being idle. Another's is not there.
    pub fn touch(&mut self, id: &SessionId, caller: &Caller, now: Instant) -> Option<Arc<()>> {
        let session = self.0.get_mut(id).filter(|session| session.owner.is(caller))?;
        (session.last, session.there) = (now, now);
        Some(Arc::clone(&session.open))
    }

    /// Counts a session that begins, and for which `news` are what comes from now on; the one that makes room for it, if there
    /// are this many already.
    pub fn begin(
        &mut self,
        id: SessionId,
        owner: Caller,
        mut news: watch::Receiver<()>,
        most: usize,
        now: Instant,
    ) -> Option<SessionId> {
        news.mark_unchanged();
        let room = (self.0.len() >= most).then(|| self.idlest()).flatten();
        if let Some(room) = &room {
            self.0.remove(room);
        }
        let session = Use {
            owner,
            last: now,
            there: now,
            open: Arc::default(),
            listening: Arc::default(),
            changes: news.clone(),
            news: News::new(Mutex::new(news)),
            listened: false,
            slept: false,
            greeting: None,
            state: watch::Sender::new(State::Awake),
            leaving: 0,
        };
        self.0.insert(id, session);
        room
    }

    /// The idlest session of who has most: nobody can drive others out by beginning many.
    fn idlest(&self) -> Option<SessionId> {
        let mut counts: HashMap<&Caller, usize> = HashMap::new();
        self.0.values().for_each(|session| *counts.entry(&session.owner).or_default() += 1);
        let most = counts.values().copied().max()?;
        let greedy = self.0.iter().filter(|(_, session)| counts[&session.owner] == most);
        greedy
            .min_by_key(|(_, session)| (session.is_busy(), session.is_listening(), session.last))
            .map(|(id, _)| id.clone())
    }

    /// Puts sessions to sleep of which nothing was heard for so long, and nothing is under way; they can be begun anew. What is
    /// under way counts as heard.
    pub fn drowsy(&mut self, silence: Duration, now: Instant) -> Vec<SessionId> {
        let mut asleep = Vec::new();
        for (id, session) in &mut self.0 {
            if session.is_busy() {
                session.last = now;
            }
            if session.is_open() {
                session.there = now;
            }
            let silent = now.saturating_duration_since(session.last) >= silence;
            if silent && session.is(State::Awake) && session.greeting.is_some() {
                session.slept = true;
                session.state.send_replace(State::Asleep);
                session.leaving += 1;
                asleep.push(id.clone());
            }
        }
        asleep
    }

    /// Forgets sessions of which nothing was heard for so long, or that never began; those that rmcp holds are to be ended.
    pub fn forget(&mut self, silence: Duration, now: Instant) -> Vec<SessionId> {
        let over = |session: &Use| {
            let most = if session.greeting.is_some() { silence } else { silence.min(GREETING) };
            !session.is_open()
                && !session.is(State::Waking)
                && now.saturating_duration_since(session.there) >= most
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

    fn begin(uses: &mut Uses, n: usize, owner: Caller, most: usize, now: Instant) -> Option<SessionId> {
        uses.begin(id(n), owner, watch::channel(()).1, most, now)
    }

    /// A clock that goes on by a second whenever it is looked at.
    fn clock() -> impl FnMut() -> Instant {
        let mut now = Instant::now();
        move || {
            now += Duration::from_secs(1);
            now
        }
    }

    #[test]
    fn the_idlest_session_makes_room_and_one_with_an_open_stream_last() {
        const MOST: usize = 4;
        let (mut uses, mut now) = (Uses::default(), clock());
        for n in 0..MOST {
            assert_eq!(begin(&mut uses, n, Caller::Anonymous, MOST, now()), None, "{n}");
        }
        let stream = uses.touch(&id(0), &Caller::Anonymous, now());
        uses.touch(&id(1), &Caller::Anonymous, now());
        let listening = Arc::clone(&uses.0[&id(2)].listening);
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
    fn who_has_most_makes_room() {
        let (mut uses, mut now) = (Uses::default(), clock());
        assert_eq!(begin(&mut uses, 0, named("bob"), 4, now()), None);
        for n in 1..4 {
            assert_eq!(begin(&mut uses, n, named("ada"), 4, now()), None);
        }
        assert_eq!(begin(&mut uses, 4, named("ada"), 4, now()), Some(id(1)), "bob's is the idlest");
        assert_eq!(begin(&mut uses, 5, named("bob"), 4, now()), Some(id(2)));
    }

    #[test]
    fn another_callers_session_is_not_there() {
        let (mut uses, mut now) = (Uses::default(), clock());
        begin(&mut uses, 0, named("ada"), 4, now());
        assert!(uses.touch(&id(0), &named("ada"), now()).is_some());
        assert!(uses.touch(&id(0), &named("bob"), now()).is_none());
        assert!(uses.touch(&id(0), &Caller::Anonymous, now()).is_none());
    }

    /// Some sessions that can be begun anew, but for the last.
    fn sessions(many: usize, begun: Instant) -> Uses {
        let mut uses = Uses::default();
        for n in 0..many {
            begin(&mut uses, n, Caller::Anonymous, 9, begun);
            if n + 1 != many {
                uses.0.get_mut(&id(n)).unwrap().greeting = Some(InitializeRequestParams::default());
            }
        }
        uses
    }

    #[test]
    fn only_a_silent_session_sleeps_of_which_nothing_is_under_way() {
        let begun = Instant::now();
        let mut uses = sessions(4, begun);
        let call = uses.touch(&id(1), &Caller::Anonymous, begun);
        uses.touch(&id(2), &Caller::Anonymous, begun + MINUTE);
        let now = |minutes| begun + minutes * MINUTE;
        assert_eq!(uses.drowsy(MINUTE, now(1)), [id(0)], "1 is busy, 2 was used, 3 cannot be begun anew");
        assert_eq!(uses.drowsy(MINUTE, now(1)), []);
        drop(call);
        assert_eq!(uses.drowsy(2 * MINUTE, now(2)), [], "1 was busy a minute ago");
        assert_eq!(uses.drowsy(MINUTE, now(2)).len(), 2);
        assert_eq!(uses.forget(3 * MINUTE, now(1)), [id(3)], "it never began");
        assert_eq!(uses.forget(3 * MINUTE, now(3)), [id(0)]);
        let mut left: Vec<_> = uses.0.keys().cloned().collect();
        left.sort();
        assert_eq!(left, [id(1), id(2)]);
    }

    #[test]
    fn a_session_that_only_listens_sleeps_and_does_not_end() {
        let begun = Instant::now();
        let mut uses = sessions(3, begun);
        let stream = Arc::clone(&uses.0[&id(0)].listening);
        let now = |minutes| begun + minutes * MINUTE;
        assert_eq!(uses.drowsy(MINUTE, now(1)).len(), 2);
        assert_eq!(uses.forget(MINUTE, now(2)).len(), 2);
        assert_eq!(uses.drowsy(MINUTE, now(3)), []);
        drop(stream);
        assert_eq!(uses.forget(MINUTE, now(3)), [], "its client was there a moment ago");
        assert_eq!(uses.forget(MINUTE, now(4)), [id(0)]);
    }
}
