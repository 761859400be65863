//! Errors of requests. Texts are for the model: no paths, no secrets, no resolved addresses.

use std::time::Duration;

use crate::{MissingCredential, RequestRefusal};

/// Error of a request or of its response's body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The policy refuses the request.
    #[error("access denied: {0}")]
    Denied(#[from] RequestRefusal),
    /// The call has sent as many requests as it may.
    #[error("a call may send {0} requests at most")]
    TooMany(usize),
    /// The name could not be resolved.
    #[error("the name `{0}` could not be resolved")]
    Dns(String),
    /// No address of the host accepts a connection.
    #[error("no connection to {0}")]
    Connect(String),
    /// The TLS handshake failed.
    #[error("no secure connection to {to}: {why}")]
    Tls {
        /// Scheme, host and port.
        to: String,
        /// Cause.
        why: TlsFault,
    },
    /// Timeout.
    #[error("timed out {0}")]
    Timeout(ExchangePhase),
    /// A size limit was exceeded.
    #[error("the {what} is larger than {limit} bytes")]
    TooLarge {
        /// Part that is too large.
        what: MessagePart,
        /// Limit in bytes.
        limit: usize,
    },
    /// A secret that belongs to the request cannot be used; the log says why.
    #[error("the operator's secret for `{0}` cannot be used; the server's log has the reason")]
    Secret(String),
    /// The request needs the caller's own credential.
    #[error("requests to `{host}` need the caller's own credential, {why}")]
    Credential {
        /// Host of the request.
        host: String,
        /// Reason why there is none.
        why: MissingCredential,
    },
    /// A response to a plugin with secrets is compressed although identity encoding was requested: it cannot be searched for
    /// secrets.
    #[error(
        "the response is compressed despite `Accept-Encoding: identity`, which a plugin with a secret needs"
    )]
    Encoded,
    /// The response is not HTTP, or HTTP that is not accepted.
    #[error("the response is not valid: {0}")]
    Protocol(&'static str),
    /// The connection closed before the response was complete.
    #[error("the connection closed before the response was complete")]
    Closed,
    /// The guest's body failed.
    #[error("the request's body is incomplete")]
    Body,
}

impl SendError {
    /// Word for the kind of error, without anything of the request.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Denied(_) => "denied",
            Self::TooMany(_) => "too_many",
            Self::Dns(_) => "dns",
            Self::Connect(_) => "connect",
            Self::Tls { .. } => "tls",
            Self::Timeout(_) => "timeout",
            Self::TooLarge { .. } => "too_large",
            Self::Secret(_) => "secret",
            Self::Credential { .. } => "credential",
            Self::Encoded => "encoded",
            Self::Protocol(_) => "protocol",
            Self::Closed => "closed",
            Self::Body => "body",
        }
    }

    /// Tests whether a retry may succeed.
    pub fn can_retry(&self) -> bool {
        matches!(self, Self::Dns(_) | Self::Connect(_) | Self::Timeout(_) | Self::Closed)
    }
}

/// Cause of a failed TLS handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TlsFault {
    /// The certificate is for another name.
    #[error("its certificate is for another name")]
    Name,
    /// The certificate is not yet or no longer valid.
    #[error("its certificate is not valid at this time")]
    Time,
    /// The certificate's issuer is not trusted.
    #[error("its certificate is not from a trusted authority")]
    Issuer,
    /// Another fault of the certificate.
    #[error("its certificate is not valid")]
    Certificate,
    /// This machine's list of authorities cannot be read.
    #[error("this machine's list of trusted authorities cannot be read")]
    Roots,
    /// The host speaks no TLS, or no common version.
    #[error("the TLS handshake failed")]
    Handshake,
}

/// Phase of an exchange that timed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExchangePhase {
    /// Waiting for a permit.
    #[error("waiting for the call's other requests to end")]
    Queue,
    /// Resolving, connecting and TLS.
    #[error("connecting")]
    Connect,
    /// Until the head of the response.
    #[error("waiting for the answer to begin")]
    FirstByte,
    /// Between two parts of the body.
    #[error("waiting for more of the answer")]
    BetweenBytes,
    /// The whole exchange.
    #[error("before the exchange was complete")]
    Total,
}

/// Part of a request or response that is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MessagePart {
    /// URL and headers of the request.
    #[error("request's head")]
    RequestHead,
    /// The request's body.
    #[error("request's body")]
    Request,
    /// Status and headers of the response.
    #[error("response's head")]
    ResponseHead,
    /// The response's body.
    #[error("response's body")]
    Response,
}

/// Timeouts that the guest sets. Each counts only where it is shorter than the host's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SendTimeouts {
    /// Until connected; the host's is five seconds.
    pub connect: Option<Duration>,
    /// From then until the response's head.
    pub first_byte: Option<Duration>,
    /// Between two parts of the response's body.
    pub between_bytes: Option<Duration>,
}
