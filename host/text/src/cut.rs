//! Truncation. A text that may contain a secret must be [redacted](crate::redact) first.

/// Truncates to `max` characters, the last of them an ellipsis.
pub fn shorten(text: &str, max: usize) -> String {
    if text.chars().nth(max).is_none() {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(max.saturating_sub(1)).collect();
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}

/// Truncates to `max` bytes at a character boundary; the last three are an ellipsis, if there is room for one.
pub fn shorten_bytes(text: &mut String, max: usize) {
    const ELLIPSIS: char = '…';
    if text.len() <= max {
        return;
    }
    let room = if max >= ELLIPSIS.len_utf8() { max - ELLIPSIS.len_utf8() } else { max };
    text.truncate(text.floor_char_boundary(room));
    if room < max {
        text.push(ELLIPSIS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_ends_in_an_ellipsis_within_the_bound() {
        for (text, max, expected) in
            [("short", 5, "short"), ("longer than", 8, "longer…"), ("äöü", 2, "ä…"), ("abc", 0, "…")]
        {
            assert_eq!(shorten(text, max), expected, "{text} to {max}");
        }
        let mut text = "äöüäöü".to_owned();
        shorten_bytes(&mut text, 12);
        assert_eq!(text, "äöüäöü");
        shorten_bytes(&mut text, 8);
        assert_eq!(text, "äö…");
    }
}
