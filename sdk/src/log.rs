//! Log lines with `format!`'s arguments: one macro a level.
//!
//! Written out, since a macro that another macro defines cannot be re-exported by the prelude.

/// Writes a line to the host's log: the finest. Takes what `format!` takes.
#[macro_export]
macro_rules! trace {
    ($($argument:tt)+) => { $crate::host::log($crate::Level::Trace, &::std::format!($($argument)+)) };
}

/// Writes a line to the host's log: for the author. Takes what `format!` takes.
#[macro_export]
macro_rules! debug {
    ($($argument:tt)+) => { $crate::host::log($crate::Level::Debug, &::std::format!($($argument)+)) };
}

/// Writes a line to the host's log: for the operator. Takes what `format!` takes.
#[macro_export]
macro_rules! info {
    ($($argument:tt)+) => { $crate::host::log($crate::Level::Info, &::std::format!($($argument)+)) };
}

/// Writes a line to the host's log: something is odd. Takes what `format!` takes.
#[macro_export]
macro_rules! warn {
    ($($argument:tt)+) => { $crate::host::log($crate::Level::Warn, &::std::format!($($argument)+)) };
}

/// Writes a line to the host's log: something is wrong. Takes what `format!` takes.
#[macro_export]
macro_rules! error {
    ($($argument:tt)+) => { $crate::host::log($crate::Level::Error, &::std::format!($($argument)+)) };
}
