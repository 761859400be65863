//! Recognises JSON texts that can be passed on as they are.

use std::collections::HashSet;

use super::{escape::plain_prefix, parse::VALUES};

/// Nesting that every parser here accepts; `serde_json` refuses more.
const DEPTH: usize = 120;
/// Members of an object up to which its names are compared one by one.
const FEW: usize = 16;

/// Whether a text is what [`write_value`](super::write_value) could have written for a result that leaves the host: valid
/// JSON without whitespace between values, with at most [`VALUES`] values, without members whose name begins with `_`, and
/// without duplicate names. Numbers with an exponent and names with escapes are rare, so a text with them is not clean
/// either.
///
/// One pass, which builds nothing: a text that is clean needs no parser, and one that is not gets it, with its errors.
pub fn is_clean(text: &str) -> bool {
    let mut scan = Scan { text, rest: text.as_bytes(), values: 0, names: Vec::new() };
    scan.value(0).is_some() && scan.rest.is_empty()
}

struct Scan<'a> {
    text: &'a str,
    rest: &'a [u8],
    values: usize,
    /// Names of the open objects, the innermost object's last.
    names: Vec<&'a str>,
}

/// `None`: the text is not clean.
type Clean = Option<()>;

impl<'a> Scan<'a> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn value(&mut self, depth: usize) -> Clean {
        self.values += 1;
        if self.values > VALUES {
            return None;
        }
        match self.next()? {
            b'"' => self.string().map(|_| ()),
            b'{' if depth < DEPTH => self.object(depth + 1),
            b'[' if depth < DEPTH => self.array(depth + 1),
            b't' => self.literal(b"rue"),
            b'f' => self.literal(b"alse"),
            b'n' => self.literal(b"ull"),
            first @ (b'-' | b'0'..=b'9') => self.number(first),
            _ => None,
        }
    }

    fn literal(&mut self, end: &[u8]) -> Clean {
        self.rest = self.rest.strip_prefix(end)?;
        Some(())
    }

    /// Integers of more digits could be too large for the parser's types, which would change them.
    fn number(&mut self, first: u8) -> Clean {
        const DIGITS: usize = 18;
        let first = if first == b'-' { self.next()? } else { first };
        let more = self.digits();
        match first {
            b'0' if more > 0 => return None,
            b'0'..=b'9' if more < DIGITS => {}
            _ => return None,
        }
        if self.peek() == Some(b'.') {
            self.next();
            if !(1..=DIGITS).contains(&self.digits()) {
                return None;
            }
        }
        (!matches!(self.peek(), Some(b'e' | b'E'))).then_some(())
    }

    fn digits(&mut self) -> usize {
        let count = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.rest = &self.rest[count..];
        count
    }

    /// Reads a string whose first quotation mark has been read; returns its text, and whether it has escapes.
    fn string(&mut self) -> Option<(&'a str, bool)> {
        let begin = self.text.len() - self.rest.len();
        let mut escaped = false;
        loop {
            self.rest = &self.rest[plain_prefix(self.rest)..];
            match self.next()? {
                b'"' => break,
                b'\\' => {
                    escaped = true;
                    self.escape()?;
                }
                _ => return None,
            }
        }
        let end = self.text.len() - self.rest.len() - 1;
        Some((&self.text[begin..end], escaped))
    }

    fn escape(&mut self) -> Clean {
        match self.next()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(()),
            b'u' => match self.hex()? {
                // A pair of surrogates: the second must follow.
                0xD800..0xDC00 => {
                    self.literal(b"\\u")?;
                    (0xDC00..0xE000).contains(&self.hex()?).then_some(())
                }
                0xDC00..0xE000 => None,
                _ => Some(()),
            },
            _ => None,
        }
    }

    fn hex(&mut self) -> Option<u32> {
        (0..4).try_fold(0, |code, _| Some(code << 4 | char::from(self.next()?).to_digit(16)?))
    }

    fn array(&mut self, depth: usize) -> Clean {
        if self.peek() == Some(b']') {
            return self.next().map(|_| ());
        }
        loop {
            self.value(depth)?;
            match self.next()? {
                b',' => {}
                b']' => return Some(()),
                _ => return None,
            }
        }
    }

    fn object(&mut self, depth: usize) -> Clean {
        if self.peek() == Some(b'}') {
            return self.next().map(|_| ());
        }
        let first = self.names.len();
        let mut many = HashSet::new();
        loop {
            let (name, escaped) = match self.next()? {
                b'"' => self.string()?,
                _ => return None,
            };
            let own = &self.names[first..];
            let is_new = match own.len() {
                ..FEW => !own.contains(&name),
                FEW => {
                    many.extend(own.iter().copied());
                    many.insert(name)
                }
                _ => many.insert(name),
            };
            if escaped || !is_new || name.starts_with('_') || self.next()? != b':' {
                return None;
            }
            self.names.push(name);
            self.value(depth)?;
            match self.next()? {
                b',' => {}
                b'}' => break,
                _ => return None,
            }
        }
        self.names.truncate(first);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::json::write_value;

    #[test]
    fn only_texts_that_may_pass_are_clean() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let members = |count: usize| {
            let members: Vec<_> = (0..count).map(|n| format!(r#""m{n}":{n}"#)).collect();
            format!("{{{}}}", members.join(","))
        };
        let twice = |count: usize| members(count).replace('}', r#","m3":1}"#);
        let list = |count: usize| format!("[{}]", vec!["1"; count].join(","));
        for (text, clean) in [
            (r#"{"a":[1,-2.5,"x\"\\\/\b\f\n\r\t\u00e9\ud83e\udd80",true,false,null,{},[]],"b":0}"#, true),
            ("5", true),
            (r#""🦀_""#, true),
            (r#"{"a_":{"b":1},"b":{"b":1}}"#, true),
            (&nested(DEPTH), true),
            (&members(100), true),
            (&list(VALUES - 1), true),
            // What is no JSON.
            ("", false),
            ("nul", false),
            ("01", false),
            ("-", false),
            ("1.", false),
            (".5", false),
            ("+1", false),
            ("[1", false),
            ("[1,]", false),
            ("[,1]", false),
            ("{\"a\"}", false),
            ("{\"a\":1,}", false),
            ("{a:1}", false),
            ("1 2", false),
            ("[1]]", false),
            ("\"a", false),
            ("\"\n\"", false),
            (r#""\x""#, false),
            (r#""\u12g4""#, false),
            (r#""\ud800""#, false),
            (r#""\ud800\u0041""#, false),
            (r#""\udc00""#, false),
            // What has to be changed or looked at more closely.
            ("[1, 2]", false),
            (" 1", false),
            ("1\n", false),
            ("1e5", false),
            ("1e400", false),
            ("12345678901234567890", false),
            (r#"{"_a":1}"#, false),
            (r#"[{"a":{"_b":1}}]"#, false),
            (r#"{"\u005fa":1}"#, false),
            (r#"{"a":1,"a":2}"#, false),
            (r#"{"a":{"b":1,"c":2,"b":3}}"#, false),
            (&twice(10), false),
            (&twice(FEW), false),
            (&twice(FEW + 1), false),
            (&twice(100), false),
            (&nested(DEPTH + 1), false),
            (&list(VALUES), false),
        ] {
            assert_eq!(is_clean(text), clean, "{text:.80}");
            if clean {
                let value: Value = serde_json::from_str(text).unwrap();
                let mut written = String::new();
                write_value(&mut written, &value);
                assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value, "{text:.80}");
            }
        }
    }

    /// Changes texts byte by byte: what is clean is what `serde_json` accepts, and holds no line break.
    #[test]
    fn clean_texts_are_valid_whatever_is_changed() {
        let whole = r#"{"a":[1,-2.5,"x\"\u00e9\ud83e\udd80",true],"b":{"c":null,"d":[{}]},"e":0}"#;
        let mut clean = 0;
        for at in 0..whole.len() {
            for byte in 0..128 {
                let mut text = whole.as_bytes().to_vec();
                for change in 0..3 {
                    match change {
                        0 => text[at] = byte,
                        1 => text.insert(at, byte),
                        _ => drop(text.drain(at..=at)),
                    }
                    let Ok(text) = std::str::from_utf8(&text) else { continue };
                    if is_clean(text) {
                        clean += 1;
                        assert!(serde_json::from_str::<Value>(text).is_ok(), "{text}");
                        assert!(!text.contains(['\n', '\r', '\t']), "{text}");
                    }
                }
            }
        }
        assert!(clean > 1000, "{clean}");
    }
}
