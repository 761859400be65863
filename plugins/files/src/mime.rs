//! Guesses a file's type by its first bytes, then by its name.

/// Types by first bytes.
const MAGIC: [(&[u8], &str); 12] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"\0asm", "application/wasm"),
    (b"\x7fELF", "application/x-executable"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
];

/// Types by extension.
const ENDINGS: [(&str, &str); 22] = [
    ("txt", "text/plain"),
    ("log", "text/plain"),
    ("md", "text/markdown"),
    ("csv", "text/csv"),
    ("html", "text/html"),
    ("css", "text/css"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("toml", "application/toml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("xml", "application/xml"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("pdf", "application/pdf"),
    ("zip", "application/zip"),
    ("mp3", "audio/mpeg"),
    ("wav", "audio/wav"),
    ("mp4", "video/mp4"),
];

/// Guesses the type of a file by its path and its first bytes, which may be empty.
pub fn guess(path: &str, bytes: &[u8]) -> &'static str {
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return "image/webp";
    }
    if let Some((_, mime)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return mime;
    }
    let name = path.rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let known = ENDINGS.iter().find(|(known, _)| ending.as_deref() == Some(*known));
    match known {
        Some((_, mime)) => mime,
        None if !bytes.is_empty() && std::str::from_utf8(bytes).is_ok() && !bytes.contains(&0) => {
            "text/plain"
        }
        None => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::guess;

    #[test]
    fn first_bytes_take_precedence_over_names() {
        let check = |path, bytes: &[u8], expected| assert_eq!(guess(path, bytes), expected, "{path}");
        check("/a/b.txt", b"\x89PNG\r\n\x1a\n...", "image/png");
        check("/a/b.MD", b"# x", "text/markdown");
        check("/a/Makefile", b"all:", "text/plain");
        check("/a.b/noending", b"\0\0", "application/octet-stream");
        check("/a/b", b"", "application/octet-stream");
        check("/a/b", b"RIFF....WEBPVP8", "image/webp");
    }
}
