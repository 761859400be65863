//! Events of a call.

use std::collections::BTreeMap;

use loggia_facade::{Envelope, Progress, Question};

/// Event that a follower of a call receives.
pub enum CallEvent {
    /// Progress. Coalesced: only the latest is delivered.
    Progress(Progress),
    /// The call waits for a person. Holds all open questions by their keys, since parallel branches may ask together.
    Asks(BTreeMap<String, Question>),
    /// The call waits for a person whom its client cannot ask. It may take long: whoever follows it should detach it as a run.
    AwaitsApproval,
    /// The call has ended. The last event.
    Done(Box<Envelope>),
}
