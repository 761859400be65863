//! `fetch`: a page as text, data or a picture.

use loggia_sdk::prelude::*;
use url::Url;

use crate::{
    address,
    body::{self, DecodeError, PageKind},
    html::Page as HtmlPage,
    part,
    pdf::{self, PdfError},
    redirects::Visit,
    refusal, settings,
    visit::Visitor,
};

/// Default number of characters.
pub const LIMIT: u32 = 10_000;

/// Bytes of a picture: encoded, it must fit into a result, which has 1 MiB by default.
const PICTURE: usize = 700_000;

/// Characters below which a page that was not redirected to asks only for a password.
const LOGIN: usize = 1500;

/// Part of a page that the caller wants.
pub struct Portion {
    pub whole: bool,
    /// Characters.
    pub from: usize,
    pub limit: usize,
}

/// A page. There are no levels of detail: they would cost each list of tools more than they save.
#[derive(Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Document {
    /// After redirects.
    pub url: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub author: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub published: String,
    /// Of a PDF.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<usize>,
    /// First character of `text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<usize>,
    /// Characters of the whole text, if it is longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Of JSON that fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// A page that was received.
pub struct PageBody {
    pub visit: Visit,
    /// Decompressed.
    pub bytes: Vec<u8>,
    pub kind: PageKind,
    pub mime: String,
}

/// Gets a page of status 200, decompressed.
pub fn receive(visitor: &mut Visitor, url: &Url) -> Result<PageBody> {
    let most = settings::max_bytes()?;
    let mut visit = visitor.get(url)?;
    visit.response = refusal::ok(&visit.url, visit.response)?;
    let bytes = body::decompress(&visit.response, most).map(|bytes| bytes.into_owned());
    let bytes = bytes.map_err(|error| undecoded(&visit.url, &error, most))?;
    // The compressed body is not needed any more.
    visit.response.body = Vec::new();
    let content_type = visit.response.header("content-type").unwrap_or_default();
    let (kind, mime) = PageKind::of(content_type, &bytes);
    Ok(PageBody { visit, bytes, kind, mime })
}

fn undecoded(url: &Url, error: &DecodeError, most: usize) -> Failure {
    let host = address::authority(url);
    match error {
        DecodeError::TooLarge => Failure::unavailable(format!("too large: {url} has more than {most} bytes"))
            .hint("The operator raises `config.max_bytes` and `limits.http-response` in web.toml."),
        DecodeError::Unknown(coding) => {
            Failure::unavailable(format!("{host} compresses with `{coding}`, which was not asked for"))
                .hint("This plugin reads gzip and deflate. Another page of the site may be sent differently.")
        }
        DecodeError::Damaged => Failure::invalid_data(format!("the compressed page from {host} is damaged"))
            .hint("Try again; the transfer may have been cut."),
    }
}

/// Reads a page.
pub fn fetch(url: &str, portion: &Portion) -> Result<Reply<Document>> {
    let page = receive(&mut Visitor::default(), &address::parse(url)?)?;
    let document =
        Document { url: page.visit.url.to_string(), kind: page.mime.clone(), ..Document::default() };
    match page.kind {
        PageKind::Html => html(&page, document, portion),
        PageKind::Json => Ok(json(&page, document, portion)),
        PageKind::Text => {
            let text = untrusted::visible(&body::to_text(&page.bytes, content_type(&page)));
            Ok(paged(&text, document, portion, None))
        }
        PageKind::Pdf => pdf(page, document, portion),
        PageKind::Image if page.bytes.len() <= PICTURE => {
            Ok(Reply::new(document).content(Content::image(page.bytes, page.mime)))
        }
        PageKind::Image => Err(Failure::unavailable(format!(
            "too large: the image has {} bytes, and {PICTURE} can be shown",
            page.bytes.len()
        ))
        .hint("The page that shows it may have a smaller one.")),
        PageKind::Binary => Err(refusal::unreadable(&page.visit.url, &page.mime, page.bytes.len())),
    }
}

fn content_type(page: &PageBody) -> &str {
    page.visit.response.header("content-type").unwrap_or_default()
}

fn html(page: &PageBody, document: Document, portion: &Portion) -> Result<Reply<Document>> {
    let text = body::to_text(&page.bytes, content_type(page));
    let parsed = HtmlPage::parse(&text, &page.visit.url);
    let shown = parsed.markdown(portion.whole);
    let is_login = parsed.asks_for_password() && shown.markdown.len() < LOGIN;
    if let Some(first) = page.visit.redirects.first().filter(|_| is_login) {
        return Err(refusal::login(first, &page.visit.url));
    }
    let meta = parsed.meta();
    let mut document = Document { title: meta.title, ..document };
    if portion.from == 0 {
        (document.author, document.published) = (meta.author, meta.published);
    }
    let note = if shown.markdown.is_empty() {
        Some("The page has no text: it may need JavaScript, which is not run. `links` may lead on.")
    } else if is_login {
        Some("The page asks for a password; this may be all that is visible without a login.")
    } else if shown.is_truncated {
        Some("The page is too large to be read whole; the rest is missing.")
    } else {
        None
    };
    Ok(paged(&shown.markdown, document, portion, note))
}

/// JSON as data if it fits, and otherwise as text in parts.
fn json(page: &PageBody, document: Document, portion: &Portion) -> Reply<Document> {
    let text = body::to_text(&page.bytes, content_type(page));
    let parsed = loggia_sdk::serde_json::from_str::<Value>(&text);
    match parsed {
        Ok(data) if portion.from == 0 && text.chars().count() <= portion.limit => {
            Reply::new(Document { data: Some(clean(data)), ..document })
        }
        Ok(_) => paged(&untrusted::visible(&text), document, portion, None),
        Err(error) => {
            let note = format!("It is declared as JSON, but is none: {error}.");
            paged(&untrusted::visible(&text), document, portion, Some(&note))
        }
    }
}

/// Removes control and invisible characters from all texts. The depth is bounded by the parser.
fn clean(value: Value) -> Value {
    match value {
        Value::String(text) => untrusted::visible(&text).into(),
        Value::Array(items) => items.into_iter().map(clean).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (untrusted::visible(&name), clean(value))).collect()
        }
        other => other,
    }
}

fn pdf(page: PageBody, document: Document, portion: &Portion) -> Result<Reply<Document>> {
    let url = page.visit.url;
    let until = portion.from.saturating_add(portion.limit);
    let read = pdf::read(page.bytes, until).map_err(|error| match error {
        PdfError::Encrypted => {
            Failure::denied(format!("access denied: {url} is a PDF that requires a password"))
        }
        PdfError::Damaged => Failure::invalid_data(format!("{url} is damaged: it cannot be read as PDF")),
        PdfError::Bomb => {
            Failure::unavailable(format!("too large: {url} decompresses to more than can be read"))
        }
    })?;
    let note = match (read.text.trim().is_empty(), read.unknown) {
        (true, 0) => Some("The PDF has no text: its pages may be pictures.".to_owned()),
        (_, 0) => None,
        (_, unknown) => {
            Some(format!("{unknown} characters are missing: their fonts do not say which they are."))
        }
    };
    let title = untrusted::short(&read.title, 200);
    let document = Document { title, pages: Some(read.pages), ..document };
    let mut reply = paged(&read.text, document, portion, note.as_deref());
    if !read.is_complete {
        // Only the pages up to the wanted part were read.
        reply.data.total = None;
        let next = portion.from + reply.data.text.as_ref().map_or(0, |text| text.chars().count());
        reply.next = Some(following(&reply.data.url, portion, next));
    }
    Ok(reply)
}

/// The wanted part of a text, and the call for the next one.
fn paged(text: &str, document: Document, portion: &Portion, note: Option<&str>) -> Reply<Document> {
    let part = part::cut(text, portion.from, portion.limit);
    let total = (portion.from > 0 || part.next.is_some()).then(|| text.chars().count());
    let next = part.next.map(|next| following(&document.url, portion, next));
    let past = total.filter(|total| portion.from >= *total && portion.from > 0);
    let document = Document {
        from: (portion.from > 0).then_some(portion.from),
        total,
        text: Some(part.text),
        ..document
    };
    let mut reply = Reply::new(document);
    reply.next = next;
    let past = past.map(|total| format!("The text ends at {total}."));
    let notes: Vec<&str> = [note, past.as_deref()].into_iter().flatten().collect();
    reply.message = (!notes.is_empty()).then(|| notes.join(" "));
    reply
}

fn following(url: &str, portion: &Portion, from: usize) -> Next {
    let mut next = Next::action("fetch").param("url", url).param("from", from);
    if portion.whole {
        next = next.param("whole", true);
    }
    if portion.limit != LIMIT as usize {
        next = next.param("limit", portion.limit);
    }
    next.reason("for the next part")
}
