//! Text that is made within a limit, which is kept while it is written, not after.

use super::budget::{RunBudget, too_much};
use crate::template::{error::EvalError, limits, value::TemplateValue};

pub(crate) struct TextWriter<'a> {
    pub written: String,
    limit: usize,
    /// Whether it is what the template gives, not what a function makes.
    output: bool,
    pub budget: &'a RunBudget,
}

impl<'a> TextWriter<'a> {
    /// What the template gives.
    pub(crate) fn output(budget: &'a RunBudget) -> Self {
        Self { written: String::new(), limit: limits::OUTPUT, output: true, budget }
    }

    /// What a function makes, of which so many bytes are left.
    pub(crate) fn made(budget: &'a RunBudget, limit: usize) -> Self {
        Self { written: String::new(), limit, output: false, budget }
    }

    /// A text that will become a part of this one.
    pub(crate) fn aside(&self) -> Self {
        Self::made(self.budget, limits::MADE)
    }

    /// Writes a text: that is a step, however long it is.
    pub(crate) fn push(&mut self, text: &str) -> Result<(), EvalError> {
        self.budget.spend(1)?;
        let size = self.written.len() + text.len();
        if size > self.limit {
            return Err(if self.output {
                EvalError::new(format!("template output too large: {size} bytes (max {})", limits::OUTPUT))
            } else {
                too_much()
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
    let mut out = TextWriter::made(budget, budget.bytes_left());
    write(&mut out)?;
    budget.keep_text(out.written)
}
