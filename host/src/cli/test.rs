//! `loggia test`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use loggia_cases::{CaseProblem, FileReport, RunTotals, case_schema};
use loggia_policy::settings::Level;
use loggia_telemetry::logs;
use loggia_workbench::case_run::{
    CaseRunner, CaseWatcher, LocatedCases, LocatedFile, RunInputs, locate_cases, render_junit, render_tap,
    render_text,
};
use serde_json::json;
use tokio::runtime::Runtime;

use super::{
    common::{LoadOptions, io_runtime},
    exit, term,
};

/// Run the cases of plugins in the sandbox.
///
/// Cases are YAML: tests/*.yaml in the folder of a plugin or its crate, and <name>.test.yaml beside a plugin. Each calls an action
/// and says what it expects. They run under the plugin's policy, with a state of their own for each file; requests are answered
/// from recordings. Crates are built first.
///
/// Exits with 0 if all cases pass, with 20 if one fails, with 10 if a file has mistakes or its plugin does not load, and with 11 if
/// there are no cases.
#[derive(clap::Args)]
pub struct TestCommand {
    /// A plugin crate, a folder of crates or plugins, a plugin, or a file of cases
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// Run only cases whose names contain this text. Earlier cases of their files run too, unreported, since they prepare the state
    #[arg(value_name = "FILTER")]
    filter: Option<String>,
    /// Write the snapshots of results and surfaces
    #[arg(long)]
    update: bool,
    /// Send requests, and write the recordings, without credentials
    #[arg(long)]
    record: bool,
    /// Run again when a file changes
    #[arg(long)]
    watch: bool,
    /// Form of the report
    #[arg(long, value_name = "FORM", default_value = "text")]
    format: ReportFormat,
    /// Print JSON, as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Print the JSON Schema of cases files, for editors
    #[arg(long)]
    schema: bool,
    /// Folder for crates that are built
    #[arg(long, value_name = "DIR", default_value = "target/loggia/test")]
    out: PathBuf,
    #[command(flatten)]
    common: LoadOptions,
}

/// Forms of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ReportFormat {
    /// For people.
    Text,
    /// The Test Anything Protocol, version 14.
    Tap,
    /// JUnit's XML.
    Junit,
    /// JSON.
    Json,
}

impl TestCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        if self.schema {
            term::print(&format!("{:#}", case_schema()));
            return Ok(ExitCode::SUCCESS);
        }
        // The guests' warnings are expected where cases provoke failures.
        // Where a plugin trapped or panicked is a warning.
        logs::start_plain(Level::Warn);
        let runtime = io_runtime()?;
        let ended = match self.watch {
            true => self.run_watched(&runtime),
            false => self.run_once(&runtime, None),
        };
        runtime.shutdown_background();
        ended
    }

    fn run_watched(&self, runtime: &Runtime) -> anyhow::Result<ExitCode> {
        let path = std::fs::canonicalize(&self.path)
            .with_context(|| format!("there is no {}", self.path.display()))?;
        let folder = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(&path) };
        let folder = if folder.ends_with("tests") { folder.parent().unwrap_or(folder) } else { folder };
        let mut watcher = CaseWatcher::watch(folder.to_owned()).context("failed to watch the files")?;
        let mut inputs = RunInputs::new(folder, &self.out);
        // A run that writes snapshots or recordings changes its own inputs.
        let is_reader = !self.update && !self.record;
        let mut may_repeat = is_reader;
        loop {
            inputs.begin();
            if let Err(error) = self.run_once(runtime, Some(&mut inputs)) {
                term::print_error(&error);
            }
            watcher.follow(&inputs.outside_files());
            watcher.forget();
            // Once for each change from outside: builds and cases may write other contents into the folder each time.
            if may_repeat && inputs.have_changed() {
                may_repeat = false;
                term::note("a file changed during the run");
                continue;
            }
            may_repeat = is_reader;
            term::note("waiting for a change; Ctrl-C ends");
            if !watcher.wait() {
                return Ok(ExitCode::from(exit::FAILED));
            }
        }
    }

    /// Runs all cases. `inputs` learns what they were given.
    fn run_once(&self, runtime: &Runtime, mut inputs: Option<&mut RunInputs>) -> anyhow::Result<ExitCode> {
        let runner = CaseRunner {
            options: self.common.host_options()?.with_lines().isolated(),
            record: self.record,
            update: self.update,
            filter: self.filter.clone(),
        };
        let mut located = locate_cases(&self.path)?;
        located.files.retain(|file| match &file.content {
            Ok((cases, _)) => runner.selects(cases),
            Err(_) => true,
        });
        if located.files.is_empty() {
            let path = self.path.display();
            term::note(&match &self.filter {
                Some(filter) => format!("there is no case in {path} whose name contains `{filter}`"),
                None => format!("there are no cases in {path}: write tests/NAME.yaml, or NAME.test.yaml"),
            });
            return Ok(ExitCode::from(exit::NOTHING));
        }
        if let Some(inputs) = &mut inputs {
            inputs.read(located.sources().cloned().collect());
        }
        let plugins = located.build_plugins(&self.out.join("plugins"))?;
        if let Some(inputs) = inputs {
            inputs.record_outside(plugins.outside);
        }
        let reports = run_files(runtime, &runner, &located, &plugins.files)?;
        let totals = RunTotals::of(&reports);
        self.print(&reports, totals);
        Ok(match totals {
            RunTotals { refused: 1.., .. } => ExitCode::from(exit::REFUSED),
            RunTotals { failed: 1.., .. } => ExitCode::from(exit::CALL_FAILED),
            _ => ExitCode::SUCCESS,
        })
    }

    fn print(&self, reports: &[FileReport], totals: RunTotals) {
        let format = if self.json { ReportFormat::Json } else { self.format };
        match format {
            ReportFormat::Text => term::print(&render_text(reports, term::stdout_has_colours())),
            ReportFormat::Tap => term::print(&render_tap(reports)),
            ReportFormat::Junit => term::print(&render_junit(reports)),
            ReportFormat::Json => {
                term::print_json(&json!({
                    "files": reports,
                    "passed": totals.passed,
                    "failed": totals.failed,
                    "refused": totals.refused,
                }));
            }
        }
    }
}

/// Runs the cases of all files with the plugins that were built.
fn run_files(
    runtime: &Runtime,
    runner: &CaseRunner,
    located: &LocatedCases,
    plugins: &BTreeMap<String, PathBuf>,
) -> anyhow::Result<Vec<FileReport>> {
    let run = |LocatedFile { path, content }: &LocatedFile| -> anyhow::Result<FileReport> {
        let shown = display_path(path);
        let (file, plugin) = match content {
            Ok((file, plugin)) => (file, plugin),
            Err(problems) => return Ok(FileReport::refused(shown, problems.clone())),
        };
        let report = match find_built(plugins, file.with.iter().chain([plugin])) {
            Ok(mut paths) => {
                let plugin = paths.pop().context("a file has a plugin")?;
                runner.run_file(runtime, path, file, &plugin, &paths)?
            }
            Err(problem) => FileReport::refused(shown.clone(), vec![problem]),
        };
        Ok(FileReport { file: shown, ..report })
    };
    located.files.iter().map(run).collect()
}

/// Finds the files of plugins, in their order.
fn find_built<'a>(
    plugins: &BTreeMap<String, PathBuf>,
    names: impl Iterator<Item = &'a String>,
) -> Result<Vec<PathBuf>, CaseProblem> {
    let paths = names.map(|name| {
        let missing = || CaseProblem::nowhere(format!("`{name}` does not compile"));
        plugins.get(name).cloned().ok_or_else(missing)
    });
    paths.collect()
}

/// Shows a path from the working directory, if it is below.
fn display_path(path: &Path) -> String {
    let current = std::env::current_dir().and_then(std::fs::canonicalize).unwrap_or_default();
    path.strip_prefix(current).unwrap_or(path).display().to_string()
}
