//! Results that were cut, by their handles.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use loggia_facade::{Block, Content, Envelope, Failure, Object, Reply};
use serde_json::json;
use tokio::time::Instant;

use super::{
    long_part::{LongPart, size},
    query::{ResultQuery, SCHEME},
    token_budget::{CutResult, TokenBudget},
};
use crate::{access::Caller, failures};

/// Time for which a result is kept after it was last read.
const TTL: Duration = Duration::from_secs(30 * 60);
/// Bytes of all kept results of one caller.
const PER_OWNER: usize = 8 << 20;
/// Bytes of all kept results.
const TOTAL: usize = 64 << 20;
/// Bytes in memory for a byte of JSON: values of many small rows take several times their text.
const OVERHEAD: usize = 4;

/// Who may read a kept result: the caller, and through the facade whose result it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ResultOwner {
    pub caller: Caller,
    pub facade: String,
}

/// Results that were cut. Bounded for each caller and in all; those that were read longest ago are evicted first.
#[derive(Debug, Default)]
pub(crate) struct KeptResults(Mutex<HashMap<String, KeptResult>>);

#[derive(Debug)]
struct KeptResult {
    owner: ResultOwner,
    part: Arc<LongPart>,
    weight: usize,
    read: Instant,
}

impl KeptResults {
    /// Returns true if a result is not cut, whatever it says.
    pub(crate) fn surely_fits(&self, envelope: &Envelope, budget: TokenBudget) -> bool {
        let Ok(reply) = &envelope.outcome else { return true };
        let known = reply.data.in_memory();
        let data = known.0.map(String::len).or_else(|| known.1.map(size)).unwrap_or_default();
        budget.surely_fits(data + reply.content.iter().filter_map(text_of).map(String::len).sum::<usize>())
    }

    /// Cuts the data of a result that does not fit and the texts beside it, keeps them, and says how to read the rest.
    pub(crate) fn fit(&self, owner: ResultOwner, budget: TokenBudget, mut envelope: Envelope) -> Envelope {
        if self.surely_fits(&envelope, budget) {
            return envelope;
        }
        let Ok(reply) = &mut envelope.outcome else { return envelope };
        if let Some(rest) = self.fit_data(&owner, budget, reply) {
            envelope.rest = Some(rest);
        }
        self.fit_texts(&owner, budget, reply);
        envelope
    }

    /// Cuts texts beside the data, which share what the data leaves.
    fn fit_texts(&self, owner: &ResultOwner, budget: TokenBudget, reply: &mut Reply) {
        let mut texts = reply.content.iter_mut().filter_map(text_of_mut).peekable();
        if texts.peek().is_none() {
            return;
        }
        let mut left = match reply.data.clean_text() {
            Some(text) => budget.beside(text),
            None => budget.beside(&reply.data.to_string()),
        };
        for text in texts {
            if !left.fits(text) {
                let (part, count) = left.cut_text(text);
                let shown = part.joined(0, count).as_str().unwrap_or_default().to_owned();
                let cut = format!("Cut: {count} of {} {}", part.items.len(), part.kind.as_str());
                let how = match self.keep(owner.clone(), part) {
                    Some(id) => format!("`describe` with `of` = \"{SCHEME}{id}?from={count}\" returns more"),
                    None => "the rest is too large to keep".to_owned(),
                };
                *text = format!("{shown}\n[{cut}; {how}.]");
            }
            left = left.beside(text);
        }
    }

    /// Cuts the data; returns what the envelope says of the rest.
    fn fit_data(&self, owner: &ResultOwner, budget: TokenBudget, reply: &mut Reply) -> Option<Object> {
        let data = std::mem::take(&mut reply.data);
        let text = match data.clean_text() {
            Some(text) => text.to_owned(),
            None => data.to_string(),
        };
        if budget.fits(&text) {
            reply.data = data;
            return None;
        }
        let CutResult { shown, count, part } = budget.cut(data.into_value(), &text);
        reply.data = shown.into();
        let (unit, total) = (part.kind.as_str(), part.items.len());
        // The plugin counted the rows that it returned.
        if let Some(page) = reply.page.as_mut().filter(|page| page.count == Some(total as u64)) {
            page.count = Some(count as u64);
        }
        let handle = self.keep(owner.clone(), part).map(|id| format!("{SCHEME}{id}"));
        let mut rest = Object::new();
        rest.insert("shown".into(), json!(count));
        rest.insert("total".into(), json!(total));
        rest.insert("unit".into(), unit.into());
        match handle {
            Some(handle) => {
                rest.insert("cursor".into(), format!("{handle}?from={count}").into());
                let how = format!(
                    "Cut: {count} of {total} {unit}. `describe` with `of`: the cursor returns more; \"{handle}?grep=TEXT\" \
                     searches, \"{handle}\" explains."
                );
                rest.insert("hint".into(), how.into());
            }
            None => {
                let how =
                    format!("Cut: {count} of {total} {unit}; the rest is too large to keep. Ask for less.");
                rest.insert("hint".into(), how.into());
            }
        }
        Some(rest)
    }

    /// Answers what is asked of a kept result.
    ///
    /// # Errors
    ///
    /// `not_found` if it was not kept, no longer is, or belongs to somebody else.
    pub(crate) fn read(
        &self,
        owner: &ResultOwner,
        query: &ResultQuery,
        budget: TokenBudget,
    ) -> Result<Reply, Failure> {
        let part = {
            let mut kept = self.lock();
            let found = kept.get_mut(&query.id).filter(|found| found.owner == *owner);
            found.map(|found| {
                found.read = Instant::now();
                Arc::clone(&found.part)
            })
        };
        let part = part.ok_or_else(not_kept)?;
        Ok(query.answer(&part, budget))
    }

    /// Keeps a part. `None` if it is too large.
    fn keep(&self, owner: ResultOwner, part: LongPart) -> Option<String> {
        let weight = part.items.iter().map(size).sum::<usize>() * OVERHEAD;
        if weight > PER_OWNER {
            return None;
        }
        let mut bits = [0; 16];
        // Cannot fail after boot; without randomness no handle is safe to hand out.
        getrandom::fill(&mut bits).unwrap_or_else(|e| unreachable!("the kernel gave no random bits: {e}"));
        let id = base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, bits);
        let (now, mut kept) = (Instant::now(), self.lock());
        kept.retain(|_, other| now.duration_since(other.read) < TTL);
        let is_own = |other: &KeptResult| other.owner.caller == owner.caller;
        evict(&mut kept, PER_OWNER - weight, is_own);
        evict(&mut kept, TOTAL - weight, |_| true);
        kept.insert(id.clone(), KeptResult { owner, part: Arc::new(part), weight, read: now });
        Some(id)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, KeptResult>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text of a block, if it has one.
fn text_of(content: &Content) -> Option<&String> {
    match &content.block {
        Block::Text(text) | Block::Embedded { text: Some(text), .. } => Some(text),
        _ => None,
    }
}

fn text_of_mut(content: &mut Content) -> Option<&mut String> {
    match &mut content.block {
        Block::Text(text) | Block::Embedded { text: Some(text), .. } => Some(text),
        _ => None,
    }
}

/// Evicts results that were read longest ago, until those that count have at most `most` bytes.
fn evict(kept: &mut HashMap<String, KeptResult>, most: usize, counts: impl Fn(&KeptResult) -> bool) {
    let mut counted: Vec<(Instant, String, usize)> = kept
        .iter()
        .filter(|(_, result)| counts(result))
        .map(|(id, result)| (result.read, id.clone(), result.weight))
        .collect();
    counted.sort();
    let mut total: usize = counted.iter().map(|(_, _, weight)| weight).sum();
    for (_, id, weight) in counted {
        if total <= most {
            return;
        }
        kept.remove(&id);
        total -= weight;
    }
}

fn not_kept() -> Failure {
    failures::not_found("this result is not kept any more").hint("Make the call again that returned it.")
}

#[cfg(test)]
mod tests {
    use loggia_facade::{Command, Page, code};
    use serde_json::Value;

    use super::*;

    fn owner(name: &str) -> ResultOwner {
        ResultOwner { caller: Caller::Named(name.into()), facade: "notes".into() }
    }

    fn envelope(rows: usize) -> Envelope {
        let page = Page { count: Some(rows as u64), ..Page::default() };
        let rows: Vec<Value> = (0..rows).map(|n| json!({"n": n, "text": "some words of a note"})).collect();
        Envelope::new(Command::action("list"), Ok(Reply { page: Some(page), ..Reply::data(rows) }))
    }

    fn handle(envelope: &Envelope) -> String {
        envelope.rest.as_ref().unwrap()["cursor"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_short_result_stays_as_it_is() {
        let kept = KeptResults::default();
        for (rows, budget) in [(3, 1000), (0, 10), (60, 1000)] {
            let fitted = kept.fit(owner("ada"), TokenBudget(budget), envelope(rows));
            assert_eq!(fitted, envelope(rows));
        }
        assert!(kept.lock().is_empty());
    }

    #[test]
    fn the_rest_of_a_long_result_is_read_by_its_owner_alone() {
        let kept = KeptResults::default();
        let fitted = kept.fit(owner("ada"), TokenBudget(500), envelope(1000));
        let rest = fitted.rest.clone().unwrap();
        let shown = rest["shown"].as_u64().unwrap();
        assert_eq!((rest["total"].as_u64(), rest["unit"].as_str()), (Some(1000), Some("rows")));
        let Ok(reply) = &fitted.outcome else { panic!("it succeeded") };
        assert_eq!(reply.data.as_array().unwrap().len() as u64, shown);
        assert_eq!(reply.page.as_ref().unwrap().count, Some(shown));
        let query = ResultQuery::parse(&handle(&fitted)).unwrap();
        let next = kept.read(&owner("ada"), &query, TokenBudget(500)).unwrap();
        assert_eq!(next.data[0]["n"].as_u64(), Some(shown));
        let elsewhere = ResultOwner { facade: "files".into(), ..owner("ada") };
        for other in [owner("bob"), elsewhere] {
            assert_eq!(kept.read(&other, &query, TokenBudget(500)).unwrap_err().code, code::NOT_FOUND);
        }
    }

    #[test]
    fn texts_beside_the_data_share_its_budget() {
        let text = |text: String| Content { block: Block::Text(text), extras: Object::new() };
        let embedded = |text: String| {
            let (uri, mime_type, blob) = ("note://1".into(), None, None);
            Content {
                block: Block::Embedded { uri, mime_type, text: Some(text), blob },
                extras: Object::new(),
            }
        };
        let picture = Block::Image { data: vec![0; 100_000], mime_type: "image/png".into() };
        let picture = Content { block: picture, extras: Object::new() };
        let long = "A line of prose with ordinary words.\n".repeat(1000);
        let content = vec![text("short".into()), picture.clone(), text(long.clone()), embedded(long.clone())];
        let reply = Reply { content, ..Reply::data("some data") };
        let kept = KeptResults::default();
        let whole = Envelope::new(Command::action("get"), Ok(reply));
        let fitted = kept.fit(owner("ada"), TokenBudget(1000), whole.clone());
        assert_eq!(fitted.rest, None, "the data are whole");
        let Ok(reply) = &fitted.outcome else { panic!("it succeeded") };
        assert_eq!(reply.content[..2], [text("short".into()), picture]);
        let texts: Vec<&String> = reply.content.iter().filter_map(text_of).collect();
        let shown = |text: &str| text.split("\n[Cut: ").next().map_or(0, loggia_tokens::count);
        let tokens: usize = texts.iter().map(|text| shown(text)).sum();
        assert!((500..1000).contains(&tokens), "{tokens}");
        assert!(shown(texts[1]) > 3 * shown(texts[2]), "the first takes what it needs");
        let mut read = String::new();
        for text in &texts[1..] {
            let (shown, cut) = text.rsplit_once("\n[Cut: ").unwrap();
            assert!(long.starts_with(shown) && cut.contains(" of 1001 lines; `describe`"), "{cut}");
            let handle = cut.split('"').nth(1).unwrap();
            let more =
                kept.read(&owner("ada"), &ResultQuery::parse(handle).unwrap(), TokenBudget(1000)).unwrap();
            read.push_str(&more.data.to_string());
        }
        assert!(read.contains("ordinary words"), "{read}");
        assert_eq!(kept.fit(owner("ada"), TokenBudget(100_000), whole.clone()), whole);
    }

    #[test]
    fn results_are_evicted_by_caller() {
        let kept = KeptResults::default();
        let long = |name: &str| handle(&kept.fit(owner(name), TokenBudget(500), envelope(10_000)));
        let readable = |name: &str, handle: &str| {
            kept.read(&owner(name), &ResultQuery::parse(handle).unwrap(), TokenBudget(100)).is_ok()
        };
        let of_bob = long("bob");
        let of_ada: Vec<String> = (0..8).map(|_| long("ada")).collect();
        assert!(readable("bob", &of_bob), "another caller's results evict none of his");
        assert!(!readable("ada", &of_ada[0]) && readable("ada", &of_ada[7]));
        let weight: usize = kept.lock().values().map(|result| result.weight).sum();
        assert!(weight <= 2 * PER_OWNER, "{weight}");
    }
}
