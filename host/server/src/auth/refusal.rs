//! Responses to unauthenticated requests (RFC 6750 §3, RFC 9728 §5.1).

use std::{fmt, sync::Arc};

use axum::{
    http::{
        HeaderValue, StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
    },
    response::{IntoResponse, Response},
};
use serde_json::json;

/// `Retry-After` while the keys are not available.
const RETRY_SECONDS: &str = "5";

/// Why a request is refused. The texts contain nothing of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefusalReason {
    /// No credentials.
    Missing,
    /// Malformed credentials.
    Malformed(&'static str),
    /// The token is in the URL.
    InUrl,
    /// The token is invalid, expired or revoked.
    Invalid(&'static str),
    /// The token has no scopes of this server.
    Scope,
    /// The keys have not been fetched yet.
    NotReady,
}

impl RefusalReason {
    /// Returns the status of the response.
    pub fn status(&self) -> StatusCode {
        match self {
            // 401 makes clients authenticate, which is right for a token in the URL, too.
            Self::Missing | Self::InUrl | Self::Invalid(_) => StatusCode::UNAUTHORIZED,
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::Scope => StatusCode::FORBIDDEN,
            Self::NotReady => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Returns the label for metrics.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Malformed(_) => "malformed",
            Self::InUrl => "in_url",
            Self::Invalid(_) => "invalid_token",
            Self::Scope => "insufficient_scope",
            Self::NotReady => "not_ready",
        }
    }

    /// Returns the error code of RFC 6750; `None` if no credentials were sent.
    fn error(&self) -> Option<&'static str> {
        match self {
            Self::Missing | Self::NotReady => None,
            Self::Malformed(_) | Self::InUrl => Some("invalid_request"),
            Self::Invalid(_) => Some("invalid_token"),
            Self::Scope => Some("insufficient_scope"),
        }
    }
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("send a token in the header Authorization: Bearer"),
            Self::Malformed(why) | Self::Invalid(why) => f.write_str(why),
            Self::InUrl => {
                f.write_str("send the token in the header Authorization: Bearer, never in the URL")
            }
            Self::Scope => f.write_str("the token has no scopes of this server"),
            Self::NotReady => f.write_str("the token keys are not available yet; try again"),
        }
    }
}

/// Common part of all challenges: the URL of the metadata, and the scopes to request.
#[derive(Debug, Default)]
pub(super) struct AuthChallenge {
    metadata: Option<String>,
    scopes: String,
}

impl AuthChallenge {
    /// Creates the challenge of a server with metadata at this URL.
    pub fn with_metadata(metadata: &str, scopes: &[String]) -> Self {
        Self { metadata: Some(metadata.to_owned()), scopes: scopes.join(" ") }
    }

    fn header(&self, reason: &RefusalReason) -> String {
        let mut header = "Bearer realm=\"loggia\"".to_owned();
        let mut add = |name: &str, value: &str| header.push_str(&format!(", {name}=\"{}\"", quotable(value)));
        if let Some(url) = &self.metadata {
            add("resource_metadata", url);
        }
        if let Some(error) = reason.error() {
            add("error", error);
            add("error_description", &reason.to_string());
        }
        if !self.scopes.is_empty() {
            add("scope", &self.scopes);
        }
        header
    }
}

/// Drops characters that are not allowed in a quoted string or an `error_description`.
fn quotable(text: &str) -> String {
    text.chars().filter(|c| matches!(c, ' '..='~') && !matches!(c, '"' | '\\')).collect()
}

/// Response to an unauthenticated request.
#[derive(Debug, Clone)]
pub struct AuthRefusal {
    reason: RefusalReason,
    challenge: Arc<AuthChallenge>,
}

impl AuthRefusal {
    pub(super) fn new(reason: RefusalReason, challenge: Arc<AuthChallenge>) -> Self {
        Self { reason, challenge }
    }

    /// Returns the reason.
    pub fn reason(&self) -> &RefusalReason {
        &self.reason
    }
}

impl IntoResponse for AuthRefusal {
    fn into_response(self) -> Response {
        let reason = &self.reason;
        let error = reason.error().unwrap_or(match reason {
            RefusalReason::NotReady => "temporarily_unavailable",
            _ => "unauthorized",
        });
        let body = json!({ "error": error, "error_description": reason.to_string() });
        let mut response = (reason.status(), body.to_string()).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if *reason == RefusalReason::NotReady {
            headers.insert(RETRY_AFTER, HeaderValue::from_static(RETRY_SECONDS));
        } else {
            let value = HeaderValue::try_from(self.challenge.header(reason));
            headers.insert(
                WWW_AUTHENTICATE,
                value.unwrap_or(HeaderValue::from_static("Bearer realm=\"loggia\"")),
            );
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_name_the_error_and_the_metadata() {
        let plain = AuthChallenge::default();
        let oauth =
            AuthChallenge::with_metadata("https://h/.well-known/x", &["notes:read".into(), "files:*".into()]);
        let challenges: Vec<String> = [
            RefusalReason::Missing,
            RefusalReason::Malformed("send one Authorization header"),
            RefusalReason::InUrl,
            RefusalReason::Invalid("the token has expired"),
            RefusalReason::Scope,
        ]
        .iter()
        .flat_map(|reason| {
            let status = reason.status();
            [&plain, &oauth].map(|challenge| format!("{status}: {}", challenge.header(reason)))
        })
        .collect();
        insta::assert_snapshot!(challenges.join("\n"));
    }

    #[test]
    fn challenge_values_cannot_break_their_quotes() {
        assert_eq!(quotable("a\"b\\c\r\nd\u{7f}é~ e"), "abcd~ e");
    }
}
