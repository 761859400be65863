//! Counts the tokens of a text in o200k_base, the vocabulary of OpenAI's models since 2024.
//!
//! ```text
//! text ─▶ pieces (words, numbers, spaces) ─▶ merge (byte pairs, lowest rank first) ─▶ count
//! ```
//!
//! The vocabulary is 1 MB of the binary, and takes some 50 ms to unpack at the first count. The tables of a crate such as
//! `bpe-openai` encode faster, but take 32 MB for this vocabulary, and a minute of each clean build.
//!
//! Plugins contribute to the counted texts, so a count takes no more than *n* log *n* steps for any text.

mod merge;
mod pieces;
mod vocabulary;

/// Returns the number of tokens of a text.
pub fn count(text: &str) -> usize {
    let vocabulary = vocabulary::o200k_base();
    pieces::split(text).map(|piece| merge::count_tokens(vocabulary, piece.as_bytes())).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str) {
        assert_eq!(count(text), bpe_openai::o200k_base().count(text), "{text:?}");
    }

    #[test]
    fn counts_equal_those_of_another_implementation() {
        let long = ["a", "A", " ", "\n", " \n", "é", "漢", "aA", "0", "{", "a ", "\u{301}", "🦀"];
        for text in long.map(|unit| unit.repeat(3000)) {
            check(&text);
        }
        for text in [
            "",
            "hello world",
            "It's  a   test,\r\n\r\n  isn't IT?\n",
            r#"{"name":"files","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}}"#,
            "Straße, naïve, ÅNGSTRÖM, Ǆ ǅ ǆ, 1234567890, ١٢٣, x² + y³",
            "日本語のテキスト、中文文本、한국어 텍스트",
            "fn main() {\n    println!(\"{:?}\", x);\n}\n\t\t// end  ",
            "trailing   ",
            "\u{a0}\u{2003} mixed \u{3000}spaces\u{85}\u{2028}",
        ] {
            check(text);
        }
    }

    proptest! {
        #[test]
        fn counts_of_any_text_equal_the_other_ones(text in any::<String>()) {
            check(&text);
        }

        #[test]
        fn counts_of_words_equal_the_other_ones(text in "([A-Za-z']{1,12}|[ \t\r\n]{1,4}|[0-9]{1,5}|[.,:{}\"/-]{1,3}|[äßÇñλЖ漢]{1,3}){0,40}") {
            check(&text);
        }
    }
}
