//! Text becomes a [`Definition`], or all that is wrong with it.

use super::{
    model::{Definition, Form, Workflow},
    parse::{document, duplicates},
    place::NodePlace,
    report::ParseReport,
};
use crate::{
    Problem, Problems,
    yaml::{self, excerpt},
};

/// Reads and checks a file.
///
/// # Errors
///
/// All that is wrong with it, in the order of the lines.
pub fn read(text: &str) -> Result<Definition, Problems> {
    with_notes(text).map(|(definition, _)| definition)
}

/// Reads and checks a file, and tells what in it works here and never worked in ToolHive.
///
/// # Errors
///
/// All that is wrong with it, in the order of the lines.
pub fn with_notes(text: &str) -> Result<(Definition, Vec<Problem>), Problems> {
    match examine(text) {
        Examined { definition: Some(definition), problems, notes } if problems.0.is_empty() => {
            Ok((definition, notes))
        }
        examined => Err(examined.problems),
    }
}

/// All that is found in a file.
#[derive(Debug, Default)]
pub struct Examined {
    /// What it defines. Where there are problems, it holds only the workflows that have none: what their steps call
    /// can be checked all the same.
    pub definition: Option<Definition>,
    /// All that is wrong with it, in the order of the lines.
    pub problems: Problems,
    /// What in it works here and never worked in ToolHive.
    pub notes: Vec<Problem>,
}

/// Reads and checks a file, as far as it can be read.
pub fn examine(text: &str) -> Examined {
    let tree = match yaml::parse(text) {
        Ok(tree) => tree,
        Err(problem) => return Examined { problems: Problems(vec![problem]), ..Examined::default() },
    };
    let mut report = ParseReport::default();
    tree.problems.into_iter().for_each(|problem| report.problem(problem));
    let mut definition = document(&NodePlace::new(&tree.root, ""), &mut report);
    let problems = report.problems().unwrap_or_default();
    let by_line = |problems: &mut Vec<Problem>| problems.sort_by_key(|problem| problem.line);
    by_line(&mut report.warnings);
    by_line(&mut report.notes);
    if let Some(definition) = &mut definition {
        definition.warnings = report.warnings;
        keep_sound(&mut definition.workflows, &problems);
    }
    Examined { definition, problems, notes: report.notes }
}

/// Keeps the workflows in whose lines no problem is. A problem without a line may be anybody's.
fn keep_sound(workflows: &mut Vec<Workflow>, Problems(problems): &Problems) {
    let begins: Vec<usize> = workflows.iter().map(|workflow| workflow.line).collect();
    let within = |begin: usize| {
        let end = begins.iter().copied().filter(|other| *other > begin).min().unwrap_or(usize::MAX);
        move |problem: &Problem| problem.line == 0 || (begin..end).contains(&problem.line)
    };
    workflows.retain(|workflow| !problems.iter().any(within(workflow.line)));
}

/// Puts the workflows that a file refers to in their place. Nothing is left of `refs`.
///
/// # Errors
///
/// References to what is not there, and names that then stand twice.
pub fn link(mut definition: Definition, others: &[Definition]) -> Result<Definition, Problems> {
    let mut report = ParseReport::default();
    let found = |name: &str| -> Option<&Workflow> {
        let mut resources = others.iter().filter(|other| other.form == Form::Resource);
        resources.find(|other| other.resource.as_deref() == Some(name))?.workflows.first()
    };
    for (line, name) in std::mem::take(&mut definition.refs) {
        if let Some(workflow) = found(&name) {
            // Where it begins in this file.
            definition.workflows.push(Workflow { line, ..workflow.clone() });
            continue;
        }
        let said = format!("there is no VirtualMCPCompositeToolDefinition \"{}\"", excerpt(&name));
        let problem = Problem::new(line, "compositeToolRefs", said);
        let names = others.iter().filter(|other| other.form == Form::Resource);
        let names = names.filter_map(|other| other.resource.as_deref());
        let advised = report.advise(problem, &name, names);
        let elsewhere = "put the file that defines it into the same folder";
        report.problem(if advised.hint.is_some() { advised } else { advised.hint(elsewhere) });
    }
    duplicates(&definition.workflows, &mut report);
    match report.problems() {
        None => Ok(definition),
        Some(problems) => Err(problems),
    }
}
