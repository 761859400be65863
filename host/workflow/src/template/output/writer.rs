//! Texts with a size limit that is enforced while writing.

use super::budget::{RunBudget, over_budget};
use crate::template::{error::EvalError, limits, value::TemplateValue};

pub(crate) struct TextWriter<'a> {
    pub written: String,
    limit: usize,
    /// True for the template's output, false for a function's text.
    output: bool,
    pub budget: &'a RunBudget,
}

impl<'a> TextWriter<'a> {
    /// Creates the writer of the template's output.
    pub(crate) fn for_output(budget: &'a RunBudget) -> Self {
        Self { written: String::new(), limit: limits::OUTPUT, output: true, budget }
    }

    /// Creates the writer of a function's text with this many bytes left.
    pub(crate) fn for_function(budget: &'a RunBudget, limit: usize) -> Self {
        Self { written: String::new(), limit, output: false, budget }
    }

    /// Creates the writer of a text that becomes part of this one.
    pub(crate) fn nested(&self) -> Self {
        Self::for_function(self.budget, limits::MADE)
    }

    /// Writes a text. Charges one step regardless of its length.
    pub(crate) fn push(&mut self, text: &str) -> Result<(), EvalError> {
        self.budget.spend(1)?;
        let size = self.written.len() + text.len();
        if size > self.limit {
            return Err(if self.output {
                EvalError::new(format!("template output too large: {size} bytes (max {})", limits::OUTPUT))
            } else {
                over_budget()
            });
        }
        self.written.push_str(text);
        Ok(())
    }

    pub(crate) fn push_char(&mut self, c: char) -> Result<(), EvalError> {
        self.push(c.encode_utf8(&mut [0; 4]))
    }
}

/// Builds a function's text within the budget, and keeps it until the run ends.
pub(crate) fn build_text(
    budget: &RunBudget,
    write: impl FnOnce(&mut TextWriter<'_>) -> Result<(), EvalError>,
) -> Result<TemplateValue<'_>, EvalError> {
    let mut out = TextWriter::for_function(budget, budget.bytes_left());
    write(&mut out)?;
    budget.keep_text(out.written)
}
