//! `loggia replay`.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use anyhow::{Context, anyhow};
use loggia_cases::recording::{CallRecording, CallTapes, EndedTape, compare_recordings, describe_end};
use loggia_facade::{Detail, Input, Request};
use loggia_gate::{
    access::{CallOrigin, Caller, CallerKeys},
    catalog::CatalogEntry,
    run::CallEvent,
};
use loggia_policy::settings::Level;
use loggia_serve::{HostOptions, PluginHost, form_fields::agree};
use loggia_telemetry::logs;
use loggia_text::{mention, printable};
use loggia_workbench::{
    loaded::{LoadedPlugin, catalog_slots, find_files, load_files},
    replay::{ReplayPlan, seed_state},
};
use serde_json::json;

use super::{
    common::{LoadOptions, io_runtime},
    exit, term,
};

/// Run a recorded call again, against the plugin as it is now, and print what differs.
///
/// `loggia serve --record DIR` writes recordings. The call runs in the sandbox, under the plugin's present policy, on a state of its own
/// that holds what the call read. Requests, questions and calls of other plugins are answered from the recording: nothing is sent,
/// nobody is asked, and no state is changed.
///
/// The wall clock and randomness are those of the recording. What was redacted stays redacted.
///
/// Exits with 0 if nothing differs, with 20 if something does, and with 10 if the plugin does not load.
#[derive(clap::Args)]
pub struct ReplayCommand {
    /// A recording
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The plugin to call, or a plugin folder [default: that of the settings file, or plugins]
    #[arg(long, value_name = "PATH")]
    plugins: Option<PathBuf>,
    /// Print JSON: the recording, the call as it ran now, and the differences
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: LoadOptions,
}

impl ReplayCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Error);
        let recorded = CallRecording::read(&self.file)?;
        let path = match &self.plugins {
            Some(path) if path.is_file() => path.clone(),
            other => self.common.plugin_folder(other.clone())?,
        };
        let files = find_files(&path)?;
        let state = tempfile::tempdir().context("failed to create a folder for state")?;
        let plan = Arc::new(ReplayPlan::new(recorded.clone()));
        let options = HostOptions {
            state: state.path().join("state"),
            tapes: Some(Arc::new(CallTapes::new(Arc::clone(&plan) as _))),
            ..self.common.host_options()?.with_lines().isolated()
        };
        let runtime = io_runtime()?;
        let host = PluginHost::new(&options)?;
        let loaded = runtime.block_on(load_files(&host, files));
        let Some(entry) = find_entry(&loaded, &recorded.facade) else {
            term::print_error(&anyhow!(explain_missing(&loaded, &recorded.facade)));
            return Ok(ExitCode::from(exit::REFUSED));
        };
        host.gate.catalog().swap(catalog_slots(&loaded));
        host.gate.catalog().mark_admitted();
        let folder = host.admitter.states().folder()?;
        let caller = CallerKeys::new(folder.secret()?).key_for(&Caller::Local, &recorded.facade);
        seed_state(&folder, &recorded, caller.map(|key| key.0)).context("failed to prepare the state")?;
        let refusal = runtime.block_on(call(&host, &recorded));
        // Running calls use timers of this runtime, so drop the host first.
        drop(host);
        runtime.shutdown_background();
        let ended = plan.take().ok_or_else(|| match refusal {
            Some(why) => anyhow!("the call does not reach the plugin: {why}"),
            None => anyhow!("the call is too large to be compared"),
        })?;
        Ok(self.report(&recorded, &ended, &entry))
    }

    fn report(&self, recorded: &CallRecording, ended: &EndedTape, entry: &CatalogEntry) -> ExitCode {
        let mut lines = compare_recordings(recorded, &ended.recording);
        lines.extend(ended.missing.iter().map(|what| format!("not recorded: {}", mention(what, 200))));
        if self.json {
            let now = &ended.recording;
            term::print_json(&json!({"recorded": recorded, "now": now, "differences": lines}));
        } else {
            let [before, now] = [recorded, &ended.recording]
                .map(|call| format!("{} in {:.1} ms", describe_end(&call.end), call.ms));
            let version =
                if entry.origin == recorded.artifact { "the same version" } else { "another version" };
            term::print(&printable(&format!(
                "{}.{}, recorded {}: {before}; now, by {version}: {now}",
                recorded.facade, recorded.action, recorded.time
            )));
            lines.iter().for_each(|line| term::print(&format!("  {}", printable(line))));
            if lines.is_empty() {
                term::print("nothing differs");
            }
        }
        if lines.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(exit::CALL_FAILED) }
    }
}

/// Makes the call; the failure with which it ended.
async fn call(host: &PluginHost, recorded: &CallRecording) -> Option<String> {
    let input = Input::Action {
        action: recorded.action.clone(),
        params: recorded.params.clone(),
        detail: Detail::parse(&recorded.detail).unwrap_or_default(),
    };
    // Questions are answered from the recording; the plugin must be able to ask them.
    let origin = CallOrigin::local().by_person().with_elicitation(true).with_links(true);
    let mut exec = host.gate.start(origin, Request::new(recorded.facade.clone(), input));
    loop {
        match exec.next().await {
            CallEvent::Done(envelope) => return envelope.outcome.err().map(|failure| failure.message),
            CallEvent::Progress(_) | CallEvent::AwaitsApproval => {}
            // Consent that the policy asks for: the recorded call had it.
            CallEvent::Asks(asks) => {
                for (key, question) in asks {
                    exec.answer(&key, loggia_facade::Answer::Accepted(agree(&question.kind)));
                }
            }
        }
    }
}

fn find_entry(loaded: &[LoadedPlugin], facade: &str) -> Option<Arc<CatalogEntry>> {
    let mut entries = loaded.iter().filter_map(|plugin| plugin.loaded.as_ref().ok()).map(|(entry, _)| entry);
    entries.find(|entry| entry.surface().name == facade).cloned()
}

/// Says why no plugin answers the call.
fn explain_missing(loaded: &[LoadedPlugin], facade: &str) -> String {
    let refused =
        loaded.iter().filter_map(|plugin| Some(format!("{}: {}", plugin.stem(), plugin.refusal()?)));
    let refused: Vec<String> = refused.collect();
    let mut text = format!("no plugin serves `{facade}`; name its file or its folder with --plugins PATH");
    if !refused.is_empty() {
        text.push_str(&format!(" ({})", refused.join("; ")));
    }
    text
}
