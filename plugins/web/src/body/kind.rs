//! Kinds of pages.

/// How a body is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageKind {
    Html,
    Json,
    Text,
    Pdf,
    Image,
    Binary,
}

/// First bytes of types that servers often declare wrongly.
const MAGIC: [(&[u8], &str, PageKind); 10] = [
    (b"%PDF-", "application/pdf", PageKind::Pdf),
    (b"\x89PNG\r\n\x1a\n", "image/png", PageKind::Image),
    (b"\xff\xd8\xff", "image/jpeg", PageKind::Image),
    (b"GIF8", "image/gif", PageKind::Image),
    (b"PK\x03\x04", "application/zip", PageKind::Binary),
    (b"\x1f\x8b", "application/gzip", PageKind::Binary),
    (b"\x28\xb5\x2f\xfd", "application/zstd", PageKind::Binary),
    (b"\0asm", "application/wasm", PageKind::Binary),
    (b"\x7fELF", "application/x-executable", PageKind::Binary),
    (b"OggS", "audio/ogg", PageKind::Binary),
];

impl PageKind {
    /// Decides by the first bytes, then by the declared type, and returns the type with it. Types that are not known are
    /// text if they look so.
    pub fn of(content_type: &str, body: &[u8]) -> (Self, String) {
        if let Some((_, mime, kind)) = MAGIC.iter().find(|(magic, ..)| body.starts_with(magic)) {
            return (*kind, (*mime).to_owned());
        }
        if body.starts_with(b"RIFF") && body.get(8..12) == Some(b"WEBP") {
            return (Self::Image, "image/webp".to_owned());
        }
        let mime = mime(content_type);
        let kind = match mime.as_str() {
            "text/html" | "application/xhtml+xml" => Self::Html,
            "application/json" | "text/json" => Self::Json,
            _ if mime.ends_with("+json") => Self::Json,
            _ if mime.starts_with("text/") || mime.ends_with("+xml") => Self::Text,
            "" | "application/octet-stream" | "text/plain" if looks_like_html(body) => Self::Html,
            // Pictures, sounds and films in formats that are not shown, and PDFs that are none.
            _ if ["image/", "audio/", "video/", "font/"].iter().any(|start| mime.starts_with(start)) => {
                Self::Binary
            }
            _ if is_text(body) => Self::Text,
            _ => Self::Binary,
        };
        let kind = if kind == Self::Text && !is_text(body) { Self::Binary } else { kind };
        let mime = match (mime.is_empty(), kind) {
            (false, _) => mime,
            (true, Self::Html) => "text/html".to_owned(),
            (true, Self::Text) => "text/plain".to_owned(),
            (true, _) => "application/octet-stream".to_owned(),
        };
        (kind, mime)
    }
}

/// The type without its parameters, in lower case; empty if it is none.
pub fn mime(content_type: &str) -> String {
    let mime = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_mime = mime.len() <= 100
        && mime.contains('/')
        && mime.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/+-._".contains(&byte));
    if is_mime { mime } else { String::new() }
}

fn looks_like_html(body: &[u8]) -> bool {
    let start = body.trim_ascii_start();
    let begins = |tag: &[u8]| start.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
    begins(b"<!doctype html") || begins(b"<html") || begins(b"<head")
}

/// Tests whether a text could be shown: few control characters, and no zero bytes except those of UTF-16.
fn is_text(body: &[u8]) -> bool {
    let start = &body[..body.len().min(4096)];
    if start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff") {
        return true;
    }
    let is_control = |byte: &&u8| **byte < 0x20 && !b"\t\n\r\x0c\x1b".contains(byte);
    !start.contains(&0) && start.iter().filter(is_control).count() * 50 <= start.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_bytes_and_declared_types() {
        let check = |content_type: &str, body: &[u8], kind, mime: &str| {
            assert_eq!(PageKind::of(content_type, body), (kind, mime.to_owned()), "{content_type}");
        };
        check("text/html; charset=utf-8", b"<p>", PageKind::Html, "text/html");
        check("application/xhtml+xml", b"<p/>", PageKind::Html, "application/xhtml+xml");
        check("Application/JSON", b"{}", PageKind::Json, "application/json");
        check("application/problem+json", b"{}", PageKind::Json, "application/problem+json");
        check("application/rss+xml", b"<rss/>", PageKind::Text, "application/rss+xml");
        check("image/svg+xml", b"<svg/>", PageKind::Text, "image/svg+xml");
        check("text/markdown", b"# A", PageKind::Text, "text/markdown");
        check("application/toml", b"a = 1", PageKind::Text, "application/toml");
        check("", b"a = 1", PageKind::Text, "text/plain");
        check("nonsense", b"\n<!DOCTYPE HTML><p>", PageKind::Html, "text/html");
        check("application/octet-stream", b"%PDF-1.7", PageKind::Pdf, "application/pdf");
        check("text/plain", b"\x89PNG\r\n\x1a\n...", PageKind::Image, "image/png");
        check("image/webp", b"RIFF\0\0\0\0WEBPVP8 ", PageKind::Image, "image/webp");
        check("image/avif", b"\0\0\0 ftypavif", PageKind::Binary, "image/avif");
        check("application/pdf", b"\0\0", PageKind::Binary, "application/pdf");
        check("application/zip", b"PK\x03\x04", PageKind::Binary, "application/zip");
        check("text/plain", b"a\0b\0\x01\x02", PageKind::Binary, "text/plain");
        check("video/mp4", b"abc", PageKind::Binary, "video/mp4");
        check("", b"\0\x01\x02", PageKind::Binary, "application/octet-stream");
        check("text/plain", b"", PageKind::Text, "text/plain");
    }
}
