//! Runtimes that serve clients.

use std::{io, num::NonZero, thread::available_parallelism};

use tokio::runtime::{Builder, Runtime};

/// Creates the runtime that serves one client, with one thread: a message then wakes no other one to wait in its place.
///
/// # Errors
///
/// If threads cannot be started.
pub fn io_runtime() -> io::Result<Runtime> {
    build(1)
}

/// Creates the runtime that serves many clients, or one with long messages.
///
/// # Errors
///
/// If threads cannot be started.
pub fn shared_io_runtime() -> io::Result<Runtime> {
    build(available_parallelism().map_or(1, NonZero::get))
}

fn build(threads: usize) -> io::Result<Runtime> {
    Builder::new_multi_thread().thread_name("loggia-io").worker_threads(threads).enable_all().build()
}
