//! Why a request brought no answer.

use std::error::Error;

use http::StatusCode;

/// First words of the reason if credentials are missing or wrong.
pub(crate) const REFUSED: &str = "it refused the credentials";

/// Why a request brought no answer: a fragment about the server. Holds no URL, which may contain credentials.
#[derive(Debug, thiserror::Error)]
pub(in crate::connection) enum HttpError {
    /// The client cannot be set up.
    #[error("its address or its headers cannot be used: {0}")]
    Setup(String),
    /// No connection, or one that broke.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// The credentials are missing or wrong.
    #[error("{REFUSED} with HTTP {}", .0.as_u16())]
    Credentials(StatusCode),
    /// Another status than success.
    #[error("it answered with HTTP {}", .0.as_u16())]
    Status(StatusCode),
    /// A redirect, which would carry credentials elsewhere.
    #[error("it redirects to another address; the settings have to name that one")]
    Redirect,
    /// More than the bound.
    #[error("it sent more than {0} bytes in one message")]
    TooLarge(usize),
    /// Neither JSON nor events.
    #[error("its answer is neither JSON nor a stream of events")]
    ContentType,
    /// Something that is no message of MCP.
    #[error("its answer is not an MCP message")]
    Rubbish,
}

impl From<reqwest::Error> for HttpError {
    fn from(error: reqwest::Error) -> Self {
        // The outer texts name the URL.
        Self::Unreachable(innermost(&error.without_url()))
    }
}

/// The text of the error's innermost cause.
pub(in crate::connection) fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    let text = cause.to_string();
    // Some errors name their cause in their own text alone.
    ["Client error: ", "body error: "]
        .iter()
        .fold(&*text, |text, prefix| text.rsplit(prefix).next().unwrap_or(text))
        .to_owned()
}
