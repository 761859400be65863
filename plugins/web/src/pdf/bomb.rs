//! PDFs that decompress to far more than they are.

use std::io::Read;

use flate2::read::ZlibDecoder;

use super::PdfError;

/// Decompressed bytes of one stream, and of all that are not pictures.
const STREAM: u64 = 8 << 20;
const ALL: u64 = 24 << 20;

/// Fails if the streams of a PDF decompress to too much. The parser decompresses whole streams, and a call that has no memory
/// left cannot explain why. Streams in streams are not seen here; they end at the call's memory limit.
pub fn check(pdf: &[u8]) -> Result<(), PdfError> {
    let mut all = 0;
    let mut at = 0;
    while let Some(found) = find(&pdf[at..], b"stream") {
        let begin = at + found + b"stream".len();
        let is_end = pdf[..at + found].ends_with(b"end");
        at = begin;
        if is_end {
            continue;
        }
        let data = &pdf[begin..];
        let data = data.strip_prefix(b"\r\n").or_else(|| data.strip_prefix(b"\n")).unwrap_or(data);
        // Only data that begins as zlib does, and is no picture: pictures are not decompressed.
        let header = &pdf[begin.saturating_sub(400)..begin];
        let header =
            header.windows(4).rposition(|bytes| bytes == b" obj").map_or(header, |obj| &header[obj..]);
        if data.first().is_none_or(|byte| byte & 0x0f != 8) || find(header, b"/Image").is_some() {
            continue;
        }
        let mut decoder = ZlibDecoder::new(data).take(STREAM + 1);
        let size = std::io::copy(&mut decoder, &mut std::io::sink())
            .unwrap_or_else(|_| STREAM + 1 - decoder.limit());
        all += size;
        if size > STREAM || all > ALL {
            return Err(PdfError::Bomb);
        }
        // The data may contain the word by chance: go on behind it.
        let used = decoder.get_ref().total_in();
        at += usize::try_from(used).unwrap_or_default().min(data.len());
    }
    Ok(())
}

fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    // By the first byte, which is quicker than comparing windows.
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| *byte == word[0]) {
        if bytes[from + at..].starts_with(word) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}
