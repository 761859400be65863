//! Bodies of requests as bytes.

use base64::{Engine, engine::general_purpose::STANDARD};
use data_encoding::HEXLOWER;
use loggia_facade::{Failure, Object, code};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    pairs::{self, QueryPair},
    text::scalar,
};
use crate::description::{ApiBody, BodyForm, ParameterStyle};

/// Encodes a body. Returns its type and its bytes.
///
/// # Errors
///
/// A value that the form cannot carry.
pub(super) fn encode(body: &ApiBody, value: Value) -> Result<(String, Vec<u8>), Failure> {
    let media = body.media.clone();
    Ok(match (body.form, value) {
        (BodyForm::Json, value) => (media, value.to_string().into_bytes()),
        (BodyForm::Form, Value::Object(members)) => (media, form(body, &members)),
        (BodyForm::Multipart, Value::Object(members)) => multipart(body, &members)?,
        (BodyForm::Text, value) => (media, scalar(&value).into_bytes()),
        (BodyForm::Binary, Value::String(text)) => (media, decoded("body", &text)?),
        (BodyForm::Form | BodyForm::Multipart | BodyForm::Binary, _) => {
            let kind = if body.form == BodyForm::Binary { "base64 text" } else { "an object" };
            return Err(Failure::new(code::INVALID_PARAMS, format!("`body` must be {kind}")));
        }
    })
}

fn form(body: &ApiBody, members: &Object) -> Vec<u8> {
    let mut out: Vec<QueryPair> = Vec::new();
    for (name, value) in members {
        let style = body.styles.get(name).copied();
        let is_nested = |value: &Value| match value {
            Value::Array(items) => items.iter().any(|item| item.is_object() || item.is_array()),
            Value::Object(_) => true,
            _ => false,
        };
        match style {
            Some(ParameterStyle::Simple) => pairs::push(&mut out, name, value, ParameterStyle::Form, false),
            Some(style) => pairs::push(&mut out, name, value, style, false),
            // The usual style has no form for what is nested.
            None if is_nested(value) => pairs::push(&mut out, name, value, ParameterStyle::DeepObject, true),
            None => pairs::push(&mut out, name, value, ParameterStyle::Form, true),
        }
    }
    pairs::render(&out).into_bytes()
}

/// One part for each member, or for each item of a list.
fn multipart(body: &ApiBody, members: &Object) -> Result<(String, Vec<u8>), Failure> {
    let mut parts: Vec<(String, Vec<u8>)> = Vec::new();
    for (name, value) in members {
        let schema = &body.schema["properties"][name];
        let items = match value {
            Value::Array(items) => items.iter().collect(),
            Value::Null => Vec::new(),
            value => vec![value],
        };
        for item in items {
            let format = schema.get("format").or_else(|| schema.get("items")?.get("format"));
            let quoted = name.replace(['"', '\\', '\r', '\n'], "_");
            let (extra, bytes) = match item {
                Value::String(text) if format.is_some_and(|format| format == "binary") => {
                    let head = format!("; filename=\"{quoted}\"\r\ncontent-type: application/octet-stream");
                    (head, decoded(name, text)?)
                }
                Value::Object(_) | Value::Array(_) => {
                    ("\r\ncontent-type: application/json".to_owned(), item.to_string().into_bytes())
                }
                scalar_item => (String::new(), scalar(scalar_item).into_bytes()),
            };
            parts.push((format!("content-disposition: form-data; name=\"{quoted}\"{extra}"), bytes));
        }
    }
    // A digest of the content cannot be found in it by chance, nor be put there.
    let mut digest = Sha256::new();
    for (head, bytes) in &parts {
        digest.update(head);
        digest.update(bytes);
    }
    let boundary: String = HEXLOWER.encode(&digest.finalize()[..16]);
    let mut out = Vec::new();
    for (head, bytes) in parts {
        out.extend_from_slice(format!("--{boundary}\r\n{head}\r\n\r\n").as_bytes());
        out.extend_from_slice(&bytes);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((format!("multipart/form-data; boundary={boundary}"), out))
}

fn decoded(name: &str, text: &str) -> Result<Vec<u8>, Failure> {
    STANDARD.decode(text.trim()).map_err(|_| {
        let name = loggia_text::mention(name, 64);
        Failure::new(code::INVALID_PARAMS, format!("`{name}` must be base64: it holds bytes"))
    })
}
