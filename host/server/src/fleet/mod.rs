//! Hosts of a fleet: clients reach any of them. A request that concerns a call of another host is answered by that host, and a
//! client's message to a call of a session is passed to the host that waits for it.
//!
//! | file | concept |
//! |---|---|
//! | `message.rs` | what hosts send each other |
//! | `link.rs` | the requests of this host that others answer, and the other way around |
//! | `open_request.rs` | one request that another host answers |
//! | `inbox.rs` | hands the messages of others to whom they are for |

mod inbox;
mod link;
mod message;
mod open_request;

use std::sync::Arc;

use loggia_gate::mail::{HostMail, MailInbox};

pub(crate) use self::{
    inbox::{ForwardedAnswers, SessionMessages, receive_mail},
    link::{AnswerChannel, FleetLink},
    message::{FleetMessage, ForwardedRequest},
    open_request::OpenRequest,
};
pub use message::VersionReport;

/// What makes a host one of several.
pub struct FleetMember {
    /// Sends messages to the others.
    pub mail: Arc<dyn HostMail>,
    /// Messages of the others.
    pub inbox: MailInbox,
    /// Takes what the others serve.
    pub versions: VersionListener,
}

/// Takes what another host serves.
pub type VersionListener = Arc<dyn Fn(VersionReport) + Send + Sync>;
