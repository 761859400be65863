//! Messages between the hosts of a fleet, which the host supplies.

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

/// Exchange of messages with the hosts that share the journal. A message arrives at most once; those of one host arrive at
/// another in their order.
pub trait HostMail: Send + Sync + 'static {
    /// Address of this host: letters and digits.
    fn address(&self) -> &str;

    /// Sends a message. The future resolves to false if no such host lives, or messages cannot be sent.
    fn send(&self, to: &str, message: Vec<u8>) -> BoxFuture<'static, bool>;

    /// Sends a message to all other hosts, without waiting for it.
    fn send_all(&self, message: Vec<u8>);
}

/// Messages of other hosts.
pub type MailInbox = mpsc::Receiver<Vec<u8>>;
