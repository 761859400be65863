//! Responses.

use std::time::Duration;

use serde::de::DeserializeOwned;

use super::url::Url;
use crate::{Failure, Result, Value, failure::code, json};

/// Maximum part of a body in a failure, in bytes.
const SHOWN: usize = 500;

/// A whole response.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Response {
    /// 200, 404, …
    pub status: u16,
    /// Names in lower case, and values, in the order received.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Vec<u8>,
    /// Host and port of the request.
    from: String,
}

impl Response {
    /// An empty response, for tests.
    pub fn new(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), from: String::new() }
    }

    /// Adds a header, for tests.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into().to_ascii_lowercase(), value.into()));
        self
    }

    /// Gives it text or bytes, for tests.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Gives it JSON, for tests.
    ///
    /// # Panics
    ///
    /// If the value cannot be serialised as JSON.
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub fn with_json(self, value: &impl serde::Serialize) -> Self {
        let json = serde_json::to_vec(value).expect("the body can be written as JSON");
        self.with_header("content-type", "application/json").with_body(json)
    }

    /// Sets the server's name.
    pub(crate) fn of(self, url: &Url) -> Self {
        Self { from: url.authority.clone(), ..self }
    }

    /// The first header of that name, in upper or lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Tests whether the status is one of 200 to 299.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the response if its status is one of 200 to 299.
    ///
    /// # Errors
    ///
    /// | status | code |
    /// |---|---|
    /// | 400, 413, 414, 422 | `invalid_params` |
    /// | 401, 403, 407, 451 | `denied` |
    /// | 404, 410 | `not_found` |
    /// | 408, 504 | `timed_out` |
    /// | 409, 412, 423, 428 | `conflict` |
    /// | 429, and all others from 500 on | `unavailable`, with the seconds of `Retry-After` |
    /// | all others | `internal`: the request was wrong, or the plugin must follow a redirect |
    ///
    /// The failure's `details` contain the status and the beginning of a text body.
    pub fn ok(self) -> Result<Self> {
        if self.is_success() { Ok(self) } else { Err(self.failure()) }
    }

    /// The body as text.
    ///
    /// # Errors
    ///
    /// `invalid_data` if it is not UTF-8.
    pub fn text(&self) -> Result<&str> {
        std::str::from_utf8(&self.body).map_err(|_| self.unfit("no UTF-8"))
    }

    /// Parses the body as JSON. Call [`ok`](Self::ok) first.
    ///
    /// # Errors
    ///
    /// `invalid_data` if it is not.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        // Through a `Value`, as for parameters: a parser for each type would make the guest larger.
        let value: Value =
            serde_json::from_str(self.text()?).map_err(|error| self.unfit(&error.to_string()))?;
        serde_json::from_value(value).map_err(|error| self.unfit(&error.to_string()))
    }

    /// The body.
    pub fn bytes(&self) -> &[u8] {
        &self.body
    }

    fn unfit(&self, why: &str) -> Failure {
        Failure::invalid_data(format!("{} answered something unexpected: {why}", self.server()))
    }

    fn failure(&self) -> Failure {
        let (server, status) = (self.server(), self.status);
        let code = match status {
            400 | 413 | 414 | 422 => code::INVALID_PARAMS,
            401 | 403 | 407 | 451 => code::DENIED,
            404 | 410 => code::NOT_FOUND,
            408 | 504 => code::TIMED_OUT,
            409 | 412 | 423 | 428 => code::CONFLICT,
            429 | 500.. => code::UNAVAILABLE,
            _ => code::INTERNAL,
        };
        let sentence = match code {
            code::DENIED => "access denied",
            code::NOT_FOUND => "not found",
            code::TIMED_OUT => "timed out",
            code::UNAVAILABLE => "not available now",
            _ if (300..400).contains(&status) => "redirected",
            _ => "refused",
        };
        let mut details = json!({"status": status});
        if let Some(text) = self.shown() {
            details["body"] = text.into();
        }
        let mut failure =
            Failure::new(code, format!("{sentence}: {server} answered {status}")).details(details);
        if code == code::UNAVAILABLE {
            failure.retry_after = self.retry_after();
        }
        failure
    }

    /// Seconds of `Retry-After`. A date is ignored: the clocks may differ.
    fn retry_after(&self) -> Option<Duration> {
        self.header("retry-after")?.trim().parse().ok().map(Duration::from_secs)
    }

    /// The beginning of a body that is text.
    fn shown(&self) -> Option<String> {
        let text = std::str::from_utf8(&self.body).ok()?.trim();
        let end = (0..=SHOWN.min(text.len())).rev().find(|at| text.is_char_boundary(*at))?;
        (end > 0).then(|| text[..end].to_owned())
    }

    fn server(&self) -> &str {
        if self.from.is_empty() { "the server" } else { &self.from }
    }
}
