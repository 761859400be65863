//! What a caller without rights is told: RFC 6750 §3, RFC 9728 §5.1.

use std::{fmt, sync::Arc};

use axum::{
    http::{
        HeaderValue, StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
    },
    response::{IntoResponse, Response},
};
use serde_json::json;

/// Seconds after which it is worth asking again for keys that were not there.
const RETRY_SECONDS: &str = "5";

/// Why a request is refused. Texts say what to do; none holds anything of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefusalReason {
    /// It names no one.
    Missing,
    /// It names someone in a way that cannot be read.
    Malformed(&'static str),
    /// Its token stands in the URL.
    InUrl,
    /// Its token is not, or no longer, one that is taken.
    Invalid(&'static str),
    /// Its token allows nothing here.
    Scope,
    /// The keys that would check its token have not been fetched yet.
    NotReady,
}

impl RefusalReason {
    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        match self {
            // A client that is told 401 begins to authenticate, which is what one with a token in the URL should do.
            Self::Missing | Self::InUrl | Self::Invalid(_) => StatusCode::UNAUTHORIZED,
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::Scope => StatusCode::FORBIDDEN,
            Self::NotReady => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// One of few words, for metrics.
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

    /// RFC 6750's word for it. None where nothing was sent that could be in error.
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
            Self::Scope => {
                f.write_str("the token allows nothing here; ask for one with scopes of this server")
            }
            Self::NotReady => f.write_str("the keys that check tokens are not there yet; try again"),
        }
    }
}

/// What every challenge of a server says: where its metadata is, and what to ask for.
#[derive(Debug, Default)]
pub(super) struct AuthChallenge {
    metadata: Option<String>,
    scopes: String,
}

impl AuthChallenge {
    /// Of a server whose metadata is at this URL.
    pub fn with_metadata(metadata: &str, scopes: &[String]) -> Self {
        Self { metadata: Some(metadata.to_owned()), scopes: scopes.join(" ") }
    }

    fn header(&self, reason: &RefusalReason) -> String {
        let mut said = "Bearer realm=\"loggia\"".to_owned();
        let mut say = |name: &str, value: &str| said.push_str(&format!(", {name}=\"{}\"", quotable(value)));
        if let Some(url) = &self.metadata {
            say("resource_metadata", url);
        }
        if let Some(error) = reason.error() {
            say("error", error);
            say("error_description", &reason.to_string());
        }
        if !self.scopes.is_empty() {
            say("scope", &self.scopes);
        }
        said
    }
}

/// What may stand between quotes in a header and in an `error_description`.
fn quotable(text: &str) -> String {
    text.chars().filter(|c| matches!(c, ' '..='~') && !matches!(c, '"' | '\\')).collect()
}

/// A request that is refused: an answer to it.
#[derive(Debug, Clone)]
pub struct AuthRefusal {
    reason: RefusalReason,
    challenge: Arc<AuthChallenge>,
}

impl AuthRefusal {
    pub(super) fn new(reason: RefusalReason, challenge: Arc<AuthChallenge>) -> Self {
        Self { reason, challenge }
    }

    /// Why.
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
            let said = HeaderValue::try_from(self.challenge.header(reason));
            headers.insert(
                WWW_AUTHENTICATE,
                said.unwrap_or(HeaderValue::from_static("Bearer realm=\"loggia\"")),
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
        let said: Vec<String> = [
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
        insta::assert_snapshot!(said.join("\n"));
    }

    #[test]
    fn challenge_values_cannot_break_their_quotes() {
        assert_eq!(quotable("a\"b\\c\r\nd\u{7f}é~ e"), "abcd~ e");
    }
}
