//! Text that is made within a limit, which is kept while it is written, not after.

use super::{EvalError, limits, run::Budget};

pub(super) struct Text<'a> {
    pub written: String,
    limit: usize,
    /// Whether it is what the template gives, not what a function makes.
    output: bool,
    pub budget: &'a Budget,
}

impl<'a> Text<'a> {
    /// What the template gives.
    pub fn output(budget: &'a Budget) -> Self {
        Self { written: String::new(), limit: limits::OUTPUT, output: true, budget }
    }

    /// What a function makes, of which so many bytes are left.
    pub fn made(budget: &'a Budget, limit: usize) -> Self {
        Self { written: String::new(), limit, output: false, budget }
    }

    /// A text that will become a part of this one.
    pub fn aside(&self) -> Self {
        Self::made(self.budget, limits::MADE)
    }

    /// Writes a text: that is a step, however long it is.
    pub fn push(&mut self, text: &str) -> Result<(), EvalError> {
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

    pub fn push_char(&mut self, c: char) -> Result<(), EvalError> {
        self.push(c.encode_utf8(&mut [0; 4]))
    }
}

/// Functions made more than a run may hold.
pub(super) fn too_much() -> EvalError {
    EvalError::new(format!("the functions of the template make too much: more than {} bytes", limits::MADE))
}
