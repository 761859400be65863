//! What an address answers to the first request of a client: for diagnosis.

use std::{error::Error, io};

use http::header::{ACCEPT, CONTENT_TYPE};
use serde_json::json;

use super::{
    http_client::HttpClient,
    http_error::{HttpError, innermost},
};
use crate::spec::HttpSpec;

/// Bytes of an answer's text that are kept.
const TEXT: usize = 400;

/// What an address answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointAnswer {
    /// Nothing listens there.
    Refused,
    /// The certificate, or TLS itself, is not accepted: why.
    Tls(String),
    /// No connection for another reason.
    Unreachable(String),
    /// An HTTP response: its status, and the beginning of its text, on one line and without credentials.
    Status(u16, String),
}

/// Sends `initialize` to an address.
pub(crate) async fn ask_endpoint(spec: &HttpSpec) -> EndpointAnswer {
    match ask(spec).await {
        Ok(answer) => answer,
        Err(error) => EndpointAnswer::Unreachable(error.to_string()),
    }
}

async fn ask(spec: &HttpSpec) -> Result<EndpointAnswer, HttpError> {
    let client = HttpClient::new(TEXT)?;
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "loggia-doctor", "version": env!("CARGO_PKG_VERSION")},
    }});
    let mut request = client.client.post(&spec.url).header(CONTENT_TYPE, "application/json");
    request = request.header(ACCEPT, "text/event-stream, application/json").body(hello.to_string());
    for (name, value) in HttpClient::headers(spec)? {
        request = request.header(name, value);
    }
    let mut response = match request.send().await {
        Ok(response) => response,
        Err(error) => return Ok(failure(&error.without_url())),
    };
    let status = response.status().as_u16();
    let mut text = Vec::new();
    while text.len() < TEXT
        && let Ok(Some(chunk)) = response.chunk().await
    {
        text.extend_from_slice(&chunk);
    }
    let text = loggia_text::redact(&String::from_utf8_lossy(&text)).into_owned();
    Ok(EndpointAnswer::Status(status, loggia_text::sanitise_line(&text, TEXT)))
}

fn failure(error: &reqwest::Error) -> EndpointAnswer {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(tls) = tls_error(error) {
            return EndpointAnswer::Tls(tls);
        }
        let io = error.downcast_ref::<io::Error>();
        if io.is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
            return EndpointAnswer::Refused;
        }
        cause = error.source();
    }
    EndpointAnswer::Unreachable(innermost(error))
}

/// The text of an error of TLS, which may be in errors of I/O: the source of such an error is that of the error in it.
fn tls_error(error: &(dyn Error + 'static)) -> Option<String> {
    if error.is::<rustls::Error>() {
        return Some(error.to_string());
    }
    tls_error(error.downcast_ref::<io::Error>()?.get_ref()?)
}
