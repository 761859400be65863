//! What a document says about responses: their types, the shape of their JSON, their errors and pages.

use std::{collections::BTreeMap, sync::Arc};

use loggia_facade::Object;
use serde_json::Value;

use super::{
    schema::{SchemaSide, fitted},
    texts,
};
use crate::{
    description::{ApiMethod, ApiParameter, ParameterPlace},
    limits,
    source::OpenApiDocument,
};

/// What is kept of the responses of an operation.
pub(super) struct ResponseNotes {
    pub(super) accept: String,
    pub(super) data: Option<Arc<Value>>,
    pub(super) errors: BTreeMap<u16, String>,
}

/// Reason phrases and other texts of errors that say no more than the status.
const EMPTY_TEXTS: [&str; 22] = [
    "",
    "accepted",
    "bad request",
    "conflict",
    "default response",
    "error",
    "error response.",
    "forbidden",
    "gone",
    "internal error",
    "internal server error",
    "not found",
    "not modified",
    "requires authentication",
    "resource not found",
    "response",
    "service unavailable",
    "too many requests",
    "unauthorized",
    "unexpected error",
    "unprocessable entity",
    "validation failed, or the endpoint has been spammed.",
];

/// Query parameters that select a page, in order of preference.
const PAGING: [&str; 26] = [
    "cursor",
    "page_cursor",
    "next_cursor",
    "nextCursor",
    "starting_after",
    "page_token",
    "pageToken",
    "next_page_token",
    "nextPageToken",
    "continuation_token",
    "continuationToken",
    "continue",
    "after",
    "after_id",
    "marker",
    "NextToken",
    "nextToken",
    "next_token",
    "page[after]",
    "page",
    "page_number",
    "pageNumber",
    "page[number]",
    "startAt",
    "offset",
    "skip",
];

/// Reads the responses of an operation.
pub(super) fn read_responses(document: &OpenApiDocument, operation: &Object) -> ResponseNotes {
    let mut notes = ResponseNotes { accept: String::new(), data: None, errors: BTreeMap::new() };
    let mut types: Vec<&str> = Vec::new();
    let responses = operation.get("responses").and_then(Value::as_object);
    for (status, response) in responses.into_iter().flatten() {
        let Some(response) = document.object(response) else { continue };
        if status.starts_with('2') || status == "default" && types.is_empty() {
            for (media, value) in response.get("content").and_then(Value::as_object).into_iter().flatten() {
                let media = media.split(';').next().unwrap_or_default().trim();
                if !types.contains(&media) && media.parse::<http::HeaderValue>().is_ok() && !media.is_empty()
                {
                    types.push(media);
                }
                if notes.data.is_none()
                    && status.starts_with('2')
                    && is_json(media)
                    && let Some(schema) = value.get("schema")
                {
                    let data = fitted(document, schema, SchemaSide::Response, limits::DATA_SCHEMA);
                    notes.data = data
                        .filter(|data| data.as_object().is_some_and(|data| !data.is_empty()))
                        .map(Arc::new);
                }
            }
        } else if let Ok(status @ 400..=599) = status.parse::<u16>()
            && notes.errors.len() < limits::ERRORS
        {
            let text = response.get("description").and_then(Value::as_str).unwrap_or_default();
            let text = texts::first_sentence(&texts::clean(text, 1024), limits::ERROR_TEXT);
            if !EMPTY_TEXTS.contains(&text.to_ascii_lowercase().trim()) {
                notes.errors.insert(status, text);
            }
        }
    }
    notes.accept = match types.iter().find(|media| **media == "application/json") {
        Some(json) => (*json).to_owned(),
        None => match types.iter().find(|media| is_json(media)) {
            Some(json) => (*json).to_owned(),
            None if types.is_empty() => "application/json, */*;q=0.5".to_owned(),
            None => types.into_iter().take(4).collect::<Vec<_>>().join(", "),
        },
    };
    notes
}

/// Finds the query parameter that selects the next page.
pub(super) fn paging_parameter(method: ApiMethod, parameters: &[ApiParameter]) -> Option<String> {
    let has = |name: &&&str| {
        let is = |p: &ApiParameter| p.place == ParameterPlace::Query && p.name == **name && !p.required;
        parameters.iter().any(is)
    };
    let found = PAGING.iter().find(has).filter(|_| method == ApiMethod::Get);
    found.map(|name| (*name).to_owned())
}

fn is_json(media: &str) -> bool {
    media == "application/json" || media.ends_with("+json")
}
