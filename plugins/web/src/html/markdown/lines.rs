//! Lines of Markdown, with the marks of lists and quotations before them.

/// Bytes of a text. No page that people read is larger.
const MOST: usize = 8 << 20;

/// Depth of lists and quotations that is shown. Each line begins with a mark for each.
const DEPTH: usize = 12;

/// Distance to the previous block.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Gap {
    #[default]
    Start,
    /// Items and rows of one list or table.
    Line,
    Blank,
}

/// The text so far.
#[derive(Debug, Default)]
pub struct Lines {
    text: String,
    /// Written before each line.
    prefix: String,
    /// Lengths of the prefix outside of each open list item or quotation.
    outer: Vec<usize>,
    /// Mark of an item whose first line is not written, with its place in the prefix.
    marks: Vec<(usize, String)>,
    gap: Gap,
    /// Length of the prefix that the previous block shares with the next one.
    shared: usize,
}

impl Lines {
    pub fn finish(mut self) -> (String, bool) {
        let is_full = self.is_full();
        self.text.truncate(self.text.trim_end().len());
        (self.text, is_full)
    }

    pub fn is_full(&self) -> bool {
        self.text.len() >= MOST
    }

    /// Begins a part whose lines start with `prefix`; the first one with `mark`, which is as wide, instead.
    pub fn indented(&mut self, prefix: &str, mark: Option<String>) {
        self.outer.push(self.prefix.len());
        if self.outer.len() > DEPTH {
            return;
        }
        if let Some(mark) = mark {
            self.marks.push((self.prefix.len(), mark));
        }
        self.prefix.push_str(prefix);
    }

    /// Ends the innermost part.
    pub fn outdented(&mut self) {
        let length = self.outer.pop().unwrap_or_default();
        self.prefix.truncate(length);
        self.shared = self.shared.min(length);
        // An item without text.
        self.marks.retain(|(at, _)| *at < length);
    }

    /// Whether the mark of an item waits for its first line.
    pub fn has_mark(&self) -> bool {
        !self.marks.is_empty()
    }

    /// The next block follows without an empty line.
    pub fn join(&mut self) {
        if self.gap == Gap::Blank {
            self.gap = Gap::Line;
        }
    }

    /// Writes a paragraph: lines whose beginnings could be read as marks are escaped.
    pub fn paragraph(&mut self, text: &str) {
        let lines = text.lines().map(|line| match mark_length(line) {
            Some(at) => [&line[..at], "\\", &line[at..]].concat(),
            None => line.to_owned(),
        });
        let text: Vec<String> = lines.collect();
        self.block(&text.join("\n"));
    }

    /// Writes a block as it is.
    pub fn block(&mut self, text: &str) {
        match std::mem::replace(&mut self.gap, Gap::Blank) {
            Gap::Start => {}
            Gap::Line => self.text.push('\n'),
            Gap::Blank => {
                self.text.push('\n');
                self.text.push_str(self.prefix[..self.shared].trim_end());
                self.text.push('\n');
            }
        }
        self.shared = self.prefix.len();
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 {
                self.text.push('\n');
            }
            self.begin_line();
            self.text.push_str(line);
            if line.is_empty() {
                self.text.truncate(self.text.trim_end_matches(' ').len());
            }
            if self.is_full() {
                return;
            }
        }
    }

    fn begin_line(&mut self) {
        let mut at = 0;
        for (place, mark) in std::mem::take(&mut self.marks) {
            self.text.push_str(&self.prefix[at..place]);
            self.text.push_str(&mark);
            at = place + mark.len();
        }
        self.text.push_str(self.prefix.get(at..).unwrap_or_default());
    }
}

/// Position at which a line of text that Markdown would read as a heading, an item, a quotation or a rule is escaped.
fn mark_length(line: &str) -> Option<usize> {
    let first = line.chars().next()?;
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=9).contains(&digits) && line[digits..].starts_with([')', '.']) {
        let rest = &line[digits + 1..];
        return (rest.is_empty() || rest.starts_with(' ')).then_some(digits);
    }
    let words = line.trim_start_matches(first);
    let is_mark = match first {
        '#' => words.is_empty() || words.starts_with(' '),
        '>' => true,
        '-' | '+' => line[1..].starts_with(' ') || words.trim().is_empty(),
        '*' => line[1..].starts_with(' '),
        '=' | '~' | '`' => words.is_empty() || line.starts_with("~~~") || line.starts_with("```"),
        '|' => true,
        _ => false,
    };
    is_mark.then_some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_look_like_marks_are_escaped() {
        let check = |line: &str, expected: &str| {
            let mut lines = Lines::default();
            lines.paragraph(line);
            assert_eq!(lines.finish().0, expected);
        };
        check("# not a heading", "\\# not a heading");
        check("#hashtag", "#hashtag");
        check("- not an item", "\\- not an item");
        check("-5 degrees", "-5 degrees");
        check("---", "\\---");
        check("1. not an item", "1\\. not an item");
        check("1.5 litres", "1.5 litres");
        check("1999.", "1999\\.");
        check("> not a quotation", "\\> not a quotation");
        check("**bold**", "**bold**");
        check("* a", "\\* a");
        check("```", "\\```");
        check("`code` first", "`code` first");
        check("| a |", "\\| a |");
        check("a\n# b", "a\n\\# b");
    }

    #[test]
    fn marks_stand_before_the_first_line() {
        let mut lines = Lines::default();
        lines.block("a");
        lines.indented("  ", Some("- ".into()));
        lines.indented("> ", None);
        lines.block("b\nc");
        lines.block("d");
        lines.outdented();
        lines.outdented();
        lines.join();
        lines.indented("   ", Some("1. ".into()));
        lines.indented("  ", Some("- ".into()));
        lines.block("e");
        lines.outdented();
        lines.block("f");
        lines.outdented();
        lines.block("g");
        assert_eq!(lines.finish().0, "a\n\n- > b\n  > c\n  >\n  > d\n1. - e\n\n   f\n\ng");
    }
}
