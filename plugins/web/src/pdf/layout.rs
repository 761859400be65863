//! Where texts stand on a page: spaces and line ends follow from their places.

/// Characters of a page.
const MOST: usize = 400_000;

/// A text at its place, in the page's units.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedText {
    pub text: String,
    /// Begin and end of the base line.
    pub begin: (f64, f64),
    pub end: (f64, f64),
    /// Height of the font.
    pub size: f64,
}

/// Puts the texts of a page together, in the order in which they are drawn.
#[derive(Debug, Default)]
pub struct Layout {
    text: String,
    last: Option<PlacedText>,
}

impl Layout {
    pub fn push(&mut self, placed: PlacedText) {
        if placed.text.is_empty() || self.text.len() > MOST {
            return;
        }
        if let Some(last) = &self.last {
            match gap(last, &placed) {
                Gap::None => {}
                Gap::Space if self.text.ends_with([' ', '\n']) || placed.text.starts_with(' ') => {}
                Gap::Space => self.text.push(' '),
                Gap::Line => self.end_line("\n"),
                Gap::Paragraph => self.end_line("\n\n"),
            }
        }
        self.text.push_str(&placed.text);
        self.last = Some(PlacedText { text: String::new(), ..placed });
    }

    pub fn finish(self) -> String {
        self.text
    }

    fn end_line(&mut self, end: &str) {
        self.text.truncate(self.text.trim_end().len());
        self.text.push_str(end);
    }
}

enum Gap {
    None,
    Space,
    Line,
    Paragraph,
}

fn gap(last: &PlacedText, next: &PlacedText) -> Gap {
    let size = last.size.max(next.size).max(0.1);
    let (dx, dy) = (next.begin.0 - last.end.0, next.begin.1 - last.end.1);
    // Along the base line, and across it: texts may be rotated.
    let (before, after) = (direction(last), direction(next));
    let is_turned =
        before.zip(after).is_some_and(|(before, after)| before.0 * after.0 + before.1 * after.1 < 0.9);
    if is_turned {
        return Gap::Paragraph;
    }
    let (ux, uy) = before.or(after).unwrap_or((1.0, 0.0));
    let (along, across) = ((dx * ux + dy * uy) / size, (dy * ux - dx * uy) / size);
    if across.abs() > 1.8 {
        Gap::Paragraph
    } else if across.abs() > 0.6 || along < -1.0 {
        Gap::Line
    } else if along > 0.15 {
        Gap::Space
    } else {
        Gap::None
    }
}

fn direction(placed: &PlacedText) -> Option<(f64, f64)> {
    let (dx, dy) = (placed.end.0 - placed.begin.0, placed.end.1 - placed.begin.1);
    let length = dx.hypot(dy);
    (length > 1e-6 && length.is_finite()).then(|| (dx / length, dy / length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_become_spaces_and_lines() {
        let check = |places: &[(&str, f64, f64)], expected: &str| {
            let mut layout = Layout::default();
            for (text, x, y) in places {
                let end = (x + text.chars().count() as f64 * 5.0, *y);
                layout.push(PlacedText { text: (*text).into(), begin: (*x, *y), end, size: 10.0 });
            }
            assert_eq!(layout.finish(), expected);
        };
        check(&[("Hel", 0.0, 0.0), ("lo", 15.0, 0.0)], "Hello");
        check(&[("Hello", 0.0, 0.0), ("world", 28.0, 0.0)], "Hello world");
        check(&[("Hello ", 0.0, 0.0), ("world", 33.0, 0.0)], "Hello world");
        check(&[("a ", 0.0, 0.0), ("b", 0.0, -12.0), ("c", 0.0, -40.0)], "a\nb\n\nc");
        check(&[("x", 0.0, 0.0), ("2", 5.0, 4.0)], "x2");
        check(&[("right", 100.0, 0.0), ("left", 0.0, 0.0)], "right\nleft");
    }

    #[test]
    fn rotated_texts_stay_in_their_line() {
        let mut layout = Layout::default();
        for (at, text) in [(0.0, "up"), (13.0, "wards")] {
            let end = (0.0, at + text.len() as f64 * 5.0);
            layout.push(PlacedText { text: text.into(), begin: (0.0, at), end, size: 10.0 });
        }
        layout.push(PlacedText { text: "on".into(), begin: (0.0, 40.0), end: (10.0, 40.0), size: 10.0 });
        assert_eq!(layout.finish(), "up wards\n\non");
    }
}
