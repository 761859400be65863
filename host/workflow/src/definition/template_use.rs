//! Templates of a workflow with the places where they stand: what the checks look at.

use super::model::PropertyType;
use crate::template::Template;

/// A template, and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct TemplateUse {
    pub line: usize,
    pub path: String,
    pub at: TemplateSite,
    pub template: Template,
}

/// Where a template stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TemplateSite {
    /// In a step.
    Step(usize, StepPart),
    /// In the result.
    Output(PropertyType),
}

/// The parts of a step that hold templates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StepPart {
    Condition,
    Message,
    Collection,
    Argument,
    /// An argument of a `forEach` step's call, with the item's name.
    Each(String),
}

impl TemplateUse {
    /// Whether it is a step's condition.
    pub(super) fn at_condition(&self) -> bool {
        matches!(self.at, TemplateSite::Step(_, StepPart::Condition))
    }
}
