//! The parameters of many actions, each name once: `[add*, update] The text.`
//!
//! Where actions give one name different types or bounds, the property is the loosest that holds all; which action takes
//! which parameter stands before its description, said as shortly as can be.

use loggia_facade::Object;
use serde_json::Value;

use crate::{
    model::{
        limits,
        shape::{ShapeMember, ValueShape},
    },
    text::show,
};

/// Actions that are named as those which do not take a parameter: of more, a reader loses sight.
const EXCEPTIONS: usize = 3;

/// The parameters of a tool, in the order in which its actions name them.
#[derive(Default)]
pub(crate) struct ParameterTable<'a> {
    /// The facade's own actions that the tool shows.
    actions: Vec<&'a str>,
    entries: Vec<ParameterEntry<'a>>,
}

/// One name among the parameters, with all that the actions mean by it.
struct ParameterEntry<'a> {
    name: String,
    shape: ValueShape,
    /// What it is, and for which actions, in the order in which they say so.
    uses: Vec<ParameterUse<'a>>,
}

/// The actions that say the same of a parameter.
struct ParameterUse<'a> {
    text: String,
    /// Each with whether it requires the parameter.
    actions: Vec<(&'a str, bool)>,
    /// How many of them are the facade's own.
    facade_actions: usize,
}

impl<'a> ParameterTable<'a> {
    /// None yet, of a tool that shows these actions of the facade's own.
    pub(crate) fn new(actions: Vec<&'a str>) -> Self {
        Self { actions, entries: Vec::new() }
    }

    /// Adds what an action takes.
    pub(crate) fn add(&mut self, action: &'a str, members: impl IntoIterator<Item = ShapeMember>) {
        let own = usize::from(self.actions.contains(&action));
        for ShapeMember { name, required, shape, text } in members {
            let known = match self.entries.iter_mut().find(|parameter| parameter.name == name) {
                Some(known) => {
                    known.shape = std::mem::replace(&mut known.shape, ValueShape::Any).loosest(shape);
                    known
                }
                None => self.entries.push_mut(ParameterEntry { name, shape, uses: Vec::new() }),
            };
            match known.uses.iter_mut().find(|known| known.text == text) {
                Some(known) => {
                    known.actions.push((action, required));
                    known.facade_actions += own;
                }
                None => known.uses.push(ParameterUse {
                    text,
                    actions: vec![(action, required)],
                    facade_actions: own,
                }),
            }
        }
    }

    /// Whether a description says which of the facade's actions take a parameter.
    pub(crate) fn name_actions(&self) -> bool {
        let whole = self.actions.len();
        let mut uses = self.entries.iter().flat_map(|parameter| &parameter.uses);
        uses.any(|used| used.facade_actions > 0 && used.by_all(whole).is_none())
    }

    /// The properties, each with its description.
    pub(crate) fn publish(self) -> impl Iterator<Item = (String, Value)> {
        let Self { actions, entries: known } = self;
        known.into_iter().map(move |parameter| {
            let uses: Vec<String> =
                parameter.uses.iter().map(|used| used.describe(&parameter.name, &actions)).collect();
            (parameter.name, property(&parameter.shape, join_uses(&uses)))
        })
    }
}

/// A property with its description.
fn property(shape: &ValueShape, description: String) -> Value {
    let mut out: Object = shape.to_json();
    out.insert("description".into(), description.into());
    out.into()
}

/// One action's parameter, by itself.
pub(crate) fn property_schema(member: &ShapeMember) -> Value {
    let text = show::cut(&member.text, limits::PARAMETER_TEXT);
    property(&member.shape, if text.is_empty() { name_as_words(&member.name) } else { text })
}

/// A name as words, for a parameter of which nothing is said: no description is to be empty.
fn name_as_words(name: &str) -> String {
    name.replace(['_', '-'], " ")
}

/// What all say of a parameter, whole sentences, as far as every client shows them.
fn join_uses(uses: &[String]) -> String {
    let mut out = String::new();
    for text in uses {
        let separator = match out.chars().last() {
            None => "",
            Some('.' | '!' | '?') => " ",
            Some(_) => "; ",
        };
        if !out.is_empty() && out.len() + text.len() > limits::DESCRIPTION - 40 {
            out.push_str("; more by `describe`");
            break;
        }
        out.push_str(separator);
        out.push_str(text);
    }
    out
}

impl ParameterUse<'_> {
    /// The actions that do not require it, where all take it and naming these is shorter.
    fn required_by_most(&self, whole: usize) -> Option<Vec<&str>> {
        let optional: Vec<&str> =
            self.actions.iter().filter(|(_, required)| !required).map(|(name, _)| *name).collect();
        let all = self.facade_actions == whole && self.actions.len() == whole;
        (all && whole > 2 * optional.len() + 1).then_some(optional)
    }

    /// Whether it is required, and the actions that do not take it, where naming these is shorter.
    fn by_most<'a>(&self, all: &[&'a str]) -> Option<(bool, Vec<&'a str>)> {
        let required = self.actions.iter().filter(|(_, required)| *required).count();
        let takes = |action: &str| self.actions.iter().any(|(name, _)| *name == action);
        let others: Vec<&str> = all.iter().copied().filter(|action| !takes(action)).collect();
        let shorter = self.facade_actions == self.actions.len()
            && self.facade_actions > others.len() + 1
            && !others.is_empty();
        (shorter && others.len() <= EXCEPTIONS && [0, self.facade_actions].contains(&required))
            .then_some((required > 0, others))
    }

    /// Whether it is required, where all actions take it and agree on that.
    fn by_all(&self, whole: usize) -> Option<bool> {
        let required = self.actions.iter().filter(|(_, required)| *required).count();
        let all =
            self.facade_actions == whole && self.actions.len() == whole && [0, whole].contains(&required);
        all.then_some(required > 0)
    }

    fn describe(&self, name: &str, all: &[&str]) -> String {
        let whole = all.len();
        let text = show::cut(&self.text, limits::PARAMETER_TEXT);
        let takers = match self.by_all(whole) {
            // Nothing to say beyond the text; but no description is to be empty.
            Some(false) if text.is_empty() => return name_as_words(name),
            Some(false) => return text,
            Some(true) => "required".to_owned(),
            None => {
                let star = |required| if required { "*" } else { "" };
                if let Some(optional) = self.required_by_most(whole) {
                    return format!("[required; optional in {}] {text}", optional.join(", "))
                        .trim_end()
                        .to_owned();
                }
                if let Some((required, others)) = self.by_most(all) {
                    return format!("[all{} but {}] {text}", star(required), others.join(", "))
                        .trim_end()
                        .to_owned();
                }
                let names = self.actions.iter().map(|(name, required)| format!("{name}{}", star(*required)));
                names.collect::<Vec<_>>().join(", ")
            }
        };
        format!("[{takers}] {text}").trim_end().to_owned()
    }
}
