//! Regular expressions for strings, with a bounded number of steps.
//!
//! The `regex` crate is linear, but in pattern times text, and its searches cannot be interrupted: 150 KB against
//! `a[ab]{0,5000}c` take half a minute. Here a DFA is built lazily and stepped by hand. A byte whose next state exists
//! costs one step; building a state costs as many steps as it is work. When the budget of the thread (`work.rs`) is
//! spent, the search stops.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use jsonschema::{Keyword, ValidationError};
use regex_automata::{
    Input,
    hybrid::{
        LazyStateID,
        dfa::{Cache, Config, DFA},
    },
    nfa::thompson::{self, NFA, WhichCaptures, pikevm::PikeVM},
};
use serde_json::Value;

use crate::{
    model::{limits, surface_limits::SurfaceLimits, work},
    text::show,
};

/// Bytes of DFA states of one search, after which the cache is cleared.
const STATES: usize = 256 << 10;
/// Bytes of DFA states that a pattern keeps between searches.
const SPARE: usize = 16 << 10;
/// Steps charged per byte by which a new state grows the cache, about one for each NFA thread in the state.
const BUILD: usize = 4;
/// Bytes that are searched per charge.
const CHUNK: usize = 1024;

/// Memory budget of the compiled patterns of one surface, in bytes. Clones share it.
///
/// The counter is atomic because validators compile on any thread. It only decreases, and nothing else depends on its
/// order, so `Relaxed` suffices.
#[derive(Clone)]
pub(crate) struct PatternBudget {
    left: Arc<AtomicUsize>,
    most: usize,
}

impl Default for PatternBudget {
    fn default() -> Self {
        Self::new(SurfaceLimits::PLUGIN.patterns)
    }
}

impl PatternBudget {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { left: Arc::new(AtomicUsize::new(bytes)), most: bytes }
    }

    /// Compiles a pattern and charges its memory to the budget: `times` its program, and the states that it keeps
    /// between searches.
    ///
    /// # Errors
    ///
    /// The reason, without the place in the schema.
    pub(super) fn compile(&self, pattern: &str, times: usize) -> Result<NFA, String> {
        let refused = || unsupported_pattern(&pattern.into());
        let translated = jsonschema_regex::to_rust_regex(pattern).map_err(|()| refused())?;
        let config = thompson::Config::new()
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(limits::COMPILED_PATTERN));
        let nfa = thompson::Compiler::new().configure(config).build(&translated).map_err(|_| refused())?;
        let kept = nfa.memory_usage() * times + SPARE;
        let take = |left: usize| left.checked_sub(kept);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).map_err(|_| {
            format!(
                "{} is one pattern too many: compiled, all patterns of a facade may take {} MiB together; make them \
                 fewer, or their repetitions shorter",
                show::value(&pattern.into()),
                self.most >> 20
            )
        })?;
        Ok(nfa)
    }

    /// Charges a pattern of `patternProperties`, which the validator compiles itself. Returns its number of NFA
    /// states.
    ///
    /// # Errors
    ///
    /// As for [`compile`](Self::compile).
    pub(crate) fn reserve_names(&self, pattern: &str) -> Result<usize, String> {
        // The `regex` crate keeps a forward, a reverse and two derived programs.
        Ok(self.compile(pattern, 4)?.states().len())
    }

    /// Compiles the keyword `pattern` for the validator.
    pub(crate) fn keyword<'a>(
        &self,
        pattern: &'a Value,
    ) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
        let pattern =
            pattern.as_str().ok_or_else(|| ValidationError::schema("a pattern must be a string"))?;
        let compiled = self.compile(pattern, 1).and_then(|nfa| BoundedPattern::new(pattern, nfa));
        Ok(Box::new(compiled.map_err(ValidationError::schema)?))
    }
}

/// A compiled pattern.
///
/// `spare` holds the states of an earlier search, so that the next one need not build them again. A search takes them
/// out and returns them at its end; the lock is held only for these two moves. Concurrent searches that find nothing
/// build their own, so no search waits for another.
pub(super) struct BoundedPattern {
    text: String,
    dfa: DFA,
    spare: Mutex<Option<DfaStates>>,
}

/// The states that a search has built.
struct DfaStates {
    cache: Cache,
    /// Largest growth of the cache by one state, in bytes.
    widest: usize,
}

/// The work budget is spent.
struct OutOfSteps;

impl BoundedPattern {
    pub(super) fn new(text: &str, nfa: NFA) -> Result<Self, String> {
        // The DFA cannot decide word boundaries at non-ASCII bytes and quits there.
        let config =
            Config::new().unicode_word_boundary(true).cache_capacity(STATES).skip_cache_capacity_check(true);
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa);
        let dfa =
            dfa.map_err(|error| format!("{} cannot be compiled: {error}", show::value(&text.into())))?;
        Ok(Self { text: text.to_owned(), dfa, spare: Mutex::default() })
    }

    /// Searches a text. If the budget is spent, the result is meaningless and the overrun is recorded.
    pub(super) fn is_match(&self, text: &str) -> bool {
        let found = self.states().and_then(|mut states| {
            let found = self.search(&mut states, text);
            if states.cache.memory_usage() <= SPARE {
                *self.spare.lock().unwrap_or_else(PoisonError::into_inner) = Some(states);
            }
            found
        });
        found.unwrap_or_else(|OutOfSteps| {
            work::record_overrun(&self.text, text);
            false
        })
    }

    /// Takes the states of an earlier search, or creates an empty cache.
    fn states(&self) -> Result<DfaStates, OutOfSteps> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(states) = spare {
            return Ok(states);
        }
        spend(self.dfa.get_nfa().states().len())?;
        Ok(DfaStates { cache: self.dfa.create_cache(), widest: 0 })
    }

    fn search(&self, states: &mut DfaStates, text: &str) -> Result<bool, OutOfSteps> {
        let dfa = &self.dfa;
        let Some(mut state) =
            states.build_edge(|cache| dfa.start_state_forward(cache, &Input::new(text)).ok())?
        else {
            return self.search_nfa(text);
        };
        for chunk in text.as_bytes().chunks(CHUNK) {
            spend(chunk.len())?;
            for byte in chunk {
                if state.is_tagged() {
                    if let Some(found) = verdict(state) {
                        return Ok(found);
                    }
                    return self.search_nfa(text);
                }
                let mut next = dfa.next_state_untagged(&states.cache, state, *byte);
                if next.is_unknown() {
                    match states.build(|cache| dfa.next_state(cache, state, *byte).ok())? {
                        Some(built) => next = built,
                        None => return self.search_nfa(text),
                    }
                }
                state = next;
            }
        }
        // The DFA reports a match one byte late.
        let end = match verdict(state) {
            None if state.is_quit() => None,
            None => states.build_edge(|cache| dfa.next_eoi_state(cache, state).ok())?,
            Some(found) => return Ok(found),
        };
        match end {
            Some(end) if !end.is_quit() => Ok(end.is_match()),
            _ => self.search_nfa(text),
        }
    }

    /// Searches by the NFA: for `\\b` next to non-ASCII letters, and for programs of which no two states fit into the
    /// cache.
    fn search_nfa(&self, text: &str) -> Result<bool, OutOfSteps> {
        let nfa = self.dfa.get_nfa();
        spend((text.len() + 1).saturating_mul(nfa.states().len()).saturating_mul(BUILD))?;
        let Ok(machine) = PikeVM::new_from_nfa(nfa.clone()) else { return Err(OutOfSteps) };
        Ok(machine.is_match(&mut machine.create_cache(), text))
    }
}

/// The result of the search, if a state decides it.
fn verdict(state: LazyStateID) -> Option<bool> {
    (state.is_match() || state.is_dead()).then(|| state.is_match())
}

fn spend(steps: usize) -> Result<(), OutOfSteps> {
    if work::spend(steps) { Ok(()) } else { Err(OutOfSteps) }
}

impl DfaStates {
    /// Builds the state that a byte leads to. If the cache did not grow, the state was rebuilt, and is charged as the
    /// largest one.
    fn build<T>(&mut self, build: impl FnOnce(&mut Cache) -> T) -> Result<T, OutOfSteps> {
        let (built, grown) = self.grow(build);
        spend(BUILD * if grown > 0 { grown } else { self.widest })?;
        Ok(built)
    }

    /// Builds the first state, or the state after the last byte. The cache keeps both, so only growth is charged: an
    /// array of many short strings is cheap.
    fn build_edge<T>(&mut self, build: impl FnOnce(&mut Cache) -> T) -> Result<T, OutOfSteps> {
        let (built, grown) = self.grow(build);
        spend(BUILD * grown)?;
        Ok(built)
    }

    fn grow<T>(&mut self, build: impl FnOnce(&mut Cache) -> T) -> (T, usize) {
        let before = self.cache.memory_usage();
        let built = build(&mut self.cache);
        let grown = self.cache.memory_usage().saturating_sub(before);
        self.widest = self.widest.max(grown);
        (built, grown)
    }
}

impl<'i> Keyword<'i> for BoundedPattern {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        match Keyword::is_valid(self, instance) {
            true => Ok(()),
            // `translate.rs` words the message, from the schema.
            false => Err(ValidationError::custom("it does not match the pattern")),
        }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        instance.as_str().is_none_or(|text| self.is_match(text))
    }
}

/// The problem of a pattern that the engine does not support.
pub(crate) fn unsupported_pattern(pattern: &Value) -> String {
    format!(
        "{} cannot be used as a pattern; it must match in linear time, so without look-around and back-references, and \
         be small when compiled",
        show::value(pattern)
    )
}
