//! One line for each call that ran, and for each call that it made: what was called, from where, and what came of it.
//! Neither parameters nor results are told. Seen with `LOGGIA_LOG=info,loggia::audit=debug`.

use std::time::Duration;

use loggia_facade::{CallId, Envelope};

/// Tells of a call that has ended.
pub fn audit(id: &CallId, above: Option<&CallId>, facade: &str, envelope: &Envelope, took: Duration) {
    let action = envelope.command.name.as_deref().unwrap_or_default();
    let outcome = envelope.outcome.as_ref().err().map_or("ok", |failure| &failure.code);
    // What a facade calls its failure is its own text.
    let outcome = super::printable(outcome);
    let ms = took.as_millis();
    match above {
        None => tracing::debug!(target: "loggia::audit", %id, ms, "{facade}.{action}: {outcome:.40}"),
        Some(from) => {
            tracing::debug!(target: "loggia::audit", %id, %from, ms, "{facade}.{action}: {outcome:.40}");
        }
    }
}
