//! Sessions of operators who logged in with the token. Kept in memory: they end with the process.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

/// Sessions at once. One more ends the one that was used least recently.
const MOST: usize = 16;
/// Longest time of a session.
const LIFETIME: Duration = Duration::from_secs(8 * 3600);
/// Time after which an unused session ends. Updates of an open page are no use.
const IDLE: Duration = Duration::from_secs(3600);

/// All sessions. The mutex is held for one lookup or change, and no other lock is taken under it.
#[derive(Default)]
pub(super) struct OperatorSessions(Mutex<Vec<SessionRecord>>);

struct SessionRecord {
    /// SHA-256 of the id, so that the time of a comparison reveals nothing of it.
    key: [u8; 32],
    session: OperatorSession,
    began: Instant,
    used: Instant,
}

/// An operator who is logged in.
#[derive(Clone)]
pub(super) struct OperatorSession {
    /// Proves that a form is of this session.
    pub(super) form_token: String,
    /// Name that the operator gave, for the audit.
    pub(super) name: String,
    /// Cancelled when the session ends.
    pub(super) ended: CancellationToken,
}

impl OperatorSession {
    /// Who decides, for the audit trail.
    pub(super) fn operator(&self) -> String {
        match self.name.as_str() {
            "" => "operator page".to_owned(),
            name => format!("operator page: {name}"),
        }
    }
}

/// Returns 256 random bits as text.
pub(super) fn random_text() -> String {
    let mut bits = [0; 32];
    // Cannot fail after boot; sessions must not be guessed.
    getrandom::fill(&mut bits)
        .unwrap_or_else(|error| unreachable!("the kernel gave no random bits: {error}"));
    URL_SAFE_NO_PAD.encode(bits)
}

fn to_key(id: &str) -> [u8; 32] {
    Sha256::digest(id).into()
}

impl OperatorSessions {
    /// Opens a session; its id, for the cookie.
    pub(super) fn open(&self, name: String, now: Instant) -> String {
        let id = random_text();
        let session = OperatorSession { form_token: random_text(), name, ended: CancellationToken::new() };
        let mut all = self.lock();
        end_expired(&mut all, now);
        if all.len() >= MOST
            && let Some(oldest) = (0..all.len()).min_by_key(|at| all[*at].used)
        {
            all.remove(oldest).session.ended.cancel();
        }
        all.push(SessionRecord { key: to_key(&id), session, began: now, used: now });
        id
    }

    /// Finds a session; `uses` it if a person does something, rather than an open page.
    pub(super) fn find(&self, id: &str, now: Instant, uses: bool) -> Option<OperatorSession> {
        let key = to_key(id);
        let mut all = self.lock();
        end_expired(&mut all, now);
        let record = all.iter_mut().find(|record| record.key == key)?;
        if uses {
            record.used = now;
        }
        Some(record.session.clone())
    }

    /// Ends a session.
    pub(super) fn close(&self, id: &str) {
        let key = to_key(id);
        self.lock().retain(|record| {
            let stays = record.key != key;
            if !stays {
                record.session.ended.cancel();
            }
            stays
        });
    }

    /// Number of sessions.
    pub(super) fn count(&self, now: Instant) -> usize {
        let mut all = self.lock();
        end_expired(&mut all, now);
        all.len()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SessionRecord>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn end_expired(all: &mut Vec<SessionRecord>, now: Instant) {
    all.retain(|record| {
        let stays = now.saturating_duration_since(record.began) < LIFETIME
            && now.saturating_duration_since(record.used) < IDLE;
        if !stays {
            record.session.ended.cancel();
        }
        stays
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_end_by_idleness_age_and_logout() {
        let (table, start) = (OperatorSessions::default(), Instant::now());
        let at = |minutes: u64| start + Duration::from_secs(60 * minutes);
        let id = table.open("ada".to_owned(), start);
        assert!(table.find("other", start, true).is_none());
        let session = table.find(&id, at(59), false).unwrap();
        assert!(table.find(&id, at(60), true).is_none(), "an open page does not use it");
        assert!(session.ended.is_cancelled());

        let id = table.open(String::new(), start);
        for minutes in (30..480).step_by(30) {
            assert!(table.find(&id, at(minutes), true).is_some(), "{minutes}");
        }
        assert!(table.find(&id, at(480), true).is_none(), "it is too old");

        let id = table.open(String::new(), at(500));
        let session = table.find(&id, at(500), true).unwrap();
        table.close(&id);
        assert!(table.find(&id, at(500), true).is_none() && session.ended.is_cancelled());
    }

    #[test]
    fn one_session_too_many_ends_the_least_used() {
        let (table, start) = (OperatorSessions::default(), Instant::now());
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let ids: Vec<_> = (0..MOST as u64).map(|n| table.open(String::new(), at(n))).collect();
        assert!(table.find(&ids[0], at(100), true).is_some());
        let last = table.open(String::new(), at(101));
        assert_eq!(table.count(at(101)), MOST);
        assert!(table.find(&ids[1], at(101), false).is_none(), "it was used least recently");
        assert!(table.find(&ids[0], at(101), false).is_some() && table.find(&last, at(101), false).is_some());
    }
}
