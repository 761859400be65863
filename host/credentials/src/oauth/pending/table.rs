//! All pending logins.

use std::{collections::HashMap, fmt, time::Duration};

use loggia_egress::CallerKey;
use parking_lot::Mutex;
use tokio::{sync::watch, time::Instant};

use super::ticket::{LoginProgress, LoginTicket};
use crate::oauth::{
    code::ConfirmationCode,
    login::{IssuedToken, LoginAttempt, RedirectAnswer},
};

/// Time for a person to log in, and then to pass on the code.
const TTL: Duration = Duration::from_secs(10 * 60);
/// Pending logins of all callers.
const MAX_PENDING: usize = 512;
/// Wrong codes after which a login ends.
const MAX_WRONG: u8 = 5;

/// As many logins are pending as may be.
#[derive(Debug, thiserror::Error)]
#[error("too many logins wait for their persons")]
pub struct TooManyLogins;

/// Reason for which a code is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CodeRefusal {
    /// The caller has no login that waits for a code.
    #[error("no login of this caller waits for a code")]
    Unasked,
    /// It is wrong; so many more may be tried.
    #[error("the code is wrong")]
    Wrong(u8),
    /// It is wrong, and the login has ended.
    #[error("the code is wrong, as were those before it, so the login has ended")]
    Ended,
}

/// Table of pending logins. `O` is what the holder needs to know of the owner of each.
pub struct PendingLogins<O> {
    /// By the keys of callers, which differ by facade. Locked to look up and to change entries, never across an await.
    entries: Mutex<HashMap<CallerKey, PendingEntry<O>>>,
}

struct PendingEntry<O> {
    owner: O,
    ticket: LoginTicket,
    stage: LoginStage,
    progress: watch::Sender<LoginProgress>,
}

enum LoginStage {
    /// Waits for the browser.
    Open(Box<LoginAttempt>),
    /// The code is exchanged, or the credential is stored.
    Busy,
    /// Waits for the caller's code.
    Held { token: IssuedToken, code: ConfirmationCode, wrong: u8 },
}

/// A login that a browser answered. It no longer takes answers.
pub struct AnsweredLogin<O> {
    /// Key of the caller.
    pub caller: CallerKey,
    /// Owner of the login.
    pub owner: O,
    /// The attempt, to be finished with the answer.
    pub attempt: LoginAttempt,
}

impl<O> Default for PendingLogins<O> {
    fn default() -> Self {
        Self { entries: Mutex::default() }
    }
}

impl<O> fmt::Debug for PendingLogins<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingLogins").field("entries", &self.entries.lock().len()).finish()
    }
}

impl<O: Clone> PendingLogins<O> {
    /// Finds the pending login of a caller.
    pub fn find(&self, caller: CallerKey) -> Option<LoginTicket> {
        let entries = self.entries.lock();
        let entry = entries.get(&caller).filter(|entry| entry.ticket.expires > Instant::now());
        entry.map(|entry| entry.ticket.clone())
    }

    /// Adds a login of a caller. If one is pending already, that one is returned; the flag tells whether it is new.
    ///
    /// # Errors
    ///
    /// [`TooManyLogins`].
    pub fn begin(
        &self,
        caller: CallerKey,
        owner: O,
        attempt: LoginAttempt,
    ) -> Result<(LoginTicket, bool), TooManyLogins> {
        let now = Instant::now();
        let mut entries = self.entries.lock();
        // Also drops the tokens of logins whose codes never came.
        entries.retain(|_, entry| entry.ticket.expires > now);
        if let Some(entry) = entries.get(&caller) {
            return Ok((entry.ticket.clone(), false));
        }
        if entries.len() >= MAX_PENDING {
            return Err(TooManyLogins);
        }
        let (progress, follower) = watch::channel(LoginProgress::Open);
        let ticket = LoginTicket { link: attempt.link.clone(), expires: now + TTL, progress: follower };
        let stage = LoginStage::Open(Box::new(attempt));
        entries.insert(caller, PendingEntry { owner, ticket: ticket.clone(), stage, progress });
        Ok((ticket, true))
    }

    /// Takes the login to which an answer belongs. No other answer to it is accepted afterwards.
    pub fn take_answered(&self, answer: &RedirectAnswer) -> Option<AnsweredLogin<O>> {
        let now = Instant::now();
        let mut entries = self.entries.lock();
        let is_own = |entry: &PendingEntry<O>| matches!(&entry.stage, LoginStage::Open(attempt) if attempt.is_answered_by(answer));
        // All are compared, so that the time tells nothing of their states.
        let owned: Vec<CallerKey> =
            entries.iter().filter(|(_, entry)| is_own(entry)).map(|(caller, _)| *caller).collect();
        let caller = *owned.first()?;
        let entry = entries.get_mut(&caller).filter(|entry| entry.ticket.expires > now)?;
        // The exchange takes less.
        entry.ticket.expires = now + TTL;
        match std::mem::replace(&mut entry.stage, LoginStage::Busy) {
            LoginStage::Open(attempt) => {
                Some(AnsweredLogin { caller, owner: entry.owner.clone(), attempt: *attempt })
            }
            LoginStage::Busy | LoginStage::Held { .. } => None,
        }
    }

    /// Keeps the token of an answered login until the caller sends the returned code.
    ///
    /// # Errors
    ///
    /// If there is no random code, or no such login.
    pub fn hold(&self, caller: CallerKey, token: IssuedToken) -> Result<ConfirmationCode, &'static str> {
        let code = ConfirmationCode::new_random()?;
        let mut entries = self.entries.lock();
        let entry = entries.get_mut(&caller).ok_or("it was not completed in time")?;
        entry.stage = LoginStage::Held { token, code: code.clone(), wrong: 0 };
        entry.ticket.expires = Instant::now() + TTL;
        entry.progress.send_replace(LoginProgress::Held);
        Ok(code)
    }

    /// Returns the token of a login in exchange for its code. The caller's login stays pending until it is
    /// [ended](Self::end).
    ///
    /// # Errors
    ///
    /// [`CodeRefusal`]. Codes of other callers count as wrong.
    pub fn redeem(&self, caller: CallerKey, typed: &str) -> Result<IssuedToken, CodeRefusal> {
        let mut entries = self.entries.lock();
        let entry = entries.get_mut(&caller).filter(|entry| entry.ticket.expires > Instant::now());
        let entry = entry.ok_or(CodeRefusal::Unasked)?;
        let LoginStage::Held { code, wrong, .. } = &mut entry.stage else { return Err(CodeRefusal::Unasked) };
        if code.is_typed_as(typed) {
            return match std::mem::replace(&mut entry.stage, LoginStage::Busy) {
                LoginStage::Held { token, .. } => Ok(token),
                LoginStage::Open(_) | LoginStage::Busy => Err(CodeRefusal::Unasked),
            };
        }
        *wrong += 1;
        if *wrong < MAX_WRONG {
            return Err(CodeRefusal::Wrong(MAX_WRONG - *wrong));
        }
        let refusal = CodeRefusal::Ended;
        entry.progress.send_replace(LoginProgress::Failed(refusal.to_string()));
        entries.remove(&caller);
        Err(refusal)
    }

    /// Ends the login of a caller: its credential is stored, or it failed.
    pub fn end(&self, caller: CallerKey, outcome: Result<(), String>) {
        if let Some(entry) = self.entries.lock().remove(&caller) {
            let progress = outcome.map_or_else(LoginProgress::Failed, |()| LoginProgress::Done);
            entry.progress.send_replace(progress);
        }
    }
}
