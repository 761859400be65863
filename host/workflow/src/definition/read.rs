//! Text becomes a [`Definition`], or all that is wrong with it.

use super::{
    Definition, Form, Workflow,
    forms::{document, duplicates},
    place::{Place, Reading, shown},
};
use crate::{Problem, Problems, yaml};

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
    let tree = yaml::parse(text).map_err(|problem| Problems(vec![problem]))?;
    let mut reading = Reading::default();
    tree.problems.into_iter().for_each(|problem| reading.problem(problem));
    let definition = document(&Place::new(&tree.root, ""), &mut reading);
    match (definition, reading.problems()) {
        (Some(mut definition), None) => {
            let by_line = |problems: &mut Vec<Problem>| problems.sort_by_key(|problem| problem.line);
            by_line(&mut reading.warnings);
            by_line(&mut reading.notes);
            definition.warnings = reading.warnings;
            Ok((definition, reading.notes))
        }
        (_, problems) => Err(problems.unwrap_or_default()),
    }
}

/// Puts the workflows that a file refers to in their place. Nothing is left of `refs`.
///
/// # Errors
///
/// References to what is not there, and names that then stand twice.
pub fn link(mut definition: Definition, others: &[Definition]) -> Result<Definition, Problems> {
    let mut reading = Reading::default();
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
        let said = format!("there is no VirtualMCPCompositeToolDefinition \"{}\"", shown(&name));
        let problem = Problem::new(line, "compositeToolRefs", said);
        let names = others.iter().filter(|other| other.form == Form::Resource);
        let names = names.filter_map(|other| other.resource.as_deref());
        let advised = reading.advise(problem, &name, names);
        let elsewhere = "put the file that defines it into the same folder";
        reading.problem(if advised.hint.is_some() { advised } else { advised.hint(elsewhere) });
    }
    duplicates(&definition.workflows, &mut reading);
    match reading.problems() {
        None => Ok(definition),
        Some(problems) => Err(problems),
    }
}
