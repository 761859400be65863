//! Bodies of requests.

use std::collections::BTreeMap;

use loggia_facade::Object;
use loggia_text::mention;
use serde_json::{Value, json};

use super::{
    schema::{SchemaSide, convert},
    texts,
};
use crate::{
    description::{ApiBody, BodyForm, ParameterStyle},
    limits,
    source::OpenApiDocument,
};

/// Reads the body of an operation.
///
/// # Errors
///
/// Why the operation cannot be called.
pub(super) fn read_body(document: &OpenApiDocument, operation: &Object) -> Result<Option<ApiBody>, String> {
    let Some(body) = operation.get("requestBody").and_then(|body| document.object(body)) else {
        return Ok(None);
    };
    let Some(content) = body.get("content").and_then(Value::as_object).filter(|content| !content.is_empty())
    else {
        return Ok(None);
    };
    let mut candidates: Vec<(BodyForm, &String, &Value)> = content
        .iter()
        .filter_map(|(media, value)| Some((form_of(media, value.get("schema"))?, media, value)))
        .collect();
    // The first of the best: a document lists its preferred type first.
    candidates.sort_by_key(|(form, ..)| *form);
    let Some((form, media, value)) = candidates.into_iter().next() else {
        let types: Vec<String> = content.keys().map(|media| mention(media, 64)).collect();
        return Err(format!(
            "its body can be sent only as {}, which is not supported",
            types.into_iter().take(4).collect::<Vec<_>>().join(", ")
        ));
    };
    let any = json!({});
    let mut schema = match form {
        BodyForm::Text => json!({"type": "string"}),
        BodyForm::Binary => json!({"type": "string", "format": "byte"}),
        _ => convert(document, value.get("schema").unwrap_or(&any), SchemaSide::Request, limits::BODY_SCHEMA),
    };
    if let (Value::Object(schema), Some(text)) =
        (&mut schema, body.get("description").and_then(Value::as_str))
    {
        let text = texts::clean(text, limits::PARAMETER_TEXT);
        if !text.is_empty() && !schema.contains_key("description") {
            schema.insert("description".into(), text.into());
        }
    }
    let required = body.get("required") == Some(&Value::Bool(true));
    let is_empty = schema.get("properties").and_then(Value::as_object).is_some_and(Object::is_empty)
        && schema.get("additionalProperties") == Some(&json!(false));
    if is_empty && !required {
        return Ok(None);
    }
    let media = match (media.as_str(), form) {
        ("*/*" | "application/*", BodyForm::Json) => "application/json",
        (media, _) => media.split(';').next().unwrap_or(media).trim(),
    };
    if media.parse::<http::HeaderValue>().is_err() {
        return Err("the type of its body is malformed".into());
    }
    Ok(Some(ApiBody { form, media: media.to_owned(), required, styles: styles(value, form), schema }))
}

/// How a media type is sent; none if it cannot be.
fn form_of(media: &str, schema: Option<&Value>) -> Option<BodyForm> {
    let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match media.as_str() {
        "application/json" | "*/*" | "application/*" => Some(BodyForm::Json),
        "application/x-www-form-urlencoded" => Some(BodyForm::Form),
        "multipart/form-data" => Some(BodyForm::Multipart),
        "application/octet-stream" | "application/zip" | "application/gzip" | "application/pdf" => {
            Some(BodyForm::Binary)
        }
        media if media.ends_with("+json") => Some(BodyForm::Json),
        media if media.starts_with("text/") || media.ends_with("xml") || media.ends_with("yaml") => {
            Some(BodyForm::Text)
        }
        media if ["image/", "audio/", "video/"].iter().any(|kind| media.starts_with(kind)) => {
            Some(BodyForm::Binary)
        }
        media if media.starts_with("multipart/") => None,
        _ => match schema?.get("type")?.as_str()? {
            "string" if schema?.get("format").is_some_and(|format| format == "binary") => {
                Some(BodyForm::Binary)
            }
            "string" => Some(BodyForm::Text),
            _ => None,
        },
    }
}

/// The styles of members that are not sent in the form's usual way.
fn styles(media: &Value, form: BodyForm) -> BTreeMap<String, ParameterStyle> {
    let encoding = media.get("encoding").and_then(Value::as_object).filter(|_| form == BodyForm::Form);
    let style = |value: &Value| match (value.get("style")?.as_str()?, value.get("explode")) {
        ("deepObject", _) => Some(ParameterStyle::DeepObject),
        ("spaceDelimited", _) => Some(ParameterStyle::SpaceDelimited),
        ("pipeDelimited", _) => Some(ParameterStyle::PipeDelimited),
        ("form", Some(Value::Bool(false))) => Some(ParameterStyle::Simple),
        _ => None,
    };
    let styles = encoding.into_iter().flatten().filter_map(|(name, value)| {
        let json = value.get("contentType").is_some_and(|media| media == "application/json");
        let style = if json { Some(ParameterStyle::Json) } else { style(value) };
        Some((name.clone(), style?))
    });
    styles.collect()
}
