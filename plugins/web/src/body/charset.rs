//! Bytes to text.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Bytes in which a `<meta>` declares the encoding.
const HEAD: usize = 4096;

/// Decodes a text: by its byte order mark, by the header's charset, by `<meta>` or the XML declaration, as UTF-8 if it is
/// valid, else as windows-1252.
pub fn to_text<'a>(bytes: &'a [u8], content_type: &str) -> Cow<'a, str> {
    let encoding = Encoding::for_bom(bytes)
        .map(|(encoding, _)| encoding)
        .or_else(|| Encoding::for_label(parameter(content_type, "charset")?.as_bytes()))
        .or_else(|| declared(&bytes[..bytes.len().min(HEAD)]))
        .unwrap_or_else(|| if is_utf8(bytes) { UTF_8 } else { WINDOWS_1252 });
    encoding.decode(bytes).0
}

/// Also true for a text that was cut within a character.
fn is_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}

/// A parameter of a content type.
fn parameter<'a>(content_type: &'a str, name: &str) -> Option<&'a str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (known, value) = parameter.split_once('=')?;
        known.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// Encoding that the text declares: `<meta charset=…>`, `<meta … content="…; charset=…">`, `<?xml encoding="…"?>`.
fn declared(head: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let labels = if head.trim_start().starts_with("<?xml") {
        vec![after(head.split("?>").next()?, "encoding")]
    } else {
        head.split("<meta").skip(1).map(|meta| after(meta.split('>').next()?, "charset")).collect()
    };
    let encoding = labels.into_iter().flatten().find_map(|label| Encoding::for_label(label.as_bytes()))?;
    // A declaration that can be read as ASCII is not in UTF-16.
    Some(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}

/// The value after `name=`, with or without quotes.
fn after<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(name)?;
    let value = rest.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let end = value.find(|char: char| matches!(char, '"' | '\'' | ';' | '/') || char.is_whitespace());
    Some(&value[..end.unwrap_or(value.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_charset_is_found_where_it_may_be() {
        let check = |bytes: &[u8], content_type: &str, expected: &str| {
            assert_eq!(to_text(bytes, content_type), expected, "{content_type}");
        };
        check("Käse".as_bytes(), "text/plain", "Käse");
        check(b"K\xe4se", "text/plain", "Käse");
        check(b"K\xe4se", "text/plain; charset=ISO-8859-1", "Käse");
        check(b"K\xe4se", "text/html; Charset=\"latin1\"", "Käse");
        check(b"\xef\xbb\xbfK\xc3\xa4se", "text/plain; charset=latin1", "Käse");
        check(b"\xff\xfeK\0\xe4\0", "", "Kä");
        check(b"\xfe\xff\0K\0\xe4", "", "Kä");
        check(b"\xc3\xe2\xe5\xf2", "text/html; charset=windows-1251", "Гвет");
        check(b"\x93\xfa\x96{", "text/plain; charset=Shift_JIS", "日本");
        check(b"\xc4\xe3\xba\xc3", "text/plain; charset=gb2312", "你好");
        check(b"<meta charset=koi8-r>\xd4", "text/html", "<meta charset=koi8-r>т");
        let meta = b"<META http-equiv=Content-Type content='text/html; charset=euc-jp'>\xa4\xa2";
        check(meta, "text/html", "<META http-equiv=Content-Type content='text/html; charset=euc-jp'>あ");
        let xml = b"<?xml version='1.0' encoding='iso-8859-2'?>\xb1";
        check(xml, "", "<?xml version='1.0' encoding='iso-8859-2'?>ą");
        check(b"<meta charset=utf-16>\xc3\xa4", "", "<meta charset=utf-16>ä");
        check(b"x", "text/plain; charset=klingon", "x");
        check(b"K\xc3", "text/plain", "K\u{fffd}");
    }
}
