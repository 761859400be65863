//! Templates of a workflow with the places where they stand: what the checks look at.

use super::{
    PropertyKind,
    place::{Place, Reading, about},
};
use crate::{Problem, template::Template};

/// A template, and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Use {
    pub line: usize,
    pub path: String,
    pub at: At,
    pub template: Template,
}

/// Where a template stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum At {
    /// In a step.
    Step(usize, Part),
    /// In the result.
    Output(PropertyKind),
}

/// The parts of a step that hold templates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Condition,
    Message,
    Collection,
    Argument,
    /// An argument of a `forEach` step's call, with the item's name.
    Each(String),
}

/// Reads a template.
pub(super) fn template(place: &Place<'_>, at: At, reading: &mut Reading) -> Option<Template> {
    let text = place.text(reading)?;
    match Template::parse(text) {
        Ok(template) => {
            let (line, path) = (place.node.line, place.path.clone());
            reading.uses.push(Use { line, path, at, template: template.clone() });
            Some(template)
        }
        Err(error) => {
            let said = format!("{}: invalid template: {error}", about(&place.path));
            // A text of several lines: the line in which it goes wrong.
            let before = error.at.and_then(|at| text.get(..at)).unwrap_or_default();
            let line = place.node.line + before.matches('\n').count();
            reading.problem(Problem::new(line, &*place.path, said));
            None
        }
    }
}

impl Use {
    /// Whether it is a step's condition.
    pub fn at_condition(&self) -> bool {
        matches!(self.at, At::Step(_, Part::Condition))
    }
}
