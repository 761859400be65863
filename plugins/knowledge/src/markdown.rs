//! The blocks of Markdown: headings, code, tables, and the prose between them.
//!
//! A parser of all of Markdown would make the guest larger by a third (`pulldown-cmark`: 212 KB), and only the borders of
//! blocks are wanted. Tests hold the headings found here against those of `pulldown-cmark`.

use crate::block::{Block, Kind, lines, until_the_next};

/// Characters of a heading.
const HEADING: usize = 120;

/// The blocks of a Markdown text.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut scan = Scan::default();
    let mut lines = lines(text).peekable();
    if let Some(end) = front_matter(text) {
        scan.starts.push((0, Kind::Solid));
        while lines.next_if(|(start, _)| *start < end).is_some() {}
    }
    while let Some((start, line)) = lines.next() {
        scan.line(start, line, lines.peek().map(|(_, line)| *line));
    }
    until_the_next(scan.starts, text.len())
}

/// End of the lines between two `---` at the start.
fn front_matter(text: &str) -> Option<usize> {
    let mut lines = lines(text);
    lines.next().filter(|(_, line)| *line == "---")?;
    // A rule is followed by an empty line, front matter is not.
    lines.next().filter(|(_, line)| !line.is_empty())?;
    let (start, line) = lines.find(|(_, line)| matches!(*line, "---" | "..."))?;
    Some(start + line.len())
}

/// Open construct of the previous line.
#[derive(Debug, Default, PartialEq)]
enum Open {
    #[default]
    Nothing,
    /// Code, until a line of this many fence characters.
    Fence(u8, usize),
    /// Prose, whose lines so far are a heading if a line of `=` or `-` follows.
    Paragraph(String),
    /// Prose other than a paragraph, such as a list; or a table.
    Other,
}

#[derive(Default)]
struct Scan {
    starts: Vec<(usize, Kind)>,
    open: Open,
    /// Inside a list, where code may be indented.
    list: bool,
}

impl Scan {
    fn line(&mut self, start: usize, line: &str, next: Option<&str>) {
        let content = line.trim_start();
        let indent = line.len() - content.len();
        if let Open::Fence(mark, count) = self.open {
            if fence(content).is_some_and(|(m, n, info)| m == mark && n >= count && info.is_empty()) {
                self.open = Open::Nothing;
            }
            return;
        }
        if content.is_empty() {
            self.open = Open::Nothing;
            return;
        }
        let begins_item = is_item(content);
        self.list = begins_item || self.list && (indent > 0 || self.open != Open::Nothing);
        if let Some((mark, count, _)) = fence(content).filter(|_| indent < 4 || self.list) {
            self.starts.push((start, Kind::Solid));
            self.open = Open::Fence(mark, count);
        } else if let Some((level, words)) = heading(content).filter(|_| indent < 4) {
            self.starts.push((start, Kind::Heading(level, words)));
            self.open = Open::Nothing;
        } else if let Some(level) = underline(content).filter(|_| indent < 4)
            && let Open::Paragraph(words) = &mut self.open
        {
            let heading = Kind::Heading(level, plain(words));
            if let Some(last) = self.starts.last_mut() {
                last.1 = heading;
            }
            self.open = Open::Nothing;
        } else if is_rule(content) && indent < 4 {
            self.starts.push((start, Kind::Prose));
            self.open = Open::Nothing;
        } else if content.contains('|') && next.is_some_and(is_delimiter) {
            self.starts.push((start, Kind::Solid));
            self.open = Open::Other;
        } else {
            self.prose(start, content, begins_item || content.starts_with('>') || indent >= 4);
        }
    }

    fn prose(&mut self, start: usize, content: &str, other: bool) {
        match &mut self.open {
            Open::Paragraph(words) if !other => {
                words.push(' ');
                words.push_str(content);
            }
            Open::Nothing => {
                self.starts.push((start, Kind::Prose));
                self.open = if other { Open::Other } else { Open::Paragraph(content.to_owned()) };
            }
            _ => self.open = Open::Other,
        }
    }
}

/// Parses three or more backticks or tildes, and the text after them.
fn fence(content: &str) -> Option<(u8, usize, &str)> {
    let mark = *content.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
    let count = content.bytes().take_while(|byte| *byte == mark).count();
    let info = content[count..].trim();
    (count >= 3 && (mark == b'~' || !info.contains('`'))).then_some((mark, count, info))
}

/// `## Words ##`.
fn heading(content: &str) -> Option<(u8, String)> {
    let level = content.bytes().take_while(|byte| *byte == b'#').count();
    let words = &content[level..];
    if !(1..=6).contains(&level) || !(words.is_empty() || words.starts_with([' ', '\t'])) {
        return None;
    }
    let bare = words.trim_end_matches('#');
    let words = if bare.is_empty() || bare.ends_with([' ', '\t']) { bare } else { words };
    Some((u8::try_from(level).ok()?, plain(words)))
}

/// A line of `=` or `-`, which makes the paragraph above it a heading.
fn underline(content: &str) -> Option<u8> {
    let all = |mark| content.bytes().all(|byte| byte == mark);
    if all(b'=') { Some(1) } else { all(b'-').then_some(2) }
}

/// `---`, `* * *`: a line across.
fn is_rule(content: &str) -> bool {
    let mark = content.chars().next().filter(|mark| matches!(mark, '-' | '*' | '_'));
    let all = |mark| content.chars().all(|char| char == mark || char.is_whitespace());
    mark.is_some_and(|mark| all(mark) && content.matches(mark).count() >= 3)
}

/// `- item`, `2. item`.
fn is_item(content: &str) -> bool {
    let digits = content.bytes().take_while(u8::is_ascii_digit).count();
    let marks: &[char] = if digits == 0 { &['-', '*', '+'] } else { &['.', ')'] };
    let rest = content[digits..].strip_prefix(marks);
    digits < 10 && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// `|---|:-:|`, the second line of a table.
fn is_delimiter(line: &str) -> bool {
    let line = line.trim();
    line.contains('-') && line.contains('|') && line.chars().all(|char| matches!(char, '|' | '-' | ':' | ' '))
}

/// A heading's words without marks for code and emphasis. Each passage below it carries them, so they have an end.
fn plain(words: &str) -> String {
    words.trim().chars().filter(|char| !matches!(char, '`' | '*')).take(HEADING).collect()
}
