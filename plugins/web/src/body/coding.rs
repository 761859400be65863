//! `Content-Encoding`: the host passes bodies on as they are.

use std::{
    borrow::Cow,
    io::{self, Read},
};

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use loggia_sdk::http::Response;

/// Reason why a body cannot be decompressed.
#[derive(Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// It has more than the allowed bytes.
    TooLarge,
    /// The server used a coding that was not asked for.
    Unknown(String),
    /// The data is damaged.
    Damaged,
}

/// Decompresses a body to at most this many bytes. A small compressed body can have gigabytes, so it is never
/// decompressed whole first.
pub fn decompress(response: &Response, most: usize) -> Result<Cow<'_, [u8]>, DecodeError> {
    let mut body = Cow::Borrowed(response.bytes());
    let codings = response.header("content-encoding").unwrap_or_default().to_ascii_lowercase();
    let codings = codings.split(',').map(str::trim).filter(|coding| !matches!(*coding, "" | "identity"));
    // The last coding was applied last.
    for coding in codings.rev() {
        body = Cow::Owned(match coding {
            "gzip" | "x-gzip" => read(MultiGzDecoder::new(&*body), most)?,
            // Some servers send it without the zlib header.
            "deflate" => match read(ZlibDecoder::new(&*body), most) {
                Err(DecodeError::Damaged) => read(DeflateDecoder::new(&*body), most)?,
                read => read?,
            },
            other => return Err(DecodeError::Unknown(untrusted::short(other, 40))),
        });
    }
    if body.len() > most { Err(DecodeError::TooLarge) } else { Ok(body) }
}

fn read(decoder: impl Read, most: usize) -> Result<Vec<u8>, DecodeError> {
    let mut decoded = Vec::new();
    let result: io::Result<usize> = decoder.take(most as u64 + 1).read_to_end(&mut decoded);
    match result {
        _ if decoded.len() > most => Err(DecodeError::TooLarge),
        Ok(_) => Ok(decoded),
        // What arrived of a truncated body is still text.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && !decoded.is_empty() => Ok(decoded),
        Err(_) => Err(DecodeError::Damaged),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{
        Compression,
        write::{DeflateEncoder, GzEncoder, ZlibEncoder},
    };

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn decoded(coding: &str, body: Vec<u8>, most: usize) -> Result<Vec<u8>, DecodeError> {
        let response = Response::new(200).with_header("content-encoding", coding).with_body(body);
        decompress(&response, most).map(Cow::into_owned)
    }

    #[test]
    fn known_codings_are_decompressed() {
        let text = b"milk ".repeat(100);
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(&text).unwrap();
        let mut raw = DeflateEncoder::new(Vec::new(), Compression::fast());
        raw.write_all(&text).unwrap();
        let check =
            |coding, body: Vec<u8>| assert_eq!(decoded(coding, body, 1000), Ok(text.clone()), "{coding}");
        check("", text.clone());
        check("identity", text.clone());
        check("gzip", gzip(&text));
        check("GZIP, identity", gzip(&text));
        check("gzip, x-gzip", gzip(&gzip(&text)));
        check("gzip", [gzip(&text[..200]), gzip(&text[200..])].concat());
        check("deflate", zlib.finish().unwrap());
        check("deflate", raw.finish().unwrap());
    }

    #[test]
    fn bombs_end_at_the_limit() {
        let bomb = gzip(&vec![0; 64 << 20]);
        assert!(bomb.len() < 70_000);
        assert_eq!(decoded("gzip", bomb.clone(), 1 << 20), Err(DecodeError::TooLarge));
        assert_eq!(decoded("gzip, gzip", gzip(&bomb), 1 << 20), Err(DecodeError::TooLarge));
    }

    #[test]
    fn other_and_damaged_codings_are_named() {
        assert_eq!(decoded("br", vec![1], 10), Err(DecodeError::Unknown("br".into())));
        assert_eq!(decoded("gzip", b"plain text".to_vec(), 100), Err(DecodeError::Damaged));
        let half = gzip(&b"milk and bread ".repeat(9));
        let cut = decoded("gzip", half[..half.len() - 9].to_vec(), 1000).unwrap();
        assert!(cut.starts_with(b"milk and"), "{cut:?}");
    }
}
