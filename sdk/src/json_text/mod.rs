//! Reads and writes JSON as `serde_json` does, and long texts faster.
//!
//! | file | concept |
//! |---|---|
//! | `reader.rs` | a value from JSON |
//! | `writer.rs` | the serialiser |
//! | `escape.rs` | a text as a JSON string |

mod escape;
// Only components read what the host sends.
#[cfg(any(test, target_family = "wasm"))]
mod reader;
mod writer;

use std::fmt::{self, Display};

use serde::Serialize;

#[cfg(any(test, target_family = "wasm"))]
pub(crate) use self::reader::read_value;
use self::writer::JsonWriter;

/// Returns `value` as JSON without spaces.
///
/// # Errors
///
/// As `serde_json`: if a name is neither a text, a number nor a `bool`, or if the value itself reports an error.
/// Unlike there, a name that is NaN or infinite is no error, but the text `null`.
pub(crate) fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    let mut writer = JsonWriter::default();
    value.serialize(&mut writer)?;
    Ok(writer.into_bytes())
}

/// Returns `value` as [`to_vec`] does.
#[allow(unsafe_code)]
pub(crate) fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String, Error> {
    let json = to_vec(value)?;
    // SAFETY: a writer appends ASCII and whole texts; a block of a text is cut before an ASCII byte only.
    Ok(unsafe { String::from_utf8_unchecked(json) })
}

/// Why a value cannot be written. Smaller than that of `serde_json`, which also knows places in a text.
#[derive(Debug)]
pub(crate) struct Error(String);

impl serde::ser::Error for Error {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use std::{
        collections::{BTreeMap, HashMap},
        time::Duration,
    };

    use serde::Serializer;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Serialize, PartialEq, Eq, Hash, PartialOrd, Ord)]
    enum Shape {
        Empty,
        One(u8),
        Pair(u8, bool),
        Named { side: Option<i16>, text: char },
    }

    #[derive(Serialize)]
    struct Unit;

    #[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
    struct Wrapper<T>(T);

    #[derive(Serialize)]
    struct Nested<'t> {
        shapes: Vec<Shape>,
        #[serde(flatten)]
        more: BTreeMap<String, f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        absent: Option<u8>,
        tuple: (f32, &'t str, Unit, Wrapper<()>),
        lasts: Duration,
    }

    #[track_caller]
    fn same(value: &(impl Serialize + ?Sized)) {
        assert_eq!(to_string(value).unwrap(), serde_json::to_string(value).unwrap());
    }

    #[test]
    fn texts_are_escaped_wherever_they_stand() {
        let specials = (0..=0x23)
            .map(char::from)
            .chain(['\\', '[', ']', '\u{7f}', '\u{80}', 'ü', '€', '🥛', '\u{2028}']);
        for special in specials {
            for before in 0..=9 {
                for after in [0, 1, 7, 8, 9, 30] {
                    same(&format!("{}{special}{}", "ab".repeat(before), "c".repeat(after)));
                    same(&format!("{}{special}{special}\"{}", "a".repeat(before), "ü".repeat(after)));
                }
            }
        }
        same("");
        same(&"\u{1}".repeat(10_000));
        same(&json!({"text": "\"quoted\" ".repeat(5_000)}).to_string());
    }

    #[test]
    fn values_are_written_as_by_serde_json() {
        let shapes = vec![
            Shape::Empty,
            Shape::One(7),
            Shape::Pair(0, true),
            Shape::Named { side: Some(-3), text: '"' },
        ];
        let more = [("a".to_owned(), 0.1), ("b\n".to_owned(), -1e300), ("c".to_owned(), f64::NAN)].into();
        same(&Nested {
            shapes,
            more,
            absent: None,
            tuple: (0.1, "ü", Unit, Wrapper(())),
            lasts: Duration::from_millis(1500),
        });
        same(&[u64::MAX.into(), i128::MIN, i128::from(i64::MIN)]);
        same(&(u128::MAX, f32::INFINITY, -0.0, 1e16, 5e-324, i8::MIN, u16::MAX));
        same(&json!([null, true, [], {}, [[]], {"": {"": []}}, 1.5, -1, "x", {"a": [1, {"b": null}]}]));
        same(&HashMap::<String, u8>::new());
        same(&(Some(Some(1)), None::<u8>, ()));
        let path: &std::path::Path = "a/ü".as_ref();
        same(path);
    }

    #[test]
    fn names_are_texts() {
        same(&BTreeMap::from([(-1, "a"), (2, "b")]));
        same(&BTreeMap::from([(false, 1), (true, 2)]));
        same(&BTreeMap::from([('"', 1)]));
        same(&BTreeMap::from([(Shape::Empty, 1)]));
        same(&BTreeMap::from([(Wrapper(Wrapper(u64::MAX)), [1, 2])]));
        same(&BTreeMap::from([(Some("some"), BTreeMap::from([(1_u8, 2)]))]));
        for unfit in [
            to_string(&BTreeMap::from([(None::<u8>, 1)])),
            to_string(&BTreeMap::from([((1, 2), 1)])),
            to_string(&BTreeMap::from([(Shape::One(1), 1)])),
        ] {
            assert_eq!(unfit.unwrap_err().to_string(), "key must be a string");
        }
    }

    // Not `RawValue` itself: its feature would be on in all tests of the workspace, and change how the host reads JSON there.
    #[test]
    fn raw_json_stays_as_it_is() {
        #[derive(Serialize)]
        #[serde(rename = "$serde_json::private::RawValue")]
        struct Raw<'t> {
            #[serde(rename = "$serde_json::private::RawValue")]
            text: &'t str,
        }
        let raw = Raw { text: "{\"a\": [1 , \"\\u00fc\"]}" };
        let expected = format!("[\"a\\\"\",{},{{\"b\":{}}},\"c\"]", raw.text, raw.text);
        assert_eq!(to_string(&("a\"", &raw, BTreeMap::from([("b", &raw)]), "c")).unwrap(), expected);
    }

    /// Checks that a text is read as by `serde_json`, numbers to the last bit.
    #[track_caller]
    fn same_value(json: &str) {
        let expected = serde_json::from_str::<Value>(json).ok();
        let read = read_value(json);
        assert_eq!(format!("{read:?}"), format!("{expected:?}"), "{json}");
    }

    #[test]
    fn values_are_read_as_by_serde_json() {
        const DOCUMENTS: [&str; 6] = [
            r#"{"a":1,"b":[true,false,null,-0,0.1,-1.5e-3,18446744073709551615,-9223372036854775808,1e400],"a":2}"#,
            " [ ] \n\t\r",
            r#"{ "" : { } , "\"\\\/\b\f\n\r\t" : "\u00e4\u20AC\ud83e\udd5b\u0000" , "k": [ [ ] , [ { } ] ] }"#,
            r#"["ü€🥛 is longer than a block","\ud83e","\udd5b","\ud83e\u0041","\ud83ex"]"#,
            r#"[123456789012345678901234567890, 0.30000000000000004, 5e-324, -1E+2, 2.2250738585072011e-308]"#,
            r#""a text that stands alone""#,
        ];
        // What a single mistake may leave.
        const MISTAKES: [&str; 16] =
            ["", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", "e", "u", " ", "\u{1}", "🥛"];
        for document in DOCUMENTS {
            for (at, character) in document.char_indices() {
                let after = &document[at + character.len_utf8()..];
                same_value(&document[..at]);
                MISTAKES
                    .iter()
                    .for_each(|mistake| same_value(&format!("{}{mistake}{after}", &document[..at])));
            }
            same_value(document);
        }
    }

    #[test]
    fn texts_are_read_wherever_their_escapes_stand() {
        for escape in ["\\\"", "\\n", "\\u00e4", "\\ud83e\\udd5b", "ü", "\\x", "\n"] {
            for before in 0..=9 {
                for after in [0, 1, 7, 8, 9, 30, 200] {
                    same_value(&format!("\"{}{escape}{}\"", "a".repeat(before), "c".repeat(after)));
                    same_value(&format!("[\"{escape}{escape}{}\",7]", "ü".repeat(after)));
                }
            }
        }
        let long = json!({"text": "\"quoted\" ".repeat(5_000)}).to_string();
        same_value(&long);
        same_value(&json!([long, long]).to_string());
    }

    #[test]
    fn nesting_is_bounded_as_by_serde_json() {
        for depth in [1, 126, 127, 128, 100_000] {
            same_value(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
            same_value(&format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)));
        }
        // Beside each other they may be many.
        same_value(&format!("[{}1]", "[[]],".repeat(1000)));
    }

    #[test]
    fn errors_of_values_are_passed_on() {
        struct Unwritable;
        impl Serialize for Unwritable {
            fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                Err(serde::ser::Error::custom("too secret"))
            }
        }
        assert_eq!(to_vec(&[Unwritable]).unwrap_err().to_string(), "too secret");
        assert_eq!(to_vec(&json!({})).unwrap(), b"{}");
    }
}
