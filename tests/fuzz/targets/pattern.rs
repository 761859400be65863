//! Matching any patterns against texts of any length ends soon, with the result of the `regex` crate.
#![no_main]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jsonschema::{Draft, PatternOptions};
use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target};
use loggia_fuzz::{json, surface, told};
use loggia_schema::{Contract, limits, sanitise_surface};
use serde_json::{Value, json};

const WORDS: &str = r##"schema text times pattern patternProperties propertyNames additionalProperties format regex type string
object allOf anyOf oneOf not a[ab]{0,5000}c|d$ a[ab]{12000} ^(a+)+$ (a|b|ab)*c ^.{1,2000}$ \bword\b \p{L}{50} ^\S+$ (?i)abc
((a{50}){50}){9} [^/]+ ^$ 1 10 1000 75000 ab aab ä 日本 "##;

/// Time limit for loading a surface of one action and one call, in an instrumented build.
const LONG: Duration = Duration::from_secs(5);
/// Length of a text that may be matched without a limit.
const SHORT: usize = 200;

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    json::mutate(data, size, max_size, seed, WORDS)
});

fuzz_target!(|data: &[u8]| -> Corpus {
    let Ok(said) = serde_json::from_slice::<Value>(data) else { return Corpus::Reject };
    let (Some(piece), Some(_)) = (said["text"].as_str(), said["schema"].as_object()) else { return Corpus::Reject };
    let times = said["times"].as_u64().and_then(|times| usize::try_from(times).ok()).unwrap_or(1);
    let text = piece.repeat(times.min((256 << 10) / piece.len().max(1)));
    let params = json!({"type": "object", "properties": {"p": said["schema"]}});
    let begun = Instant::now();
    let described = json!({"actions": [{"name": "go", "params": params}]});
    let contract = Contract::new(Arc::new(sanitise_surface(surface::surface(&described))));
    assert!(begun.elapsed() < LONG, "it was loaded in {:?}", begun.elapsed());
    let Ok(contract) = contract else { return Corpus::Keep };
    let action = contract.action("go").expect("it is there");
    for sent in [json!({ "p": text }), json!({"p": {&text: text}})] {
        let begun = Instant::now();
        let answer = contract.prepare(action, sent.as_object().cloned().unwrap_or_default());
        assert!(begun.elapsed() < LONG, "it was checked in {:?}", begun.elapsed());
        let is_refused = match &answer {
            Ok(_) => false,
            Err(failure) => {
                told::line("a refusal", &failure.message, 5000);
                if failure.message.contains("too much work") || failure.message.contains("too many") {
                    continue;
                }
                true
            }
        };
        if text.len() <= SHORT {
            let theirs = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
            let options = PatternOptions::regex().size_limit(limits::COMPILED_PATTERN);
            // Its program is larger than ours, forwards and backwards: a size error proves nothing.
            let Ok(theirs) = theirs.with_pattern_options(options).offline().build(&params) else { continue };
            // Accepted values may have been coerced.
            assert!(!is_refused || !theirs.is_valid(&sent), "{sent} is refused");
        }
    }
    Corpus::Keep
});
