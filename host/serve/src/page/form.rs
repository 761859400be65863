//! Fields of posted forms.

use axum::{
    body::to_bytes,
    extract::Request,
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use maud::html;
use sha2::{Digest, Sha256};
use url::form_urlencoded;

use super::{
    layout::{FORM_TOKEN, render_plain},
    session::OperatorSession,
};

/// Bytes of a form.
const BODY: usize = 64 << 10;

/// Fields of a form.
pub(super) struct FormFields(Vec<(String, String)>);

impl FormFields {
    /// Reads the form of a request, which must have this token.
    pub(super) async fn read(request: Request, token: &str) -> Result<Self, Response> {
        let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if !kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded")) {
            return Err(refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "This is not a form of this page."));
        }
        let Ok(body) = to_bytes(request.into_body(), BODY).await else {
            return Err(refuse(StatusCode::PAYLOAD_TOO_LARGE, "The form is too long."));
        };
        let fields = Self::parse(&body);
        match fields.get(FORM_TOKEN) {
            // Hashes, so that the time of comparing reveals nothing of the token.
            Some(sent) if Sha256::digest(sent) == Sha256::digest(token) => Ok(fields),
            _ => Err(refuse(
                StatusCode::FORBIDDEN,
                "The form is not of your session, or of an earlier one. Nothing was changed: load the page again.",
            )),
        }
    }

    /// Reads fields from the body of a request.
    pub(super) fn parse(body: &[u8]) -> Self {
        Self(form_urlencoded::parse(body).into_owned().collect())
    }

    /// Reads the form of a request of this session.
    pub(super) async fn of_session(request: Request, session: &OperatorSession) -> Result<Self, Response> {
        Self::read(request, &session.form_token).await
    }

    /// First value of a field.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Values of a field.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Refuses a request.
pub(super) fn refuse(status: StatusCode, reason: &str) -> Response {
    let content = html! {
        p { (reason) }
        p { a href="/operator/" { "Back to the overview" } }
    };
    (status, render_plain("That did not work", &content)).into_response()
}
