//! Input formats of documents, and their conversion.

use loggia_sdk::prelude::*;

use crate::{
    block::{self, Block, Kind},
    html, markdown,
};

/// Format of a document's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Detected from the source's extension or the content.
    #[default]
    Auto,
    Markdown,
    /// Stored as Markdown.
    Html,
    Text,
}

impl Format {
    /// Name in a call.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Markdown => "markdown",
            Self::Html => "html",
            Self::Text => "text",
        }
    }
}

/// A longer run of white space is cut to this.
const SPACE: usize = 100;
/// Characters of a title that is taken from the text.
const TITLE: usize = 120;

/// A document's text as it is stored and split.
#[derive(Debug, Clone, PartialEq)]
pub struct Converted {
    pub text: String,
    /// Never `Auto`.
    pub format: Format,
    /// Title found in the text.
    pub title: String,
}

/// Converts the input to the stored text. Fails if that is empty.
pub fn convert(given: &str, format: Format, source: Option<&str>) -> Result<Converted> {
    let given = tidy(given);
    let format = if format == Format::Auto { guess(&given, source) } else { format };
    let (text, title) = match format {
        Format::Html => {
            let (text, title) = html::to_markdown(&given);
            (tidy(&text), title)
        }
        _ => (given, None),
    };
    if text.trim().is_empty() {
        let empty = Failure::invalid_params("`text` is empty");
        return Err(match format {
            Format::Html => empty.hint("Scripts, styles and navigation are removed from HTML."),
            _ => empty,
        });
    }
    let blocks = blocks(&text, format);
    let title = title.unwrap_or_else(|| first_words(&text, &blocks));
    Ok(Converted { title: shortened(&title), text, format })
}

/// The blocks of a text that was converted.
pub fn blocks(text: &str, format: Format) -> Vec<Block> {
    if format == Format::Text { block::paragraphs(text) } else { markdown::blocks(text) }
}

/// Identifies a text: FNV-1a in 128 bits; forgery is not a concern here.
pub fn digest(text: &str) -> String {
    let hash = text.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b)
    });
    let (high, low) = ((hash >> 64) as u64, hash as u64);
    format!("{high:016x}{low:016x}")
}

/// Normalises line ends to `\n`, removes other control characters, and limits white space.
fn tidy(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let (mut space, mut last) = (0, ' ');
    for given in text.trim_start_matches('\u{feff}').chars() {
        let before = std::mem::replace(&mut last, given);
        if (before, given) == ('\r', '\n') {
            continue;
        }
        let char = if given == '\r' { '\n' } else { given };
        space = if char.is_whitespace() { space + 1 } else { 0 };
        if space <= SPACE && (char == '\n' || char == '\t' || !char.is_control()) {
            tidy.push(char);
        }
    }
    tidy
}

fn guess(text: &str, source: Option<&str>) -> Format {
    let source = source.unwrap_or_default().to_ascii_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| source.ends_with(ending));
    if ends(&[".md", ".markdown"]) {
        return Format::Markdown;
    }
    if ends(&[".txt", ".log", ".csv"]) {
        return Format::Text;
    }
    if is_html(text) {
        return Format::Html;
    }
    let marked = markdown::blocks(text).iter().any(|block| block.kind != Kind::Prose);
    if marked { Format::Markdown } else { Format::Text }
}

/// Tests whether a text starts with a typical HTML tag and has a second one.
fn is_html(text: &str) -> bool {
    const FIRST: [&str; 16] = [
        "!doctype html",
        "html",
        "head",
        "body",
        "title",
        "meta",
        "article",
        "main",
        "section",
        "header",
        "div",
        "p",
        "h1",
        "h2",
        "ul",
        "table",
    ];
    let Some(inside) = text.trim_start().strip_prefix('<') else { return false };
    let start: String = inside.chars().take(16).collect::<String>().to_ascii_lowercase();
    let begins = |tag: &&str| {
        start
            .strip_prefix(*tag)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '>', '\n', '\t']))
    };
    FIRST.iter().any(begins) && inside.contains('<')
}

/// The first heading's words, or the first line.
fn first_words(text: &str, blocks: &[Block]) -> String {
    let heading = blocks.iter().find_map(|block| match &block.kind {
        Kind::Heading(_, words) if !words.is_empty() => Some(words.clone()),
        _ => None,
    });
    let line = || text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned();
    heading.unwrap_or_else(line)
}

fn shortened(title: &str) -> String {
    let words: Vec<_> = title.split_whitespace().collect();
    let title = words.join(" ");
    if title.chars().count() <= TITLE {
        return title;
    }
    title.chars().take(TITLE - 1).chain(['…']).collect()
}
