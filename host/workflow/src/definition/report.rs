//! Problems, warnings and notes of a file while it is parsed.

use loggia_schema::nearest;

use super::template_use::TemplateUse;
use crate::{Problem, Problems, yaml::excerpt};

/// Problems of one file that are told; a file that is no workflow at all has more than anybody wants to read.
const TOLD: usize = 100;

/// What has come up so far.
#[derive(Default)]
pub(crate) struct ParseReport {
    pub problems: Vec<Problem>,
    pub warnings: Vec<Problem>,
    /// What ToolHive would not understand, and is understood here.
    pub notes: Vec<Problem>,
    /// Templates of the workflow that is being read.
    pub uses: Vec<TemplateUse>,
    /// Problems that are not told.
    more: usize,
}

impl ParseReport {
    pub(super) fn problem(&mut self, problem: Problem) {
        if self.full() { self.more += 1 } else { self.problems.push(problem) }
    }

    pub(super) fn warn(&mut self, problem: Problem) {
        if self.warnings.len() < TOLD {
            self.warnings.push(problem);
        }
    }

    pub(super) fn note(&mut self, line: usize, path: impl Into<String>, said: impl Into<String>) {
        if self.notes.len() < TOLD {
            self.notes.push(Problem::new(line, path, said));
        }
    }

    /// A problem where `strict`, else a warning.
    pub(super) fn problem_if(&mut self, strict: bool, problem: Problem) {
        if strict { self.problem(problem) } else { self.warn(problem) }
    }

    /// Whether no more problems are told: looking for advice is no use then.
    pub(super) fn full(&self) -> bool {
        self.problems.len() >= TOLD
    }

    /// The nearest of some names, as advice.
    pub(super) fn advise<'n>(
        &self,
        problem: Problem,
        name: &str,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Problem {
        if self.full() {
            return problem;
        }
        match nearest(name, names) {
            Some(near) => problem.hint(format!("did you mean `{}`?", excerpt(near))),
            None => problem,
        }
    }

    /// All problems in the order of the lines, if there are any.
    pub(super) fn problems(&mut self) -> Option<Problems> {
        if self.problems.is_empty() {
            return None;
        }
        let mut problems = std::mem::take(&mut self.problems);
        problems.sort_by_key(|problem| problem.line);
        if self.more > 0 {
            problems.push(Problem::new(0, "", format!("and {} more", self.more)));
        }
        Some(Problems(problems))
    }
}
