//! Merges the parameters of many actions, each name once.
//!
//! If actions give one name different types, the property has the narrowest shape that covers all. A text that only some
//! of the actions give begins with their names: `list, get: The text.`

use loggia_facade::Object;
use serde_json::Value;

use crate::{
    model::{
        brief::{are_alike, repeats},
        limits,
        shape::{ShapeMember, ValueShape},
        value_texts::ValueText,
    },
    publish::brief_schema::brief_schema,
    text::show,
};

/// The parameters of a tool, in the order in which its actions define them.
#[derive(Default)]
pub(crate) struct ParameterTable<'a> {
    /// The facade's name, which texts repeat.
    facade: &'a str,
    entries: Vec<ParameterEntry<'a>>,
}

/// A parameter name, with all its uses.
struct ParameterEntry<'a> {
    name: String,
    shape: ValueShape,
    /// Brief texts, in the order in which actions give them.
    uses: Vec<ParameterUse<'a>>,
    /// What values mean, for all actions.
    values: Vec<ValueText>,
}

/// The actions that give a parameter the same text, or one that differs in few words: the first one stands for them.
struct ParameterUse<'a> {
    text: String,
    actions: Vec<&'a str>,
}

impl<'a> ParameterTable<'a> {
    /// An empty table for actions of this facade.
    pub(crate) fn new(facade: &'a str) -> Self {
        Self { facade, entries: Vec::new() }
    }

    /// Adds the parameters of an action.
    pub(crate) fn add(&mut self, action: &'a str, members: impl IntoIterator<Item = ShapeMember>) {
        for ShapeMember { name, shape, brief, values, .. } in members {
            // `The issue.` of `update_issue` says nothing.
            let text = if repeats(&format!("{name} {action} {}", self.facade), &brief) {
                String::new()
            } else {
                brief
            };
            let known = match self.entries.iter_mut().find(|parameter| parameter.name == name) {
                Some(known) => {
                    known.shape = std::mem::replace(&mut known.shape, ValueShape::Any).loosest(shape);
                    known
                }
                None => self.entries.push_mut(ParameterEntry {
                    name,
                    shape,
                    uses: Vec::new(),
                    values: Vec::new(),
                }),
            };
            ValueText::merge(&mut known.values, values);
            match known.uses.iter_mut().find(|known| known.text == text || are_alike(&known.text, &text)) {
                Some(known) => known.actions.push(action),
                None => known.uses.push(ParameterUse { text, actions: vec![action] }),
            }
        }
    }

    /// The shape that covers all uses of a parameter.
    pub(crate) fn shape(&self, name: &str) -> Option<&ValueShape> {
        self.shapes().find(|(known, _)| *known == name).map(|(_, shape)| shape)
    }

    /// The names and shapes of the parameters.
    pub(crate) fn shapes(&self) -> impl Iterator<Item = (&str, &ValueShape)> {
        self.entries.iter().map(|parameter| (parameter.name.as_str(), &parameter.shape))
    }

    /// The properties with their descriptions.
    pub(crate) fn publish(&self) -> impl Iterator<Item = (String, Value)> {
        self.entries.iter().map(|parameter| {
            let known = |name: &str| self.shape(name).filter(|_| name != parameter.name);
            (parameter.name.clone(), brief_schema(&parameter.shape, parameter.text(), &known))
        })
    }
}

/// The property of a parameter that only one action has, with its whole text.
pub(crate) fn property_schema(member: &ShapeMember) -> Value {
    let text = show::cut(&member.text, limits::PARAMETER_TEXT);
    let mut out: Object = member.shape.to_json();
    // Some clients need a description.
    let text = if text.is_empty() { member.name.replace(['_', '-'], " ") } else { text };
    out.insert("description".into(), text.into());
    out.into()
}

impl ParameterEntry<'_> {
    /// The texts, whole, up to the length that every client shows.
    fn text(&self) -> String {
        let mut out = String::new();
        for ParameterUse { text, actions } in self.uses.iter().filter(|used| !used.text.is_empty()) {
            let text = show::cut(text, limits::PARAMETER_TEXT);
            let text = if self.uses.len() == 1 { text } else { format!("{}: {text}", actions.join(", ")) };
            if !out.is_empty() && out.len() + text.len() > limits::DESCRIPTION - 40 {
                out.push_str("; more by `describe`");
                break;
            }
            if !out.is_empty() {
                out.push_str("; ");
            }
            out.push_str(&text);
        }
        show::cut(&ValueText::append(out, &self.values), limits::DESCRIPTION)
    }
}
