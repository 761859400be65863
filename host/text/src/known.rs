//! Values of the secrets that the operator's policies name.

use std::{collections::BTreeSet, ops::Range, sync::Arc};

use aho_corasick::{AhoCorasick, MatchKind};
use arc_swap::ArcSwapOption;
use parking_lot::Mutex;

/// Bytes of the shortest secret that is searched for: a shorter one would match ordinary text. A shorter text does not look like a
/// credential either.
pub(crate) const SHORTEST: usize = 8;
/// Secrets that are kept, at most; a folder has far fewer.
const MOST: usize = 10_000;
/// Bytes of a secret's beginning that are redacted at the end of a truncated text.
const BEGINNING: usize = 3;

/// Compiled form of the known secrets: read without a lock by every redaction.
static KNOWN: ArcSwapOption<SecretFinder> = ArcSwapOption::const_empty();

/// The known secrets as given. Locked while one is added and the compiled form is replaced, so that no addition is lost.
static KEPT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

struct SecretFinder {
    /// Secrets as they are, and as `{:?}` quotes them.
    forms: BTreeSet<String>,
    finder: AhoCorasick,
}

/// Adds a secret to [redact](crate::redact) for the life of the process: an older version of a plugin may still use it.
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
    KNOWN.store(finder.ok().map(|finder| Arc::new(SecretFinder { forms, finder })));
}

/// Finds the known secrets in a text, in order. If the text is `cut` off, the beginning of one at its end counts.
pub(crate) fn spans(text: &str, cut: bool) -> Vec<Range<usize>> {
    let known = KNOWN.load();
    let Some(known) = &*known else { return Vec::new() };
    let mut spans: Vec<_> = known.finder.find_iter(text).map(|found| found.range()).collect();
    if cut {
        let done = spans.last().map_or(0, |last| last.end);
        let begun = known.forms.iter().map(|secret| partial_length(secret, &text[done..])).max().unwrap_or(0);
        if begun >= BEGINNING {
            spans.push(text.len() - begun..text.len());
        }
    }
    spans
}

/// Returns the length of the longest proper prefix of a secret that a text ends with.
fn partial_length(secret: &str, text: &str) -> usize {
    let most = text.len().min(secret.len() - 1);
    (1..=most).rev().find(|n| secret.is_char_boundary(*n) && text.ends_with(&secret[..*n])).unwrap_or(0)
}
