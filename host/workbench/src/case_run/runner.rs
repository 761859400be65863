//! Runs the cases of a file, in a host of their own.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow};
use loggia_cases::{
    CaseFile, CaseProblem, CaseReport, CaseTapes, CassetteFile, FileReport, HttpSource, PersonReply,
    TapeMode, TestCase, compare, merge_policy, to_slug,
};
use loggia_facade::{Answer, Envelope, Input, Question, Request};
use loggia_gate::{
    access::{CallOrigin, Caller, CallerKeys},
    catalog::{CatalogEntry, CatalogSlot, ToolPublisher},
    run::CallEvent,
    tokens::measure_tools,
};
use loggia_load::{PluginFiles, StoredFiles, StoredPolicy, find_plugin};
use loggia_policy::clients::client_table;
use loggia_sandbox::CallProbes;
use loggia_serve::{HostOptions, PluginHost};
use loggia_state::StateSpace;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::{snapshots::SnapshotFolder, store::CaseStore};
use crate::loaded::{LoadedPlugin, catalog_slots, load_files};

/// Bytes of a policy, at most.
const POLICY_BYTES: u64 = 1 << 20;

/// Settings of a run.
pub struct CaseRunner {
    /// Host of each file, but for its state and its tapes.
    pub options: HostOptions,
    /// Whether requests are sent and recorded.
    pub record: bool,
    /// Whether snapshots are written.
    pub update: bool,
    /// Part of the names of the cases to report.
    pub filter: Option<String>,
}

/// What the cases of a file have in common.
struct RunningFile<'a> {
    host: PluginHost,
    tapes: Arc<CaseTapes>,
    entry: Arc<CatalogEntry>,
    store: Option<CaseStore>,
    own_store: Option<CaseStore>,
    snapshots: SnapshotFolder,
    path: &'a Path,
    file: &'a CaseFile,
}

impl CaseRunner {
    /// Whether a case is reported.
    fn is_selected(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| name.contains(filter.as_str()))
    }

    /// Whether a file has a case to report.
    pub fn selects(&self, file: &CaseFile) -> bool {
        file.cases.iter().any(|case| self.is_selected(&case.name))
    }

    /// Runs the cases of a file. Those before the last selected one run too, since later ones may rely on their state.
    ///
    /// # Errors
    ///
    /// If there can be no host, or a snapshot or a cassette cannot be written.
    pub fn run_file(
        &self,
        runtime: &Runtime,
        path: &Path,
        file: &CaseFile,
        plugin: &Path,
        beside: &[PathBuf],
    ) -> anyhow::Result<FileReport> {
        let shown = path.display().to_string();
        let state = tempfile::tempdir().context("failed to create a folder for state")?;
        let tapes = Arc::new(CaseTapes::default());
        let options = HostOptions {
            state: state.path().join("state"),
            is_state_temporary: true,
            probes: CallProbes { http: Some(Arc::clone(&tapes) as _), ..CallProbes::default() },
            ..self.options.clone()
        };
        let files = match plugin_files(file, plugin, beside, state.path()) {
            Ok(files) => files,
            Err(error) => {
                let problem = CaseProblem::nowhere(format!("{error:#}"));
                return Ok(FileReport::refused(shown, vec![problem]));
            }
        };
        let host = PluginHost::new(&options)?;
        let loaded = runtime.block_on(load_files(&host, files));
        let entry = match find_entry(&loaded, plugin) {
            Ok(entry) => entry,
            Err(problems) => return Ok(FileReport::refused(shown, problems)),
        };
        host.gate.catalog().swap(catalog_slots(&loaded));
        host.gate.catalog().mark_admitted();
        let name = entry.surface().name.clone();
        let folder = host.admitter.states().folder()?;
        let keys = CallerKeys::new(folder.secret()?);
        let space = keys.key_for(&Caller::Local, &name).map(|key| StateSpace::Caller(key.0));
        let open = |space| CaseStore::open(&folder, &name, space);
        let running = RunningFile {
            store: Some(open(StateSpace::Shared)?),
            own_store: space.map(open).transpose()?,
            snapshots: SnapshotFolder::beside(path, self.update),
            host,
            tapes,
            entry,
            path,
            file,
        };
        let report = self.run_cases(runtime, &running, shown);
        // The host stops threads, which must not happen within the runtime.
        drop(running);
        report
    }

    fn run_cases(
        &self,
        runtime: &Runtime,
        running: &RunningFile<'_>,
        shown: String,
    ) -> anyhow::Result<FileReport> {
        let file = running.file;
        let last = file.cases.iter().rposition(|case| self.is_selected(&case.name));
        let mut cases = Vec::new();
        let mut times = Vec::new();
        for case in file.cases.iter().take(last.map_or(0, |last| last + 1)) {
            let report = self.run_case(runtime, running, case).unwrap_or_else(|error| CaseReport {
                name: case.name.clone(),
                line: case.line,
                took: Duration::ZERO,
                failures: vec![CaseProblem::at(case.line, 0, format!("{error:#}"))],
                note: None,
            });
            times.push(report.took);
            if self.is_selected(&case.name) {
                cases.push(report);
            }
        }
        let slots = BTreeMap::from([(
            running.entry.surface().name.clone(),
            CatalogSlot::Serving(Arc::clone(&running.entry)),
        )]);
        let publisher = ToolPublisher { form: client_table().unknown.form, ..ToolPublisher::default() };
        let tools: Vec<_> = publisher.publish(&slots).into_iter().flat_map(|shown| shown.tools).collect();
        let tokens = measure_tools(tools.iter().map(|tool| &**tool)).tokens;
        if self.filter.is_none() {
            if file.surface {
                let surface = tools.iter().map(|tool| {
                    json!({
                        "name": tool.name, "title": tool.title, "description": tool.description,
                        "inputSchema": tool.input_schema, "outputSchema": tool.output_schema,
                        "annotations": {
                            "readOnlyHint": tool.read_only, "destructiveHint": tool.destructive,
                            "idempotentHint": tool.idempotent, "openWorldHint": tool.open_world,
                        },
                    })
                });
                let (failures, note) = running.snapshots.check("surface", &surface.collect(), 0)?;
                cases.push(CaseReport::check("surface", failures, note));
            }
            cases.extend(file.limits.tokens.map(|limit| check_tokens(tokens, limit)));
            cases.extend(file.limits.p95.map(|limit| check_times(times, limit)));
        }
        Ok(FileReport { file: shown, problems: Vec::new(), cases, tokens: Some(tokens) })
    }

    /// Runs a case. What it needs may be unreadable, such as its cassette: the error fails this case only.
    fn run_case(
        &self,
        runtime: &Runtime,
        running: &RunningFile<'_>,
        case: &TestCase,
    ) -> anyhow::Result<CaseReport> {
        let cassette = running.cassette(case);
        let (mode, recorded) = match (&running.file.http, &cassette) {
            (HttpSource::Live, _) => (TapeMode::Live, CassetteFile::default()),
            (_, Some(_)) if self.record => (TapeMode::Record, CassetteFile::default()),
            (_, Some(path)) => (TapeMode::Play, CassetteFile::read(path)?),
            (_, None) => (TapeMode::Play, CassetteFile::default()),
        };
        let mut failures = Vec::new();
        for (store, expected) in running.stores(case) {
            if let Some(before) = &expected.before {
                store.replace(before).with_context(|| format!("failed to prepare `{}`", case.name))?;
            }
        }
        running.tapes.begin(mode, recorded);
        let called = runtime.block_on(running.call(case));
        let tape = running.tapes.end();
        failures.extend(called.failures);
        for request in tape.unrecorded {
            let problem = CaseProblem::at(case.line, 0, format!("not recorded: {request}"));
            failures.push(problem.hint(match &cassette {
                Some(_) => "--record sends it and records the response",
                None => "name a folder, `http: cassettes/`, and run with --record; or `http: live`",
            }));
        }
        let mut note = None;
        if let (true, Some(path)) = (mode == TapeMode::Record, &cassette) {
            note = write_cassette(path, &tape.recorded)?;
        }
        failures.extend(check_envelope(case, &called.envelope));
        for (store, expected) in running.stores(case) {
            let wanted = [(&expected.after, false), (&expected.exactly, true)];
            for (node, exactly) in
                wanted.into_iter().filter_map(|(node, exactly)| Some((node.as_ref()?, exactly)))
            {
                failures.extend(compare(node, Some(&store.read()?), "state", exactly));
            }
        }
        if case.expect.snapshot {
            let (differences, written) =
                running.snapshots.check(&to_slug(&case.name), &called.envelope, case.line)?;
            failures.extend(differences);
            note = written.or(note);
        }
        Ok(CaseReport { name: case.name.clone(), line: case.line, took: called.took, failures, note })
    }
}

/// A call that has ended.
struct EndedCall {
    envelope: Value,
    took: Duration,
    /// Questions and answers that do not fit.
    failures: Vec<CaseProblem>,
}

impl RunningFile<'_> {
    /// Path of a case's cassette, if the file has any.
    fn cassette(&self, case: &TestCase) -> Option<PathBuf> {
        let HttpSource::Folder(folder) = &self.file.http else { return None };
        let stem = self.snapshots.stem();
        Some(self.path.with_file_name(folder).join(format!("{stem}.{}.json", to_slug(&case.name))))
    }

    fn stores<'s>(
        &'s self,
        case: &'s TestCase,
    ) -> impl Iterator<Item = (&'s CaseStore, &'s loggia_cases::ExpectedStore)> {
        let both = [(&self.store, &case.state), (&self.own_store, &case.own_state)];
        both.into_iter().filter_map(|(store, expected)| Some((store.as_ref()?, expected)))
    }

    /// Makes the call of a case and answers its questions.
    async fn call(&self, case: &TestCase) -> EndedCall {
        let can_ask = case.person.is_some();
        let origin = CallOrigin::local().with_elicitation(can_ask).with_links(can_ask);
        let request = Request::new(self.entry.surface().name.clone(), Input::Arguments(case.call.clone()));
        let mut replies = case.person.iter().flatten();
        let (mut asked, mut failures) = (BTreeSet::new(), Vec::new());
        let began = Instant::now();
        let mut exec = self.host.gate.start(origin, request);
        let envelope: Envelope = loop {
            match exec.next().await {
                CallEvent::Done(envelope) => break *envelope,
                CallEvent::Progress(_) | CallEvent::AwaitsApproval => {}
                CallEvent::Asks(asks) => {
                    for (key, question) in asks {
                        if asked.insert(key.clone()) {
                            let answer = reply_to(&question, replies.next(), case, &mut failures);
                            exec.answer(&key, answer);
                        }
                    }
                }
            }
        };
        let took = began.elapsed();
        let unused = replies.count();
        if unused > 0 {
            let message = format!("{unused} of the replies in `person` were not asked for");
            failures.push(CaseProblem::at(case.line, 0, message));
        }
        EndedCall { envelope: Value::Object(envelope.into_parts().0), took, failures }
    }
}

/// Answers a question by the next reply, and checks its text.
fn reply_to(
    question: &Question,
    reply: Option<&PersonReply>,
    case: &TestCase,
    failures: &mut Vec<CaseProblem>,
) -> Answer {
    let Some(reply) = reply else {
        let message = format!("it asks “{}”, and `person` has no reply to it", question.message);
        failures.push(CaseProblem::at(case.line, 0, message));
        return Answer::Cancelled;
    };
    if let Some(asks) = &reply.asks {
        let text = Value::from(question.message.as_str());
        failures.extend(compare(asks, Some(&text), "the question", false));
    }
    reply.answer.clone()
}

/// Compares a result with what the case expects.
fn check_envelope(case: &TestCase, envelope: &Value) -> Vec<CaseProblem> {
    let (expect, ok) = (&case.expect, envelope["ok"] == Value::Bool(true));
    let mut failures = Vec::new();
    if ok != expect.ok {
        let message = match ok {
            true => format!("the call succeeded, and should fail: {}", envelope["data"]),
            false => {
                let texts =
                    [&envelope["code"], &envelope["error"]].map(|text| text.as_str().unwrap_or_default());
                format!("the call failed, {}: {}", texts[0], texts[1])
            }
        };
        failures.push(CaseProblem::at(case.line, 0, loggia_text::mention(&message, 400)));
        return failures;
    }
    for (key, node) in &expect.members {
        failures.extend(compare(node, envelope.get(key), key, false));
    }
    failures.extend(expect.exactly.iter().flat_map(|node| compare(node, envelope.get("data"), "data", true)));
    failures
}

fn check_tokens(tokens: usize, limit: usize) -> CaseReport {
    let over = tokens > limit;
    let problem = || CaseProblem::nowhere(format!("the tools have {tokens} tokens, more than {limit}"));
    CaseReport::check("tokens", over.then(problem).into_iter().collect(), None)
}

/// Checks the 95th percentile, by the nearest rank.
fn check_times(mut times: Vec<Duration>, limit: Duration) -> CaseReport {
    times.sort();
    let rank = (times.len() * 95).div_ceil(100).saturating_sub(1);
    let p95 = times.get(rank).copied().unwrap_or_default();
    let problem = || {
        let [took, limit] = [p95, limit].map(|time| time.as_secs_f64() * 1e3);
        CaseProblem::nowhere(format!("95 % of the calls took up to {took:.1} ms, more than {limit:.0} ms"))
    };
    let failures = (p95 > limit).then(problem).into_iter().collect();
    CaseReport { took: p95, ..CaseReport::check("p95", failures, None) }
}

/// Writes a cassette; removes one without exchanges. Returns a note.
fn write_cassette(path: &Path, cassette: &CassetteFile) -> anyhow::Result<Option<String>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if cassette.is_empty() {
        return Ok(fs::remove_file(path).is_ok().then(|| format!("removed {name}: it sends no requests")));
    }
    super::snapshots::write_file(path, &cassette.render())?;
    Ok(Some(format!("recorded {name}")))
}

/// Looks up the plugin, under its policy with the file's overrides, and those that are served beside it.
fn plugin_files(
    file: &CaseFile,
    plugin: &Path,
    beside: &[PathBuf],
    folder: &Path,
) -> anyhow::Result<BTreeMap<String, PluginFiles>> {
    let mut files = BTreeMap::new();
    for path in beside.iter().map(PathBuf::as_path).chain([plugin]) {
        let found = find_plugin(path).with_context(|| format!("failed to read {}", path.display()))?;
        files.insert(file_name(path), found);
    }
    if file.policy.is_empty() {
        return Ok(files);
    }
    let found = files.get_mut(&file_name(plugin)).ok_or_else(|| anyhow!("the plugin is missing"))?;
    let policy = match &found.policy {
        Some(path) if fs::metadata(path).is_ok_and(|meta| meta.len() <= POLICY_BYTES) => {
            fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?
        }
        // Loading reports why it cannot be used.
        Some(_) => return Ok(files),
        None => String::new(),
    };
    let merged = folder.join("policy.toml");
    let mut written = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut written, merge_policy(&policy, &file.policy)?.as_bytes())?;
    written.persist(&merged)?;
    let stored = StoredFiles { artifact: plugin.to_owned(), policy: Some(StoredPolicy::Copy(merged)) };
    *found = found.with_stored(stored, true);
    Ok(files)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Finds the entry of the plugin; or why it is not served.
fn find_entry(loaded: &[LoadedPlugin], plugin: &Path) -> Result<Arc<CatalogEntry>, Vec<CaseProblem>> {
    let refused = loaded.iter().filter_map(|plugin| Some((plugin.stem(), plugin.refusal()?)));
    let problems: Vec<CaseProblem> =
        refused.map(|(stem, why)| CaseProblem::nowhere(format!("`{stem}`: {why}"))).collect();
    let name = file_name(plugin);
    let entry =
        loaded.iter().find(|loaded| loaded.file == name).and_then(|loaded| loaded.loaded.as_ref().ok());
    match entry {
        Some((entry, _)) if problems.is_empty() => Ok(Arc::clone(entry)),
        _ => Err(problems),
    }
}
