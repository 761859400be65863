//! Log lines with `format!`'s arguments: one macro a level.
//!
//! Written out, since a macro that another macro defines cannot be re-exported by the prelude.

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
