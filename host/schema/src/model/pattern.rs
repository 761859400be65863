//! Patterns of strings, matched one step at a time.
//!
//! The `regex` crate promises linear time, but linear in pattern times text, and its searches cannot be stopped: 150 KB
//! against `a[ab]{0,5000}c` keep a thread for half a minute. Here a DFA is built lazily and stepped by hand. A byte whose
//! state is known costs one step; one whose state has to be built costs as many as that is work. Who has no steps left
//! (`work.rs`) stops.

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
    model::{limits, work},
    text::show,
};

/// Bytes that the states of one search may take before they are forgotten and built anew.
const STATES: usize = 256 << 10;
/// Bytes of states that a pattern keeps between searches.
const SPARE: usize = 16 << 10;
/// Steps for each byte by which building a state makes the cache grow: it is about as many as the state has threads.
const BUILD: usize = 4;
/// Bytes that are searched before their steps are taken.
const CHUNK: usize = 1024;

/// What the compiled patterns of one surface may take together, in bytes. Clones share what is left.
#[derive(Clone)]
pub(crate) struct PatternBudget(Arc<AtomicUsize>);

impl Default for PatternBudget {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(limits::PATTERNS)))
    }
}

impl PatternBudget {
    /// Compiles a pattern and takes what it keeps from the budget: its program `times` over, and the states between searches.
    ///
    /// # Errors
    ///
    /// Why it cannot be used, to be read after its path.
    pub(super) fn compile(&self, pattern: &str, times: usize) -> Result<NFA, String> {
        let refused = || unsupported_pattern(&pattern.into());
        let translated = jsonschema_regex::to_rust_regex(pattern).map_err(|()| refused())?;
        let config = thompson::Config::new()
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(limits::COMPILED_PATTERN));
        let nfa = thompson::Compiler::new().configure(config).build(&translated).map_err(|_| refused())?;
        let kept = nfa.memory_usage() * times + SPARE;
        let take = |left: usize| left.checked_sub(kept);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).map_err(|_| {
            format!(
                "{} is one pattern too many: compiled, all patterns of a facade may take {} MiB together; make them \
                 fewer, or their repetitions shorter",
                show::value(&pattern.into()),
                limits::PATTERNS >> 20
            )
        })?;
        Ok(nfa)
    }

    /// Takes a pattern of names into account, which the validator compiles itself; its number of states.
    ///
    /// # Errors
    ///
    /// As for other patterns.
    pub(crate) fn reserve_names(&self, pattern: &str) -> Result<usize, String> {
        // Forwards, backwards, and what is derived of both.
        Ok(self.compile(pattern, 4)?.states().len())
    }

    /// The keyword `pattern`, for the validator.
    pub(crate) fn keyword<'a>(
        &self,
        pattern: &'a Value,
    ) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
        let pattern =
            pattern.as_str().ok_or_else(|| ValidationError::schema("a pattern must be a string"))?;
        let compiled = self.compile(pattern, 1).and_then(|nfa| Pattern::new(pattern, nfa));
        Ok(Box::new(compiled.map_err(ValidationError::schema)?))
    }
}

/// A compiled pattern.
pub(super) struct Pattern {
    text: String,
    dfa: DFA,
    spare: Mutex<Option<DfaStates>>,
}

/// The states that a search has built.
struct DfaStates {
    cache: Cache,
    /// The largest growth by one state.
    widest: usize,
}

/// There are no steps left.
struct OutOfSteps;

impl Pattern {
    pub(super) fn new(text: &str, nfa: NFA) -> Result<Self, String> {
        // Of bytes that are not ASCII the DFA cannot tell whether they are part of a word, and stops.
        let config =
            Config::new().unicode_word_boundary(true).cache_capacity(STATES).skip_cache_capacity_check(true);
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa);
        let dfa =
            dfa.map_err(|error| format!("{} cannot be compiled: {error}", show::value(&text.into())))?;
        Ok(Self { text: text.to_owned(), dfa, spare: Mutex::default() })
    }

    /// Whether it is found in a text. Where there are no steps left, the answer means nothing.
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

    /// Those of an earlier search, or none yet.
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
        // A match is known one byte late.
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

    /// For `\b` beside letters that are not ASCII, and programs of which no two states fit into the cache.
    fn search_nfa(&self, text: &str) -> Result<bool, OutOfSteps> {
        let nfa = self.dfa.get_nfa();
        spend((text.len() + 1).saturating_mul(nfa.states().len()).saturating_mul(BUILD))?;
        let Ok(machine) = PikeVM::new_from_nfa(nfa.clone()) else { return Err(OutOfSteps) };
        Ok(machine.is_match(&mut machine.create_cache(), text))
    }
}

/// What a state says of the whole search.
fn verdict(state: LazyStateID) -> Option<bool> {
    (state.is_match() || state.is_dead()).then(|| state.is_match())
}

fn spend(steps: usize) -> Result<(), OutOfSteps> {
    if work::spend(steps) { Ok(()) } else { Err(OutOfSteps) }
}

impl DfaStates {
    /// Builds the state that a byte leads to. One that was there already took as much work as the largest.
    fn build<T>(&mut self, build: impl FnOnce(&mut Cache) -> T) -> Result<T, OutOfSteps> {
        let (built, grown) = self.grow(build);
        spend(BUILD * if grown > 0 { grown } else { self.widest })?;
        Ok(built)
    }

    /// The first state, or the one that the end of a text leads to. They are built once for each state that was built, and
    /// are then at hand, so only what grows is charged: an array of many short texts is no work.
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

impl<'i> Keyword<'i> for Pattern {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        match Keyword::is_valid(self, instance) {
            true => Ok(()),
            // Said in `fault.rs`, from the schema.
            false => Err(ValidationError::custom("it does not match the pattern")),
        }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        instance.as_str().is_none_or(|text| self.is_match(text))
    }
}

/// A pattern that the engine cannot have.
pub(crate) fn unsupported_pattern(pattern: &Value) -> String {
    format!(
        "{} cannot be used as a pattern; it must match in linear time, so without look-around and back-references, and \
         be small when compiled",
        show::value(pattern)
    )
}
