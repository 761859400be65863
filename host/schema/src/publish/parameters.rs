//! Merges the parameters of many actions, each name once: `[add*, update] The text.`
//!
//! If actions give one name different types, the property has the narrowest shape that covers all. Its description
//! begins with the actions that take it, in the shortest notation.

use loggia_facade::Object;
use serde_json::Value;

use crate::{
    model::{
        limits,
        shape::{ShapeMember, ValueShape},
    },
    text::show,
};

/// Actions that are listed as not taking a parameter; a longer list is hard to read.
const EXCEPTIONS: usize = 3;

/// The parameters of a tool, in the order in which its actions define them.
#[derive(Default)]
pub(crate) struct ParameterTable<'a> {
    /// Actions of the facade that the tool offers.
    actions: Vec<&'a str>,
    entries: Vec<ParameterEntry<'a>>,
}

/// A parameter name, with all its uses.
struct ParameterEntry<'a> {
    name: String,
    shape: ValueShape,
    /// Descriptions, in the order in which actions give them.
    uses: Vec<ParameterUse<'a>>,
}

/// The actions that give a parameter the same description.
struct ParameterUse<'a> {
    text: String,
    /// Each action, and whether it requires the parameter.
    actions: Vec<(&'a str, bool)>,
    /// How many of them are the facade's own actions.
    facade_actions: usize,
}

impl<'a> ParameterTable<'a> {
    /// An empty table for a tool that offers these actions of the facade.
    pub(crate) fn new(actions: Vec<&'a str>) -> Self {
        Self { actions, entries: Vec::new() }
    }

    /// Adds the parameters of an action.
    pub(crate) fn add(&mut self, action: &'a str, members: impl IntoIterator<Item = ShapeMember>) {
        let is_facade_action = usize::from(self.actions.contains(&action));
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
                    known.facade_actions += is_facade_action;
                }
                None => known.uses.push(ParameterUse {
                    text,
                    actions: vec![(action, required)],
                    facade_actions: is_facade_action,
                }),
            }
        }
    }

    /// Whether any description lists actions.
    pub(crate) fn name_actions(&self) -> bool {
        let whole = self.actions.len();
        let mut uses = self.entries.iter().flat_map(|parameter| &parameter.uses);
        uses.any(|used| used.facade_actions > 0 && used.by_all(whole).is_none())
    }

    /// The properties with their descriptions.
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

/// The property of a parameter that only one action has.
pub(crate) fn property_schema(member: &ShapeMember) -> Value {
    let text = show::cut(&member.text, limits::PARAMETER_TEXT);
    property(&member.shape, if text.is_empty() { name_as_words(&member.name) } else { text })
}

/// A name as words: the description of a parameter without one, because clients need one.
fn name_as_words(name: &str) -> String {
    name.replace(['_', '-'], " ")
}

/// Joins the descriptions of a parameter, whole, up to the length that every client shows.
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
    /// The actions that do not require it, if all take it and this list is shorter.
    fn required_by_most(&self, whole: usize) -> Option<Vec<&str>> {
        let optional: Vec<&str> =
            self.actions.iter().filter(|(_, required)| !required).map(|(name, _)| *name).collect();
        let all = self.facade_actions == whole && self.actions.len() == whole;
        (all && whole > 2 * optional.len() + 1).then_some(optional)
    }

    /// Whether it is required, and the actions that do not take it, if this list is shorter.
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

    /// Whether it is required, if all actions take it and agree on that.
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
            // The description must not be empty.
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
