//! Entry points: text to a [`WorkflowFile`] or to a list of problems.

use super::{
    model::{FileForm, Workflow, WorkflowFile},
    parse::{parse_document, report_duplicates},
    place::NodePlace,
    report::ParseReport,
};
use crate::{
    FileProblem, FileProblems,
    yaml::{self, excerpt},
};

/// Parses and checks a file.
///
/// # Errors
///
/// All problems, ordered by line.
pub fn parse_file(text: &str) -> Result<WorkflowFile, FileProblems> {
    parse_file_with_notes(text).map(|(definition, _)| definition)
}

/// Parses and checks a file. Also returns notes on constructs that work here but never worked in ToolHive.
///
/// # Errors
///
/// All problems, ordered by line.
pub fn parse_file_with_notes(text: &str) -> Result<(WorkflowFile, Vec<FileProblem>), FileProblems> {
    match examine(text) {
        FileExamination { definition: Some(definition), problems, notes } if problems.0.is_empty() => {
            Ok((definition, notes))
        }
        examined => Err(examined.problems),
    }
}

/// Findings about a file.
#[derive(Debug, Default)]
pub struct FileExamination {
    /// Parsed file. If there are problems, it holds only the workflows without any, so that their calls can still be
    /// checked.
    pub definition: Option<WorkflowFile>,
    /// All problems, ordered by line.
    pub problems: FileProblems,
    /// Constructs that work here but never worked in ToolHive.
    pub notes: Vec<FileProblem>,
}

/// Parses and checks a file as far as possible.
pub fn examine(text: &str) -> FileExamination {
    let tree = match yaml::parse(text) {
        Ok(tree) => tree,
        Err(problem) => {
            return FileExamination { problems: FileProblems(vec![problem]), ..FileExamination::default() };
        }
    };
    let mut report = ParseReport::default();
    tree.problems.into_iter().for_each(|problem| report.problem(problem));
    let mut definition = parse_document(&NodePlace::new(&tree.root, ""), &mut report);
    let problems = report.problems().unwrap_or_default();
    let by_line = |problems: &mut Vec<FileProblem>| problems.sort_by_key(|problem| problem.line);
    by_line(&mut report.warnings);
    by_line(&mut report.notes);
    if let Some(definition) = &mut definition {
        definition.warnings = report.warnings;
        keep_sound(&mut definition.workflows, &problems);
    }
    FileExamination { definition, problems, notes: report.notes }
}

/// Keeps the workflows without problems in their lines. A problem without a line may belong to any workflow.
fn keep_sound(workflows: &mut Vec<Workflow>, FileProblems(problems): &FileProblems) {
    let begins: Vec<usize> = workflows.iter().map(|workflow| workflow.line).collect();
    let within = |begin: usize| {
        let end = begins.iter().copied().filter(|other| *other > begin).min().unwrap_or(usize::MAX);
        move |problem: &FileProblem| problem.line == 0 || (begin..end).contains(&problem.line)
    };
    workflows.retain(|workflow| !problems.iter().any(within(workflow.line)));
}

/// Resolves references to workflows in other files and empties `refs`.
///
/// # Errors
///
/// References without a target, and duplicate names.
pub fn link(mut definition: WorkflowFile, others: &[WorkflowFile]) -> Result<WorkflowFile, FileProblems> {
    let mut report = ParseReport::default();
    let found = |name: &str| -> Option<&Workflow> {
        let mut resources = others.iter().filter(|other| other.form == FileForm::Resource);
        resources.find(|other| other.resource.as_deref() == Some(name))?.workflows.first()
    };
    for (line, name) in std::mem::take(&mut definition.refs) {
        if let Some(workflow) = found(&name) {
            // Line of the reference in this file.
            definition.workflows.push(Workflow { line, ..workflow.clone() });
            continue;
        }
        let message = format!("there is no VirtualMCPCompositeToolDefinition \"{}\"", excerpt(&name));
        let problem = FileProblem::new(line, "compositeToolRefs", message);
        let names = others.iter().filter(|other| other.form == FileForm::Resource);
        let names = names.filter_map(|other| other.resource.as_deref());
        let advised = report.with_suggestion(problem, &name, names);
        let elsewhere = "put the file that defines it in the same folder";
        report.problem(if advised.hint.is_some() { advised } else { advised.hint(elsewhere) });
    }
    report_duplicates(&definition.workflows, &mut report);
    match report.problems() {
        None => Ok(definition),
        Some(problems) => Err(problems),
    }
}
