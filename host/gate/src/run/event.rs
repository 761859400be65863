//! What a call tells whoever follows it.

use std::collections::BTreeMap;

use loggia_facade::{Envelope, Progress, Question};

/// What a follower is told.
pub enum Event {
    /// The call has come further. Only the latest is told.
    Progress(Progress),
    /// The call waits for a person. A map, since parallel branches may ask together; all open questions are in it.
    Asks(BTreeMap<String, Question>),
    /// The call has ended; nothing follows.
    Done(Box<Envelope>),
}
