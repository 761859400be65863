//! Texts and URLs that strangers wrote, made safe to show to a model. Shared by plugins.
//!
//! | text | function |
//! |---|---|
//! | one line, shortened | [`short`] |
//! | the same from HTML | [`plain`] |
//! | lines, kept | [`visible`] |
//! | a URL | [`web_address`] |

/// Removes tags, control and invisible characters from a text, collapses white space, and truncates it to this many
/// characters.
pub fn plain(text: &str, characters: usize) -> String {
    short(&without_entities(&without_tags(text)), characters)
}

/// Like [`plain`], but keeps tags: in notes and files they may be the subject.
pub fn short(text: &str, characters: usize) -> String {
    let visible: String = text.chars().filter(|char| !is_hidden(*char)).collect();
    let mut short = String::new();
    let mut left = characters;
    for word in
        visible.split(|char: char| char.is_whitespace() || char.is_control()).filter(|word| !word.is_empty())
    {
        let length = word.chars().count() + usize::from(!short.is_empty());
        if length > left {
            let begun = if short.is_empty() {
                word.chars().take(characters.saturating_sub(1)).collect()
            } else {
                short
            };
            return begun + "…";
        }
        left -= length;
        if !short.is_empty() {
            short.push(' ');
        }
        short.push_str(word);
    }
    short
}

/// Removes control characters except line ends and tabs, and invisible characters; `\r\n` and `\r` become `\n`.
pub fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    let mut last = ' ';
    for char in text.chars() {
        let before = std::mem::replace(&mut last, char);
        match char {
            '\n' if before == '\r' => {}
            '\r' => visible.push('\n'),
            '\n' | '\t' => visible.push(char),
            _ if char.is_control() || is_hidden(char) => {}
            _ => visible.push(char),
        }
    }
    visible
}

/// Tests for invisible characters, which can hide words from a person but not from a model: zero-width spaces, direction
/// controls, tags. (Joiners stay: some scripts need them.)
pub fn is_hidden(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// `a <b>bold</b> word` → `a bold word`; `1 < 2` stays.
fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    // There is no tag after the last `>`.
    let (mut rest, end) = text.split_at(text.rfind('>').map_or(0, |at| at + 1));
    while let Some(at) = rest.find('<') {
        let inside = &rest[at + 1..];
        let begins = inside
            .trim_start_matches('/')
            .starts_with(|char: char| char.is_ascii_alphabetic() || char == '!');
        match inside.find('>').filter(|_| begins) {
            Some(end) => {
                plain.push_str(&rest[..at]);
                rest = &inside[end + 1..];
            }
            None => {
                plain.push_str(&rest[..=at]);
                rest = inside;
            }
        }
    }
    plain + rest + end
}

/// The entities that engines leave in texts.
const ENTITIES: [(&str, &str); 7] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&apos;", "'"),
    ("&nbsp;", " "),
    // Last: its output is not decoded again.
    ("&amp;", "&"),
];

fn without_entities(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    ENTITIES.iter().fold(text.to_owned(), |text, (entity, char)| text.replace(entity, char))
}

/// Accepts `http` and `https` URLs of limited length. A URL with a user name and a password displays another server
/// than its target.
pub fn web_address(url: &str) -> Option<String> {
    let url = url.trim();
    let rest = ["https://", "http://"].iter().find_map(|scheme| {
        url.get(..scheme.len())
            .filter(|start| start.eq_ignore_ascii_case(scheme))
            .map(|start| &url[start.len()..])
    })?;
    let server = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let sound = !server.is_empty()
        && !server.contains('@')
        && url.len() <= 2000
        && !url.chars().any(|char| {
            char.is_whitespace() || char.is_control() || is_hidden(char) || "<>\"`".contains(char)
        });
    sound.then(|| url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_plain() {
        let check = |text, expected| assert_eq!(plain(text, 20), expected, "{text:?}");
        check("a <b>bold</b> word", "a bold word");
        check("1 < 2 and 3 > 2", "1 < 2 and 3 > 2");
        check("<script>x</script><!-- y -->", "x");
        check("<unclosed tag", "<unclosed tag");
        check("Tom &amp; Jerry&#39;s", "Tom & Jerry's");
        check("&amp;lt;b&amp;gt;", "&lt;b&gt;");
        check("a\u{200b}b\u{202e}c\u{e0041}", "abc");
        check(" a\n\tb\u{7}c ", "a b c");
        check("one two three four five", "one two three four…");
        check("onetwothreefourfivesix", "onetwothreefourfive…");
        check("", "");
    }

    #[test]
    fn lines_stay_and_hidden_characters_go() {
        let check = |text, expected| assert_eq!(visible(text), expected, "{text:?}");
        check("a\r\nb\rc\n\td", "a\nb\nc\n\td");
        check("a\u{200b}b\u{202e}c\u{e0041}\u{7}\u{1b}[31m", "abc[31m");
        check("\u{feff}x <b>", "x <b>");
    }

    #[test]
    fn unclosed_tags_take_linear_time() {
        let text = "<a".repeat(1 << 20);
        assert_eq!(without_tags(&text), text);
        assert_eq!(without_tags(&[&text, ">b<c"].concat()), "b<c");
    }

    #[test]
    fn only_addresses_of_the_web_are_passed_on() {
        let check = |url: &str, sound| assert_eq!(web_address(url).is_some(), sound, "{url}");
        check("https://example.com/a?b=c#d", true);
        check("HTTP://example.com", true);
        check(" https://example.com/@user ", true);
        check("javascript:alert(1)", false);
        check("data:text/html,x", false);
        check("file:///etc/passwd", false);
        check("//example.com", false);
        check("https://", false);
        check("https:///path", false);
        check("https://bank.example@evil.example/", false);
        check("https://example.com/a b", false);
        check("https://example.com/\u{202e}", false);
        check(&format!("https://example.com/{}", "a".repeat(2000)), false);
        check("é", false);
    }
}
