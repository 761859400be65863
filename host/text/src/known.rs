//! The secrets that the operator's policies name, by their values.

use std::{collections::BTreeSet, ops::Range, sync::Arc};

use aho_corasick::{AhoCorasick, MatchKind};
use arc_swap::ArcSwapOption;
use parking_lot::Mutex;

/// Bytes of the shortest secret that is looked for: a shorter one would be found where it is none.
const SHORTEST: usize = 8;
/// Secrets that are kept; a folder has far fewer.
const MOST: usize = 10_000;
/// Bytes of a secret's beginning that are taken for it where a text is cut off.
const BEGINNING: usize = 3;

/// The secrets that are known.
static KNOWN: ArcSwapOption<Secrets> = ArcSwapOption::const_empty();

/// The same, as they were given.
static KEPT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

struct Secrets {
    /// As they are, and as a debugging print quotes them.
    forms: BTreeSet<String>,
    finder: AhoCorasick,
}

/// From now on this secret is [redacted](crate::redact), for as long as the process lives: an older version of a plugin
/// may still use it.
pub fn keep_secret(secret: &str) {
    let secret = secret.trim();
    if secret.len() < SHORTEST {
        return;
    }
    let mut kept = KEPT.lock();
    if kept.len() >= MOST || !kept.insert(secret.to_owned()) {
        return;
    }
    let quoted = kept.iter().map(|secret| secret.escape_debug().to_string());
    let forms: BTreeSet<String> = kept.iter().cloned().chain(quoted).collect();
    let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&forms);
    KNOWN.store(finder.ok().map(|finder| Arc::new(Secrets { forms, finder })));
}

/// Where a text holds known secrets, from the first to the last. Where it is `cut` off, the beginning of one at its end
/// counts.
pub(crate) fn spans(text: &str, cut: bool) -> Vec<Range<usize>> {
    let known = KNOWN.load();
    let Some(known) = &*known else { return Vec::new() };
    let mut spans: Vec<_> = known.finder.find_iter(text).map(|found| found.range()).collect();
    if cut {
        let done = spans.last().map_or(0, |last| last.end);
        let begun = known.forms.iter().map(|secret| begun(secret, &text[done..])).max().unwrap_or(0);
        if begun >= BEGINNING {
            spans.push(text.len() - begun..text.len());
        }
    }
    spans
}

/// Bytes at a text's end that are a secret's beginning.
fn begun(secret: &str, text: &str) -> usize {
    let most = text.len().min(secret.len() - 1);
    (1..=most).rev().find(|n| secret.is_char_boundary(*n) && text.ends_with(&secret[..*n])).unwrap_or(0)
}
