//! Fits suggestions into a budget of tokens.

use loggia_sdk::prelude::*;

use crate::{
    profile::Profile,
    rank::Ranked,
    text::{LONG, short},
    tokens::estimate,
    view::{ContextView, LeftOut, Suggestion, Unavailable},
};

/// The smallest budget: a result without suggestions, with all sources unavailable, fits into it.
pub const LEAST: u32 = 250;
/// Lengths of an excerpt that are tried, in characters. At 0 it is only named.
const EXCERPTS: [usize; 4] = [LONG, 400, 120, 0];
/// Lengths of a reason that are tried, in characters.
const REASONS: [usize; 3] = [120, 40, 0];
/// Numbers of ids of a source that are named among what was left out.
const IDS: [usize; 2] = [5, 0];
/// Digits of the largest estimate: the field's own tokens are counted with it.
const PLACEHOLDER: usize = 99_999;

/// Names of what a profile adds.
const PERSONA: &str = "persona";
const PREFERENCES: &str = "preferences";

/// What goes into a result.
pub struct Parts<'p> {
    pub task: &'p str,
    pub budget: usize,
    /// Best first.
    pub ranked: &'p [Ranked],
    pub unavailable: &'p [(&'static str, String)],
    /// Only the parts that were asked for.
    pub profile: Profile,
}

/// Builds the reply. The estimate for its data and message never exceeds the budget.
pub fn pack(parts: Parts<'_>) -> Reply<ContextView> {
    let mut packing = Packing::new(&parts);
    packing.add_profile(parts.profile.clone());
    for (at, ranked) in parts.ranked.iter().enumerate() {
        packing.add(at, ranked);
    }
    packing.finish()
}

struct Packing<'p> {
    parts: &'p Parts<'p>,
    view: ContextView,
    /// Which of the ranked items are suggested.
    taken: Vec<bool>,
    /// Parts of the profile that do not fit.
    without: Vec<&'static str>,
}

impl<'p> Packing<'p> {
    fn new(parts: &'p Parts<'p>) -> Self {
        let mut packing = Self {
            parts,
            view: ContextView { tokens: PLACEHOLDER, ..ContextView::default() },
            taken: vec![false; parts.ranked.len()],
            without: Vec::new(),
        };
        // Reasons are shortened until there is room for the note that persona and preferences do not fit.
        let Profile { persona, preferences } = &parts.profile;
        packing.without.extend(persona.is_some().then_some(PERSONA));
        packing.without.extend((!preferences.is_empty()).then_some(PREFERENCES));
        for length in REASONS {
            let unavailable = |(source, reason): &(&'static str, String)| {
                let reason = if length == 0 { String::new() } else { short(reason, length) };
                Unavailable { source, reason }
            };
            packing.view.unavailable = parts.unavailable.iter().map(unavailable).collect();
            if packing.fits(packing.view.clone()) {
                break;
            }
        }
        packing.without.clear();
        packing
    }

    /// Adds persona and preferences before the suggestions: the caller asked for them.
    fn add_profile(&mut self, profile: Profile) {
        let Profile { persona, preferences } = profile;
        if persona.is_some() {
            let view = ContextView { persona, ..self.view.clone() };
            self.keep(view, PERSONA);
        }
        if !preferences.is_empty() {
            let view = ContextView { preferences, ..self.view.clone() };
            self.keep(view, PREFERENCES);
        }
    }

    fn keep(&mut self, view: ContextView, name: &'static str) {
        if self.fits(view.clone()) {
            self.view = view;
        } else {
            self.without.push(name);
        }
    }

    /// Adds a suggestion with the longest excerpt that fits, if one does.
    fn add(&mut self, at: usize, ranked: &Ranked) {
        self.taken[at] = true;
        let text = ranked.candidate.text.chars().count();
        // Shorter texts have the same excerpt at several lengths.
        let lengths = EXCERPTS
            .iter()
            .enumerate()
            .filter(|(next, _)| EXCERPTS.get(next + 1).is_none_or(|shorter| text > *shorter));
        for (_, length) in lengths {
            let mut view = self.view.clone();
            view.suggested_context.push(Suggestion::new(ranked, self.parts.task, *length));
            if self.fits(view.clone()) {
                self.view = view;
                return;
            }
        }
        self.taken[at] = false;
    }

    fn finish(mut self) -> Reply<ContextView> {
        for ids in IDS {
            self.view.left_out = self.left_out(ids);
            if cost(&self.view, &message(&self.view)) <= self.parts.budget {
                break;
            }
        }
        let message = message(&self.view);
        self.view.tokens = cost(&self.view, &message);
        Reply::new(self.view).message(message)
    }

    /// Whether the result fits with everything else left out, which costs the most.
    fn fits(&self, view: ContextView) -> bool {
        let view = ContextView { left_out: self.left_out(0), ..view };
        cost(&view, &message(&view)) <= self.parts.budget
    }

    fn left_out(&self, ids: usize) -> Vec<LeftOut> {
        let mut left_out: Vec<LeftOut> =
            self.without.iter().map(|source| LeftOut { source, count: 1, ids: Vec::new() }).collect();
        for (ranked, _) in self.parts.ranked.iter().zip(&self.taken).filter(|(_, taken)| !**taken) {
            let source = ranked.candidate.source.name();
            let at = left_out.iter().position(|entry| entry.source == source).unwrap_or_else(|| {
                left_out.push(LeftOut { source, count: 0, ids: Vec::new() });
                left_out.len() - 1
            });
            let entry = &mut left_out[at];
            entry.count += 1;
            if entry.ids.len() < ids {
                entry.ids.push(ranked.candidate.id.clone());
            }
        }
        left_out
    }
}

/// Estimated tokens of a result: its JSON and its message.
fn cost(view: &ContextView, message: &str) -> usize {
    let json = json!(view).to_string();
    estimate(&json) + estimate(message)
}

fn message(view: &ContextView) -> String {
    match (view.suggested_context.len(), view.left_out.is_empty()) {
        (0, true) => "Nothing was found for this task.".to_owned(),
        (0, false) => "Nothing fits: raise `budget`.".to_owned(),
        (_, true) => "Suggested context, not attached: the person picks by id.".to_owned(),
        (_, false) => {
            "Suggested context, not attached: the person picks by id. A larger `budget` has room for more."
                .to_owned()
        }
    }
}
