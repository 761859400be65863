//! Responses as replies.

use http::header;
use loggia_facade::{Block, Content, Failure, Object, Page, Reply, code, json};
use serde_json::Value;

use super::{
    api_response::{ApiResponse, ResponseBudget},
    cut::{CutValue, cut},
    error::to_failure,
    page::{items, next_page, total},
};
use crate::{
    adapt::CURSOR,
    description::{ApiMethod, ApiOperation},
};

/// Turns a response into a reply. `seal` makes the cursor of a page.
///
/// # Errors
///
/// The API's error, or a body that cannot be passed on.
pub(crate) fn read_response(
    operation: &ApiOperation,
    response: &ApiResponse,
    budget: ResponseBudget,
    has_cursor: bool,
    seal: impl FnOnce(&[(String, String)]) -> String,
) -> Result<Reply, Failure> {
    if response.status.as_u16() >= 400 {
        return Err(to_failure(operation, response));
    }
    if response.status.is_redirection() {
        return Ok(redirect(response));
    }
    let media = response.media().to_ascii_lowercase();
    if response.body.is_empty() {
        return Ok(empty(operation, response));
    }
    let is_json = media == "application/json" || media.ends_with("+json");
    // Without a type, many servers send JSON.
    let may_be_json = media.is_empty() && response.body.trim_ascii_start().starts_with(b"{");
    if is_json || may_be_json {
        return json_reply(operation, response, budget, has_cursor, seal);
    }
    match std::str::from_utf8(&response.body) {
        Ok(text) if is_text(&media) => Ok(text_reply(text, budget)),
        _ => content_reply(operation, response, &media, budget),
    }
}

/// A link that is not followed: it may lead to another host.
fn redirect(response: &ApiResponse) -> Reply {
    let location = response.headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
    let data = serde_json::json!({"status": response.status.as_u16(), "location": location});
    let message = "The API answers with a link. It is not followed, since links may lead to other hosts.";
    Reply { message: Some(message.into()), ..Reply::data(data) }
}

fn empty(operation: &ApiOperation, response: &ApiResponse) -> Reply {
    let status = response.status.as_u16();
    if operation.method == ApiMethod::Head {
        let names = ["content-length", "content-type", "etag", "last-modified"];
        let shown = names.iter().filter_map(|name| {
            let value = response.headers.get(*name)?.to_str().ok()?;
            Some(((*name).to_owned(), Value::from(value)))
        });
        let mut data: Object = shown.collect();
        data.insert("status".into(), status.into());
        return Reply::data(Value::Object(data));
    }
    let done = response.status.canonical_reason().map_or_else(String::new, |reason| format!(" {reason}"));
    Reply { message: Some(format!("Done ({status}{done}).")), ..Reply::default() }
}

fn json_reply(
    operation: &ApiOperation,
    response: &ApiResponse,
    budget: ResponseBudget,
    has_cursor: bool,
    seal: impl FnOnce(&[(String, String)]) -> String,
) -> Result<Reply, Failure> {
    let unreadable = |reason: String| {
        Failure::new(code::UNAVAILABLE, format!("the API's response cannot be read: {reason}"))
    };
    let text = std::str::from_utf8(&response.body).map_err(|_| unreadable("it is not UTF-8".into()))?;
    let value = json::parse(text).map_err(|error| match error {
        json::JsonError::Values => unreadable(error.to_string())
            .hint("Ask for less: a smaller page, a narrower filter, fewer fields."),
        error => unreadable(error.to_string()),
    })?;
    let next = next_page(operation, &response.headers, &value);
    let cursor = next.and_then(|query| {
        if has_cursor {
            return Some(seal(&query));
        }
        // The operation's own `cursor` takes the API's value.
        query.into_iter().find(|(name, _)| name == CURSOR).map(|(_, value)| value)
    });
    let count = items(&value).filter(|_| operation.paging.is_some()).map(Vec::len);
    let page = Page { count: count.map(|count| count as u64), total: total(&value), cursor };
    let CutValue { value, notes } = cut(value, budget.data);
    let message = (!notes.is_empty()).then(|| {
        let more = if budget.has_more { ", or for `detail: full`" } else { "" };
        let notes = notes.join("; ");
        format!("The response was cut to {} bytes: {notes}. Ask for less at once{more}.", budget.data)
    });
    let has_page = operation.paging.is_some() && page != Page { count: page.count, ..Page::default() };
    // The count is of what is shown.
    let shown = items(&value).map(|items| items.len() as u64).filter(|_| page.count.is_some());
    let page = has_page.then_some(Page { count: shown, ..page });
    Ok(Reply { data: value.into(), message, page, next: None, content: Vec::new() })
}

fn is_text(media: &str) -> bool {
    media.starts_with("text/")
        || media.ends_with("xml")
        || media.ends_with("yaml")
        || media.ends_with("javascript")
        || matches!(
            media,
            "" | "application/x-ndjson" | "application/jsonl" | "application/x-www-form-urlencoded"
        )
}

fn text_reply(text: &str, budget: ResponseBudget) -> Reply {
    let CutValue { value, notes } = cut(Value::String(text.to_owned()), budget.data);
    let message = (!notes.is_empty()).then(|| format!("The response was cut: {}.", notes.join("; ")));
    Reply { data: value.into(), message, ..Reply::default() }
}

/// Pictures, sounds and other bytes.
fn content_reply(
    operation: &ApiOperation,
    response: &ApiResponse,
    media: &str,
    budget: ResponseBudget,
) -> Result<Reply, Failure> {
    let bytes = response.body.len();
    // Base64 takes four thirds.
    if bytes / 3 * 4 > budget.result {
        let message = format!(
            "the API answers with {bytes} bytes of {}, which is more than a result may hold",
            shown(media)
        );
        let hint = "The operator can raise `limits.result` in the policy.";
        return Err(Failure::new(code::UNAVAILABLE, message).hint(hint));
    }
    let (data, mime_type) = (response.body.clone(), shown(media));
    let block = match media.split('/').next() {
        Some("image") => Block::Image { data, mime_type },
        Some("audio") => Block::Audio { data, mime_type },
        _ => Block::Embedded {
            uri: format!("api:{}", operation.path),
            mime_type: Some(mime_type),
            text: None,
            blob: Some(data),
        },
    };
    let content = vec![Content { block, extras: Object::new() }];
    let message = Some(format!("{bytes} bytes of {}.", shown(media)));
    Ok(Reply { message, content, ..Reply::default() })
}

fn shown(media: &str) -> String {
    match loggia_text::mention(media, 64) {
        media if media.is_empty() => "application/octet-stream".into(),
        media => media,
    }
}
