//! `loggia workflow check`.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use anyhow::ensure;
use loggia_gate::catalog::CatalogSnapshot;
use loggia_load::file_stem;
use loggia_policy::settings::Level;
use loggia_telemetry::logs;
use loggia_text::printable;
use loggia_workbench::loaded;
use loggia_workflow::{FileProblem, bind};
use serde_json::{Value, json};

use super::files::{self, CheckedFile};
use crate::cli::{common::LoadOptions, exit, term};

/// Report all problems of workflow files, and differences from ToolHive.
///
/// Reports each problem with its line. Notes name what works here but not in ToolHive; neither notes nor warnings
/// prevent serving.
///
/// With --plugins, checks the calls of the steps against the plugins of a folder: unknown facades and actions, missing
/// and unknown arguments. Without it, a note on stderr says that calls were not checked.
///
/// Exits with 0 if every file can be served, with 10 if one has problems, and with 11 if there is no such file.
#[derive(clap::Args)]
pub struct WorkflowCheckCommand {
    /// Workflow files, or folders of them
    #[arg(value_name = "FILE|DIR", required = true)]
    files: Vec<PathBuf>,
    /// Plugin folder against which to check the calls of the steps
    #[arg(long, value_name = "DIR")]
    plugins: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: LoadOptions,
}

/// Severity of a finding.
#[derive(Clone, Copy)]
enum LineKind {
    Problem,
    Warning,
    Note,
}

impl WorkflowCheckCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let files = files::expand_paths(&self.files)?;
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
        let mut checked = files::check_files(&files)?;
        if let Some(folder) = &self.plugins {
            ensure!(folder.is_dir(), "there is no folder {}", folder.display());
            logs::start_plain(Level::Error);
            let plugins = loaded::load_path(folder, &self.common.host_options()?)?;
            let beside = CatalogSnapshot::from_slots(loaded::catalog_slots(&plugins));
            checked.iter_mut().for_each(|checked| check_calls(checked, &beside));
        }
        if self.json {
            let files: Vec<Value> = checked.iter().map(to_json).collect();
            term::print(&serde_json::to_string_pretty(&files)?);
        } else {
            let colours = term::stdout_is_terminal() && std::env::var_os("NO_COLOR").is_none();
            let texts: Vec<String> = checked.iter().map(|checked| render_file(checked, colours)).collect();
            term::print(&texts.join("\n"));
        }
        // Without plugins, a misspelt tool name is not detected.
        if self.plugins.is_none() {
            term::note("calls of other facades were not checked; pass their folder with --plugins DIR");
        }
        let refused = checked.iter().filter(|checked| !checked.problems.is_empty()).count();
        if refused > 0 {
            term::note(&format!("{refused} of {} cannot be served", checked.len()));
            return Ok(ExitCode::from(exit::REFUSED));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Adds problems of the steps' calls, given these facades.
fn check_calls(checked: &mut CheckedFile, beside: &CatalogSnapshot) {
    let workflows = checked.sound.iter().flat_map(|definition| &definition.workflows);
    let own = facade_name(checked);
    let peers = |facade: &str, action: &str| beside.lookup_for_workflow(&own, facade, action);
    let problems = workflows.filter_map(|workflow| bind(&Arc::new(workflow.clone()), &peers).err());
    let problems: Vec<FileProblem> = problems.flatten().collect();
    checked.problems.extend(problems);
    checked.problems.sort_by_key(|problem| problem.line);
}

/// Name under which the file is served by default.
fn facade_name(checked: &CheckedFile) -> String {
    let file = checked.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let named = checked.sound.as_ref().and_then(|definition| definition.facade.clone());
    named.unwrap_or_else(|| file_stem(&file).to_owned())
}

fn warnings(checked: &CheckedFile) -> &[FileProblem] {
    checked.definition.as_ref().map(|definition| definition.warnings.as_slice()).unwrap_or_default()
}

fn workflow_names(checked: &CheckedFile) -> Vec<&str> {
    let workflows = checked.definition.iter().flat_map(|definition| &definition.workflows);
    workflows.map(|workflow| workflow.name.as_str()).collect()
}

/// Renders a file as JSON.
fn to_json(checked: &CheckedFile) -> Value {
    json!({
        "file": checked.file.display().to_string(),
        "ok": checked.problems.is_empty(),
        "workflows": workflow_names(checked),
        "problems": checked.problems,
        "warnings": warnings(checked),
        "toolhive": checked.notes,
    })
}

/// Renders a file as lines of `file:line: message`.
fn render_file(checked: &CheckedFile, colours: bool) -> String {
    let all = [
        (LineKind::Problem, checked.problems.as_slice()),
        (LineKind::Warning, warnings(checked)),
        (LineKind::Note, &checked.notes),
    ];
    let file = checked.file.display().to_string();
    let problems =
        all.iter().flat_map(|(weight, problems)| problems.iter().map(|problem| (*weight, problem)));
    let mut lines: Vec<String> =
        problems.map(|(weight, problem)| render_line(&file, weight, problem, colours)).collect();
    if checked.problems.is_empty() {
        let names = workflow_names(checked);
        let count =
            if names.len() == 1 { "1 workflow".to_owned() } else { format!("{} workflows", names.len()) };
        let message = format!("{}: {count}: {}", printable(&file), printable(&names.join(", ")));
        lines.push(if colours { format!("\x1b[32m{message}\x1b[0m") } else { message });
    }
    lines.join("\n")
}

fn render_line(file: &str, weight: LineKind, problem: &FileProblem, colours: bool) -> String {
    let (word, colour) = match weight {
        LineKind::Problem => ("", "1;31"),
        LineKind::Warning => ("warning: ", "33"),
        LineKind::Note => ("note: ", "36"),
    };
    let place = if problem.line > 0 { format!("{file}:{}", problem.line) } else { file.to_owned() };
    let at = problem.place().map(|place| format!("at {place}"));
    let beside: Vec<String> = at.into_iter().chain(problem.hint.clone()).collect();
    let hint = if beside.is_empty() { String::new() } else { format!(" ({})", beside.join("; ")) };
    let (place, message) = (printable(&place), printable(&problem.message));
    let hint = printable(&hint);
    if colours {
        format!("\x1b[1m{place}:\x1b[0m \x1b[{colour}m{word}{message}\x1b[0m\x1b[2m{hint}\x1b[0m")
    } else {
        format!("{place}: {word}{message}{hint}")
    }
}
