//! The requests of this host that others answer, and those of others that this one answers.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use loggia_gate::mail::HostMail;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::message::{FleetMessage, LinkEvent};

/// A host and the number of a request of its.
type RequestKey = (String, u64);

/// This host's connection with the others.
pub(crate) struct FleetLink {
    mail: Arc<dyn HostMail>,
    next: AtomicU64,
    /// Requests that other hosts answer, by their numbers. Locked for one lookup, insertion or removal, as is the next.
    open: Mutex<HashMap<u64, mpsc::Sender<LinkEvent>>>,
    /// Requests of others that this host answers.
    answered: Mutex<HashMap<RequestKey, CancellationToken>>,
}

impl FleetLink {
    /// Creates the connection.
    pub(crate) fn new(mail: Arc<dyn HostMail>) -> Self {
        Self { mail, next: AtomicU64::new(1), open: Mutex::default(), answered: Mutex::default() }
    }

    /// Address of this host.
    pub(crate) fn address(&self) -> &str {
        self.mail.address()
    }

    /// Sends a message. Returns false if no such host lives.
    pub(crate) async fn send(&self, to: &str, message: &FleetMessage) -> bool {
        self.mail.send(to, message.to_bytes()).await
    }

    /// Sends a message without waiting for it.
    pub(crate) fn post(&self, to: &str, message: &FleetMessage) {
        drop(self.mail.send(to, message.to_bytes()));
    }

    /// Sends a message to all other hosts.
    pub(crate) fn send_all(&self, message: &FleetMessage) {
        self.mail.send_all(message.to_bytes());
    }

    /// Opens a channel for a request.
    pub(super) fn open_channel(&self, events: mpsc::Sender<LinkEvent>) -> u64 {
        let channel = self.next.fetch_add(1, Ordering::Relaxed);
        self.channels().insert(channel, events);
        channel
    }

    pub(super) fn close_channel(&self, channel: u64) {
        self.channels().remove(&channel);
    }

    /// Delivers an event to a request of this host. Events of a request that has ended are dropped, and so are those that its
    /// client does not read: the request then finds out that it is no longer answered.
    pub(super) fn deliver(&self, channel: u64, event: LinkEvent) {
        if let Some(events) = self.channels().get(&channel) {
            let _ = events.try_send(event);
        }
    }

    /// Registers a request of another host, until the result is dropped.
    pub(super) fn answer(self: &Arc<Self>, from: String, channel: u64) -> AnswerChannel {
        let cancel = CancellationToken::new();
        self.answers().insert((from.clone(), channel), cancel.clone());
        AnswerChannel { link: Arc::clone(self), from, channel, cancel }
    }

    pub(super) fn is_answering(&self, from: &str, channel: u64) -> bool {
        self.answers().contains_key(&(from.to_owned(), channel))
    }

    pub(super) fn cancel(&self, from: String, channel: u64) {
        if let Some(cancel) = self.answers().get(&(from, channel)) {
            cancel.cancel();
        }
    }

    fn channels(&self) -> MutexGuard<'_, HashMap<u64, mpsc::Sender<LinkEvent>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<RequestKey, CancellationToken>> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request of another host that this host answers.
pub(crate) struct AnswerChannel {
    link: Arc<FleetLink>,
    from: String,
    channel: u64,
    /// Cancelled when its client has gone.
    pub(crate) cancel: CancellationToken,
}

impl AnswerChannel {
    /// Sends a notification, or the response. Returns false if the other host has ended.
    pub(crate) async fn send(&self, message: Value) -> bool {
        self.link.send(&self.from, &FleetMessage::Event { channel: self.channel, message }).await
    }
}

impl Drop for AnswerChannel {
    fn drop(&mut self) {
        self.link.answers().remove(&(std::mem::take(&mut self.from), self.channel));
    }
}
