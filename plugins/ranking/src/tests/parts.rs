//! Words and excerpts of any text.

use proptest::prelude::*;

use ranking_words::words;

use crate::{excerpt, terms};

proptest! {
    #[test]
    fn any_text_has_words_and_an_excerpt(text in any::<String>(), query in any::<String>(), chars in 1..200_usize) {
        terms(&text);
        let excerpt = excerpt(&text, &query, chars);
        prop_assert!(excerpt.chars().count() <= chars.max(5), "{excerpt:?}");
    }

    #[test]
    fn a_word_begins_as_it_is_written(word in "[a-zA-Z]{1,14}|\\PC{1,6}") {
        let begins = |word: &str| word.chars().flat_map(char::to_lowercase).next();
        for (written, compared) in word.split_whitespace().flat_map(|word| words(word).map(|(_, word)| word)).zip(terms(&word)) {
            prop_assert_eq!(begins(written), compared.chars().next());
        }
    }

    #[test]
    fn an_excerpt_shows_a_word_of_the_query(before in "( [a-f]{1,8}){0,90}", after in "( [a-f]{1,8}){0,90}") {
        let text = format!("{before} needle {after}");
        prop_assert!(excerpt(&text, "needles", 60).contains("needle"));
    }
}

#[test]
fn words_are_lower_cased_and_stemmed() {
    let check = |text: &str, expected: &[&str]| assert_eq!(terms(text), expected, "{text}");
    check("Deployments, deployed; deploying!", &["deploy", "deploy", "deploy"]);
    check("max_tokens = 3.5", &["max", "token", "3", "5"]);
    check("don't", &["don", "t"]);
    check("C'est là-bas", &["c", "est", "là", "bas"]);
    check("Größe", &["größe"]);
    check("東京へ行く2回", &["東", "京", "へ", "行", "く", "2", "回"]);
    check(&"x".repeat(100), &[&"x".repeat(64)]);
}
