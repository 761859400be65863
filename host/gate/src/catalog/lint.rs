//! Logs which clients would reject or degrade a published tool.
//!
//! Such a tool is served all the same: other clients may accept it, and the choice is the operator's.

use loggia_schema::{LintSeverity, lint};
use loggia_text::printable;

use super::exposure::CatalogTool;

/// Maximum number of lines per tool: a raw schema may have thousands of findings.
const MAX_LINES: usize = 10;

/// Logs the findings of a tool.
pub(super) fn log_findings(tool: &CatalogTool) {
    let findings = lint(&tool.published);
    let (rejects, degrades): (Vec<_>, Vec<_>) =
        findings.iter().partition(|finding| finding.severity == LintSeverity::Rejects);
    let (facade, name) = (&tool.facade, &tool.published.name);
    for finding in rejects.iter().take(MAX_LINES) {
        tracing::warn!(facade, tool = name, "{}", printable(&finding.to_string()));
    }
    if let Some(more) = rejects.len().checked_sub(MAX_LINES).filter(|more| *more > 0) {
        tracing::warn!(
            facade,
            tool = name,
            "{more} more findings that clients reject; `loggia check` lists them"
        );
    }
    for finding in degrades.iter().take(MAX_LINES) {
        tracing::debug!(facade, tool = name, "{}", printable(&finding.to_string()));
    }
}
