//! The adapter of the gate's port.

use std::{
    io,
    sync::{Mutex, PoisonError},
    thread::{self, JoinHandle},
};

use futures_util::{FutureExt, future, future::BoxFuture};
use loggia_gate::mail::{HostMail, MailInbox};
use tokio::sync::{mpsc, oneshot};

use super::{
    receiving,
    sending::{self, OutgoingMail},
};
use crate::access::DatabaseAccess;

/// Messages that wait to be sent. Further ones are refused.
const MAX_WAITING: usize = 1024;
/// Messages that wait for this host to handle them. Further ones stay in the table.
const MAX_ARRIVED: usize = 64;

/// Messages between hosts in PostgreSQL. A thread of its own holds the connections; dropping it closes them.
pub struct PostgresMail {
    host: String,
    /// `None` only while it is dropped.
    queue: Option<mpsc::Sender<OutgoingMail>>,
    /// Locked only to end the thread.
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl PostgresMail {
    /// Starts the exchange of messages for a host that has a lease. Connects in the background, again and again if need be.
    ///
    /// # Errors
    ///
    /// If no thread can be started.
    pub fn start(access: DatabaseAccess, host: &str) -> io::Result<(Self, MailInbox)> {
        let (queue, outgoing) = mpsc::channel(MAX_WAITING);
        let (arrived, inbox) = mpsc::channel(MAX_ARRIVED);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let own = host.to_owned();
        let thread = thread::Builder::new().name("loggia-mail".into()).spawn(move || {
            runtime.block_on(async move {
                let receiving = receiving::receive(&access, &own, arrived);
                tokio::select! {
                    () = sending::send_queued(&access, &own, outgoing) => {}
                    () = async { receiving.await; future::pending().await } => {}
                }
            });
        })?;
        Ok((Self { host: host.to_owned(), queue: Some(queue), thread: Mutex::new(Some(thread)) }, inbox))
    }

    fn enqueue(&self, to: Option<&str>, message: Vec<u8>) -> oneshot::Receiver<bool> {
        let (sent, answer) = oneshot::channel();
        let mail = OutgoingMail { to: to.map(str::to_owned), message, sent };
        // If the queue is full, the answer is an error.
        let _ = self.queue.as_ref().map(|queue| queue.try_send(mail));
        answer
    }
}

impl HostMail for PostgresMail {
    fn address(&self) -> &str {
        &self.host
    }

    fn send(&self, to: &str, message: Vec<u8>) -> BoxFuture<'static, bool> {
        let answer = self.enqueue(Some(to), message);
        async move { answer.await.unwrap_or(false) }.boxed()
    }

    fn send_all(&self, message: Vec<u8>) {
        drop(self.enqueue(None, message));
    }
}

impl Drop for PostgresMail {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            // It only fails if the thread panicked, which it has reported.
            let _ = thread.join();
        }
    }
}
