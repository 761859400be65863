//! Writes a text as a JSON string.
//!
//! Writing texts is most of what a guest does with a large result. `serde_json` copies what lies between two escapes, and a copy whose
//! length is not constant is a call of the host. Here texts are copied in blocks of eight bytes, each of which is examined as one number.

pub(super) const BLOCK: usize = size_of::<u64>();
/// The letters of the escapes from backspace to carriage return. The one in the middle has none of its own.
const CONTROLS: &[u8; 6] = b"btnufr";
const HEX: &[u8; 16] = b"0123456789abcdef";

/// Appends a text in quotation marks.
#[inline(never)]
pub(super) fn write_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    let mut end = out.len();
    while !rest.is_empty() {
        if out.len() - end < BLOCK {
            // Most texts have few escapes.
            out.resize(end + rest.len() + rest.len() / 8 + BLOCK, 0);
        }
        let Some(place) = out.get_mut(end..).and_then(<[u8]>::first_chunk_mut) else { break };
        if let Some(block) = rest.first_chunk()
            && let plain @ 1.. = plain_bytes(*block)
        {
            *place = *block;
            end += plain;
            rest = rest.get(plain..).unwrap_or_default();
            continue;
        }
        let Some((&byte, after)) = rest.split_first() else { break };
        rest = after;
        let short = match byte {
            b'"' | b'\\' => byte,
            0x08..=0x0d => CONTROLS[usize::from(byte - 8)],
            0..0x20 => b'u',
            _ => 0,
        };
        if short == 0 {
            place[0] = byte;
            end += 1;
        } else if short == b'u' {
            let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
            *place = [b'\\', b'u', b'0', b'0', high, low, 0, 0];
            end += 6;
        } else {
            [place[0], place[1]] = [b'\\', short];
            end += 2;
        }
    }
    out.truncate(end);
    out.push(b'"');
}

/// The number of bytes before the first one that is a quotation mark, a backslash or below 0x20.
pub(super) fn plain_bytes(block: [u8; BLOCK]) -> usize {
    const fn each(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; BLOCK])
    }
    let block = u64::from_le_bytes(block);
    // The highest bit of a byte is set if it is below `limit`, and of bytes above it perhaps, too.
    let below = |bytes: u64, limit: u8| bytes.wrapping_sub(each(limit)) & !bytes & each(0x80);
    let found = below(block, 0x20) | below(block ^ each(b'"'), 1) | below(block ^ each(b'\\'), 1);
    found.trailing_zeros() as usize / 8
}
