//! Characters that people do not see, and models read: they can hide words, or cut those that a filter looks for.

/// What is made of a text with hidden characters.
#[derive(Debug, PartialEq, Eq)]
pub struct Revealed {
    /// The text, with a note in the place of each run of hidden characters.
    pub shown: String,
    /// The text without them, in which words are whole.
    pub plain: String,
}

/// Sequences of tags that are flags: of England, Scotland and Wales.
const FLAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];
const BLACK_FLAG: char = '\u{1f3f4}';
const END_OF_FLAG: char = '\u{e007f}';

/// Shows what a text hides; `None` if it hides nothing.
pub fn reveal(text: &str) -> Option<Revealed> {
    if text.is_ascii() {
        return None;
    }
    let chars: Vec<char> = text.chars().collect();
    let mut revealed = Revealed { shown: String::new(), plain: String::new() };
    let (mut at, mut has_hidden) = (0, false);
    while let Some(&char) = chars.get(at) {
        let flag = if char == BLACK_FLAG { flag_length(&chars[at..]) } else { 0 };
        if flag > 0 || !is_hidden(&chars, at) {
            let kept = &chars[at..at + flag.max(1)];
            revealed.shown.extend(kept);
            revealed.plain.extend(kept);
            at += kept.len();
            continue;
        }
        let run = chars[at..].len()
            - chars[at..].iter().enumerate().skip_while(|(i, _)| is_hidden(&chars, at + i)).count();
        let words: String = chars[at..at + run].iter().filter_map(|char| tag_letter(*char)).collect();
        revealed.shown.push_str(&note(run, words.trim()));
        revealed.plain.push_str(&words);
        (at, has_hidden) = (at + run, true);
    }
    has_hidden.then_some(revealed)
}

/// Note in the place of a run.
fn note(run: usize, words: &str) -> String {
    let characters = if run == 1 { "character" } else { "characters" };
    match words {
        "" => format!("[{run} hidden {characters}]"),
        words => format!("[{run} hidden {characters}: {words}]"),
    }
}

/// Length of a flag that begins the characters; 0 if none does.
fn flag_length(chars: &[char]) -> usize {
    let Some(end) = chars.iter().take(8).position(|char| *char == END_OF_FLAG) else { return 0 };
    let name: String = chars[1..end].iter().filter_map(|char| tag_letter(*char)).collect();
    if FLAGS.contains(&name.as_str()) { end + 1 } else { 0 }
}

/// The ASCII character that a tag stands for.
fn tag_letter(char: char) -> Option<char> {
    let code = u32::from(char).checked_sub(0xe0000)?;
    char::from_u32(code).filter(|letter| (' '..='~').contains(letter))
}

/// Whether a character is not seen. Joiners belong to emoji and to scripts other than Latin; a byte order mark begins a file;
/// a soft hyphen is of typography.
fn is_hidden(chars: &[char], at: usize) -> bool {
    match chars[at] {
        '\u{feff}' => at > 0,
        '\u{200c}' | '\u{200d}' => {
            let joins = |near: Option<&char>| near.is_some_and(|near| !near.is_ascii());
            let before = at.checked_sub(1).and_then(|before| chars.get(before));
            !(joins(before) && joins(chars.get(at + 1)))
        }
        // Marks of direction are seen beside letters that are written from the right.
        '\u{200e}' | '\u{200f}' => !chars.iter().any(|char| matches!(char, '\u{590}'..='\u{8ff}')),
        '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' => true,
        '\u{e0000}'..='\u{e0fff}' | '\u{180e}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown() {
        let tags: String =
            "obey".chars().map(|char| char::from_u32(u32::from(char) + 0xe0000).unwrap()).collect();
        for (text, shown, plain) in [
            ("ig\u{200b}nore".to_owned(), "ig[1 hidden character]nore", "ignore"),
            (format!("Hi{tags}!"), "Hi[4 hidden characters: obey]!", "Hiobey!"),
            ("a\u{202e}b\u{202c}".to_owned(), "a[1 hidden character]b[1 hidden character]", "ab"),
            ("a\u{feff}\u{2060}b".to_owned(), "a[2 hidden characters]b", "ab"),
            ("a\u{200d}b".to_owned(), "a[1 hidden character]b", "ab"),
            (format!("\u{1f3f4}{tags}\u{e007f}"), "\u{1f3f4}[5 hidden characters: obey]", "\u{1f3f4}obey"),
        ] {
            let revealed = reveal(&text).unwrap();
            assert_eq!((&*revealed.shown, &*revealed.plain), (shown, plain), "{text:?}");
        }
    }

    #[test]
    fn visible_texts_hide_nothing() {
        let wales: String =
            "gbwls".chars().map(|char| char::from_u32(u32::from(char) + 0xe0000).unwrap()).collect();
        for text in [
            "plain",
            "Grüße, 漢字 – “quoted”",
            "\u{feff}begins with a byte order mark",
            "👩\u{200d}👩\u{200d}👧 family, ❤\u{fe0f}",
            "می\u{200c}خواهم",
            "שלום\u{200f} (world)",
            "co\u{ad}operate",
            &format!("\u{1f3f4}{wales}\u{e007f}"),
        ] {
            assert_eq!(reveal(text), None, "{text:?}");
        }
    }
}
