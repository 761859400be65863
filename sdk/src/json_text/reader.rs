//! Reads JSON into a [`Value`].
//!
//! Reading texts is the other half of what a guest does with a large call. As in `escape.rs`, they are examined and copied in blocks of
//! eight bytes.

use crate::{Object, Value};

use super::escape::{BLOCK, plain_bytes};

/// Arrays and objects in each other, as deep as `serde_json` reads them.
const MAX_DEPTH: u8 = 127;

/// Returns the value of a JSON text, or `None` if it is none.
pub(crate) fn read_value(json: &str) -> Option<Value> {
    let mut reader = JsonReader { rest: json.as_bytes(), unescaped: Vec::new(), depth: 0 };
    let value = reader.value()?;
    reader.next_byte().is_none().then_some(value)
}

struct JsonReader<'t> {
    /// UTF-8 that begins with a whole character.
    rest: &'t [u8],
    /// Room for a text without its escapes; the next text reuses it.
    unescaped: Vec<u8>,
    depth: u8,
}

impl JsonReader<'_> {
    fn value(&mut self) -> Option<Value> {
        match self.next_byte()? {
            b'"' => self.text().map(Value::String),
            begin @ (b'{' | b'[') => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return None;
                }
                let value = self.members(begin == b'{')?;
                self.depth -= 1;
                Some(value)
            }
            _ => self.scalar(),
        }
    }

    /// Reads an object or an array.
    fn members(&mut self, is_object: bool) -> Option<Value> {
        let end = if is_object { b'}' } else { b']' };
        let (mut object, mut array) = (Object::new(), Vec::new());
        self.skip();
        if self.next_byte()? == end {
            self.skip();
        } else {
            loop {
                if is_object {
                    if self.next_byte()? != b'"' {
                        return None;
                    }
                    let name = self.text()?;
                    if self.next_byte()? != b':' {
                        return None;
                    }
                    self.skip();
                    object.insert(name, self.value()?);
                } else {
                    array.push(self.value()?);
                }
                let next = self.next_byte()?;
                self.skip();
                if next == end {
                    break;
                }
                if next != b',' {
                    return None;
                }
            }
        }
        Some(if is_object { Value::Object(object) } else { Value::Array(array) })
    }

    /// Reads a number or a word.
    #[allow(unsafe_code)]
    fn scalar(&mut self) -> Option<Value> {
        let is_end = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
        let end = self.rest.iter().position(is_end).unwrap_or(self.rest.len());
        let (scalar, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        match scalar {
            b"null" => Some(Value::Null),
            b"true" => Some(true.into()),
            b"false" => Some(false.into()),
            // SAFETY: these are bytes of a `str`, cut before ASCII only.
            number => unsafe { str::from_utf8_unchecked(number) }.parse().ok().map(Value::Number),
        }
    }

    /// Reads a text from its first quotation mark.
    #[allow(unsafe_code)]
    fn text(&mut self) -> Option<String> {
        self.skip();
        let mut end = 0;
        loop {
            if self.unescaped.len() - end < BLOCK {
                // No escape is shorter than what it stands for.
                let most = end + self.rest.len() + BLOCK;
                self.unescaped.resize(most.min(end * 2 + 8 * BLOCK), 0);
            }
            if let Some(block) = self.rest.first_chunk()
                && let plain @ 1.. = plain_bytes(*block)
            {
                *self.unescaped.get_mut(end..)?.first_chunk_mut()? = *block;
                end += plain;
                self.rest = self.rest.get(plain..)?;
                continue;
            }
            let byte = match self.take()? {
                b'"' => break,
                b'\\' => match self.take()? {
                    byte @ (b'"' | b'\\' | b'/') => byte,
                    b'b' => 0x08,
                    b'f' => 0x0c,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'u' => {
                        let mut bytes = [0; 4];
                        let length = self.character()?.encode_utf8(&mut bytes).len();
                        *self.unescaped.get_mut(end..)?.first_chunk_mut()? = bytes;
                        end += length;
                        continue;
                    }
                    _ => return None,
                },
                0..0x20 => return None,
                byte => byte,
            };
            *self.unescaped.get_mut(end)? = byte;
            end += 1;
        }
        let text = self.unescaped.get(..end)?.to_vec();
        // SAFETY: these are the bytes of a `str`, cut before ASCII only, and whole characters.
        Some(unsafe { String::from_utf8_unchecked(text) })
    }

    /// Reads the character of an escape, after its `u`: by one unit of UTF-16, or by two.
    fn character(&mut self) -> Option<char> {
        let unit = self.unit()?;
        let low = match unit {
            0xd800..0xdc00 if self.take()? == b'\\' && self.take()? == b'u' => Some(self.unit()?),
            _ => None,
        };
        char::decode_utf16([unit].into_iter().chain(low)).next()?.ok()
    }

    fn unit(&mut self) -> Option<u16> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = char::from(self.take()?).to_digit(16)?;
            unit = unit << 4 | digit as u16;
        }
        Some(unit)
    }

    /// Returns the next byte that is no space.
    fn next_byte(&mut self) -> Option<u8> {
        while let [b' ' | b'\n' | b'\r' | b'\t', rest @ ..] = self.rest {
            self.rest = rest;
        }
        self.rest.first().copied()
    }

    fn take(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    /// Passes over the byte that [`Self::next_byte`] has returned.
    fn skip(&mut self) {
        let _ = self.take();
    }
}
