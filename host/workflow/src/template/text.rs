//! Text that is made within a limit, which is kept while it is written, not after.

use super::{EvalError, limits};

pub(super) struct Text {
    pub written: String,
    limit: usize,
    /// Whether it is what the template gives, not what a function makes.
    output: bool,
}

impl Text {
    /// What the template gives.
    pub fn output() -> Self {
        Self { written: String::new(), limit: limits::OUTPUT, output: true }
    }

    /// What a function makes, of which so many bytes are left.
    pub fn made(limit: usize) -> Self {
        Self { written: String::new(), limit, output: false }
    }

    pub fn push(&mut self, text: &str) -> Result<(), EvalError> {
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
