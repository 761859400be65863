//! Why a request brought no answer. Texts are for the model: no paths, no secrets, no resolved addresses.

use std::time::Duration;

use crate::Refusal;

/// Why a request brought no answer, or its answer broke off.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The policy does not allow it.
    #[error("access denied: {0}")]
    Denied(#[from] Refusal),
    /// This call has sent all that it may.
    #[error("a call may send {0} requests at most")]
    TooMany(usize),
    /// The name could not be looked up.
    #[error("the name `{0}` could not be resolved")]
    Dns(String),
    /// No address of the host takes a connection.
    #[error("no connection to {0}")]
    Connect(String),
    /// The host could not prove that it is the one, or speaks no TLS that we do.
    #[error("no secure connection to {to}: {why}")]
    Tls {
        /// Scheme, host and port.
        to: String,
        /// What failed.
        why: TlsFault,
    },
    /// It took too long.
    #[error("timed out {0}")]
    Timeout(Phase),
    /// More bytes than allowed.
    #[error("the {what} is larger than {limit} bytes")]
    TooLarge {
        /// What is.
        what: Part,
        /// Allowed bytes.
        limit: usize,
    },
    /// A secret that belongs to the request cannot be used; the log says why.
    #[error("the operator's secret for `{0}` cannot be used; its operator finds the reason in the log")]
    Secret(String),
    /// An answer to a plugin that has secrets is compressed although plain text was asked for, so that no secret could be
    /// found in it.
    #[error("the answer is compressed although plain text was asked for, which a plugin with a secret needs")]
    Encoded,
    /// What came back is no HTTP, or HTTP that is not taken.
    #[error("the answer is not valid: {0}")]
    Protocol(&'static str),
    /// The connection ended before the answer did.
    #[error("the connection closed before the answer was complete")]
    Closed,
    /// The guest's body broke off.
    #[error("the request's body broke off")]
    Body,
}

impl SendError {
    /// Whether sending the same request again may work.
    pub fn can_retry(&self) -> bool {
        matches!(self, Self::Dns(_) | Self::Connect(_) | Self::Timeout(_) | Self::Closed)
    }
}

/// What failed about TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TlsFault {
    /// For another name.
    #[error("its certificate is for another name")]
    Name,
    /// Not yet or no longer valid.
    #[error("its certificate is not valid at this time")]
    Time,
    /// Signed by nobody we trust.
    #[error("its certificate is not from a trusted authority")]
    Issuer,
    /// Another fault of the certificate.
    #[error("its certificate is not valid")]
    Certificate,
    /// This machine has no list of authorities that can be read.
    #[error("this machine's list of trusted authorities cannot be read")]
    Roots,
    /// No TLS, or none that we share.
    #[error("the TLS handshake failed")]
    Handshake,
}

/// What took too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Phase {
    /// Too many others at once.
    #[error("waiting for the call's other requests to end")]
    Queue,
    /// Resolving, connecting and TLS.
    #[error("connecting")]
    Connect,
    /// Until the head of the answer.
    #[error("waiting for the answer to begin")]
    FirstByte,
    /// Between two parts of the body.
    #[error("waiting for more of the answer")]
    BetweenBytes,
    /// All of it.
    #[error("before the exchange was complete")]
    Total,
}

/// What is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Part {
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

/// How long the guest wants to wait. Each counts only where it is shorter than the host's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// Until connected; the host's own is five seconds.
    pub connect: Option<Duration>,
    /// From then until the answer's head.
    pub first_byte: Option<Duration>,
    /// Between two parts of the answer's body.
    pub between_bytes: Option<Duration>,
}
