//! Texts of documents, for people and models: without markup and hidden characters, shortened.

use loggia_text::sanitise_text;

/// Tags of HTML that descriptions use. Other words in angle brackets are kept: `Array<string>`.
const TAGS: [&str; 36] = [
    "a",
    "b",
    "blockquote",
    "br",
    "code",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "hr",
    "i",
    "img",
    "li",
    "ol",
    "p",
    "pre",
    "small",
    "span",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];
/// Tags that end a line.
const BREAKS: [&str; 14] =
    ["blockquote", "br", "div", "h1", "h2", "h3", "h4", "h5", "hr", "li", "p", "pre", "tr", "ul"];

/// Cleans a text and shortens it to this many bytes.
pub(super) fn clean(text: &str, most: usize) -> String {
    let mut plain = without_tags(text);
    for (entity, c) in
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")]
    {
        if plain.contains(entity) {
            plain = plain.replace(entity, c);
        }
    }
    let mut out = String::new();
    let mut empty = 0;
    for line in plain.lines() {
        let line = line.trim_end();
        empty = if line.trim().is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            out.push_str(line);
            out.push('\n');
        }
    }
    sanitise_text(out.trim(), most).trim().to_owned()
}

/// Adds a default to a text that names none.
pub(super) fn with_default(text: &str, default: Option<String>) -> String {
    match default {
        Some(default) if !text.to_ascii_lowercase().contains("default") => {
            format!("{text} {default}").trim().to_owned()
        }
        _ => text.to_owned(),
    }
}

/// The first sentence of a cleaned text, on one line of at most this many bytes.
pub(super) fn first_sentence(text: &str, most: usize) -> String {
    let is_text = |line: &&str| !line.is_empty() && !line.starts_with(['#', '>', '|']);
    let line = text.lines().map(str::trim).find(is_text).unwrap_or_default();
    let line = line.strip_prefix("- ").unwrap_or(line);
    let end = line.match_indices(". ").map(|(at, _)| at + 1).find(|at| *at > 10).unwrap_or(line.len());
    sanitise_text(line[..end].trim(), most).trim().to_owned()
}

fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let name: String =
            rest[1..].trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
        let name = name.to_ascii_lowercase();
        match rest.find('>') {
            Some(end) if TAGS.contains(&name.as_str()) => {
                if BREAKS.contains(&name.as_str()) {
                    out.push('\n');
                }
                rest = &rest[end + 1..];
            }
            _ => {
                out.push('<');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}
