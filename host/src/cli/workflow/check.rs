//! `loggia workflow check`.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use anyhow::ensure;
use loggia_gate::catalog::Snapshot;
use loggia_text::printable;
use loggia_workflow::{FileProblem, bind};
use serde_json::{Value, json};

use super::files::{self, Checked};
use crate::{
    cli::{common::Common, exit, loaded, term},
    load::stem,
    telemetry::{logs, logs::Level},
};

/// Say all that is wrong with workflow files, and what ToolHive would make of them.
///
/// Every problem is told at once, with its line. Notes say what works here and never worked in ToolHive; neither they nor
/// warnings keep a file from being served.
///
/// With --plugins what the steps call is looked for among the plugins of a folder: facades and actions that are not there,
/// arguments that are missing or unknown. Without it, stderr says that this was not checked.
///
/// Ends with 0 if every file can be served, with 10 if one has problems, and with 11 if there is no such file.
#[derive(clap::Args)]
pub struct Check {
    /// Workflow files, or folders of them
    #[arg(value_name = "FILE|DIR", required = true)]
    files: Vec<PathBuf>,
    /// The folder of plugins that the steps call
    #[arg(long, value_name = "DIR")]
    plugins: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

/// How bad something is.
#[derive(Clone, Copy)]
enum Weight {
    Problem,
    Warning,
    Note,
}

impl Check {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let files = files::meant(&self.files)?;
        if files.is_empty() {
            term::note(&format!(
                "no workflows: there is no .workflow.yaml file in {}",
                self.files[0].display()
            ));
            return Ok(ExitCode::from(exit::NOTHING));
        }
        if let Some(missing) = files.iter().find(|file| !file.exists()) {
            term::note(&format!("there is no {}", missing.display()));
            return Ok(ExitCode::from(exit::NOTHING));
        }
        let mut checked = files::check(&files)?;
        if let Some(folder) = &self.plugins {
            ensure!(folder.is_dir(), "there is no folder {}", folder.display());
            logs::start_plain(Level::Error);
            let plugins = loaded::load(folder, &self.common.options()?)?;
            let beside = Snapshot::of(loaded::slots(&plugins));
            checked.iter_mut().for_each(|checked| beside_others(checked, &beside));
        }
        if self.json {
            let files: Vec<Value> = checked.iter().map(as_json).collect();
            term::out(&serde_json::to_string_pretty(&files)?);
        } else {
            let colours = term::stdout_is_terminal() && std::env::var_os("NO_COLOR").is_none();
            let texts: Vec<String> = checked.iter().map(|checked| text(checked, colours)).collect();
            term::out(&texts.join("\n"));
        }
        // The files look fine although a tool's name may be misspelt.
        if self.plugins.is_none() {
            term::note(
                "the facades that the steps call were not checked: name their folder with --plugins DIR",
            );
        }
        let refused = checked.iter().filter(|checked| !checked.problems.is_empty()).count();
        if refused > 0 {
            term::note(&format!("{refused} of {} cannot be served", checked.len()));
            return Ok(ExitCode::from(exit::REFUSED));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Adds what keeps a file's workflows from running beside these facades.
fn beside_others(checked: &mut Checked, beside: &Snapshot) {
    let workflows = checked.sound.iter().flat_map(|definition| &definition.workflows);
    let own = own_name(checked);
    let peers = |facade: &str, action: &str| beside.sought(&own, facade, action);
    let problems = workflows.filter_map(|workflow| bind(&Arc::new(workflow.clone()), &peers).err());
    let problems: Vec<FileProblem> = problems.flatten().collect();
    checked.problems.extend(problems);
    checked.problems.sort_by_key(|problem| problem.line);
}

/// The name under which a file is served, where its policy says no other.
fn own_name(checked: &Checked) -> String {
    let file = checked.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let named = checked.sound.as_ref().and_then(|definition| definition.facade.clone());
    named.unwrap_or_else(|| stem(&file).to_owned())
}

fn warnings(checked: &Checked) -> &[FileProblem] {
    checked.definition.as_ref().map(|definition| definition.warnings.as_slice()).unwrap_or_default()
}

fn names(checked: &Checked) -> Vec<&str> {
    let workflows = checked.definition.iter().flat_map(|definition| &definition.workflows);
    workflows.map(|workflow| workflow.name.as_str()).collect()
}

/// A file for a program.
fn as_json(checked: &Checked) -> Value {
    json!({
        "file": checked.file.display().to_string(),
        "ok": checked.problems.is_empty(),
        "workflows": names(checked),
        "problems": checked.problems,
        "warnings": warnings(checked),
        "toolhive": checked.notes,
    })
}

/// A file for a person, and for a program that reads lines: `file:line: message`.
fn text(checked: &Checked, colours: bool) -> String {
    let all = [
        (Weight::Problem, checked.problems.as_slice()),
        (Weight::Warning, warnings(checked)),
        (Weight::Note, &checked.notes),
    ];
    let file = checked.file.display().to_string();
    let told = all.iter().flat_map(|(weight, problems)| problems.iter().map(|problem| (*weight, problem)));
    let mut lines: Vec<String> =
        told.map(|(weight, problem)| line(&file, weight, problem, colours)).collect();
    if checked.problems.is_empty() {
        let names = names(checked);
        let count =
            if names.len() == 1 { "1 workflow".to_owned() } else { format!("{} workflows", names.len()) };
        let said = format!("{}: {count}: {}", printable(&file), printable(&names.join(", ")));
        lines.push(if colours { format!("\x1b[32m{said}\x1b[0m") } else { said });
    }
    lines.join("\n")
}

fn line(file: &str, weight: Weight, problem: &FileProblem, colours: bool) -> String {
    let (word, colour) = match weight {
        Weight::Problem => ("", "1;31"),
        Weight::Warning => ("warning: ", "33"),
        Weight::Note => ("note: ", "36"),
    };
    let place = if problem.line > 0 { format!("{file}:{}", problem.line) } else { file.to_owned() };
    let at = problem.place().map(|place| format!("at {place}"));
    let beside: Vec<String> = at.into_iter().chain(problem.hint.clone()).collect();
    let hint = if beside.is_empty() { String::new() } else { format!(" ({})", beside.join("; ")) };
    let (place, said) = (printable(&place), printable(&problem.message));
    let hint = printable(&hint);
    if colours {
        format!("\x1b[1m{place}:\x1b[0m \x1b[{colour}m{word}{said}\x1b[0m\x1b[2m{hint}\x1b[0m")
    } else {
        format!("{place}: {word}{said}{hint}")
    }
}
