//! Fonts: the characters and widths of codes.

use std::collections::HashMap;

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GBK, MACINTOSH, SHIFT_JIS, WINDOWS_1252};
use hayro_cmap::{BfString, CMap};
use hayro_syntax::object::{Array, Dict, Name, Number, Object, Stream};

use super::glyphs;

/// Widths of a font.
const WIDTHS: usize = 70_000;

/// How codes become characters if the font has no map to Unicode.
enum CodeText {
    /// By code, of one byte.
    Table(Box<[Option<String>]>),
    /// The codes are UTF-16.
    Utf16,
    /// The codes are a text in this encoding.
    Encoded(&'static Encoding),
    Unknown,
}

/// A font.
pub struct Font {
    has_two_bytes: bool,
    unicode: Option<CMap>,
    codes: CodeText,
    /// In ems, by code.
    widths: HashMap<u32, f64>,
    width: f64,
}

/// A text in a font.
#[derive(Debug, Default)]
pub struct ShownText {
    pub text: String,
    /// In ems.
    pub width: f64,
    pub codes: usize,
    /// Number of codes to which the space between words is added.
    pub spaces: usize,
    /// Number of codes without a character.
    pub unknown: usize,
}

impl Font {
    pub fn read(dict: &Dict<'_>) -> Self {
        let unicode = dict.get::<Stream<'_>>("ToUnicode");
        let unicode = unicode.and_then(|map| CMap::parse(&map.decoded().ok()?, |_| None));
        if is(dict, "Subtype", "Type0") {
            Self::composite(dict, unicode)
        } else {
            Self::simple(dict, unicode)
        }
    }

    fn composite(dict: &Dict<'_>, unicode: Option<CMap>) -> Self {
        let descendants = dict.get::<Array<'_>>("DescendantFonts");
        let inner = descendants.and_then(|fonts| fonts.iter::<Dict<'_>>().next()).unwrap_or_default();
        let encoding = dict.get::<Name<'_>>("Encoding");
        let codes = encoding.map_or(CodeText::Unknown, |name| named(name.as_str()));
        let width = inner.get::<Number>("DW").map_or(1.0, |width| width.as_f64() / 1000.0);
        let widths = inner.get::<Array<'_>>("W").map(|widths| composite_widths(&widths)).unwrap_or_default();
        Self { has_two_bytes: true, unicode, codes, widths, width }
    }

    fn simple(dict: &Dict<'_>, unicode: Option<CMap>) -> Self {
        let first = dict.get::<Number>("FirstChar").map_or(0, |first| first.as_i64().clamp(0, 255) as u32);
        // The glyphs of a Type 3 font have units of their own.
        let unit = if is(dict, "Subtype", "Type3") { type3_unit(dict) } else { 0.001 };
        let given = dict.get::<Array<'_>>("Widths");
        let given = given.iter().flat_map(|widths| widths.iter::<Number>()).take(256);
        let widths: HashMap<u32, f64> =
            given.zip(first..).map(|(width, code)| (code, width.as_f64() * unit)).collect();
        let is_typewriter =
            dict.get::<Name<'_>>("BaseFont").is_some_and(|name| name.as_str().contains("Courier"));
        let width = if is_typewriter { 0.6 } else { 0.5 };
        let codes = CodeText::Table(table(dict));
        Self { has_two_bytes: false, unicode, codes, widths, width }
    }

    /// The text that codes show.
    pub fn show(&self, bytes: &[u8]) -> ShownText {
        let mut shown = ShownText::default();
        if let (CodeText::Encoded(encoding), None) = (&self.codes, &self.unicode) {
            shown.text = encoding.decode_without_bom_handling(bytes).0.into_owned();
            shown.codes = shown.text.chars().count();
            shown.width = shown.text.chars().map(|char| if char.is_ascii() { 0.5 } else { 1.0 }).sum();
            return shown;
        }
        for code in bytes.chunks(if self.has_two_bytes { 2 } else { 1 }) {
            let number = code.iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
            shown.codes += 1;
            shown.spaces += usize::from(!self.has_two_bytes && number == 32);
            shown.width += self.widths.get(&number).copied().unwrap_or(self.width);
            if !self.character(number, &mut shown.text) {
                shown.unknown += 1;
            }
        }
        shown
    }

    /// Adds the character of a code.
    fn character(&self, code: u32, text: &mut String) -> bool {
        match self.unicode.as_ref().and_then(|unicode| unicode.lookup_bf_string(code)) {
            Some(BfString::Char(char)) if char != '\0' => {
                push(char, text);
                return true;
            }
            Some(BfString::String(string)) => {
                string.chars().for_each(|char| push(char, text));
                return true;
            }
            _ => {}
        }
        match &self.codes {
            CodeText::Table(table) => match table.get(code as usize) {
                Some(Some(string)) => text.push_str(string),
                _ => return false,
            },
            CodeText::Utf16 => match char::from_u32(code) {
                Some(char) => text.push(char),
                None => return false,
            },
            CodeText::Encoded(_) | CodeText::Unknown => return false,
        }
        true
    }
}

/// Ligatures become letters.
fn push(char: char, text: &mut String) {
    match char {
        'ﬀ' => text.push_str("ff"),
        'ﬁ' => text.push_str("fi"),
        'ﬂ' => text.push_str("fl"),
        'ﬃ' => text.push_str("ffi"),
        'ﬄ' => text.push_str("ffl"),
        'ﬅ' | 'ﬆ' => text.push_str("st"),
        '\u{a0}' => text.push(' '),
        _ => text.push(char),
    }
}

fn is(dict: &Dict<'_>, key: &str, expected: &str) -> bool {
    dict.get::<Name<'_>>(key).is_some_and(|name| name.as_str() == expected)
}

fn type3_unit(dict: &Dict<'_>) -> f64 {
    let matrix = dict.get::<Array<'_>>("FontMatrix");
    matrix.and_then(|matrix| matrix.iter::<Number>().next()).map_or(0.001, |unit| unit.as_f64())
}

/// Texts of predefined encodings of composite fonts.
fn named(name: &str) -> CodeText {
    const ENCODED: [(&str, &Encoding); 9] = [
        ("GBK", GBK),
        ("GB-EUC", GBK),
        ("90ms-RKSJ", SHIFT_JIS),
        ("90pv-RKSJ", SHIFT_JIS),
        ("EUC-", EUC_JP),
        ("ETen-B5", BIG5),
        ("B5pc", BIG5),
        ("KSCms-UHC", EUC_KR),
        ("KSC-EUC", EUC_KR),
    ];
    if name.starts_with("Uni") && (name.contains("UCS2") || name.contains("UTF16")) {
        return CodeText::Utf16;
    }
    let encoded = ENCODED.iter().find(|(start, _)| name.starts_with(start));
    encoded.map_or(CodeText::Unknown, |(_, encoding)| CodeText::Encoded(encoding))
}

/// The characters of a simple font: a base encoding and its differences.
fn table(dict: &Dict<'_>) -> Box<[Option<String>]> {
    let inner = dict.get::<Dict<'_>>("Encoding");
    let base = match &inner {
        Some(inner) => inner.get::<Name<'_>>("BaseEncoding"),
        None => dict.get::<Name<'_>>("Encoding"),
    };
    let base = match base.as_ref().map(|name| name.as_str()) {
        Some("MacRomanEncoding") => glyphs::encoded(MACINTOSH),
        Some("WinAnsiEncoding") => glyphs::encoded(WINDOWS_1252),
        _ if is(dict, "Subtype", "TrueType") => glyphs::encoded(WINDOWS_1252),
        _ => glyphs::standard(),
    };
    let mut table: Box<[Option<String>]> = base.into_iter().map(|char| char.map(String::from)).collect();
    let differences = inner.and_then(|inner| inner.get::<Array<'_>>("Differences"));
    let mut code = 0usize;
    for item in differences.iter().flat_map(|items| items.iter::<Object<'_>>()) {
        match item {
            Object::Number(number) => code = number.as_i64().clamp(0, 256) as usize,
            Object::Name(name) => {
                if let Some(place) = table.get_mut(code) {
                    *place = glyphs::text(name.as_str());
                }
                code += 1;
            }
            _ => {}
        }
    }
    table
}

/// `[first [w w …] first last w …]`.
fn composite_widths(array: &Array<'_>) -> HashMap<u32, f64> {
    let mut widths = HashMap::new();
    let mut items = array.iter::<Object<'_>>();
    while let Some(Object::Number(first)) = items.next() {
        let first = first.as_i64().clamp(0, 0xffff) as u32;
        match items.next() {
            Some(Object::Array(list)) => {
                for (width, code) in list.iter::<Number>().zip(first..=0xffff) {
                    widths.insert(code, width.as_f64() / 1000.0);
                }
            }
            Some(Object::Number(last)) => {
                let last = last.as_i64().clamp(0, 0xffff) as u32;
                let Some(Object::Number(width)) = items.next() else { break };
                for code in first..=last {
                    widths.insert(code, width.as_f64() / 1000.0);
                }
            }
            _ => break,
        }
        if widths.len() > WIDTHS {
            break;
        }
    }
    widths
}
