//! Progress and cancellation of a call. Needs no grant.

use loggia_facade::{Progress, Session};

/// Characters of a progress message; the rest is cut off.
const MESSAGE: usize = 500;

/// Reports progress, if the number is one that JSON can carry. A long message is cut: a client shows one line.
pub(crate) fn report(session: Option<&Session>, progress: Progress) {
    let Progress { done, total, message } = progress;
    if let Some(session) = session.filter(|_| done.is_finite()) {
        let total = total.filter(|total| total.is_finite());
        let message = message.map(|message| message.chars().take(MESSAGE).collect());
        session.progress(Progress { done, total, message });
    }
}

pub(crate) fn is_cancelled(session: Option<&Session>) -> bool {
    session.is_some_and(|session| session.is_cancelled())
}
