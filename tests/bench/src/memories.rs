//! Latency of adding and finding in the plugin `memories` with many memories.

use std::{
    fs,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::{client::Client, config::Server, process::Process};

/// A generous time for one call.
const PATIENCE: Duration = Duration::from_secs(30);

/// Words of the made-up language.
const WORDS: usize = 8000;

/// Parameters of a measurement.
pub struct Plan {
    pub loggia: std::path::PathBuf,
    pub plugin: std::path::PathBuf,
    /// Number of memories.
    pub memories: usize,
}

/// Fills a store and measures; lines to print.
pub fn run(plan: &Plan) -> Result<Vec<String>> {
    let stage = tempfile::Builder::new().prefix("loggia-bench-").tempdir()?;
    let folder = stage.path().join("plugins");
    fs::create_dir(&folder)?;
    fs::copy(&plan.plugin, folder.join("memories.wasm"))?;
    fs::write(folder.join("memories.toml"), "[grants]\nstore = { quota = \"1GiB\" }\n")?;
    let path = |name: &str| stage.path().join(name).to_string_lossy().into_owned();
    let command = [plan.loggia.to_string_lossy().into_owned(), "serve".into(), path("plugins")];
    let places = ["--cache".into(), path("cache"), "--state".into(), path("state")];
    let command: Vec<String> = command.into_iter().chain(places).collect();
    let mut process = Process::start(&Server::default(), &command, true)?;
    let mut client = Client::stdio(&mut process)?;
    client.initialize(PATIENCE)?;

    let mut language = Language(0x5eed);
    let mut lines = Vec::new();
    let mut adds = Vec::with_capacity(plan.memories);
    for number in 1..=plan.memories {
        let memory = json!({"action": "add", "title": language.text(6), "body": language.text(40), "tags": [language.text(1)]});
        adds.push(timed(&mut client, &memory)?);
        if number % 1000 == 0 {
            eprintln!("{number} memories");
        }
    }
    let tail = adds.len().saturating_sub(1000);
    lines.push(line(&format!("add, the last 1,000 of {}", plan.memories), &mut adds[tail..]));
    let mut measure =
        |label: &str, times: usize, make: &mut dyn FnMut(&mut Language) -> Value| -> Result<()> {
            let calls = (0..times).map(|_| timed(&mut client, &make(&mut language)));
            lines.push(line(label, &mut calls.collect::<Result<Vec<_>>>()?));
            Ok(())
        };
    measure("search, 3 words", 500, &mut |language| json!({"action": "search", "query": language.text(3)}))?;
    let commonest: Vec<String> = (0..5).map(word).collect();
    measure(
        "search, the 5 commonest words",
        200,
        &mut |_| json!({"action": "search", "query": commonest.join(" ")}),
    )?;
    measure("list", 200, &mut |_| json!({"action": "list"}))?;
    measure("get", 200, &mut |language| json!({"action": "get", "id": id(language, plan.memories)}))?;
    measure(
        "update",
        200,
        &mut |language| json!({"action": "update", "id": id(language, plan.memories), "body": language.text(40)}),
    )?;
    drop(client);
    let state = fs::metadata(stage.path().join("state/stores/memories.db")).context("the state")?.len();
    lines.push(format!("the state's file: {:.1} MiB", state as f64 / (1 << 20) as f64));
    Ok(lines)
}

/// Milliseconds of a call that must work.
fn timed(client: &mut Client, arguments: &Value) -> Result<f64> {
    let params = json!({"name": "memories", "arguments": arguments}).to_string();
    let begun = Instant::now();
    let reply = client.request("tools/call", &params, PATIENCE)?;
    let time = reply.at - begun;
    let envelope = reply.result()?;
    ensure!(envelope["structuredContent"]["ok"] == true, "{arguments}: {envelope}");
    Ok(time.as_secs_f64() * 1000.0)
}

fn line(label: &str, times: &mut [f64]) -> String {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied().unwrap_or_default();
    format!("{label:32} p50 {:6.2} ms   p90 {:6.2} ms   p99 {:6.2} ms", at(0.5), at(0.9), at(0.99))
}

fn id(language: &mut Language, memories: usize) -> String {
    format!("m_{}", language.next() as usize % memories + 1)
}

/// Generates texts with a natural distribution of words, the same in every run.
struct Language(u64);

impl Language {
    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn text(&mut self, words: usize) -> String {
        let words: Vec<String> = (0..words)
            .map(|_| {
                // Zipf's law: the frequency of the n-th word is proportional to 1/n.
                let share = self.next() as f64 / u64::MAX as f64;
                word(((WORDS as f64).powf(share) - 1.0) as usize)
            })
            .collect();
        words.join(" ")
    }
}

/// The n-th word: syllables of its number, mixed so that neighbours differ.
fn word(number: usize) -> String {
    let syllables = ["ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo"];
    let mut left = number * 7919 + 13;
    let mut word = String::new();
    while left > 0 {
        word.push_str(syllables[left % syllables.len()]);
        left /= syllables.len();
    }
    word
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_language_has_the_stated_number_of_words() {
        assert_eq!((0..WORDS).map(word).collect::<BTreeSet<_>>().len(), WORDS);
        assert_eq!(Language(1).text(3), Language(1).text(3));
    }
}
