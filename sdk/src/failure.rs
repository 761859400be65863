//! Failures of actions.

use std::{
    any::Any,
    error::Error,
    fmt, io, num,
    ops::{Deref, DerefMut},
    str, string,
    time::Duration,
};

use serde::Serialize;

use crate::{Next, Value};

/// Codes that the host knows. A plugin may use others.
pub mod code {
    /// Invalid parameters.
    pub const INVALID_PARAMS: &str = "invalid_params";
    /// Something named in the call does not exist.
    pub const NOT_FOUND: &str = "not_found";
    /// Not allowed.
    pub const DENIED: &str = "denied";
    /// A concurrent change, or something exists already.
    pub const CONFLICT: &str = "conflict";
    /// Temporarily unavailable.
    pub const UNAVAILABLE: &str = "unavailable";
    /// Timeout.
    pub const TIMED_OUT: &str = "timed_out";
    /// The caller disconnected or cancelled.
    pub const CANCELLED: &str = "cancelled";
    /// A fault of the plugin.
    pub const INTERNAL: &str = "internal";
    /// Malformed data: invalid UTF-8 or JSON. Specific to the SDK; the host passes it on.
    pub const INVALID_DATA: &str = "invalid_data";
}

/// A failed call, with a message that helps the caller to correct it.
///
/// ```
/// # use loggia_sdk::prelude::*;
/// fn find(id: &str) -> Result<String> {
///     Err(Failure::not_found(format!("not found: there is no note `{id}`")).hint("`list` shows the notes there are"))
/// }
/// ```
///
/// `?` converts every error of the standard library and of any other crate: see [`From`].
///
/// Small, so that a `Result` with it is cheap to return; its fields are those of [`Parts`].
#[derive(Debug, Clone, PartialEq)]
pub struct Failure(Box<Parts>);

/// The fields of a [`Failure`].
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Parts {
    /// One of [`code`], or the plugin's own.
    pub code: String,
    /// Starts with a standard phrase: "not found", "access denied", "`name` is required".
    pub message: String,
    /// Remedy.
    pub hint: Option<String>,
    /// Details for programs.
    pub details: Option<Value>,
    /// Delay after which a retry may succeed.
    pub retry_after: Option<Duration>,
    /// A call that recovers from the failure.
    pub next: Option<Next>,
    /// Signature of the called action. The host sets it; a facade that passes on another's failure keeps it.
    pub expected: Option<String>,
    /// Valid arguments, set by the host like `expected`.
    pub example: Option<Value>,
}

/// One constructor a code.
macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident = $code:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(message: impl Into<String>) -> Self {
            Self::new(code::$code, message)
        })*
    };
}

impl Failure {
    /// A failure of this code, with this message.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self(Box::new(Parts { code: code.into(), message: message.into(), ..Parts::default() }))
    }

    constructors! {
        /// Invalid parameters.
        invalid_params = INVALID_PARAMS;
        /// Something named in the call does not exist.
        not_found = NOT_FOUND;
        /// Not allowed.
        denied = DENIED;
        /// A concurrent change, or something exists already.
        conflict = CONFLICT;
        /// Temporarily unavailable.
        unavailable = UNAVAILABLE;
        /// Timeout.
        timed_out = TIMED_OUT;
        /// A fault of the plugin.
        internal = INTERNAL;
        /// Malformed data.
        invalid_data = INVALID_DATA;
    }

    /// The caller disconnected or cancelled.
    pub fn cancelled() -> Self {
        Self::new(code::CANCELLED, "cancelled")
    }

    /// Adds a remedy.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds details for programs. Values that cannot be JSON are omitted.
    #[must_use]
    pub fn details(mut self, details: impl Serialize) -> Self {
        self.details = serde_json::to_value(details).ok();
        self
    }

    /// Sets the delay after which a retry may succeed.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Sets a call that recovers from the failure.
    #[must_use]
    pub fn next(mut self, next: Next) -> Self {
        self.next = Some(next);
        self
    }

    /// Adds the subject after the standard phrase: "not found: `a.txt`".
    ///
    /// ```
    /// # use loggia_sdk::prelude::*;
    /// fn read(path: &str) -> Result<String> {
    ///     std::fs::read_to_string(path).map_err(|error| Failure::from(error).about(path))
    /// }
    /// # assert_eq!(read("nowhere").unwrap_err().message, "not found: nowhere");
    /// ```
    #[must_use]
    pub fn about(mut self, subject: impl fmt::Display) -> Self {
        self.message = format!("{}: {subject}", self.message);
        self
    }

    /// The fields, to be taken apart.
    pub fn into_parts(self) -> Parts {
        *self.0
    }
}

impl Deref for Failure {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl DerefMut for Failure {
    fn deref_mut(&mut self) -> &mut Parts {
        &mut self.0
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

// `Failure` is no `std::error::Error` itself, as that would forbid this.
impl<E: Error + 'static> From<E> for Failure {
    /// Converts errors. Those of `std::io` become `not_found`, `denied`, `conflict`, … with a standard sentence without
    /// host paths; numbers that do not parse become `invalid_params`; invalid UTF-8 and JSON, `invalid_data`; all
    /// others `internal`, with the error's own message.
    fn from(error: E) -> Self {
        let any: &dyn Any = &error;
        if let Some(error) = any.downcast_ref::<io::Error>() {
            return from_io(error);
        }
        if any.is::<num::ParseIntError>() || any.is::<num::ParseFloatError>() {
            return Self::invalid_params(format!("not a number: {error}"));
        }
        if any.is::<num::TryFromIntError>() {
            return Self::invalid_params("the number is too large or too small");
        }
        if any.is::<str::ParseBoolError>() || any.is::<std::char::ParseCharError>() {
            return Self::invalid_params(error.to_string());
        }
        if any.is::<str::Utf8Error>() || any.is::<string::FromUtf8Error>() {
            return Self::invalid_data("not text: it is not valid UTF-8");
        }
        if any.is::<serde_json::Error>() {
            return Self::invalid_data(format!("not valid JSON: {error}"));
        }
        Self::internal(error.to_string())
    }
}

fn from_io(error: &io::Error) -> Failure {
    use io::ErrorKind as Kind;
    let (code, sentence) = match error.kind() {
        Kind::NotFound => (code::NOT_FOUND, "not found"),
        Kind::PermissionDenied => (code::DENIED, "access denied"),
        Kind::ReadOnlyFilesystem => (code::DENIED, "access denied: read-only"),
        Kind::AlreadyExists => (code::CONFLICT, "already exists"),
        Kind::DirectoryNotEmpty => (code::CONFLICT, "the directory is not empty"),
        Kind::NotADirectory => (code::INVALID_PARAMS, "not a directory"),
        Kind::IsADirectory => (code::INVALID_PARAMS, "it is a directory"),
        Kind::InvalidInput | Kind::InvalidFilename => (code::INVALID_PARAMS, "not valid here"),
        Kind::CrossesDevices => (code::INVALID_PARAMS, "cannot be moved to another device"),
        Kind::InvalidData => (code::INVALID_DATA, "not text: it is not valid UTF-8"),
        Kind::UnexpectedEof => (code::INVALID_DATA, "it ends too soon"),
        Kind::TimedOut => (code::TIMED_OUT, "timed out"),
        Kind::WouldBlock | Kind::ResourceBusy | Kind::ExecutableFileBusy => {
            (code::UNAVAILABLE, "busy: try again")
        }
        Kind::StorageFull | Kind::QuotaExceeded => (code::UNAVAILABLE, "no space left"),
        Kind::FileTooLarge => (code::UNAVAILABLE, "too large"),
        Kind::ConnectionRefused | Kind::ConnectionReset | Kind::ConnectionAborted | Kind::NotConnected => {
            (code::UNAVAILABLE, "cannot be reached")
        }
        Kind::HostUnreachable | Kind::NetworkUnreachable | Kind::NetworkDown => {
            (code::UNAVAILABLE, "cannot be reached")
        }
        Kind::Unsupported => (code::INTERNAL, "not supported here"),
        _ => return Failure::internal(without_number(&error.to_string())),
    };
    // A custom error has its own message.
    let message = error.get_ref().map_or_else(|| sentence.to_owned(), |own| format!("{sentence}: {own}"));
    Failure::new(code, message)
}

/// `Too many links (os error 34)` → `Too many links`.
fn without_number(text: &str) -> &str {
    text.split_once(" (os error").map_or(text, |(text, _)| text)
}
