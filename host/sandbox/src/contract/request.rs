//! A guest's call to another facade.

use std::time::Duration;

use loggia_facade::{
    Detail, Failure, Input, Request, code,
    json::{JsonError, parse},
    trace::ParentSpan,
};
use serde_json::Value;

/// A request whose parameters are a JSON text.
pub(crate) struct RawRequest {
    pub facade: String,
    pub action: String,
    /// JSON.
    pub params: String,
    pub detail: Detail,
    pub timeout: Option<Duration>,
    pub idempotency_key: Option<String>,
}

impl RawRequest {
    /// Parses the parameters.
    pub(crate) fn parse(self) -> Result<Request, Failure> {
        let params = match parse(&self.params) {
            Ok(Value::Object(params)) => params,
            Err(error @ JsonError::Values) => {
                let failure = Failure::new(code::INVALID_PARAMS, format!("`params` cannot be read: {error}"));
                return Err(failure.hint("Pass less at once, in several calls."));
            }
            _ => return Err(Failure::new(code::INVALID_PARAMS, "`params` is not a JSON object")),
        };
        Ok(Request {
            facade: self.facade,
            input: Input::Action { action: self.action, params, detail: self.detail },
            timeout: self.timeout,
            idempotency_key: self.idempotency_key,
            span: ParentSpan::default(),
        })
    }
}
