//! Syntax errors, with hints for common mistakes.

use saphyr_parser::ScanError;

use crate::FileProblem;

/// Converts a parser's error into a problem.
pub(super) fn syntax_error(text: &str, error: &ScanError) -> FileProblem {
    let line = error.marker().line().max(1);
    let of = |line: usize| text.lines().nth(line - 1).unwrap_or_default();
    // saphyr reports a tab at the start of the preceding text.
    let tab = (line..line + 2).find(|line| is_indented_by_tab(of(*line)));
    let written = of(line);
    let problem = FileProblem::new(tab.unwrap_or(line), "", format!("invalid YAML: {}", error.info()));
    if tab.is_some() {
        return problem.hint("indent with spaces, not with tabs");
    }
    match hint(written, error.info()) {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

fn is_indented_by_tab(line: &str) -> bool {
    line.trim_start_matches(' ').starts_with('\t')
}

/// Returns the likeliest remedy for a line that cannot be parsed.
fn hint(written: &str, reason: &str) -> Option<&'static str> {
    const QUOTE: &str = "quote a text that starts with this character";
    let value = written.split_once(": ").map_or(written, |(_, value)| value).trim_start_matches([' ', '-']);
    let is_key = written.contains(": ") || written.trim_end().ends_with(':');
    if reason.contains("anchor") {
        return Some(QUOTE);
    }
    Some(match value.chars().next()? {
        _ if value.starts_with("{{") || written.contains(": {{") => "quote a template: '{{…}}'",
        '\'' => "double a single quote within single quotes: 'it''s'",
        '"' => "escape quotes and backslashes within double quotes: \\\" and \\\\",
        '*' | '&' | '!' | '@' | '%' | '`' | '|' | '>' => QUOTE,
        _ if value.contains(": ") => "quote a text that contains a colon followed by a space",
        _ if is_key || reason.contains("expected") || reason.contains("indent") => {
            "align the line with its siblings"
        }
        _ => return None,
    })
}
