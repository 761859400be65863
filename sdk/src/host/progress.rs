//! Progress of the running call, and whether its caller still waits.

/// Reports progress to the caller. See [`Call::progress`](crate::Call::progress).
pub fn progress(done: f64, total: Option<f64>, message: Option<&str>) {
    port::progress(done, total, message);
}

/// Tests whether the caller has disconnected or cancelled the call.
pub fn is_cancelled() -> bool {
    port::is_cancelled()
}

#[cfg(target_family = "wasm")]
mod port {
    use crate::bindings::loggia::plugin::host;

    pub fn progress(done: f64, total: Option<f64>, message: Option<&str>) {
        host::progress(done, total, message);
    }

    pub fn is_cancelled() -> bool {
        host::cancelled()
    }
}

#[cfg(not(target_family = "wasm"))]
mod port {
    use crate::testing::{Host, current};

    pub fn progress(done: f64, total: Option<f64>, message: Option<&str>) {
        current(|host| host.progress.push((done, total, message.map(str::to_owned))));
    }

    pub fn is_cancelled() -> bool {
        current(|host| host.cancelled).unwrap_or_default()
    }

    impl Host {
        /// Marks the call as cancelled by its caller.
        #[must_use]
        pub fn cancelled(self) -> Self {
            self.with(|host| host.cancelled = true)
        }

        /// The progress it reported: done, total, message.
        pub fn progress(&self) -> Vec<(f64, Option<f64>, Option<String>)> {
            self.double().progress.clone()
        }
    }
}
