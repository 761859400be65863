//! Results of files and cases.

use std::time::Duration;

use serde::{Serialize, Serializer};

use super::problem::CaseProblem;

/// Result of a file.
#[derive(Debug, Serialize)]
pub struct FileReport {
    /// Path of the file.
    pub file: String,
    /// Reasons for which its cases did not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<CaseProblem>,
    /// Results of its cases, and of the checks of the whole file.
    pub cases: Vec<CaseReport>,
    /// Tokens of the plugin's tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<usize>,
}

/// Result of a case.
#[derive(Debug, Serialize)]
pub struct CaseReport {
    /// Name of the case, or of the check.
    pub name: String,
    /// Line of the case; 0 for a check.
    pub line: usize,
    /// Time of its call, in milliseconds.
    #[serde(rename = "ms", serialize_with = "milliseconds")]
    pub took: Duration,
    /// What differs; empty if the case passed.
    pub failures: Vec<CaseProblem>,
    /// What was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Sums of a run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RunTotals {
    /// Cases that passed.
    pub passed: usize,
    /// Cases that failed.
    pub failed: usize,
    /// Files whose cases did not run.
    pub refused: usize,
}

impl RunTotals {
    /// Sums the results of files.
    pub fn of(files: &[FileReport]) -> Self {
        let cases = || files.iter().flat_map(|file| &file.cases);
        let passed = cases().filter(|case| case.is_passed()).count();
        let refused = files.iter().filter(|file| !file.problems.is_empty()).count();
        Self { passed, failed: cases().count() - passed, refused }
    }
}

impl FileReport {
    /// The report of a file whose cases did not run.
    pub fn refused(file: String, problems: Vec<CaseProblem>) -> Self {
        Self { file, problems, cases: Vec::new(), tokens: None }
    }
}

impl CaseReport {
    /// The report of a check of the whole file.
    pub fn check(name: &str, failures: Vec<CaseProblem>, note: Option<String>) -> Self {
        Self { name: name.to_owned(), line: 0, took: Duration::ZERO, failures, note }
    }

    /// Whether nothing differs.
    pub fn is_passed(&self) -> bool {
        self.failures.is_empty()
    }
}

fn milliseconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((time.as_secs_f64() * 1e6).round() / 1e3)
}
