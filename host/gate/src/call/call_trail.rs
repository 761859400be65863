//! The audit trail of calls that ran. Their lines do not pass the log on the way to the file: that would take as long as a tenth of a
//! short call.

use core::net::IpAddr;
use std::{
    mem,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use tracing::field::display;

/// Log target of the lines of the audit trail.
pub const TARGET: &str = "loggia::audit";

/// Returns true if audit lines are written anywhere.
pub fn is_enabled() -> bool {
    tracing::enabled!(target: TARGET, tracing::Level::DEBUG)
}

/// Log target of the lines of calls that ran.
pub const CALL_TARGET: &str = "loggia::audit::call";

/// The trail of calls that ran.
pub trait CallTrail: Send + Sync {
    /// Writes the line of a call, on its thread: must not wait.
    fn write(&self, line: CallLine<'_>);
}

/// The line of a call that ran.
pub struct CallLine<'a> {
    /// Id of the call.
    pub id: &'a str,
    /// Id of the call that made it.
    pub from: Option<&'a str>,
    /// Id that the client gave its request.
    pub request: Option<&'a str>,
    /// Id of the trace.
    pub trace: Option<&'a str>,
    /// Who called, printable.
    pub caller: &'a str,
    /// Where the request came from.
    pub address: Option<IpAddr>,
    /// Name of the facade.
    pub facade: &'a str,
    /// Name of the action.
    pub action: &'a str,
    /// Digest of the parameters.
    pub params: ParamsDigest,
    /// Digest of what answered.
    pub artifact: &'a str,
    /// Digest of the policy in force, if there is one.
    pub policy: Option<&'a str>,
    /// `ok`, or the code of the failure; printable, and short.
    pub outcome: &'a str,
    /// Duration.
    pub took: Duration,
}

impl CallLine<'_> {
    /// Duration in milliseconds, with three decimals.
    fn milliseconds(&self) -> f64 {
        (self.took.as_secs_f64() * 1e6).round() / 1e3
    }

    pub(super) fn log(&self) {
        let Self { id, from, request, trace, caller, facade, action, artifact, policy, outcome, .. } = *self;
        let (address, params, ms) = (self.address.map(display), self.params.text(), self.milliseconds());
        tracing::debug!(
            target: CALL_TARGET,
            event = "call", id, from, request, trace, caller, address, facade, action, params, artifact, policy, outcome, ms,
            "{facade}.{action}: {outcome}"
        );
    }
}

/// Returns true if the log shows the lines of calls that ran.
pub(super) fn is_call_logged() -> bool {
    tracing::enabled!(target: CALL_TARGET, tracing::Level::DEBUG)
}

/// The digest of a call's parameters, or their text: the digest of a long one takes longer than a short call, so the thread of the trail
/// computes it.
pub enum ParamsDigest {
    /// The digest.
    Known(String),
    /// The text.
    Waiting(WaitingText),
}

impl ParamsDigest {
    /// Length of a digest, in bytes.
    pub const LENGTH: usize = 32;

    pub(super) fn new(text: &str) -> Self {
        match WaitingText::new(text) {
            Some(waiting) => Self::Waiting(waiting),
            None => Self::Known(digest(text)),
        }
    }

    /// The digest, in hexadecimal.
    pub fn text(&self) -> String {
        match self {
            Self::Known(digest) => digest.clone(),
            Self::Waiting(waiting) => digest(&waiting.0),
        }
    }
}

/// A long text that waits for its digest. It is a copy in memory that is used again: memory that one thread allocates and another one
/// frees is returned to the system, and fetched again for the next call.
pub struct WaitingText(String);

/// Memory of texts, for the next ones. Locked for a moment.
static SPARE: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// Bytes of texts that wait. Relaxed, since no other data depends on it.
static WAITING: AtomicUsize = AtomicUsize::new(0);

fn spare() -> MutexGuard<'static, Vec<String>> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl WaitingText {
    /// Bytes from which a text is long.
    const LONG: usize = 1 << 10;
    /// Bytes of texts that may wait, if the thread does not keep up.
    const MOST: usize = 8 << 20;
    /// Texts whose memory is kept, and bytes of the largest.
    const SPARE: usize = 16;
    const SPARE_BYTES: usize = 256 << 10;

    /// Returns `None` if it is not long, or too many wait.
    fn new(text: &str) -> Option<Self> {
        if text.len() < Self::LONG {
            return None;
        }
        let before = WAITING.fetch_add(text.len(), Ordering::Relaxed);
        if before + text.len() > Self::MOST {
            WAITING.fetch_sub(text.len(), Ordering::Relaxed);
            return None;
        }
        let mut copy = spare().pop().unwrap_or_default();
        copy.push_str(text);
        Some(Self(copy))
    }
}

impl Drop for WaitingText {
    fn drop(&mut self) {
        WAITING.fetch_sub(self.0.len(), Ordering::Relaxed);
        if self.0.capacity() <= Self::SPARE_BYTES {
            let mut spare = spare();
            if spare.len() < Self::SPARE {
                let mut memory = mem::take(&mut self.0);
                memory.clear();
                spare.push(memory);
            }
        }
    }
}

/// Digests the JSON text of parameters: the first 16 bytes of SHA-256, in hexadecimal.
pub(super) fn digest(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text)[..16])
}

#[cfg(test)]
mod tests {
    use loggia_facade::json::object_text;
    use serde_json::json;

    use super::*;

    #[test]
    fn long_texts_wait_for_their_digest() {
        for (length, waits) in [(10, false), (WaitingText::LONG, true), (WaitingText::MOST + 1, false)] {
            let text = "x".repeat(length);
            let params = ParamsDigest::new(&text);
            assert_eq!((matches!(params, ParamsDigest::Waiting(_)), params.text()), (waits, digest(&text)));
        }
    }

    #[test]
    fn a_digest_is_that_of_the_json_text() {
        let Some(params) = json!({"a": 1, "b": "x"}).as_object().cloned() else { unreachable!() };
        // printf '{"a":1,"b":"x"}' | sha256sum
        assert_eq!(digest(&object_text(&params)), "ecf9e98ec0641e23113ff3ce8bdc78d0");
    }
}
