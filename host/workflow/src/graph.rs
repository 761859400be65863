//! A workflow as a picture, in Mermaid's words.

use std::{collections::HashSet, fmt::Write as _};

use crate::{
    Workflow,
    definition::{Ask, Kind, OnError, Otherwise, Step},
};

/// Characters of a text that a picture has room for.
const SHOWN: usize = 80;

/// A flowchart: what follows what, under which condition, and what follows a failure.
///
/// Names of nodes are numbers; all that comes from the file stands in quotes, with every character that could end them
/// written as a number.
pub fn mermaid(workflow: &Workflow) -> String {
    let mut chart = String::from("flowchart TD\n");
    let mut needed: HashSet<usize> = HashSet::new();
    let mut asks = false;
    line(&mut chart, format_args!("start([\"{}\"])", label(&[&workflow.name])));
    for (index, step) in workflow.steps.iter().enumerate() {
        asks |= matches!(step.kind, Kind::Ask(_));
        line(&mut chart, format_args!("s{index}{}", shape(step, workflow.continues)));
        needed.extend(&step.depends_on);
    }
    for (index, step) in workflow.steps.iter().enumerate() {
        let condition =
            step.condition.as_ref().map(|condition| label(&[&format!("if {}", condition.source())]));
        let condition = condition.map(|text| format!("|\"{text}\"|")).unwrap_or_default();
        let before = step.depends_on.iter().map(|before| format!("s{before}"));
        let first = step.depends_on.is_empty().then(|| "start".to_owned());
        for before in before.chain(first) {
            line(&mut chart, format_args!("{before} -->{condition} s{index}"));
        }
    }
    line(&mut chart, format_args!("done([\"{}\"])", label(&[&result(workflow)])));
    for index in (0..workflow.steps.len()).filter(|index| !needed.contains(index)) {
        line(&mut chart, format_args!("s{index} --> done"));
    }
    if asks {
        line(&mut chart, format_args!("classDef question stroke-dasharray:4"));
    }
    chart
}

fn line(chart: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = writeln!(chart, "    {text}");
}

/// A step's node: a call is a box, a question a hexagon, a loop a subroutine.
fn shape(step: &Step, continues: bool) -> String {
    let mut texts = vec![step.id.clone()];
    let (open, close, class) = match &step.kind {
        Kind::Tool(call) => {
            texts.push(call.tool.clone());
            ("[\"", "\"]", "")
        }
        Kind::Ask(ask) => {
            texts.push(ask.message.source().to_owned());
            texts.extend(otherwise(ask));
            ("{{\"", "\"}}", ":::question")
        }
        Kind::ForEach(each) => {
            texts.push(format!("for each {} in {}", each.item, each.collection.source()));
            texts.push(each.call.tool.clone());
            texts.extend(on_error(each.on_error, false).map(|text| format!("each {text}")));
            ("[[\"", "\"]]", "")
        }
    };
    texts.extend(on_error(step.on_error, continues));
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    format!("{open}{}{close}{class}", label(&texts))
}

fn on_error(on_error: OnError, continues: bool) -> Option<String> {
    match on_error {
        OnError::Abort if !continues => None,
        OnError::Abort | OnError::Continue => Some("on error: continue".to_owned()),
        OnError::Retry { count, .. } => Some(format!("on error: retry {count} times")),
    }
}

fn otherwise(ask: &Ask) -> impl Iterator<Item = String> {
    let said = |when: &str, otherwise: Otherwise| match otherwise {
        Otherwise::Abort => None,
        Otherwise::Continue => Some(format!("{when}: continue")),
        Otherwise::SkipRemaining => Some(format!("{when}: skip the rest")),
    };
    [said("on decline", ask.on_decline), said("on cancel", ask.on_cancel)].into_iter().flatten()
}

/// What the workflow gives.
fn result(workflow: &Workflow) -> String {
    match &workflow.output {
        Some(output) => {
            output.properties.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
        }
        None => "the last output".to_owned(),
    }
}

/// Texts below each other.
fn label(texts: &[&str]) -> String {
    texts.iter().map(|text| escaped(text)).collect::<Vec<_>>().join("<br/>")
}

/// A text in which nothing means anything to Mermaid, nor to the page that shows it.
fn escaped(text: &str) -> String {
    let text = text.trim();
    let mut out = String::new();
    for c in text.chars().take(SHOWN) {
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
    if text.chars().nth(SHOWN).is_some() {
        out.push('…');
    }
    out
}
