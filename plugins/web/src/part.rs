//! Parts of long texts.

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub struct TextPart {
    pub text: String,
    /// First character after the part, unless the text ends with it.
    pub next: Option<usize>,
}

/// Returns up to `limit` characters, from the character `from` on. Ends at a line or a word, if one ends in the last
/// fifth.
pub fn cut(text: &str, from: usize, limit: usize) -> TextPart {
    let start = offset(text, from);
    let rest = &text[start..];
    let end = offset(rest, limit);
    if end == rest.len() {
        return TextPart { text: rest.to_owned(), next: None };
    }
    let least = offset(rest, limit - limit / 5);
    let ends = |pattern: &str| rest[least..end].rfind(pattern).map(|at| least + at + pattern.len());
    let end = ends("\n\n").or_else(|| ends("\n")).or_else(|| ends(" ")).unwrap_or(end);
    let part = &rest[..end];
    TextPart { text: part.to_owned(), next: Some(from + part.chars().count()) }
}

/// Byte offset of a character, or the end.
fn offset(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_join_to_the_whole() {
        let text =
            "Ein Satz über Äpfel.\n\nNoch einer, länger als der erste.\nUnd 日本語日本語日本語日本語日本語."
                .repeat(9);
        for limit in [1, 7, 40, 1000] {
            let (mut from, mut joined) = (0, String::new());
            loop {
                let part = cut(&text, from, limit);
                assert!(part.text.chars().count() <= limit);
                joined.push_str(&part.text);
                let Some(next) = part.next else { break };
                assert!(next > from);
                from = next;
            }
            assert_eq!(joined, text, "{limit}");
        }
    }

    #[test]
    fn parts_end_at_lines_and_words() {
        let check = |text: &str, limit, expected: &str, next| {
            assert_eq!(cut(text, 0, limit), TextPart { text: expected.into(), next }, "{text}");
        };
        check("aaaaaaa\n\nb c d", 10, "aaaaaaa\n\n", Some(9));
        check("aaaaaaaaa bbbb", 11, "aaaaaaaaa ", Some(10));
        check("abcdefghij", 5, "abcde", Some(5));
        check("abc", 5, "abc", None);
        assert_eq!(cut("abc", 9, 5), TextPart { text: String::new(), next: None });
    }
}
