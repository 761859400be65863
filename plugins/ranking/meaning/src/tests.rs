//! Tokens and directions, beside those of the original model.

use proptest::prelude::*;

use crate::{direction, pieces::pieces, table::Table};

#[test]
fn words_are_split_like_the_model_does() {
    let check = |word: &str, tokens: &[&str]| {
        let table = Table::open();
        let expected: Vec<usize> =
            tokens.iter().map(|token| table.find(fnv(token)).expect("a token of the model")).collect();
        assert_eq!(pieces(word, |hash| table.find(hash)), expected, "{word}");
    };
    check("tea", &["tea"]);
    check("Sourdough", &["sour", "##dou", "##gh"]);
    check("Argon2id", &["ar", "##gon", "##2", "##id"]);
    check("Café", &["cafe"]);
    check("Cafe\u{301}", &["cafe"]);
    check("Straße", &["st", "##raße"]);
    check("Winterreifen", &["winter", "##re", "##ife", "##n"]);
    check("telecommunications", &["telecommunications"]);
    check("Øresund", &["ø", "##res", "##und"]);
    check("привет", &[]);
    check("日", &[]);
    check("", &[]);
}

fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn cosine(a: &str, b: &str) -> f32 {
    let (a, b) = (direction(a), direction(b));
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt().max(f32::MIN_POSITIVE)
}

/// The last figure is the cosine of the original model, with 32 bits for each number.
#[test]
fn four_bits_keep_the_directions() {
    let check = |a: &str, b: &str, original: f32| {
        let here = cosine(a, b);
        assert!((here - original).abs() < 0.04, "{here}, not {original}: {a} / {b}");
    };
    check("Drinks green tea in the morning", "hot beverage at breakfast", 0.696);
    check("The boiler was serviced in September", "last maintenance of the heating", 0.648);
    check("Passwords are hashed with Argon2id", "how are credentials protected", 0.144);
    check("Tim is afraid of dogs", "why does he avoid the puppy", 0.370);
    check("Drinks green tea in the morning", "which database do we use", 0.337);
    check("Das Café in der Straße", "the café in the street", 0.659);
}

#[test]
fn unknown_words_have_no_direction() {
    for text in ["", "?!", "日本語", "привет мир"] {
        assert_eq!(direction(text), [0.0; crate::DIMENSIONS], "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_has_finite_numbers(text in "\\PC{0,200}") {
        prop_assert!(direction(&text).iter().all(|part| part.is_finite()));
    }
}
