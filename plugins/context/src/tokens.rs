//! Estimated number of tokens of a text.
//!
//! A plugin cannot hold a tokenizer's vocabulary (2 MB), so it counts by the shape of the text, and rather too many: the
//! tests compare it with o200k_base on prose, JSON, code and other scripts.

/// Estimates the tokens of a text. High for prose (by a third to a half), never low for it.
pub fn estimate(text: &str) -> usize {
    let mut tokens = 0;
    let mut chars = text.chars().peekable();
    let mut after_digit = false;
    while let Some(first) = chars.next() {
        let kind = CharKind::of(first);
        let mut length = 1_usize;
        let (mut last, mut capitals) = (kind, usize::from(kind == CharKind::Upper));
        while let Some(next) = chars.next_if(|next| CharKind::of(*next).continues(last)) {
            last = CharKind::of(next);
            capitals += usize::from(last == CharKind::Upper);
            length += 1;
        }
        tokens += match kind {
            // A single space belongs to the word that follows; lines and indents are separate.
            CharKind::Space if length == 1 => usize::from(first != ' '),
            CharKind::Space => 2,
            CharKind::Digit => length.div_ceil(3),
            CharKind::Upper | CharKind::Lower => {
                let is_id = after_digit || chars.peek().is_some_and(char::is_ascii_digit);
                word(length, is_id || capitals > 1)
            }
            CharKind::Sign => 1,
            CharKind::Wide(tokens) => tokens,
        };
        after_digit = kind == CharKind::Digit;
    }
    tokens
}

/// Tokens of a run of ASCII letters. Constants, abbreviations, and letters beside digits are rarely in a vocabulary.
fn word(length: usize, is_rare: bool) -> usize {
    match length {
        _ if is_rare => (2 * length).div_ceil(3),
        0..=5 => 1,
        6..=12 => 1 + (length - 5).div_ceil(2),
        // No word of a language: an id, or words without spaces.
        _ => length.div_ceil(2),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharKind {
    Space,
    Digit,
    Upper,
    Lower,
    Sign,
    /// Outside ASCII, with its maximum number of tokens that is usual.
    Wide(usize),
}

impl CharKind {
    fn of(char: char) -> Self {
        match char {
            ' ' | '\n' | '\t' | '\r' => Self::Space,
            '0'..='9' => Self::Digit,
            'A'..='Z' => Self::Upper,
            'a'..='z' => Self::Lower,
            _ if char.is_ascii() => Self::Sign,
            _ => Self::Wide(match char.len_utf8() {
                2 => 1,
                3 => 2,
                _ => 4,
            }),
        }
    }

    /// Whether a character of this kind continues a run that ends in `last`. `camelCase` is two runs.
    fn continues(self, last: Self) -> bool {
        match self {
            Self::Space | Self::Digit | Self::Upper => self == last,
            Self::Lower => matches!(last, Self::Lower | Self::Upper),
            Self::Sign | Self::Wide(_) => false,
        }
    }
}
