//! Pure: why a build failed, as one line for connected clients, which may be models. It contains no paths of this machine: files
//! of the plugin are named from its folder, others by their last part.

use std::path::Path;

use loggia_text::{redact, sanitise_line, sanitise_text, without_paths};
use serde::Deserialize;

/// Length of a reason, in bytes.
const MAX_BYTES: usize = 600;
/// Errors of a compiler in one reason.
const MAX_ERRORS: usize = 3;
/// Lines of another tool's output in one reason: the last ones, since tools say at the end what failed.
const MAX_LINES: usize = 5;

/// What is wrong with the plugin that keeps its newest source from being served.
pub(super) fn describe_errors(errors: &[CompileError], root: &Path) -> Option<String> {
    let shown: Vec<String> = errors.iter().take(MAX_ERRORS).map(CompileError::to_text).collect();
    let more = errors.len().saturating_sub(shown.len());
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let text = to_line(&format!("{}{more}", shown.join("; ")), root);
    (!errors.is_empty()).then_some(text)
}

/// Describes the failure of a tool by the end of its output; `None` without any.
pub(super) fn describe_output(output: &str, root: &Path) -> Option<String> {
    let plain = sanitise_text(output, output.len());
    let lines: Vec<&str> = plain.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(MAX_LINES)..];
    let text = to_line(&last.join(" | "), root);
    (!text.is_empty()).then_some(text)
}

fn to_line(text: &str, root: &Path) -> String {
    sanitise_line(&redact(&without_paths(text, root)), MAX_BYTES)
}

/// An error of rustc.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CompileError {
    /// Such as `E0425`.
    code: Option<String>,
    message: String,
    /// File, line and column.
    place: Option<String>,
}

impl CompileError {
    fn to_text(&self) -> String {
        let code = self.code.as_ref().map(|code| format!("[{code}]")).unwrap_or_default();
        let place = self.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        format!("error{code}: {}{place}", self.message)
    }
}

/// A message of rustc, in the form in which cargo passes it on.
#[derive(Deserialize)]
pub(super) struct CompilerMessage {
    level: String,
    message: String,
    code: Option<CompilerCode>,
    spans: Vec<CompilerSpan>,
    /// The message as people read it.
    pub rendered: Option<String>,
}

#[derive(Deserialize)]
struct CompilerCode {
    code: String,
}

#[derive(Deserialize)]
struct CompilerSpan {
    file_name: String,
    line_start: usize,
    column_start: usize,
    is_primary: bool,
}

impl CompilerMessage {
    /// The error; `None` if it is a warning, or only counts errors.
    pub(super) fn to_error(&self) -> Option<CompileError> {
        let place = self.spans.iter().find(|span| span.is_primary);
        let place = place.map(|span| format!("{}:{}:{}", span.file_name, span.line_start, span.column_start));
        let is_summary = place.is_none() && self.message.starts_with("aborting due to");
        (self.level.starts_with("error") && !is_summary).then(|| CompileError {
            code: self.code.as_ref().map(|code| code.code.clone()),
            message: self.missing_symbol().unwrap_or_else(|| self.message.clone()),
            place,
        })
    }

    /// What a linker says is missing. The message itself only says that linking failed. The SDK's symbol of a facade that is not
    /// exported names the remedy.
    fn missing_symbol(&self) -> Option<String> {
        let rendered = self.rendered.as_deref().filter(|_| self.message.starts_with("linking with"))?;
        let (_, rest) = rendered.split_once("failed to resolve import `env::")?;
        let (symbol, _) = rest.split_once('`')?;
        Some(format!("linking failed: {symbol}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_the_first_errors_of_a_compiler() {
        let message = |level: &str, text: &str, at: Option<usize>| {
            let spans = at.map(|line| {
                serde_json::json!({"file_name": "src/lib.rs", "line_start": line, "column_start": 5, "is_primary": true})
            });
            let json = serde_json::json!({"level": level, "message": text, "code": at.map(|_| serde_json::json!({"code": "E1"})),
                "spans": Vec::from_iter(spans), "rendered": text});
            serde_json::from_value::<CompilerMessage>(json).unwrap().to_error()
        };
        assert_eq!(message("warning", "unused", Some(1)), None);
        assert_eq!(message("error", "aborting due to 2 previous errors", None), None);
        let errors: Vec<_> = (1..=5).filter_map(|n| message("error", &format!("no {n}"), Some(n))).collect();
        let text = describe_errors(&errors[..1], Path::new("/x")).unwrap();
        assert_eq!(text, "error[E1]: no 1 (src/lib.rs:1:5)");
        let text = describe_errors(&errors, Path::new("/x")).unwrap();
        assert!(text.ends_with("no 3 (src/lib.rs:3:5); and 2 more"), "{text}");
        assert_eq!(describe_errors(&[], Path::new("/x")), None);
    }

    #[test]
    fn a_missing_symbol_is_the_reason() {
        let failed = "linking with `wasm-component-ld` failed: exit status: 1";
        for (message, rendered, expected) in [
            (
                failed,
                "2: failed to resolve import `env::no facade`\n3: more",
                "error: linking failed: no facade",
            ),
            (failed, "something else", &format!("error: {failed}")),
            ("no", "failed to resolve import `env::x`", "error: no"),
        ] {
            let json = serde_json::json!({"level": "error", "message": message, "code": null, "spans": [], "rendered": rendered});
            let error = serde_json::from_value::<CompilerMessage>(json).unwrap().to_error().unwrap();
            assert_eq!(error.to_text(), expected, "{rendered}");
        }
    }

    #[test]
    fn a_reason_has_the_last_lines_of_a_tool() {
        let output = "1\n2\n\u{1b}[31m3\u{1b}[0m\n\n4\n5\r\n6 at /tmp/x/y.py\n";
        assert_eq!(describe_output(output, Path::new("/x")).unwrap(), "2 | 3 | 4 | 5 | 6 at y.py");
        assert_eq!(describe_output("\n \n", Path::new("/x")), None);
        assert!(describe_output(&"é".repeat(2000), Path::new("/x")).unwrap().len() <= MAX_BYTES + 3);
    }
}
