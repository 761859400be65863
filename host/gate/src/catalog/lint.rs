//! What clients would make of the tools that are published, told to the operator.
//!
//! A tool that some client rejects is served all the same: another client may take it, and it is the operator's choice.

use loggia_schema::{LintSeverity, lint};
use loggia_text::printable;

use super::exposure::Tool;

/// Lines that the log says of one tool: a schema that goes out as it was given may have thousands.
const LINES: usize = 10;

/// Logs what clients would make of a tool.
pub fn log(tool: &Tool) {
    let findings = lint(&tool.published);
    let (rejects, degrades): (Vec<_>, Vec<_>) =
        findings.iter().partition(|finding| finding.severity == LintSeverity::Rejects);
    let (facade, name) = (&tool.facade, &tool.published.name);
    for finding in rejects.iter().take(LINES) {
        tracing::warn!(facade, tool = name, "{}", printable(&finding.to_string()));
    }
    if let Some(more) = rejects.len().checked_sub(LINES).filter(|more| *more > 0) {
        tracing::warn!(facade, tool = name, "and {more} more that clients reject: `loggia check` lists them");
    }
    for finding in degrades.iter().take(LINES) {
        tracing::debug!(facade, tool = name, "{}", printable(&finding.to_string()));
    }
}
