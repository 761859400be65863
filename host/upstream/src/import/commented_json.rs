//! JSON with comments, as VS Code writes it.

use loggia_facade::json;
use serde_json::Value;

/// Bytes of a configuration file.
const FILE: usize = 1024 * 1024;

/// Parses JSON that may hold comments, trailing commas and a byte order mark.
///
/// # Errors
///
/// Why it cannot be parsed.
pub(super) fn parse_commented(text: &str) -> Result<Value, String> {
    if text.len() > FILE {
        return Err(format!("the file has more than {} KiB", FILE / 1024));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    json::parse(&plain(text)).map_err(|error| format!("the file is not valid JSON: {error}"))
}

/// Replaces comments and trailing commas with spaces, so that positions in errors stay right.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Where the last comma is in `out`, if only white space and comments followed it.
    let mut comma = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('"', _) => {
                comma = None;
                out.push(c);
                while let Some(c) = rest.next() {
                    out.push(c);
                    match c {
                        '\\' => out.extend(rest.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            ('/', Some('/')) => {
                out.push(' ');
                while rest.next_if(|c| *c != '\n').is_some() {
                    out.push(' ');
                }
            }
            ('/', Some('*')) => {
                rest.next();
                out.push_str("  ");
                let mut last = ' ';
                for c in rest.by_ref() {
                    out.push(if c == '\n' { '\n' } else { ' ' });
                    if (last, c) == ('*', '/') {
                        break;
                    }
                    last = c;
                }
            }
            (']' | '}', _) => {
                if let Some(at) = comma.take() {
                    out.replace_range(at..=at, " ");
                }
                out.push(c);
            }
            (',', _) => {
                comma = Some(out.len());
                out.push(c);
            }
            _ => {
                if !c.is_whitespace() {
                    comma = None;
                }
                out.push(c);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_skipped() {
        for (text, expected) in [
            ("{}", json!({})),
            ("\u{feff}{\"a\": 1, // ä one\n /* two\n */ \"b\": [1, 2, ], }", json!({"a": 1, "b": [1, 2]})),
            (
                r#"{"url": "http://x//y", "c": "/* no */ \" , }"}"#,
                json!({"url": "http://x//y", "c": "/* no */ \" , }"}),
            ),
            ("[1, /* c */ ]", json!([1])),
        ] {
            assert_eq!(parse_commented(text), Ok(expected), "{text}");
        }
        for text in ["", "{", "[1,,]", "[,]x", "/*", "\"", "{\"a\": \"\\"] {
            assert!(parse_commented(text).is_err(), "{text}");
        }
    }
}
