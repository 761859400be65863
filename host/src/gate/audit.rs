//! One line for each call that ran, and for each call that it made: what was called, from where, and what came of it.
//! Neither parameters nor results are told. Seen with `LOGGIA_LOG=info,loggia::audit=debug`.

use loggia_facade::{CallId, Envelope, code};
use tokio::time::Instant;

/// A call that runs. Its line is told when it ends, also where it is dropped: what it did stays done.
pub struct Audit {
    id: CallId,
    above: Option<CallId>,
    facade: String,
    action: String,
    began: Instant,
    told: bool,
}

impl Audit {
    /// A call begins, made by the one above it.
    pub fn begin(id: &CallId, above: Option<&CallId>, facade: &str, action: &str) -> Self {
        let (id, above) = (id.clone(), above.cloned());
        Self {
            id,
            above,
            facade: facade.to_owned(),
            action: action.to_owned(),
            began: Instant::now(),
            told: false,
        }
    }

    /// It ends with this.
    pub fn end(mut self, envelope: &Envelope) {
        self.tell(envelope.outcome.as_ref().err().map_or("ok", |failure| &failure.code));
    }

    fn tell(&mut self, outcome: &str) {
        self.told = true;
        let Self { id, facade, action, .. } = &*self;
        // What a facade calls its failure is its own text.
        let outcome = super::printable(outcome);
        let ms = self.began.elapsed().as_millis();
        match &self.above {
            None => tracing::debug!(target: "loggia::audit", %id, ms, "{facade}.{action}: {outcome:.40}"),
            Some(from) => {
                tracing::debug!(target: "loggia::audit", %id, %from, ms, "{facade}.{action}: {outcome:.40}");
            }
        }
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        if !self.told {
            self.tell(code::CANCELLED);
        }
    }
}
