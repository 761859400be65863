//! `loggia workflow run`.

use std::{
    collections::{BTreeMap, VecDeque},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context, anyhow, bail, ensure};
use loggia_facade::{Answer, Input, Object, Question, Request, code};
use loggia_gate::{
    access::Origin,
    call::Exec,
    catalog::{Entry, Slot},
    run::Event,
};
use loggia_schema::nearest;
use loggia_text::printable;
use serde_json::Value;

use super::{form::Form, steps::Steps};
use crate::{
    cli::{
        call::parameters,
        common::{Common, UsageError, runtime},
        exit, loaded, term,
    },
    load::{Admitted, found_at},
    serve::PluginHost,
    telemetry::{logs, logs::Level},
};

/// Run a workflow and print its result as JSON.
///
/// The steps call the plugins of the folder, as they would if the file lay there. What each step does is told on stderr, on a
/// terminal as a list that is kept up to date. Questions are put to you; in a script --answer answers them.
///
/// Ends with 0 if the workflow worked, with 10 if its file cannot be used, with 11 if there is no such file or workflow, and
/// with 20 if it was run and failed.
#[derive(clap::Args)]
pub struct Run {
    /// The file of workflows
    file: PathBuf,
    /// The workflow, if the file holds several; then its parameters: one JSON object, or key=value pairs
    #[arg(value_name = "TOOL | JSON | key=value")]
    words: Vec<String>,
    /// The folder of plugins
    #[arg(long, value_name = "DIR", default_value = "plugins")]
    plugins: PathBuf,
    /// Answer a question with this form, instead of asking; the first answers the first question, and so on. "decline" says
    /// no
    #[arg(long, value_name = "JSON")]
    answer: Vec<String>,
    #[command(flatten)]
    common: Common,
}

impl Run {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Error);
        ensure!(
            self.plugins.is_dir(),
            "there is no folder {}: name the one that holds the plugins with --plugins DIR",
            self.plugins.display()
        );
        if !self.file.is_file() {
            term::note(&format!("there is no file {}", self.file.display()));
            return Ok(ExitCode::from(exit::NOTHING));
        }
        let answers = self.answer.iter().map(|text| answer(text)).collect::<anyhow::Result<_>>()?;
        let host = PluginHost::new(&self.common.options()?)?;
        let runtime = runtime()?;
        let prepared = runtime.block_on(self.prepare(&host))?;
        let (steps, request) = match prepared {
            Ok(prepared) => prepared,
            Err((code, why)) => {
                term::error(&anyhow!("{}", printable(&why)));
                return Ok(ExitCode::from(code));
            }
        };
        let can_ask = Form::can_be_shown() || !self.answer.is_empty();
        let exec = host.gate.start(Origin::local().asking(can_ask), request);
        let envelope = runtime.block_on(follow(exec, answers, &steps));
        steps.end();
        runtime.shutdown_background();
        let json = envelope.into_parts().0;
        let cause = json.get("details").and_then(|details| details.pointer("/cause/code"));
        if !can_ask && steps.have_asked() && cause.is_some_and(|cause| cause == code::UNAVAILABLE) {
            term::note("nobody can be asked here: answer the workflow's questions with --answer JSON");
        }
        let is_ok = json.get("ok") == Some(&Value::Bool(true));
        let code = if is_ok { ExitCode::SUCCESS } else { ExitCode::from(exit::CALL_FAILED) };
        term::json(&Value::Object(json));
        Ok(code)
    }

    /// Loads the plugins and the file, and makes the request; or why that cannot be, with its exit code.
    async fn prepare(
        &self,
        host: &PluginHost,
    ) -> anyhow::Result<Result<(Arc<Steps>, Request), (u8, String)>> {
        let refused = |why: String| Ok(Err((exit::REFUSED, why)));
        let plugins = loaded::of_folder(host, &self.plugins).await?;
        let mut slots = loaded::slots(&plugins);
        let found =
            found_at(&self.file).with_context(|| format!("failed to read {}", self.file.display()))?;
        let file = self.file.display();
        let composed = match host.loader.admit(&found, None).await {
            Ok(Admitted { composed: Some(composed), .. }) => composed,
            Ok(_) => bail!("{file} is no file of workflows: its name must end in .workflow.yaml"),
            Err(error) => return refused(format!("{file} does not load: {error}")),
        };
        let names: Vec<&str> = composed.workflows().iter().map(|workflow| workflow.name.as_str()).collect();
        let (tool, rest) = match words(&self.words, &names) {
            Ok(words) => words,
            Err(why) => return Ok(Err((exit::NOTHING, why))),
        };
        let params = parameters(rest)?;
        let workflow = composed.workflows().iter().find(|workflow| workflow.name == tool);
        let steps = Arc::new(Steps::new(Arc::clone(workflow.context("there is no such workflow")?)));
        let watcher = Arc::clone(&steps);
        let watched = composed.watched(&slots, Arc::new(move |news| watcher.tell(news)));
        let entry = match watched {
            Ok(entry) => entry,
            Err(error) => return refused(format!("{file} cannot be served: {error}")),
        };
        let facade = entry.surface().name.clone();
        if let Some(Slot::Serving(other)) = slots.get(&facade)
            && !is_of(&self.file, other)
        {
            return refused(format!(
                "{file} cannot be served: a plugin of the folder has its name, `{facade}`"
            ));
        }
        slots.insert(facade.clone(), Slot::Serving(Arc::new(entry)));
        host.gate.catalog().swap(slots);
        host.gate.catalog().admit();
        let mut arguments = Object::new();
        arguments.insert("action".into(), tool.into());
        arguments.insert("params".into(), params.into());
        let input = Input::Arguments(arguments);
        Ok(Ok((steps, Request { facade, input, timeout: None, idempotency_key: None })))
    }
}

/// Whether an entry comes from the very file that is to be run.
fn is_of(file: &Path, entry: &Entry) -> bool {
    let digest = std::fs::read(file).map(|bytes| format!("sha256:{}", loggia_sandbox::ArtifactDigest::of(&bytes)));
    digest.is_ok_and(|digest| digest == entry.origin)
}

/// Which workflow is meant, and the words of its parameters.
fn words<'w>(words: &'w [String], names: &[&str]) -> Result<(String, &'w [String]), String> {
    let is_name = |word: &&String| !word.contains('=') && !word.trim_start().starts_with('{');
    let (tool, rest) = match (words.first().filter(is_name), names) {
        (Some(tool), _) => (tool.as_str(), &words[1..]),
        (None, [only]) => (*only, words),
        (None, _) => {
            return Err(format!("the file holds several workflows: name one of {}", names.join(", ")));
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

/// What `--answer` says.
fn answer(text: &str) -> anyhow::Result<Answer> {
    if text == "decline" {
        return Ok(Answer::Declined);
    }
    match serde_json::from_str(text) {
        Ok(form @ Value::Object(_)) => Ok(Answer::Accepted(form)),
        _ => bail!(UsageError(format!("--answer {text}: it must be a JSON object, or \"decline\""))),
    }
}

/// Follows the run to its end, and answers its questions.
async fn follow(mut exec: Exec, mut answers: VecDeque<Answer>, steps: &Steps) -> loggia_facade::Envelope {
    let mut asked = BTreeMap::new();
    loop {
        let event = tokio::select! {
            event = exec.next() => event,
            _ = tokio::signal::ctrl_c() => {
                steps.note("cancelled");
                exec.cancel();
                continue;
            }
        };
        match event {
            Event::Done(envelope) => return *envelope,
            Event::Progress(_) => {}
            Event::Asks(asks) => {
                for (key, question) in asks {
                    if asked.insert(key.clone(), ()).is_none() {
                        let answer = match answers.pop_front() {
                            Some(answer) => answer,
                            None => person(question, steps).await,
                        };
                        exec.answer(&key, answer);
                    }
                }
            }
        }
    }
}

/// Asks the person at the terminal; nobody there has closed the form.
async fn person(question: Question, steps: &Steps) -> Answer {
    if !Form::can_be_shown() {
        term::note(&printable(&format!("nobody answers “{}”: give one more --answer", question.message)));
        return Answer::Cancelled;
    }
    let form = Form::new(question);
    steps.hide();
    let answered = tokio::select! {
        answered = tokio::task::spawn_blocking(move || form.fill()) => answered.unwrap_or(Answer::Cancelled),
        _ = tokio::signal::ctrl_c() => {
            term::note("");
            Answer::Cancelled
        }
    };
    steps.show();
    answered
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_workflow_may_be_left_out_where_there_is_one() {
        let check = |given: &[&str], names: &[&str], expected: Result<(&str, Value), &str>| {
            let given: Vec<String> = given.iter().map(|&word| word.to_owned()).collect();
            let got = words(&given, names);
            let got = got.map(|(tool, rest)| (tool, parameters(rest).map(Value::Object).unwrap_or_default()));
            let expected = expected.map(|(tool, params)| (tool.to_owned(), params)).map_err(str::to_owned);
            assert_eq!(got, expected, "{given:?}");
        };
        check(&["a=1"], &["deploy"], Ok(("deploy", json!({"a": "1"}))));
        check(&["deploy", "a=1"], &["deploy", "undo"], Ok(("deploy", json!({"a": "1"}))));
        check(&[r#"{"a": 1}"#], &["deploy"], Ok(("deploy", json!({"a": 1}))));
        let several = "the file holds several workflows: name one of deploy, undo";
        check(&["a=1"], &["deploy", "undo"], Err(several));
        let near = "there is no workflow deplay in the file, which has: deploy, undo; did you mean deploy?";
        check(&["deplay"], &["deploy", "undo"], Err(near));
    }

    #[test]
    fn an_answer_is_a_form_or_a_no() {
        assert_eq!(answer("decline").unwrap(), Answer::Declined);
        assert_eq!(answer(r#"{"approved": true}"#).unwrap(), Answer::Accepted(json!({"approved": true})));
        for bad in ["yes", "[1]", "{"] {
            assert!(answer(bad).unwrap_err().to_string().contains("must be a JSON object"), "{bad}");
        }
    }
}
