//! Templates with their places in the file, as input of the checks.

use super::model::PropertyType;
use crate::template::TextTemplate;

/// Template with its place in the file.
#[derive(Debug, Clone)]
pub(crate) struct TemplateUse {
    pub line: usize,
    pub path: String,
    pub at: TemplateSite,
    pub template: TextTemplate,
}

/// Site of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TemplateSite {
    /// Part of a step.
    Step(usize, StepPart),
    /// Property of the result.
    Output(PropertyType),
}

/// Parts of a step that hold templates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StepPart {
    Condition,
    Message,
    Collection,
    Argument,
    /// Argument of a `forEach` call, with the item's name.
    Each(String),
    /// Argument of a compensation. In a `forEach`, with the item's name.
    Undo(Option<String>),
}

impl TemplateUse {
    /// Returns true for the condition of a step.
    pub(super) fn is_condition(&self) -> bool {
        matches!(self.at, TemplateSite::Step(_, StepPart::Condition))
    }
}
