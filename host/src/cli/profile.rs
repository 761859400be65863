//! `loggia profile`.

use std::{
    fs,
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use loggia_facade::{Answer, Effect, Envelope, Input, Object, Request};
use loggia_gate::{
    catalog::{CatalogEntry, CatalogSlot},
    run::CallEvent,
};
use loggia_policy::settings::Level;
use loggia_sandbox::{BacktraceDetail, CallProbes, EngineOptions};
use loggia_serve::{HostOptions, PluginHost};
use loggia_telemetry::logs;
use loggia_text::printable;
use loggia_workbench::profile::{StackCollector, StackTree, render_flame_graph};
use tokio_util::sync::CancellationToken;

use super::{
    call::parse_params,
    common::{LoadOptions, MissingError, io_runtime},
    exit, term,
    working_dir::terminal_origin,
};

/// Time for which calls are repeated, at most.
const MAX_TIME: Duration = Duration::from_secs(20);
/// Functions in the table.
const SHOWN: usize = 15;

/// Call an action many times and write a flame graph of the plugin's functions.
///
/// Takes a sample of the functions that run about once in a millisecond of the plugin's running time; host functions, such as requests and
/// state, do not count. Prints the functions that ran most.
///
/// An action that reads gets the plugin's state as `loggia call` does; any other one gets an empty state of its own. Requests are sent.
/// Questions are declined.
///
/// Exits with 20 if a call fails.
#[derive(clap::Args)]
pub struct ProfileCommand {
    /// Facade (tool) to call
    facade: String,
    /// Action
    action: String,
    /// Parameters: one JSON object, or key=value pairs
    #[arg(value_name = "JSON | key=value")]
    params: Vec<String>,
    /// Number of calls; fewer if they take longer than 20 seconds
    #[arg(long, value_name = "NUMBER", default_value_t = 200)]
    calls: usize,
    /// File of the flame graph [default: FACADE.ACTION.svg]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print stacks for other tools (functions separated by semicolons, then the number of samples), and write no image
    #[arg(long, conflicts_with = "out")]
    folded: bool,
    /// Plugin folder [default: that of the settings file, or plugins]
    #[arg(long, value_name = "DIR")]
    plugins: Option<PathBuf>,
    #[command(flatten)]
    common: LoadOptions,
}

/// Calls that were made.
struct ProfiledCalls {
    count: usize,
    time: Duration,
}

impl ProfileCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        let params = parse_params(&self.params)?;
        let folder = self.common.plugin_folder(self.plugins.clone())?;
        let collector = Arc::new(StackCollector::default());
        let options = self.common.host_options()?;
        let options = HostOptions {
            engine: EngineOptions { backtraces: BacktraceDetail::Stacks, ..options.engine },
            probes: CallProbes { stacks: Some(Arc::clone(&collector) as _), ..options.probes },
            sources: options.sources.patient(),
            ..options
        };
        let runtime = io_runtime()?;
        let mut host = PluginHost::new(&options)?;
        let found = runtime.block_on(self.load(&host, folder.clone()))?;
        let state = tempfile::tempdir().context("failed to create a folder for state")?;
        let action = found.surface().action(found.resolve_name(&self.action));
        if action.is_some_and(|action| action.effect != Effect::Read) {
            let options = HostOptions { state: state.path().join("state"), ..options };
            drop(host);
            host = PluginHost::new(&options)?;
            runtime.block_on(self.load(&host, folder))?;
        }
        let called = runtime.block_on(self.call(&host, &params));
        // Running calls use timers of this runtime, so drop the host first.
        drop(host);
        runtime.shutdown_background();
        match called {
            Ok(calls) => self.report(&collector.take(), &calls),
            Err(envelope) => {
                term::print_json(&serde_json::Value::Object(envelope.into_parts().0));
                Ok(ExitCode::from(exit::CALL_FAILED))
            }
        }
    }

    async fn load(&self, host: &PluginHost, folder: PathBuf) -> anyhow::Result<Arc<CatalogEntry>> {
        host.watch_folder(folder, CancellationToken::new());
        let catalog = host.gate.catalog();
        catalog.wait_for_slot(&self.facade).await;
        match catalog.slot(&self.facade) {
            Some(CatalogSlot::Serving(entry)) => Ok(entry),
            Some(CatalogSlot::Unavailable(reason)) => {
                Err(MissingError(format!("`{}` is unavailable: {reason}", self.facade)).into())
            }
            None => Err(MissingError(format!("there is no facade `{}`", self.facade)).into()),
        }
    }

    /// Repeats the call. The first one compiles what is compiled lazily, and is sampled like the others.
    async fn call(&self, host: &PluginHost, params: &Object) -> Result<ProfiledCalls, Envelope> {
        let began = Instant::now();
        let mut count = 0;
        while count < self.calls && began.elapsed() < MAX_TIME {
            let mut arguments = Object::new();
            arguments.insert("action".into(), self.action.clone().into());
            arguments.insert("params".into(), params.clone().into());
            let request = Request::new(self.facade.clone(), Input::Arguments(arguments));
            let mut exec = host.gate.start(terminal_origin(), request);
            let envelope = loop {
                match exec.next().await {
                    CallEvent::Done(envelope) => break *envelope,
                    CallEvent::Progress(_) | CallEvent::AwaitsApproval => {}
                    CallEvent::Asks(asks) => asks.keys().for_each(|key| {
                        exec.answer(key, Answer::Declined);
                    }),
                }
            };
            if !envelope.is_ok() {
                return Err(envelope);
            }
            count += 1;
        }
        Ok(ProfiledCalls { count, time: began.elapsed() })
    }

    fn report(&self, stacks: &StackTree, calls: &ProfiledCalls) -> anyhow::Result<ExitCode> {
        if self.folded {
            stacks.folded().iter().for_each(|line| term::print(&printable(line)));
            return Ok(ExitCode::SUCCESS);
        }
        let ProfiledCalls { count, time } = calls;
        let each = time.as_secs_f64() * 1e3 / (*count).max(1) as f64;
        ensure!(
            stacks.samples() > 0,
            "{count} calls ({each:.2} ms each) ran too short for a sample; raise --calls"
        );
        let title = format!(
            "{}.{}: {count} calls, {each:.2} ms each, {} samples",
            self.facade,
            self.action,
            stacks.samples()
        );
        term::print(&title);
        term::print("   self  total  function");
        for function in stacks.functions().into_iter().take(SHOWN) {
            let percent = |samples: usize| samples as f64 * 100.0 / stacks.samples() as f64;
            term::print(&printable(&format!(
                "{:>6.1}% {:>5.1}%  {}",
                percent(function.own),
                percent(function.total),
                loggia_text::shorten(&function.name, 120)
            )));
        }
        let out =
            self.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.{}.svg", self.facade, self.action)));
        fs::write(&out, render_flame_graph(stacks, &title))
            .with_context(|| format!("failed to write {}", out.display()))?;
        term::note(&format!("wrote {}; a browser opens it", out.display()));
        Ok(ExitCode::SUCCESS)
    }
}
