//! Bytes of JSON strings that are not themselves: quotation marks, backslashes, control characters.

/// What stands for a byte in a JSON string.
#[derive(Clone, Copy)]
pub(super) struct ByteForm {
    /// ASCII, but for bytes of other characters. What follows its length is zero.
    pub bytes: [u8; LONGEST_FORM],
    /// From 1 to 6.
    pub length: u8,
}

/// Room for the longest form, `\u0000`, in one word.
pub(super) const LONGEST_FORM: usize = 8;

/// The form of each byte, as `serde_json` writes it.
pub(super) static FORMS: [ByteForm; 256] = {
    let mut forms = [ByteForm { bytes: [0; LONGEST_FORM], length: 1 }; 256];
    let mut byte = 0;
    while byte < forms.len() {
        forms[byte] = byte_form(byte as u8);
        byte += 1;
    }
    forms
};

const fn byte_form(byte: u8) -> ByteForm {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let letter = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        ..0x20 => b'u',
        _ => return ByteForm { bytes: [byte, 0, 0, 0, 0, 0, 0, 0], length: 1 },
    };
    if letter != b'u' {
        return ByteForm { bytes: [b'\\', letter, 0, 0, 0, 0, 0, 0], length: 2 };
    }
    let (high, low) = (HEX[(byte >> 4) as usize], HEX[(byte & 15) as usize]);
    ByteForm { bytes: [b'\\', letter, b'0', b'0', high, low, 0, 0], length: 6 }
}

/// Returns how many bytes at the beginning of a string's text stand for themselves. Looks at eight bytes at once.
pub(super) fn plain_prefix(text: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    // Bytes whose highest bit is set in the result are zero in `word`, or come after one that is.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
    let (words, rest) = text.as_chunks();
    let mut at = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        let quote = zeros(word ^ (ONES * u64::from(b'"')));
        let backslash = zeros(word ^ (ONES * u64::from(b'\\')));
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let special = (quote | backslash | control) & HIGH;
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + rest.iter().take_while(|byte| is_plain(**byte)).count()
}

/// Whether a byte stands for itself within a string.
fn is_plain(byte: u8) -> bool {
    !matches!(byte, ..0x20 | b'"' | b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_bytes_end_at_the_first_special_one() {
        for special in 0..=u8::MAX {
            for at in 0..20 {
                for other in [b'a', 0x7f, 0x80, 0xff, b'!', b'#', b'[', b']', b' '] {
                    let mut text = [other; 24];
                    text[at] = special;
                    let expected = if is_plain(special) { text.len() } else { at };
                    assert_eq!(plain_prefix(&text), expected, "{special} at {at} among {other}");
                    let short = &text[..=at];
                    assert_eq!(
                        plain_prefix(short),
                        expected.min(short.len()),
                        "{special} ends {at} of {other}"
                    );
                }
            }
        }
    }
}
