//! Reports of failed requests: an error code for the guest, a hint for the caller, a log line for the operator.

use loggia_policy::model::limit_names::{
    HTTP_AT_ONCE, HTTP_REQUEST, HTTP_REQUESTS, HTTP_RESPONSE, HTTP_TIME,
};
use std::{collections::BTreeMap, sync::Arc};

use loggia_egress::{ExchangePhase, MessagePart, RequestRefusal, SendError};
use loggia_facade::LogLevel;
use parking_lot::Mutex;
use wasmtime_wasi_http::Error;

use crate::call_log::CallLog;

/// Reports failed requests of one call.
#[derive(Clone, Default)]
pub(super) struct FailureReporter {
    /// The call's log.
    log: Option<CallLog>,
    /// Name of the facade.
    facade: Option<Arc<str>>,
    /// Hints for the caller. None until a call sends its first request, so that other calls allocate nothing.
    hints: Option<Arc<Mutex<FailureHints>>>,
}

/// The last hint for each code that a guest makes of a failed request.
type FailureHints = BTreeMap<&'static str, String>;

impl FailureReporter {
    pub(super) fn new(log: &CallLog, facade: Option<Arc<str>>) -> Self {
        Self { log: Some(log.clone()), facade, hints: None }
    }

    /// Keeps hints from now on.
    pub(super) fn enable_hints(&mut self) {
        self.hints.get_or_insert_default();
    }

    /// Explains the last request that failed with this code.
    pub(super) fn explain_failure(&self, code: &str) -> Option<String> {
        self.hints.as_ref()?.lock().get(code).cloned()
    }

    /// Logs a failed request, keeps a hint for the caller and returns the guest's error.
    pub(super) fn report(&self, error: &SendError) -> Error {
        if let Some(log) = &self.log {
            log.log(level(error), &format!("a request failed: {error}"));
        }
        if let (Some(hints), Some((code, hint))) = (&self.hints, self.hint(error)) {
            hints.lock().insert(code, hint);
        }
        to_wasi(error)
    }

    /// Returns the code that a guest makes of a failure, and what the guest cannot know of it.
    fn hint(&self, error: &SendError) -> Option<(&'static str, String)> {
        let limit = |name| format!("{error}; the operator can raise `{name}`");
        Some(match error {
            SendError::Denied(refusal) => ("denied", refusal.to_string()),
            SendError::Credential { why, .. } => {
                let facade = self.facade.as_deref().unwrap_or_default();
                ("denied", format!("{error}. {}", why.remedy(facade)))
            }
            SendError::TooMany(_) => ("unavailable", limit(HTTP_REQUESTS)),
            SendError::TooLarge { what: MessagePart::Request, .. } => ("unavailable", limit(HTTP_REQUEST)),
            SendError::TooLarge { what: MessagePart::Response, .. } => ("unavailable", limit(HTTP_RESPONSE)),
            SendError::Timeout(ExchangePhase::Total) => ("timed_out", limit(HTTP_TIME)),
            SendError::Timeout(ExchangePhase::Queue) => {
                ("timed_out", format!("{error}; the operator can raise `{HTTP_TIME}` or `{HTTP_AT_ONCE}`"))
            }
            SendError::Tls { .. } => ("unavailable", error.to_string()),
            _ => return None,
        })
    }
}

/// Warns of failures that the operator can prevent by changing the policy.
fn level(error: &SendError) -> LogLevel {
    match error {
        SendError::Denied(_)
        | SendError::TooMany(_)
        | SendError::TooLarge { .. }
        | SendError::Secret(_)
        | SendError::Credential { .. } => LogLevel::Warn,
        _ => LogLevel::Debug,
    }
}

/// Converts a failure into an error of WASI, as the guest sees it.
fn to_wasi(error: &SendError) -> Error {
    match error {
        SendError::Denied(RequestRefusal::Leads { .. }) => Error::DestinationIpProhibited,
        // No policy refuses it.
        SendError::Denied(refusal @ RequestRefusal::Unrecorded) => {
            Error::InternalError(Some(refusal.to_string()))
        }
        SendError::Denied(_) | SendError::Credential { .. } => Error::HttpRequestDenied,
        SendError::TooMany(_) => Error::ConnectionLimitReached,
        SendError::Dns(_) => Error::DnsError { rcode: None, info_code: None },
        SendError::Connect(_) => Error::ConnectionRefused,
        SendError::Tls { .. } => Error::TlsCertificateError,
        SendError::Timeout(ExchangePhase::Connect) => Error::ConnectionTimeout,
        SendError::Timeout(ExchangePhase::BetweenBytes) => Error::ConnectionReadTimeout,
        SendError::Timeout(ExchangePhase::Queue | ExchangePhase::FirstByte | ExchangePhase::Total) => {
            Error::HttpResponseTimeout
        }
        SendError::TooLarge { what, limit } => {
            let limit = *limit as u64;
            match what {
                MessagePart::RequestHead => Error::HttpRequestHeaderSectionSize(u32::try_from(limit).ok()),
                MessagePart::Request => Error::HttpRequestBodySize(Some(limit)),
                MessagePart::ResponseHead => Error::HttpResponseHeaderSectionSize(u32::try_from(limit).ok()),
                MessagePart::Response => Error::HttpResponseBodySize(Some(limit)),
            }
        }
        SendError::Secret(_) | SendError::Encoded | SendError::Protocol(_) => {
            Error::InternalError(Some(error.to_string()))
        }
        SendError::Closed => Error::HttpResponseIncomplete,
        SendError::Body => Error::ConnectionTerminated,
    }
}
