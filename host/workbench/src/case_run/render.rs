//! Renders reports: for people, as TAP, and as JUnit's XML.

use std::fmt::Write;

use loggia_cases::{CaseProblem, CaseReport, FileReport, RunTotals};
use loggia_text::printable_text;

const GREEN: &str = "\x1b[32m";
const RED: &str = "\x1b[1;31m";
const DIM: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

/// Renders the cases of each file, with colours on a terminal, and the sums.
pub fn render_text(files: &[FileReport], colours: bool) -> String {
    let paint = |colour: &str, text: &str| match colours {
        true => format!("{colour}{text}{RESET}"),
        false => text.to_owned(),
    };
    let width = files.iter().flat_map(|file| &file.cases).map(|case| case.name.chars().count()).max();
    let width = width.unwrap_or(0);
    let mut out = String::new();
    for file in files {
        let tokens = file.tokens.map(|tokens| format!("  {tokens} tokens")).unwrap_or_default();
        let _ = writeln!(out, "{}{}", file.file, paint(DIM, &tokens));
        for problem in &file.problems {
            let _ = writeln!(out, "  {} {}", paint(RED, "✗"), indent(problem));
        }
        for case in &file.cases {
            let mark = if case.is_passed() { paint(GREEN, "✓") } else { paint(RED, "✗") };
            let time = if case.line > 0 { format!("{:>7.1} ms", milliseconds(case)) } else { String::new() };
            let note = case.note.as_ref().map(|note| format!("  {note}")).unwrap_or_default();
            let row = format!("  {mark} {:<width$}  {}{note}", case.name, paint(DIM, &time));
            let _ = writeln!(out, "{}", row.trim_end());
            for problem in &case.failures {
                let _ = writeln!(out, "      {}", indent(problem));
            }
        }
    }
    let RunTotals { passed, failed, refused } = RunTotals::of(files);
    let mut sums = vec![format!("{passed} passed")];
    if failed > 0 {
        sums.push(paint(RED, &format!("{failed} failed")));
    }
    if refused > 0 {
        let plural = if refused == 1 { "file" } else { "files" };
        sums.push(paint(RED, &format!("{refused} {plural} did not run")));
    }
    out + &sums.join(", ")
}

/// Renders a problem whose further lines are indented.
fn indent(problem: &CaseProblem) -> String {
    printable_text(&problem.to_string()).replace('\n', "\n      ")
}

fn milliseconds(case: &CaseReport) -> f64 {
    case.took.as_secs_f64() * 1e3
}

/// Renders TAP 14, with the problems of a case as its YAML block.
pub fn render_tap(files: &[FileReport]) -> String {
    let mut out = String::from("TAP version 14\n");
    let mut at = 0;
    for file in files {
        let mut point = |name: &str, problems: &[CaseProblem], time: f64| {
            at += 1;
            let ok = if problems.is_empty() { "ok" } else { "not ok" };
            // `#` begins a directive.
            let name = format!("{}: {name}", file.file).replace('\\', "\\\\").replace('#', "\\#");
            let _ = writeln!(out, "{ok} {at} - {name}\n  ---\n  duration_ms: {time:.3}");
            if !problems.is_empty() {
                let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
                // JSON is YAML.
                let _ = writeln!(out, "  message: {}", serde_json::Value::from(texts.join("\n")));
            }
            out.push_str("  ...\n");
        };
        if !file.problems.is_empty() {
            point("the cases run", &file.problems, 0.0);
        }
        file.cases.iter().for_each(|case| point(&case.name, &case.failures, milliseconds(case)));
    }
    let _ = write!(out, "1..{at}");
    out
}

/// Renders JUnit's XML: a suite for each file.
pub fn render_junit(files: &[FileReport]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for file in files {
        let name = escape_xml(&file.file);
        let RunTotals { passed, failed, refused } = RunTotals::of(std::slice::from_ref(file));
        let _ = writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failed}\" errors=\"{refused}\">",
            passed + failed + refused
        );
        let texts = |problems: &[CaseProblem]| {
            let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
            escape_xml(&texts.join("\n"))
        };
        if !file.problems.is_empty() {
            let _ = writeln!(
                out,
                "    <testcase name=\"the cases run\" classname=\"{name}\"><error>{}</error></testcase>",
                texts(&file.problems)
            );
        }
        for case in &file.cases {
            let _ = write!(
                out,
                "    <testcase name=\"{}\" classname=\"{name}\" time=\"{:.6}\"",
                escape_xml(&case.name),
                case.took.as_secs_f64()
            );
            if case.is_passed() {
                out.push_str("/>\n");
            } else {
                let _ = writeln!(out, "><failure>{}</failure></testcase>", texts(&case.failures));
            }
        }
        out.push_str("  </testsuite>\n");
    }
    out + "</testsuites>"
}

/// Escapes a text for XML 1.0, which has no control characters.
fn escape_xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn files() -> Vec<FileReport> {
        let case = |name: &str, failures: Vec<CaseProblem>| CaseReport {
            line: 3,
            took: Duration::from_micros(1500),
            ..CaseReport::check(name, failures, None)
        };
        let failure = CaseProblem::at(5, 9, "`data.a` is \"<1>\", expected 2");
        let cases = vec![
            case("adds", Vec::new()),
            case("finds #1 & 2", vec![failure]),
            CaseReport::check("surface", Vec::new(), Some("wrote snapshots/a.surface.json".into())),
        ];
        let ran = FileReport { file: "tests/a.yaml".into(), problems: Vec::new(), cases, tokens: Some(214) };
        let problem = CaseProblem::at(1, 1, "the file has an unknown key `x`").hint("did you mean `y`?");
        vec![ran, FileReport::refused("tests/b.yaml".into(), vec![problem])]
    }

    #[test]
    fn a_report_is_rendered_for_people() {
        insta::assert_snapshot!(render_text(&files(), false));
        let coloured = render_text(&files(), true);
        assert!(
            coloured.contains("\x1b[32m✓\x1b[0m adds") && coloured.contains("\x1b[1;31m1 failed\x1b[0m"),
            "{coloured}"
        );
    }

    #[test]
    fn a_report_is_rendered_for_programs() {
        insta::assert_snapshot!(format!("{}\n\n{}", render_tap(&files()), render_junit(&files())));
    }
}
