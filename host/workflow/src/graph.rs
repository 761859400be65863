//! Rendering of workflows as Mermaid flowcharts.

use std::{collections::HashSet, fmt::Write as _};

use crate::{
    Workflow,
    definition::{OnError, QuestionStep, RefusalAction, StepKind, WorkflowStep},
};

/// Maximum length of a text in a chart, in characters.
const MAX_SHOWN: usize = 80;

/// Renders a flowchart of steps, dependencies, conditions and failure policies.
///
/// Node names are numbers. Text from the file is quoted, and every character that could end the quotes is escaped.
pub fn render_mermaid(workflow: &Workflow) -> String {
    let mut chart = String::from("flowchart TD\n");
    let mut needed: HashSet<usize> = HashSet::new();
    let mut asks = false;
    push_line(&mut chart, format_args!("start([\"{}\"])", join_labels(&[&workflow.name])));
    for (index, step) in workflow.steps.iter().enumerate() {
        asks |= matches!(step.kind, StepKind::Ask(_));
        push_line(&mut chart, format_args!("s{index}{}", render_node(step, workflow.continues)));
        needed.extend(&step.depends_on);
    }
    for (index, step) in workflow.steps.iter().enumerate() {
        let condition =
            step.condition.as_ref().map(|condition| join_labels(&[&format!("if {}", condition.source())]));
        let condition = condition.map(|text| format!("|\"{text}\"|")).unwrap_or_default();
        let before = step.depends_on.iter().map(|before| format!("s{before}"));
        let first = step.depends_on.is_empty().then(|| "start".to_owned());
        for before in before.chain(first) {
            push_line(&mut chart, format_args!("{before} -->{condition} s{index}"));
        }
    }
    push_line(&mut chart, format_args!("done([\"{}\"])", join_labels(&[&result_label(workflow)])));
    for index in (0..workflow.steps.len()).filter(|index| !needed.contains(index)) {
        push_line(&mut chart, format_args!("s{index} --> done"));
    }
    if asks {
        push_line(&mut chart, format_args!("classDef question stroke-dasharray:4"));
    }
    chart
}

fn push_line(chart: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = writeln!(chart, "    {text}");
}

/// Renders a step's node: a box for a call, a hexagon for a question, a subroutine for a loop.
fn render_node(step: &WorkflowStep, continues: bool) -> String {
    let mut texts = vec![step.id.clone()];
    let (open, close, class) = match &step.kind {
        StepKind::Tool(call) => {
            texts.push(call.tool.clone());
            ("[\"", "\"]", "")
        }
        StepKind::Ask(ask) => {
            texts.push(ask.message.source().to_owned());
            texts.extend(refusal_labels(ask));
            ("{{\"", "\"}}", ":::question")
        }
        StepKind::ForEach(each) => {
            texts.push(format!("for each {} in {}", each.item, each.collection.source()));
            texts.push(each.call.tool.clone());
            texts.extend(failure_label(&each.on_error, false).map(|text| format!("each {text}")));
            ("[[\"", "\"]]", "")
        }
    };
    texts.extend(failure_label(&step.on_error, continues));
    texts.extend(step.undo.as_ref().map(|undo| match undo.compensation() {
        Some(undo) => format!("undone by {}", undo.call.tool),
        None => "irreversible".to_owned(),
    }));
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    format!("{open}{}{close}{class}", join_labels(&texts))
}

fn failure_label(on_error: &OnError, continues: bool) -> Option<String> {
    match on_error {
        OnError::Abort if !continues => None,
        OnError::Abort | OnError::Continue => Some("on error: continue".to_owned()),
        OnError::Retry { count, then_continues, .. } => {
            let then = if *then_continues || continues { ", then continue" } else { "" };
            Some(format!("on error: retry {count} times{then}"))
        }
    }
}

fn refusal_labels(ask: &QuestionStep) -> impl Iterator<Item = String> {
    let refusal = |when: &str, otherwise: RefusalAction| match otherwise {
        RefusalAction::Abort => None,
        RefusalAction::Continue => Some(format!("{when}: continue")),
        RefusalAction::SkipRemaining => Some(format!("{when}: skip the rest")),
    };
    [refusal("on decline", ask.on_decline), refusal("on cancel", ask.on_cancel)].into_iter().flatten()
}

/// Describes the result of the workflow.
fn result_label(workflow: &Workflow) -> String {
    match &workflow.output {
        Some(output) => {
            output.properties.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
        }
        None => "the last output".to_owned(),
    }
}

/// Joins texts as lines of one label.
fn join_labels(texts: &[&str]) -> String {
    texts.iter().map(|text| escape(text)).collect::<Vec<_>>().join("<br/>")
}

/// Escapes a text so that nothing in it has a meaning in Mermaid or HTML.
fn escape(text: &str) -> String {
    let text = text.trim();
    let mut out = String::new();
    for c in text.chars().take(MAX_SHOWN) {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' | '.' | ',' | '_' | '-' | '/' | ':' | '?' | '!' => {
                out.push(c)
            }
            c if c.is_control() || c.is_whitespace() => out.push(' '),
            c if c.is_alphanumeric() => out.push(c),
            c => {
                let _ = write!(out, "#{};", u32::from(c));
            }
        }
    }
    if text.chars().nth(MAX_SHOWN).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::parse_file;

    fn draw(text: &str) -> String {
        let definition = parse_file(text).unwrap_or_else(|problems| panic!("{problems}"));
        render_mermaid(&definition.workflows[0])
    }

    #[test]
    fn steps_are_drawn_with_dependencies_and_failure_policies() {
        insta::assert_snapshot!(draw(
            r"name: deploy
description: Deploys.
parameters: {type: object, properties: {env: {type: string}, fast: {type: boolean}}}
steps:
- {id: get, tool: github.get, onError: {action: retry, retryCount: 3}}
- id: ask
  type: elicitation
  message: Deploy to {{.params.env}}?
  schema: {type: object}
  onDecline: {action: skip_remaining}
  onCancel: {action: continue}
  dependsOn: [get]
- {id: fast, tool: ci.fast, condition: '{{.params.fast}}', dependsOn: [get, ask], onError: {action: continue}}
- id: each
  type: forEach
  dependsOn: [ask]
  collection: '{{.steps.get.output.files}}'
  step: {tool: ci.file, onError: {action: retry, retryCount: 2}}
- {id: alone, tool: log.add}
output: {properties: {sha: {type: string, description: d, value: '1'}, url: {type: string, description: d, value: '2'}}}
"
        ));
    }

    #[test]
    fn no_text_breaks_out_of_its_quotes() {
        let chart = draw(
            "name: a\ndescription: d\nstrict: false\nsteps:\n- id: \"x\\\"] --> y[\\\"\\nclick s0 href \\\"javascript:alert(1)\\\"\"\n  \
             type: elicitation\n  message: \"`<script>\\\"}} %% #quot; end; <br> \u{2028}ü\"\n  schema: {type: object}\n",
        );
        for (number, line) in chart.lines().enumerate().skip(1) {
            assert_eq!(line.matches('"').count() % 2, 0, "{line}");
            let quoted: String = line.split('"').skip(1).step_by(2).collect();
            let plain = quoted.replace("<br/>", "");
            assert!(
                !plain.contains(['<', '>', '[', ']', '{', '}', '(', ')', '`', '%', '|', '&']),
                "{number}: {line}"
            );
        }
        assert_eq!(chart.lines().count(), 7, "{chart}");
        assert_eq!(escape(&"ab\n".repeat(60)).chars().count(), MAX_SHOWN + 1);
        assert_eq!(escape("a\"b#c"), "a#34;b#35;c");
    }
}
