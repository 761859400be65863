//! The text of PDFs.
//!
//! hayro-syntax reads the file; what its operators show is put together here. Pictures are not read.

mod bomb;
mod content;
mod font;
mod glyphs;
mod layout;

use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};

use content::ContentReader;
use layout::Layout;

/// Pages that are read.
const PAGES: usize = 5000;

/// Text of a PDF.
#[derive(Debug, Default)]
pub struct PdfText {
    pub title: String,
    /// Each page begins with a line `--- page N ---`.
    pub text: String,
    /// Number of pages.
    pub pages: usize,
    /// Whether all pages were read.
    pub is_complete: bool,
    /// Number of characters that the fonts do not name.
    pub unknown: usize,
}

/// Reason why a PDF cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub enum PdfError {
    Encrypted,
    Damaged,
    /// It decompresses to too much.
    Bomb,
}

/// Reads the text up to this character or further, to the end of a page.
pub fn read(bytes: Vec<u8>, until: usize) -> Result<PdfText, PdfError> {
    bomb::check(&bytes)?;
    let pdf = Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => PdfError::Encrypted,
        _ => PdfError::Damaged,
    })?;
    let mut read = PdfText {
        title: pdf.metadata().title.as_deref().map(string).unwrap_or_default(),
        pages: pdf.pages().len(),
        is_complete: true,
        ..PdfText::default()
    };
    let mut characters = 0;
    let mut reader = ContentReader::default();
    for (at, page) in pdf.pages().iter().take(PAGES).enumerate() {
        // One more, so that a part that ends with the page is known not to be the last.
        if characters > until {
            read.is_complete = false;
            break;
        }
        let mut layout = Layout::default();
        reader.read(page, &mut layout);
        let text = untrusted::visible(&layout.finish());
        let begin = read.text.len();
        if at > 0 {
            read.text.push_str("\n\n");
        }
        read.text.push_str(&format!("--- page {} ---", at + 1));
        if !text.trim().is_empty() {
            read.text.push_str("\n\n");
            read.text.push_str(text.trim());
        }
        characters += read.text[begin..].chars().count();
    }
    read.unknown = reader.unknown();
    if read.pages > 0 && reader.has_no_text() {
        read.text.clear();
    }
    Ok(read)
}

/// A text of the document's information: UTF-16 or UTF-8 with a byte order mark, else nearly Latin-1.
fn string(bytes: &[u8]) -> String {
    match bytes {
        [0xfe, 0xff, ..] | [0xff, 0xfe, ..] | [0xef, 0xbb, 0xbf, ..] => {
            encoding_rs::UTF_8.decode(bytes).0.into_owned()
        }
        _ => encoding_rs::WINDOWS_1252.decode(bytes).0.into_owned(),
    }
}
