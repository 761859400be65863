//! Recorded requests and responses, as JSON, without credentials.
//!
//! The recording never has the operator's secrets: a request is seen before they are added, and a response after they were
//! redacted. What looks like a credential otherwise is redacted here.

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use loggia_egress::{ExchangePhase, SendError, TapedRequest, TapedResponse};
use loggia_facade::Object;
use loggia_text::{redact, redact_url};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request with its response, or the reason for which it has none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TapedExchange {
    pub request: RecordedRequest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<RecordedResponse>,
    /// Kind of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What requests are matched by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedRequest {
    pub method: String,
    pub url: String,
    #[serde(default, skip_serializing_if = "RecordedBody::is_empty")]
    pub body: RecordedBody,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedResponse {
    pub status: u16,
    /// Texts by name; a list where a header occurs several times.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub headers: Object,
    #[serde(default, skip_serializing_if = "RecordedBody::is_empty")]
    pub body: RecordedBody,
}

/// Bytes in the form that is easiest to read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordedBody {
    /// None.
    #[default]
    Empty,
    /// A text that is JSON as we would write it.
    Json(Value),
    /// Another text.
    Text(String),
    /// Others.
    Base64(String),
}

impl RecordedBody {
    fn is_empty(&self) -> bool {
        *self == Self::Empty
    }

    /// Takes bytes, without what looks like a credential.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok("") => Self::Empty,
            Ok(text) => {
                let text = redact(text).into_owned();
                match serde_json::from_str::<Value>(&text) {
                    Ok(json) if serde_json::to_string(&json).is_ok_and(|again| again == text) => {
                        Self::Json(json)
                    }
                    _ => Self::Text(text),
                }
            }
            Err(_) => Self::Base64(BASE64_STANDARD.encode(bytes)),
        }
    }

    /// Shows them as JSON.
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::Empty => "".into(),
            Self::Json(json) => json.clone(),
            Self::Text(text) | Self::Base64(text) => text.as_str().into(),
        }
    }

    /// Returns the bytes.
    ///
    /// # Errors
    ///
    /// If they are no base64.
    pub fn to_bytes(&self) -> Result<Bytes, String> {
        Ok(match self {
            Self::Empty => Bytes::new(),
            Self::Json(json) => json.to_string().into(),
            Self::Text(text) => text.clone().into(),
            Self::Base64(code) => {
                BASE64_STANDARD.decode(code).map_err(|error| format!("`base64` is invalid: {error}"))?.into()
            }
        })
    }
}

impl RecordedRequest {
    pub(super) fn new(request: &TapedRequest) -> Self {
        Self {
            method: request.method.to_string(),
            url: redact_url(&request.uri.to_string()),
            body: RecordedBody::new(&request.body),
        }
    }

    /// Names the request: method and URL.
    pub(super) fn describe(&self) -> String {
        format!("{} {}", self.method, self.url)
    }
}

impl TapedExchange {
    pub(super) fn new(request: &TapedRequest, response: Result<&TapedResponse, &SendError>) -> Self {
        let request = RecordedRequest::new(request);
        match response {
            Ok(response) => Self { request, response: Some(RecordedResponse::new(response)), error: None },
            Err(error) => Self { request, response: None, error: Some(error.kind().to_owned()) },
        }
    }

    /// Returns what the request is answered with.
    ///
    /// # Errors
    ///
    /// A description of what the recording lacks.
    pub(super) fn outcome(&self) -> Result<Result<TapedResponse, SendError>, String> {
        match (&self.response, self.error.as_deref()) {
            (Some(response), None) => Ok(Ok(response.to_response()?)),
            (None, Some(kind)) => Ok(Err(to_error(kind, &self.request.url))),
            _ => Err("an exchange must have either `response` or `error`".to_owned()),
        }
    }
}

/// Returns an error of a recorded kind. Errors of the policy and of limits are found again when the request is played.
fn to_error(kind: &str, url: &str) -> SendError {
    match kind {
        "dns" => SendError::Dns(url.to_owned()),
        "connect" | "tls" => SendError::Connect(url.to_owned()),
        "timeout" => SendError::Timeout(ExchangePhase::Total),
        _ => SendError::Closed,
    }
}

impl RecordedResponse {
    fn new(response: &TapedResponse) -> Self {
        let mut headers = Object::new();
        for name in response.headers.keys().filter(|name| is_recorded(name)) {
            let texts = response.headers.get_all(name).iter();
            let texts = texts.filter_map(|value| Some(redact(value.to_str().ok()?).into_owned().into()));
            let mut texts: Vec<Value> = texts.collect();
            let value = if texts.len() == 1 { texts.remove(0) } else { texts.into() };
            headers.insert(name.to_string(), value);
        }
        Self { status: response.status.as_u16(), headers, body: RecordedBody::new(&response.body) }
    }

    fn to_response(&self) -> Result<TapedResponse, String> {
        let status =
            StatusCode::from_u16(self.status).map_err(|_| format!("{} is no status", self.status))?;
        let body = self.body.to_bytes()?;
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let invalid = || format!("the header `{name}` is not valid");
            let name: HeaderName = name.parse().map_err(|_| invalid())?;
            let texts = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            for text in texts {
                let value = text.as_str().and_then(|text| HeaderValue::from_str(text).ok());
                headers.append(name.clone(), value.ok_or_else(invalid)?);
            }
        }
        headers.insert(header::CONTENT_LENGTH, body.len().into());
        Ok(TapedResponse { status, headers, body })
    }
}

/// Whether a header is recorded: none that carries a credential, or describes the connection.
fn is_recorded(name: &HeaderName) -> bool {
    const SECRET: [&str; 6] = ["cookie", "auth", "token", "secret", "session", "key"];
    let name = name.as_str();
    !SECRET.iter().any(|part| name.contains(part))
        && !["content-length", "transfer-encoding", "connection"].contains(&name)
}

#[cfg(test)]
mod tests {
    use http::{Method, Uri};
    use serde_json::json;

    use super::*;

    fn request(url: &'static str, body: &'static str) -> TapedRequest {
        TapedRequest {
            method: Method::POST,
            uri: Uri::from_static(url),
            headers: HeaderMap::from_iter([(
                header::AUTHORIZATION,
                HeaderValue::from_static("Bearer s3cr3ts3cr3t"),
            )]),
            body: Bytes::from_static(body.as_bytes()),
        }
    }

    #[test]
    fn credentials_are_not_recorded() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("set-cookie", "sid=s3cr3t"),
            ("x-auth-token", "s3cr3t"),
            ("content-length", "9"),
            ("content-type", "application/json"),
            ("link", "<a>"),
        ] {
            headers.append(name, HeaderValue::from_static(value));
        }
        headers.append("link", HeaderValue::from_static("<b>"));
        let body = Bytes::from_static(br#"{"access_token":"s3cr3ts3cr3t","n":1}"#);
        let response = TapedResponse { status: StatusCode::CREATED, headers, body };
        let sent =
            request("https://a.example/x?access_token=s3cr3ts3cr3t&n=1", "{\"password\": \"s3cr3ts3cr3t\"}");
        let exchange = serde_json::to_value(TapedExchange::new(&sent, Ok(&response))).unwrap();
        assert_eq!(
            exchange,
            json!({
                "request": {
                    "method": "POST",
                    "url": "https://a.example/x?access_token=[redacted]&n=1",
                    "body": {"text": "{\"password\": \"[redacted]\"}"},
                },
                "response": {
                    "status": 201,
                    "headers": {"content-type": "application/json", "link": ["<a>", "<b>"]},
                    "body": {"json": {"access_token": "[redacted]", "n": 1}},
                },
            })
        );
    }

    #[test]
    fn a_recorded_response_is_given_back() {
        let text = r#"{"request": {"method": "GET", "url": "https://a.example/"}, "response": {"status": 404, "headers": {"etag": "1"}, "body": {"base64": "/wA="}}}"#;
        let exchange: TapedExchange = serde_json::from_str(text).unwrap();
        let response = exchange.outcome().unwrap().unwrap();
        assert_eq!((response.status.as_u16(), &response.body[..]), (404, &[255, 0][..]));
        assert_eq!(
            (&response.headers["etag"], &response.headers["content-length"]),
            (&"1".parse::<HeaderValue>().unwrap(), &HeaderValue::from(2))
        );
        let timeout = TapedExchange::new(
            &request("https://a.example/", ""),
            Err(&SendError::Timeout(ExchangePhase::Connect)),
        );
        assert_eq!(timeout.outcome().unwrap().unwrap_err().kind(), "timeout");
        let neither = r#"{"request": {"method": "GET", "url": "https://a.example/"}}"#;
        assert!(serde_json::from_str::<TapedExchange>(neither).unwrap().outcome().is_err());
    }
}
