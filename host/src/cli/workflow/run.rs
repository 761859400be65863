//! `loggia workflow run`.

use std::{
    collections::{BTreeMap, VecDeque},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context, anyhow, bail};
use loggia_facade::{Answer, Command, Envelope, Failure, Input, Object, Question, Request, code};
use loggia_gate::{
    call::Exec,
    catalog::{CatalogEntry, CatalogSlot},
    run::CallEvent,
};
use loggia_load::{AdmittedPlugin, ConfiguredSources, find_plugin};
use loggia_policy::settings::Level;
use loggia_schema::nearest;
use loggia_serve::PluginHost;
use loggia_telemetry::logs;
use loggia_text::printable;
use loggia_workbench::loaded;
use loggia_workflow::{Workflow, engine::DryRun};
use serde_json::Value;

use super::{form::TerminalForm, plan::render_plan, steps::StepProgress};
use crate::cli::{
    call::parse_params,
    common::{LoadOptions, UsageError, io_runtime},
    exit, term,
    working_dir::terminal_origin,
};

/// Run a workflow and print its result as JSON.
///
/// The steps call the plugins of the folder, as if the file were in it. Progress goes to stderr, on a terminal as a
/// live list. You answer the workflow's questions; in a script, --answer does. With --dry-run, a terminal shows the plan as a
/// table.
///
/// Exits with 0 if the workflow succeeded, with 10 if its file cannot be used, with 11 if there is no such file or
/// workflow, and with 20 if the workflow failed.
#[derive(clap::Args)]
pub struct RunCommand {
    /// Workflow file
    file: PathBuf,
    /// Workflow, if the file has several; then its parameters: one JSON object, or key=value pairs
    #[arg(value_name = "TOOL | JSON | key=value")]
    words: Vec<String>,
    /// Plugin folder [default: that of the settings file, or plugins]
    #[arg(long, value_name = "DIR")]
    plugins: Option<PathBuf>,
    /// Answer a question with this JSON object instead of asking, or "decline" it; repeat for further questions, in
    /// their order
    #[arg(long, value_name = "JSON")]
    answer: Vec<String>,
    /// Plan the steps instead of making them; with =reads, actions that change nothing are called
    #[arg(long, value_name = "reads", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    dry_run: Option<DryRunOption>,
    #[command(flatten)]
    common: LoadOptions,
}

/// Kinds of dry runs.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum DryRunOption {
    /// Nothing is called.
    All,
    /// Actions that change nothing are called.
    Reads,
}

impl DryRunOption {
    fn to_run(self) -> DryRun {
        match self {
            Self::All => DryRun::All,
            Self::Reads => DryRun::Reads,
        }
    }
}

impl RunCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Error);
        let folder = self.common.plugin_folder(self.plugins.clone())?;
        if !self.file.is_file() {
            term::note(&format!("there is no file {}", self.file.display()));
            return Ok(ExitCode::from(exit::NOTHING));
        }
        let answers = self.answer.iter().map(|text| parse_answer(text)).collect::<anyhow::Result<_>>()?;
        let host = PluginHost::new(&self.common.host_options()?)?;
        let runtime = io_runtime()?;
        let prepared = runtime.block_on(self.prepare(&host, &folder))?;
        let PreparedRun { progress, request, sources } = match prepared {
            Ok(prepared) => prepared,
            Err(RunRefusal { exit_code, message }) => {
                term::print_error(&anyhow!("{}", printable(&message)));
                return Ok(ExitCode::from(exit_code));
            }
        };
        let can_ask = TerminalForm::can_ask() || !self.answer.is_empty();
        let origin = terminal_origin().with_elicitation(can_ask).with_links(TerminalForm::can_ask());
        let exec = host.gate.start(origin, request);
        let envelope = runtime.block_on(follow(exec, answers, &progress));
        runtime.block_on(sources.stop());
        progress.close();
        runtime.shutdown_background();
        let json = envelope.into_parts().0;
        let cause = json.get("details").and_then(|details| details.pointer("/cause/code"));
        if !can_ask && progress.has_asked() && cause.is_some_and(|cause| cause == code::UNAVAILABLE) {
            term::note("questions require a terminal: answer them with --answer JSON");
        }
        let is_ok = json.get("ok") == Some(&Value::Bool(true));
        let code = if is_ok { ExitCode::SUCCESS } else { ExitCode::from(exit::CALL_FAILED) };
        let result = Value::Object(json);
        match render_plan(&result).filter(|_| term::stdout_is_terminal()) {
            Some(table) => term::print(&table),
            None => term::print_json(&result),
        }
        Ok(code)
    }

    /// Loads plugins and file and builds the request; or returns the refusal.
    async fn prepare(
        &self,
        host: &PluginHost,
        folder: &Path,
    ) -> anyhow::Result<Result<PreparedRun, RunRefusal>> {
        let refused = |message: String| Ok(Err(RunRefusal { exit_code: exit::REFUSED, message }));
        let (plugins, sources) = loaded::load_folder(host, folder).await?;
        let mut slots = loaded::catalog_slots(&plugins);
        let found =
            find_plugin(&self.file).with_context(|| format!("failed to read {}", self.file.display()))?;
        let file = self.file.display();
        let workflow_file = match host.admitter.admit(&found, None).await {
            Ok(AdmittedPlugin { workflow_file: Some(workflow_file), .. }) => workflow_file,
            Ok(_) => bail!("{file} is not a workflow file: its name must end in .workflow.yaml"),
            Err(error) => return refused(format!("{file} does not load: {error}")),
        };
        let workflow_file = match self.dry_run {
            Some(_) => Arc::new(workflow_file.with_dry_runs()),
            None => workflow_file,
        };
        let names: Vec<&str> =
            workflow_file.workflows().iter().map(|workflow| workflow.name.as_str()).collect();
        let (tool, rest) = match select_workflow(&self.words, &names) {
            Ok(words) => words,
            Err(message) => return Ok(Err(RunRefusal { exit_code: exit::NOTHING, message })),
        };
        let mut params = parse_params(rest)?;
        if let Some(dry) = self.dry_run {
            params.insert(Workflow::DRY_RUN.to_owned(), dry.to_run().to_json());
        }
        let workflow = workflow_file.workflows().iter().find(|workflow| workflow.name == tool);
        let progress =
            Arc::new(StepProgress::new(Arc::clone(workflow.context("there is no such workflow")?)));
        let watcher = Arc::clone(&progress);
        let entry = match workflow_file.watched_entry(&slots, Arc::new(move |news| watcher.update(news))) {
            Ok(entry) => entry,
            Err(error) => return refused(format!("{file} cannot be served: {error}")),
        };
        let facade = entry.surface().name.clone();
        if let Some(CatalogSlot::Serving(other)) = slots.get(&facade)
            && !is_same_file(&self.file, other)
        {
            return refused(format!(
                "{file} cannot be served: another plugin of the folder has its name, `{facade}`"
            ));
        }
        slots.insert(facade.clone(), CatalogSlot::Serving(Arc::new(entry)));
        host.gate.catalog().swap(slots);
        host.gate.catalog().mark_admitted();
        let mut arguments = Object::new();
        arguments.insert("action".into(), tool.into());
        arguments.insert("params".into(), params.into());
        let input = Input::Arguments(arguments);
        let request = Request::new(facade, input);
        Ok(Ok(PreparedRun { progress, request, sources }))
    }
}

/// A run that can start.
struct PreparedRun {
    progress: Arc<StepProgress>,
    request: Request,
    /// They run until the workflow has ended.
    sources: ConfiguredSources,
}

/// Reason for which a run cannot start.
struct RunRefusal {
    exit_code: u8,
    message: String,
}

/// Whether an entry comes from this very file.
fn is_same_file(file: &Path, entry: &CatalogEntry) -> bool {
    let digest =
        std::fs::read(file).map(|bytes| format!("sha256:{}", loggia_sandbox::ArtifactDigest::of(&bytes)));
    digest.is_ok_and(|digest| digest == entry.origin)
}

/// Selects the workflow, and the words of its parameters.
fn select_workflow<'w>(words: &'w [String], names: &[&str]) -> Result<(String, &'w [String]), String> {
    let is_name = |word: &&String| !word.contains('=') && !word.trim_start().starts_with('{');
    let (tool, rest) = match (words.first().filter(is_name), names) {
        (Some(tool), _) => (tool.as_str(), &words[1..]),
        (None, [only]) => (*only, words),
        (None, _) => {
            return Err(format!("the file has several workflows; pass one of {}", names.join(", ")));
        }
    };
    if !names.contains(&tool) {
        let near = nearest(tool, names.iter().copied());
        let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        return Err(format!(
            "there is no workflow {tool} in the file, which has: {}{near}",
            names.join(", ")
        ));
    }
    Ok((tool.to_owned(), rest))
}

/// Parses `--answer`.
fn parse_answer(text: &str) -> anyhow::Result<Answer> {
    if text == "decline" {
        return Ok(Answer::Declined);
    }
    match serde_json::from_str(text) {
        Ok(form @ Value::Object(_)) => Ok(Answer::Accepted(form)),
        _ => bail!(UsageError(format!("--answer {text}: it must be a JSON object or \"decline\""))),
    }
}

/// Follows the run to its end and answers its questions.
async fn follow(mut exec: Exec, mut answers: VecDeque<Answer>, steps: &StepProgress) -> Envelope {
    let (mut asked, mut is_cancelled) = (BTreeMap::new(), false);
    loop {
        let event = tokio::select! {
            event = exec.next() => event,
            // A saga may take long to undo what it has done.
            _ = tokio::signal::ctrl_c(), if is_cancelled => {
                let message = "stopped before the run had ended; what it has done and not undone remains";
                let failure = Failure::new(code::CANCELLED, message);
                return Envelope::new(Command { key: "action", name: None }, Err(failure));
            }
            _ = tokio::signal::ctrl_c(), if !is_cancelled => {
                steps.note("cancelled");
                exec.cancel();
                is_cancelled = true;
                continue;
            }
        };
        match event {
            CallEvent::Done(envelope) => return *envelope,
            CallEvent::Progress(_) | CallEvent::AwaitsApproval => {}
            CallEvent::Asks(asks) => {
                for (key, question) in asks {
                    if asked.insert(key.clone(), ()).is_none() {
                        let answer = match answers.pop_front() {
                            Some(answer) => answer,
                            None => ask_person(question, steps).await,
                        };
                        exec.answer(&key, answer);
                    }
                }
            }
        }
    }
}

/// Asks at the terminal; without one, cancels the form.
async fn ask_person(question: Question, steps: &StepProgress) -> Answer {
    if !TerminalForm::can_ask() {
        term::note(&printable(&format!("no answer to “{}”: pass one more --answer", question.message)));
        return Answer::Cancelled;
    }
    let form = TerminalForm::new(question);
    steps.suspend();
    let answered = tokio::select! {
        answered = tokio::task::spawn_blocking(move || form.fill()) => answered.unwrap_or(Answer::Cancelled),
        _ = tokio::signal::ctrl_c() => {
            term::note("");
            Answer::Cancelled
        }
    };
    steps.resume();
    answered
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_only_workflow_need_not_be_named() {
        let check = |given: &[&str], names: &[&str], expected: Result<(&str, Value), &str>| {
            let given: Vec<String> = given.iter().map(|&word| word.to_owned()).collect();
            let got = select_workflow(&given, names);
            let got =
                got.map(|(tool, rest)| (tool, parse_params(rest).map(Value::Object).unwrap_or_default()));
            let expected = expected.map(|(tool, params)| (tool.to_owned(), params)).map_err(str::to_owned);
            assert_eq!(got, expected, "{given:?}");
        };
        check(&["a=1"], &["deploy"], Ok(("deploy", json!({"a": "1"}))));
        check(&["deploy", "a=1"], &["deploy", "undo"], Ok(("deploy", json!({"a": "1"}))));
        check(&[r#"{"a": 1}"#], &["deploy"], Ok(("deploy", json!({"a": 1}))));
        let several = "the file has several workflows; pass one of deploy, undo";
        check(&["a=1"], &["deploy", "undo"], Err(several));
        let near = "there is no workflow deplay in the file, which has: deploy, undo; did you mean deploy?";
        check(&["deplay"], &["deploy", "undo"], Err(near));
    }

    #[test]
    fn an_answer_is_a_form_or_a_refusal() {
        assert_eq!(parse_answer("decline").unwrap(), Answer::Declined);
        assert_eq!(
            parse_answer(r#"{"approved": true}"#).unwrap(),
            Answer::Accepted(json!({"approved": true}))
        );
        for bad in ["yes", "[1]", "{"] {
            assert!(parse_answer(bad).unwrap_err().to_string().contains("must be a JSON object"), "{bad}");
        }
    }
}
