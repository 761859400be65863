//! HTML to Markdown: headings, paragraphs, lists, tables and code; without links, pictures, scripts and navigation.

mod entities;
mod tokens;

use entities::decode;
use tokens::{Token, Tokens};

/// Converts to Markdown; also returns the content of `<title>`.
pub fn to_markdown(html: &str) -> (String, Option<String>) {
    let mut writer = Writer::default();
    for token in Tokens::new(html) {
        match token {
            Token::Text(text) => writer.text(&decode(text)),
            Token::Open(name) => writer.open(&name),
            Token::Close(name) => writer.close(&name),
        }
    }
    writer.end_code();
    writer.end_row();
    writer.paragraph();
    (writer.out, writer.title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty()))
}

/// Parent of a paragraph; paragraphs of one list or table are not separated by empty lines.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    #[default]
    Text,
    Item,
    Row,
}

#[derive(Default)]
struct Writer {
    out: String,
    title: Option<String>,
    in_title: bool,
    /// Current paragraph, with collapsed white space.
    line: String,
    /// Prefix of its first line: marks of a heading or an item.
    mark: String,
    part: Part,
    /// Parent of the previous paragraph.
    last: Part,
    /// The open lists: the number of the last item, if they are numbered.
    lists: Vec<Option<u32>>,
    /// The cells of the open row.
    row: Option<Vec<String>>,
    /// Whether the table has its first row.
    headed: bool,
    code: Option<String>,
}

impl Writer {
    fn text(&mut self, text: &str) {
        if self.in_title {
            self.title.get_or_insert_default().push_str(text);
        } else if let Some(code) = &mut self.code {
            code.push_str(text);
        } else {
            for char in text.chars() {
                match char {
                    char if !char.is_whitespace() => self.line.push(char),
                    _ if self.line.is_empty() || self.line.ends_with([' ', '\n']) => {}
                    _ => self.line.push(' '),
                }
            }
        }
    }

    fn open(&mut self, name: &str) {
        match name {
            "title" => self.in_title = self.title.is_none(),
            "br" if self.code.is_some() => self.text("\n"),
            "br" => self.line.truncate(self.line.trim_end().len()),
            "pre" => {
                self.paragraph();
                self.code.get_or_insert_default();
            }
            "td" | "th" => self.end_cell(),
            _ if self.code.is_some() => {}
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" if self.row.is_none() => {
                self.paragraph();
                let level = usize::from(name.as_bytes()[1] - b'0');
                self.mark = "#".repeat(level) + " ";
            }
            "ul" => self.open_list(None),
            "ol" => self.open_list(Some(0)),
            "li" => self.item(),
            "table" => {
                self.end_row();
                self.paragraph();
                self.headed = false;
            }
            "tr" => {
                self.end_row();
                self.paragraph();
                self.row = Some(Vec::new());
            }
            _ if is_block(name) => self.paragraph(),
            _ => {}
        }
        if name == "br" && self.code.is_none() && !self.line.is_empty() {
            self.line.push(if self.row.is_some() || self.mark.starts_with('#') { ' ' } else { '\n' });
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "title" => self.in_title = false,
            "pre" => self.end_code(),
            _ if self.code.is_some() => {}
            "td" | "th" => self.end_cell(),
            "tr" | "table" => self.end_row(),
            "ul" | "ol" => {
                self.paragraph();
                self.lists.pop();
            }
            _ if is_block(name) => self.paragraph(),
            _ => {}
        }
    }

    fn open_list(&mut self, number: Option<u32>) {
        self.paragraph();
        self.lists.push(number);
    }

    fn item(&mut self) {
        self.paragraph();
        let depth = self.lists.len().saturating_sub(1).min(8);
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{number}. ")
            }
            _ => "- ".to_owned(),
        };
        self.mark = "  ".repeat(depth) + &mark;
        self.part = Part::Item;
    }

    /// Ends a paragraph, if there is one. Rows contain only words.
    fn paragraph(&mut self) {
        if self.row.is_some() {
            if !self.line.is_empty() && !self.line.ends_with(' ') {
                self.line.push(' ');
            }
            return;
        }
        let line = std::mem::take(&mut self.line);
        let line = line.trim();
        let mark = if line.is_empty() { return } else { std::mem::take(&mut self.mark) };
        let part = std::mem::take(&mut self.part);
        self.separate(part);
        self.out.push_str(&mark);
        let indent = if part == Part::Item { mark.len() } else { 0 };
        for (at, line) in line.lines().enumerate() {
            if at > 0 {
                self.out.push('\n');
                self.out.push_str(&" ".repeat(indent));
            }
            if mark.is_empty() && means_something(line) {
                self.out.push('\\');
            }
            self.out.push_str(line.trim_end());
        }
    }

    /// Ends the previous line, and adds an empty one before a different parent.
    fn separate(&mut self, part: Part) {
        if !self.out.is_empty() {
            self.out.push_str(if part == self.last && part != Part::Text { "\n" } else { "\n\n" });
        }
        self.last = part;
    }

    fn end_cell(&mut self) {
        let Some(row) = &mut self.row else { return };
        let cell = std::mem::take(&mut self.line);
        // `<td>` without a preceding `</td>` ends the cell; the first one starts it.
        if !cell.trim().is_empty() {
            row.push(cell.trim().replace('|', "\\|"));
        }
    }

    fn end_row(&mut self) {
        self.end_cell();
        let Some(row) = self.row.take().filter(|row| !row.is_empty()) else { return };
        if !self.headed {
            self.last = Part::Text;
        }
        self.separate(Part::Row);
        self.out.push_str(&format!("| {} |", row.join(" | ")));
        if !self.headed {
            self.headed = true;
            self.out.push_str(&format!("\n|{}", "---|".repeat(row.len())));
        }
    }

    fn end_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        let code = code.trim_matches('\n');
        if code.trim().is_empty() {
            return;
        }
        if self.row.is_some() {
            self.text(code);
            return;
        }
        let longest = code.split(|char| char != '`').map(str::len).max().unwrap_or_default();
        let fence = "`".repeat(longest.max(2) + 1);
        self.separate(Part::Text);
        self.out.push_str(&[&fence, "\n", code, "\n", &fence].concat());
    }
}

/// Elements that begin and end a paragraph.
fn is_block(name: &str) -> bool {
    const BLOCKS: &str = " address article aside blockquote body caption center dd details dialog div dl dt fieldset \
        figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html li main menu option p section select \
        summary tbody tfoot thead ";
    BLOCKS.split_ascii_whitespace().any(|block| block == name)
}

/// Tests whether Markdown would interpret a line of text.
fn means_something(line: &str) -> bool {
    line.starts_with(['#', '>']) || line.starts_with("```") || line.starts_with("~~~") || {
        line.chars().all(|char| char == '=') || line.chars().all(|char| char == '-')
    }
}
