//! Responses with a status of 400 or more, as failures.

use http::StatusCode;
use loggia_facade::{Failure, code};
use loggia_text::{redact, sanitise_line, sanitise_text};
use serde_json::{Value, json};

use super::{
    api_response::ApiResponse,
    cut::{cut, size},
    retry,
};
use crate::description::ApiOperation;

/// The code of a failure that none of the contract's codes describes.
const API_ERROR: &str = "api_error";
/// Bytes of the API's message.
const MESSAGE: usize = 600;
/// Bytes of what the API says about single fields.
const DETAILS: usize = 2 << 10;

/// Places of the message in an error, in order of preference.
const MESSAGES: [&str; 17] = [
    "/error/message",
    "/message",
    "/error_description",
    "/error/detail",
    "/detail",
    "/errors/0/message",
    "/errors/0/detail",
    "/errors/0/title",
    "/errorMessages/0",
    "/fault/faultstring",
    "/description",
    "/title",
    "/msg",
    "/reason",
    "/error",
    "/errors/0",
    "/Message",
];

/// Places of what is wrong with single fields.
const FIELDS: [&str; 6] =
    ["/errors", "/error/errors", "/error/details", "/details", "/invalid_params", "/violations"];

/// Turns an error of the API into a failure.
pub(super) fn to_failure(operation: &ApiOperation, response: &ApiResponse) -> Failure {
    let status = response.status;
    let body = std::str::from_utf8(&response.body).unwrap_or_default();
    let value = loggia_facade::json::parse(body).unwrap_or(Value::Null);
    let said = message(&value, response.media(), body);
    let reason = status.canonical_reason().map_or_else(String::new, |reason| format!(" {reason}"));
    let beginning = format!("the API answers {}{reason}", status.as_u16());
    let text = if said.is_empty() { beginning } else { format!("{beginning}: {said}") };
    let is_limited = status == StatusCode::TOO_MANY_REQUESTS
        || (status == StatusCode::FORBIDDEN && retry::is_exhausted(&response.headers));
    let retry_after_ms =
        retry::retry_after_ms(&response.headers).filter(|_| is_limited || status.is_server_error());
    let documented =
        operation.errors.get(&status.as_u16()).map(|text| format!(" The API's documentation says: {text}"));
    let hint = format!("{}{}", hint(status, is_limited), documented.unwrap_or_default());
    Failure {
        details: details(status, &value),
        retry_after_ms,
        hint: Some(hint.trim().to_owned()).filter(|hint| !hint.is_empty()),
        ..Failure::new(if is_limited { code::UNAVAILABLE } else { code_of(status) }, text)
    }
}

fn code_of(status: StatusCode) -> &'static str {
    match status.as_u16() {
        400 | 422 => code::INVALID_PARAMS,
        401 | 403 | 407 => code::DENIED,
        404 | 410 => code::NOT_FOUND,
        408 | 504 => code::TIMED_OUT,
        409 | 412 | 423 => code::CONFLICT,
        429 | 500.. => code::UNAVAILABLE,
        _ => API_ERROR,
    }
}

fn hint(status: StatusCode, is_limited: bool) -> &'static str {
    match status.as_u16() {
        _ if is_limited => "Too many requests were sent: wait before trying again.",
        400 | 422 => "Check the parameters; `details` names the fields, if the API does.",
        401 => {
            "The API needs a valid credential. Its operator sets one in `grants.secrets` of the policy; it cannot be \
             passed as a parameter."
        }
        403 => {
            "The credential in use may not do this. Another one, or more rights for it, is up to the operator \
             (`grants.secrets` of the policy)."
        }
        404 | 410 => {
            "Check the names and ids among the parameters. Many APIs also answer so where the credential may not see it."
        }
        409 | 412 | 423 => "It was changed or locked meanwhile, or exists already: read it again first.",
        413 => "Send less at once.",
        500.. => "The API itself failed. Trying again later may help; look first whether the work was done.",
        _ => "",
    }
}

/// The API's own words, safe to show.
fn message(value: &Value, media: &str, body: &str) -> String {
    let found =
        MESSAGES.iter().find_map(|place| value.pointer(place)?.as_str().filter(|text| !text.is_empty()));
    let text = match (found, value) {
        (Some(text), _) => text,
        (None, Value::String(text)) => text,
        // An error page of a proxy says nothing to a reader.
        (None, Value::Null) if !media.contains("html") => body,
        _ => "",
    };
    sanitise_line(&sanitise_text(&redact(text), 4 * MESSAGE), MESSAGE)
}

/// What the API says about single fields.
fn details(status: StatusCode, value: &Value) -> Option<Value> {
    let fields = FIELDS.iter().find_map(|place| value.pointer(place)).filter(|fields| !fields.is_null());
    let mut out = json!({"status": status.as_u16()});
    if let Some(fields) = fields {
        let fields = if size(fields) > DETAILS { cut(fields.clone(), DETAILS).value } else { fields.clone() };
        out["errors"] = clean(fields);
    }
    for (place, name) in
        [("/error/code", "code"), ("/code", "code"), ("/error/type", "type"), ("/error/param", "param")]
    {
        if let Some(text @ (Value::String(_) | Value::Number(_))) = value.pointer(place)
            && out.get(name).is_none()
        {
            out[name] = clean(text.clone());
        }
    }
    Some(out)
}

/// Redacts credentials in texts: APIs repeat what they were sent.
fn clean(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(sanitise_text(&redact(&text), DETAILS)),
        Value::Array(items) => items.into_iter().map(clean).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (name, clean(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other,
    }
}
