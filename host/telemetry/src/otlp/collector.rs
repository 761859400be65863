//! Requests to the collector.

use std::time::Duration;

use axum::http::{
    HeaderName, HeaderValue, Request, StatusCode,
    header::{CONTENT_TYPE, USER_AGENT},
};
use http_body_util::{BodyExt, Full};
use loggia_egress::{EgressClient, EgressLimits, EgressMode, OperatorClient, SendError, SendTimeouts};
use url::Url;

use super::options::OtlpOptions;

/// Bytes of a request: a batch of spans, or all metrics.
const MESSAGE: usize = 16 << 20;
/// Bytes of a response, which is not read.
const RESPONSE: usize = 64 << 10;
/// Time of one attempt.
const ATTEMPT: Duration = Duration::from_secs(10);

/// What is sent, as the end of a URL's path.
#[derive(Debug, Clone, Copy)]
pub(super) enum Signal {
    Traces,
    Metrics,
}

/// Why the collector did not take a message.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExportError {
    #[error("{0}")]
    Send(#[from] SendError),
    #[error("no response within {} s", ATTEMPT.as_secs())]
    Timeout,
    #[error("a header of the settings is malformed")]
    Malformed,
    #[error("the response has the status {0}")]
    Status(StatusCode),
}

impl ExportError {
    /// Whether the same message may be taken later.
    pub(super) fn can_retry(&self) -> bool {
        match self {
            Self::Send(SendError::TooLarge { .. }) | Self::Malformed => false,
            Self::Send(_) | Self::Timeout => true,
            // Those that OTLP names.
            Self::Status(status) => matches!(status.as_u16(), 429 | 502 | 503 | 504),
        }
    }
}

/// A collector. Each task has its own, with connections of its own.
pub(super) struct OtlpCollector {
    url: Url,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Set once the host was resolved, until a request fails.
    client: Option<EgressClient>,
}

impl OtlpCollector {
    /// Creates the client of one signal.
    pub(super) fn new(options: &OtlpOptions, signal: Signal) -> Result<Self, ExportError> {
        let mut url = options.endpoint.0.clone();
        let path = match signal {
            Signal::Traces => "v1/traces",
            Signal::Metrics => "v1/metrics",
        };
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}/{path}"));
        let header = |(name, value): &(String, loggia_policy::settings::HiddenText)| {
            let mut header: HeaderValue = value.0.parse().map_err(|_| ExportError::Malformed)?;
            header.set_sensitive(true);
            Ok::<_, ExportError>((name.parse::<HeaderName>().map_err(|_| ExportError::Malformed)?, header))
        };
        let headers = options.headers.iter().map(header).collect::<Result<_, _>>()?;
        Ok(Self { url, headers, client: None })
    }

    /// Sends a message.
    pub(super) async fn send(&mut self, message: Vec<u8>) -> Result<(), ExportError> {
        let sent = match tokio::time::timeout(ATTEMPT, self.exchange(message)).await {
            Ok(sent) => sent,
            Err(_) => Err(ExportError::Timeout),
        };
        if sent.is_err() {
            // Its name may have another address now.
            self.client = None;
        }
        sent
    }

    async fn exchange(&mut self, message: Vec<u8>) -> Result<(), ExportError> {
        let mut request = Request::post(self.url.as_str())
            .header(CONTENT_TYPE, "application/x-protobuf")
            .header(USER_AGENT, concat!("loggia/", env!("CARGO_PKG_VERSION")))
            .body(Full::new(message.into()).map_err(|never| match never {}).boxed_unsync())
            .map_err(|_| ExportError::Malformed)?;
        request.headers_mut().extend(self.headers.iter().cloned());
        let client = match &self.client {
            Some(client) => client,
            None => {
                let limits = EgressLimits {
                    requests: 1,
                    at_once: 1,
                    request: MESSAGE,
                    response: RESPONSE,
                    time: ATTEMPT,
                    redirects: 0,
                };
                let resolved = OperatorClient::resolve(&self.url, request.method(), limits).await?;
                self.client.insert(resolved.client)
            }
        };
        let response = client.call(EgressMode::Writes).send(request, SendTimeouts::default()).await?;
        let status = response.status();
        // Read to its end, so that the connection is used again. Nothing in it matters: what was rejected is not sent again.
        let _ = response.into_body().collect().await;
        if status.is_success() { Ok(()) } else { Err(ExportError::Status(status)) }
    }
}
