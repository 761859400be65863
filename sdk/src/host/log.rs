//! The host's log.

/// The weight of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Finest.
    Trace,
    /// For the plugin's author.
    Debug,
    /// For the operator.
    Info,
    /// Something is odd.
    Warn,
    /// Something is wrong.
    Error,
}

/// Writes a line to the host's log, under the facade's name. See also [`info!`](crate::info) and its neighbours.
pub fn log(level: Level, message: &str) {
    port::log(level, message);
}

#[cfg(target_family = "wasm")]
mod port {
    use super::Level;
    use crate::bindings::loggia::plugin::host;

    pub fn log(level: Level, message: &str) {
        let level = match level {
            Level::Trace => host::Level::Trace,
            Level::Debug => host::Level::Debug,
            Level::Info => host::Level::Info,
            Level::Warn => host::Level::Warn,
            Level::Error => host::Level::Error,
        };
        host::log(level, message);
    }
}

#[cfg(not(target_family = "wasm"))]
mod port {
    use super::Level;
    use crate::testing::{Host, current};

    pub fn log(level: Level, message: &str) {
        current(|host| host.logs.push((level, message.to_owned())));
    }

    impl Host {
        /// The lines that the plugin logged.
        pub fn logs(&self) -> Vec<(Level, String)> {
            self.double().logs.clone()
        }
    }
}

// The macros are written out, since one that another macro defines cannot be re-exported by the prelude.

/// Writes a line to the host's log at level trace. Takes the arguments of `format!`.
#[macro_export]
macro_rules! trace {
    ($($argument:tt)+) => { $crate::host::log($crate::Level::Trace, &::std::format!($($argument)+)) };
}

/// Writes a line to the host's log at level debug, for the author. Takes the arguments of `format!`.
#[macro_export]
macro_rules! debug {
    ($($argument:tt)+) => { $crate::host::log($crate::Level::Debug, &::std::format!($($argument)+)) };
}

/// Writes a line to the host's log at level info, for the operator. Takes the arguments of `format!`.
#[macro_export]
macro_rules! info {
    ($($argument:tt)+) => { $crate::host::log($crate::Level::Info, &::std::format!($($argument)+)) };
}

/// Writes a line to the host's log at level warn. Takes the arguments of `format!`.
#[macro_export]
macro_rules! warn {
    ($($argument:tt)+) => { $crate::host::log($crate::Level::Warn, &::std::format!($($argument)+)) };
}

/// Writes a line to the host's log at level error. Takes the arguments of `format!`.
#[macro_export]
macro_rules! error {
    ($($argument:tt)+) => { $crate::host::log($crate::Level::Error, &::std::format!($($argument)+)) };
}
