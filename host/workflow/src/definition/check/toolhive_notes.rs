//! Notes on constructs that work here but never worked in ToolHive, although its documentation suggests that they do.

use serde_json::Value;

use crate::{
    definition::{
        model::{PropertyType, StepKind, Workflow, WorkflowStep},
        place::join,
        report::ParseReport,
        template_use::{StepPart, TemplateSite, TemplateUse},
    },
    yaml::excerpt,
};

/// Smallest integer that Go prints with an exponent.
const MILLION: i64 = 1_000_000;
const COMPARISONS: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];

/// Adds a note for each construct that ToolHive does not support.
pub(crate) fn add_notes(workflow: &Workflow, uses: &[TemplateUse], report: &mut ParseReport) {
    for used in uses {
        let mut note = |message: String| report.note(used.line, &*used.path, message);
        note_answers(workflow, used, &mut note);
        let source = used.template.source();
        for action in find_actions(source) {
            note_comparisons(workflow, action, &mut note);
            if let Some(path) = parse_path(action) {
                note_large_integers(workflow, used, &path, &mut note);
            }
        }
        if let Some(path) = sole_action(source).and_then(parse_path) {
            note_whole_values(workflow, used, &path, &mut note);
        }
        if used.is_condition() && source.trim() != source {
            note("ToolHive rejects a condition with surrounding white space".to_owned());
        }
    }
    for (index, step) in workflow.steps.iter().enumerate() {
        if step.on_error.continues()
            && step.default_results.is_some()
            && !matches!(step.kind, StepKind::Tool(_))
        {
            let path = format!("{}[{index}].defaultResults", join(&workflow.path, "steps"));
            let message = "ToolHive supports defaultResults only for failed calls of tools";
            report.note(step.line, path, message);
        }
    }
}

/// Notes answers read from where only ToolHive's documentation places them.
fn note_answers(workflow: &Workflow, used: &TemplateUse, note: &mut impl FnMut(String)) {
    let mut reported = Vec::new();
    for reference in used.template.references() {
        let [root, id, part, ..] = &reference.path[..] else { continue };
        let asks = root == "steps"
            && find_step(workflow, id).is_some_and(|step| matches!(step.kind, StepKind::Ask(_)));
        if !asks || !["content", "action"].contains(&part.as_str()) || reported.contains(&(id, part)) {
            continue;
        }
        reported.push((id, part));
        let id = excerpt(id);
        note(format!(
            "ToolHive has the answer under `.steps.{id}.output.{part}` alone, not under `.steps.{id}.{part}`"
        ));
    }
}

/// Notes comparisons of JSON numbers with integer literals.
fn note_comparisons(workflow: &Workflow, action: &str, note: &mut impl FnMut(String)) {
    let spaced = action.replace(['(', ')', '|'], " | ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    for words in words.windows(3) {
        let [comparison, one, other] = words else { continue };
        if !COMPARISONS.contains(comparison) {
            continue;
        }
        let literal = |word: &str| word.parse::<i64>().is_ok();
        let path = match (literal(one), literal(other)) {
            (false, true) => one,
            (true, false) => other,
            _ => continue,
        };
        let Some(parts) = parse_path(path.strip_prefix('$').unwrap_or(path)) else { continue };
        let of_json = match parts[..] {
            ["params", ..] => true,
            ["steps", id, "output", field, ..] => {
                let counts = ["count", "completed", "failed"].contains(&field);
                !(counts
                    && find_step(workflow, id).is_some_and(|step| matches!(step.kind, StepKind::ForEach(_))))
            }
            _ => false,
        };
        if of_json {
            let text = excerpt(&words.join(" "));
            note(format!(
                "`{text}` fails in ToolHive, which cannot compare a JSON number with an integer literal"
            ));
        }
    }
}

/// Notes integers that Go prints with an exponent.
fn note_large_integers(
    workflow: &Workflow,
    used: &TemplateUse,
    path: &[&str],
    note: &mut impl FnMut(String),
) {
    let is_large = match (path, &used.at) {
        (["params", name], _) => find_parameter(workflow, name).is_some_and(|schema| {
            let most = schema.get("maximum").and_then(Value::as_i64).unwrap_or(i64::MAX);
            schema.get("type").is_some_and(|kind| kind == "integer") && most >= MILLION
        }),
        (["steps", _, "output", _, ..], TemplateSite::Output(PropertyType::Integer)) => true,
        _ => false,
    };
    if is_large {
        let path = excerpt(&path.join("."));
        note(format!("ToolHive writes `.{path}` from {MILLION} on as `1e+06`, which is not an integer"));
    }
}

/// Notes values that are passed on unchanged.
fn note_whole_values(workflow: &Workflow, used: &TemplateUse, path: &[&str], note: &mut impl FnMut(String)) {
    let is_compound = match path {
        ["params", name] => find_parameter(workflow, name)
            .and_then(|schema| schema.get("type"))
            .is_some_and(|kind| kind == "object" || kind == "array"),
        ["steps", _, "output"] => true,
        _ => false,
    };
    let text = excerpt(&path.join("."));
    match &used.at {
        TemplateSite::Step(_, StepPart::Argument | StepPart::Each(_) | StepPart::Undo(_)) if is_compound => {
            note(format!("ToolHive passes `.{text}` as text (`map[…]`), not as a value"));
        }
        TemplateSite::Step(_, StepPart::Collection) if path.last() != Some(&"text") => {
            note(format!("ToolHive accepts a list only as JSON: use `{{{{json .{text}}}}}`"));
        }
        TemplateSite::Output(PropertyType::Object | PropertyType::Array) if path.last() != Some(&"text") => {
            note(format!("ToolHive parses this property as JSON: use `{{{{json .{text}}}}}`"));
        }
        _ => {}
    }
}

fn find_step<'a>(workflow: &'a Workflow, id: &str) -> Option<&'a WorkflowStep> {
    workflow.steps.iter().find(|step| step.id == id)
}

fn find_parameter<'a>(workflow: &'a Workflow, name: &str) -> Option<&'a Value> {
    workflow.parameters.get("properties")?.get(name)
}

/// Returns the text of each action: between `{{` and `}}`.
fn find_actions(source: &str) -> impl Iterator<Item = &str> {
    source.split("{{").skip(1).filter_map(|rest| Some(trim_markers(rest.split_once("}}")?.0)))
}

/// Returns the only action of a template that consists of one action.
fn sole_action(source: &str) -> Option<&str> {
    let inside = source.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    (!inside.contains("{{")).then(|| trim_markers(inside))
}

/// Removes trim markers from an action.
fn trim_markers(action: &str) -> &str {
    let action = action.strip_prefix("- ").unwrap_or(action);
    action.strip_suffix(" -").unwrap_or(action).trim()
}

/// Parses an action that is a plain path: `.params.name`.
fn parse_path(action: &str) -> Option<Vec<&str>> {
    let path = action.strip_prefix('.')?;
    let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    let parts: Vec<&str> = path.split('.').collect();
    parts.iter().all(|part| is_name(part)).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_and_paths_are_found_in_a_text() {
        let found = |source: &'static str| find_actions(source).collect::<Vec<_>>();
        assert_eq!(found("a {{ .x }} b {{- .y -}} {{if .z}}"), [".x", ".y", "if .z"]);
        assert_eq!(found("a {{ .x"), [""; 0]);
        assert_eq!(sole_action("{{ .x }}"), Some(".x"));
        assert_eq!(sole_action("a {{ .x }}"), None);
        assert_eq!(sole_action("{{ .x }}{{ .y }}"), None);
        assert_eq!(parse_path(".a.b_c"), Some(vec!["a", "b_c"]));
        for other in ["a", ".", ".a b", "json .a", ".a.", "(.a)"] {
            assert_eq!(parse_path(other), None, "{other}");
        }
    }
}
