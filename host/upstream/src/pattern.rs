//! Patterns of tool names: `*` and `?`.

use std::fmt;

/// A name, or a pattern in which `*` matches any characters and `?` matches one. Letter case matters, as in MCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern(String);

impl NamePattern {
    /// A pattern of this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Whether the whole name matches. Takes time in proportion to the product of both lengths, at most.
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name): (Vec<char>, Vec<char>) = (self.0.chars().collect(), name.chars().collect());
        let (mut at, mut next) = (0, 0);
        // Where to resume if the characters after the last `*` do not match: that `*` then takes one character more.
        let mut resume: Option<(usize, usize)> = None;
        while next < name.len() {
            match pattern.get(at) {
                Some('*') => {
                    resume = Some((at, next));
                    at += 1;
                }
                Some(c) if *c == '?' || *c == name[next] => (at, next) = (at + 1, next + 1),
                _ => match resume {
                    Some((star, taken)) => {
                        resume = Some((star, taken + 1));
                        (at, next) = (star + 1, taken + 1);
                    }
                    None => return false,
                },
            }
        }
        pattern[at..].iter().all(|c| *c == '*')
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, expected) in [
            ("read_file", "read_file", true),
            ("read_file", "read_files", false),
            ("read_*", "read_file", true),
            ("read_*", "Read_file", false),
            ("*", "", true),
            ("*_issue*", "create_issue_comment", true),
            ("*a*b", "aXbXaXc", false),
            ("*a*b", "aXbXaXb", true),
            ("get_?", "get_x", true),
            ("get_?", "get_", false),
            ("", "x", false),
            ("ä?", "äö", true),
        ] {
            assert_eq!(NamePattern::new(pattern).matches(name), expected, "{pattern} {name}");
        }
        // A pattern that backtracks at every star ends all the same.
        assert!(!NamePattern::new("*a".repeat(64) + "b").matches(&"a".repeat(4096)));
    }
}
