//! The thread of the connections.

use std::{
    future::Future,
    io,
    sync::mpsc,
    thread::{self, JoinHandle},
};

use loggia_state::{StateClock, StateError};
use tokio::{runtime::Handle, sync::oneshot};

use super::pool::SessionPool;
use crate::access::DatabaseAccess;

/// The thread that runs the connections. It ends with the last store.
pub(crate) struct StoreThread {
    pub pool: SessionPool,
    handle: Handle,
    clock: Option<StateClock>,
    /// `None` only while it is dropped.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl StoreThread {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// If the system has no more threads.
    pub(crate) fn start(access: DatabaseAccess, clock: Option<StateClock>) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = thread::Builder::new().name("loggia-state".into()).spawn(move || {
            // Ends when the sender is dropped, which never sends.
            let _ = runtime.block_on(stopped);
        })?;
        Ok(Self { pool: SessionPool::new(access), handle, clock, stop: Some(stop), thread: Some(thread) })
    }

    /// Runs work on the thread, and waits for it.
    pub(crate) fn block<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, StateError>> + Send + 'static,
    ) -> Result<T, StateError> {
        let (reply, answer) = mpsc::sync_channel(1);
        self.handle.spawn(async move {
            // Whoever asked waits for it.
            let _ = reply.send(work.await);
        });
        answer.recv().unwrap_or_else(|_| Err(StateError::Storage("its thread has ended".to_owned())))
    }

    /// The time of a test's clock, in milliseconds since 1970; `None`: that of the server.
    pub(crate) fn now(&self) -> Option<i64> {
        self.clock.as_ref().map(|clock| i64::try_from(clock()).unwrap_or(i64::MAX))
    }
}

impl Drop for StoreThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It only fails if the thread panicked, which it has reported.
            let _ = thread.join();
        }
    }
}
