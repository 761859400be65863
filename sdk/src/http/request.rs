//! Requests.

use std::{fmt::Display, time::Duration};

use serde::Serialize;

use super::{Response, send_all, url};
use crate::{Failure, Result, json_text};

/// A request, made by [`http::get`](super::get) and its neighbours.
///
/// ```
/// # use loggia_sdk::{http::{self, Response}, prelude::*, testing::Host};
/// fn comment(issue: u64, text: &str) -> Result<u64> {
///     let made: Value = http::post(format!("https://api.example.com/issues/{issue}/comments"))
///         .header("Accept", "application/json")
///         .json(&json!({"text": text}))
///         .send()?
///         .ok()?
///         .json()?;
///     Ok(made["id"].as_u64().unwrap_or_default())
/// }
/// # let host = Host::new().http("POST", "https://api.example.com/", |request| {
/// #     assert_eq!(request.body, br#"{"text":"Me too."}"#);
/// #     Ok(Response::new(201).with_json(&json!({"id": 4})))
/// # });
/// # assert_eq!(host.run(|| comment(7, "Me too.")), Ok(4));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// `GET`, `POST`, …
    pub method: String,
    /// Absolute URL with the query.
    pub url: String,
    /// Names and values, in the order they were given.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Vec<u8>,
    /// From the request's start to the response's end; the host has a limit of its own.
    pub timeout: Option<Duration>,
    /// Error while building the request, returned when it is sent.
    pub(super) fault: Option<Failure>,
}

impl Request {
    /// A request of any method.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            url: url.into(),
            headers: Vec::new(),
            body: Vec::new(),
            timeout: None,
            fault: None,
        }
    }

    /// Adds a header. A secret does not belong here: the policy binds it to a host, and the host adds it.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Adds parameters to the URL, escaped: `.query(&[("limit", 20)])`; may be repeated.
    #[must_use]
    pub fn query<N: AsRef<str>, V: Display>(mut self, parameters: &[(N, V)]) -> Self {
        // The fragment is not sent, and would hide the query.
        if let Some(at) = self.url.find('#') {
            self.url.truncate(at);
        }
        for (name, value) in parameters {
            self.url.push(if self.url.contains('?') { '&' } else { '?' });
            url::append(&mut self.url, name.as_ref(), &value.to_string());
        }
        self
    }

    /// Adds segments to the URL's path, escaped, so that a caller's input cannot become another path: `.path(&["users",
    /// name])`. Must precede [`query`](Self::query).
    ///
    /// A part that is `.` or `..` or empty is `invalid_params`.
    #[must_use]
    pub fn path<P: AsRef<str>>(mut self, parts: &[P]) -> Self {
        for part in parts.iter().map(AsRef::as_ref) {
            if matches!(part, "" | "." | "..") {
                self.fault =
                    Some(Failure::invalid_params(format!("`{part}` cannot be a part of a URL's path")));
            }
            if !self.url.ends_with('/') {
                self.url.push('/');
            }
            url::encode(part, &mut self.url);
        }
        self
    }

    /// Sends a value as JSON.
    #[must_use]
    pub fn json<T: Serialize + ?Sized>(mut self, value: &T) -> Self {
        match json_text::to_vec(value) {
            Ok(json) => self.typed("application/json", json),
            Err(error) => {
                self.fault =
                    Some(Failure::internal(format!("the request's body cannot be written as JSON: {error}")));
                self
            }
        }
    }

    /// Sends parameters as a form.
    #[must_use]
    pub fn form<N: AsRef<str>, V: Display>(self, parameters: &[(N, V)]) -> Self {
        let mut form = String::new();
        for (name, value) in parameters {
            if !form.is_empty() {
                form.push('&');
            }
            url::append(&mut form, name.as_ref(), &value.to_string());
        }
        self.typed("application/x-www-form-urlencoded", form.into())
    }

    /// Sets a body of text or bytes. Set its type with [`header`](Self::header).
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets the timeout.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sends it, and waits for the whole response, of whatever status.
    ///
    /// # Errors
    ///
    /// `denied` if the policy does not grant it, with the line that would; `timed_out`; `unavailable` if the server
    /// is unreachable or closes the connection; `invalid_params` if the URL or a header is invalid.
    pub fn send(self) -> Result<Response> {
        send_all(vec![self]).pop().unwrap_or_else(|| Err(Failure::internal("the host gave no answer")))
    }

    fn typed(self, mime: &str, body: Vec<u8>) -> Self {
        let told = self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let request = if told { self } else { self.header("content-type", mime) };
        request.body(body)
    }
}
