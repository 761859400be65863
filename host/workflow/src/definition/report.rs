//! Problems, warnings and notes of a file while it is parsed.

use loggia_schema::nearest;

use super::template_use::TemplateUse;
use crate::{FileProblem, FileProblems, yaml::excerpt};

/// Maximum number of reported problems per file.
const MAX_REPORTED: usize = 100;

/// Problems, warnings and notes collected so far.
#[derive(Default)]
pub(crate) struct ParseReport {
    pub take_problems: Vec<FileProblem>,
    pub warnings: Vec<FileProblem>,
    /// Constructs that ToolHive does not support.
    pub notes: Vec<FileProblem>,
    /// Templates of the current workflow.
    pub uses: Vec<TemplateUse>,
    /// Number of problems beyond the limit.
    more: usize,
}

impl ParseReport {
    pub(super) fn problem(&mut self, problem: FileProblem) {
        if self.is_full() { self.more += 1 } else { self.take_problems.push(problem) }
    }

    pub(super) fn warn(&mut self, problem: FileProblem) {
        if self.warnings.len() < MAX_REPORTED {
            self.warnings.push(problem);
        }
    }

    pub(super) fn note(&mut self, line: usize, path: impl Into<String>, message: impl Into<String>) {
        if self.notes.len() < MAX_REPORTED {
            self.notes.push(FileProblem::new(line, path, message));
        }
    }

    /// Adds a problem if `strict`, otherwise a warning.
    pub(super) fn problem_if(&mut self, strict: bool, problem: FileProblem) {
        if strict { self.problem(problem) } else { self.warn(problem) }
    }

    /// Returns true if the limit is reached, so that computing suggestions is wasted work.
    pub(super) fn is_full(&self) -> bool {
        self.take_problems.len() >= MAX_REPORTED
    }

    /// Adds the nearest of some names as a suggestion.
    pub(super) fn with_suggestion<'n>(
        &self,
        problem: FileProblem,
        name: &str,
        names: impl IntoIterator<Item = &'n str>,
    ) -> FileProblem {
        if self.is_full() {
            return problem;
        }
        match nearest(name, names) {
            Some(near) => problem.hint(format!("did you mean `{}`?", excerpt(near))),
            None => problem,
        }
    }

    /// Returns all problems ordered by line, or `None` if there are none.
    pub(super) fn problems(&mut self) -> Option<FileProblems> {
        if self.take_problems.is_empty() {
            return None;
        }
        let mut problems = std::mem::take(&mut self.take_problems);
        problems.sort_by_key(|problem| problem.line);
        if self.more > 0 {
            problems.push(FileProblem::new(0, "", format!("and {} more", self.more)));
        }
        Some(FileProblems(problems))
    }
}
