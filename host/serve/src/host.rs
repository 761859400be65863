//! Assembles engine, cache, catalog, gate and loader.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use loggia_cases::recording::CallTapes;
use loggia_credentials::VaultKey;
use loggia_facade::trace::SpanRecorder;
use loggia_gate::{
    call::{Gate, GateStores},
    catalog::{Catalog, ListPlan},
    flow::CallerQuotas,
    schedule::{Executor, InlinePolicy, RuntimeHandles},
};
use loggia_load::{
    CatalogLoader, ConfiguredSources, FacadeStates, GuardLoader, GuardSpec, LoadStatus, PluginAdmitter,
    SourceSettings, SwapAgreement, TrustPlaces, compiler, pins::PinKeeper,
};
use loggia_login::{
    CallLogins,
    caller_vault::{CallerVault, LoginClients},
};
use loggia_policy::{model::PluginLimits, settings::PinMode};
use loggia_postgres::{DatabaseOptions, PostgresError, PostgresJournal};
use loggia_sandbox::{
    BacktraceDetail, CallProbes, CodeCache, EngineError, EngineOptions, SandboxEngine,
    compile::{self, CompilerCommand},
};
use loggia_server::{FleetMember, http::HookReceiver, mcp::SealSecret};
use loggia_state::StateError;
use loggia_system::descriptors;
use loggia_telemetry::{otlp::OtlpExporter, trail};
use loggia_upstream::UpstreamRuntimes;
use tokio::{runtime::Handle, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{
    approvals::ApprovalOptions,
    fleet::{report_versions, start_fleet},
    runtimes::CallRuntimes,
    starts::{Scheduler, ServiceIdentity, StateWatcher, WorkflowHooks},
    stores::{open_database, open_journal, place_option, to_stores},
    vitals,
};

/// Shutdown timeout of the loader: compilers are killed immediately, upstreams within three seconds.
const LOADER_STOP: Duration = Duration::from_secs(5);

/// Period in which runs of ended hosts are looked for.
const RESUME_PERIOD: Duration = Duration::from_secs(5);

/// Options of a host.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// Folder of compiled components.
    pub cache: PathBuf,
    /// Folder of plugins' state.
    pub state: PathBuf,
    /// Whether that folder does not outlive the host: commits do not wait for the disk.
    pub is_state_temporary: bool,
    /// Whether callers get notices about newer versions that are not served: they are their author.
    pub notifies_callers: bool,
    /// Whether durable runs are recorded, and resumed.
    pub journal: bool,
    /// Database for runs and plugins' state, instead of the state folder.
    pub database: Option<DatabaseOptions>,
    /// The file with its password, if there is one. The fence protects it from plugins.
    pub database_password: Option<PathBuf>,
    /// Key of callers' credentials; `None`: that of the state folder.
    pub vault_key: Option<VaultKey>,
    /// Authorization servers that issue them.
    pub logins: LoginClients,
    /// Identities under which workflows start by themselves; `None`: none starts.
    pub services: Option<BTreeMap<String, ServiceIdentity>>,
    /// How people approve calls whose clients cannot ask them; `None`: such calls fail. Needs the journal.
    pub approvals: Option<ApprovalOptions>,
    /// What else is served, beside the folder.
    pub sources: SourceSettings,
    /// What looks at calls.
    pub guards: Vec<GuardSpec>,
    /// The settings file, if there is one. The fence protects it from plugins.
    pub settings: Option<PathBuf>,
    /// The key file (JWKS) of the settings, if there is one.
    pub keys: Option<PathBuf>,
    /// The audit file, if there is one.
    pub audit: Option<PathBuf>,
    /// Number of calls that may start on the I/O runtime.
    pub inline: InlinePolicy,
    /// Settings of the sandbox.
    pub engine: EngineOptions,
    /// The lists of tools.
    pub lists: ListPlan,
    /// Quotas of unfinished calls per caller.
    pub quotas: CallerQuotas,
    /// Which changes of plugins wait for approval.
    pub pin: PinMode,
    /// What stands beside the calls of plugins.
    pub probes: CallProbes,
    /// Records or plays calls, if anything does.
    pub tapes: Option<Arc<CallTapes>>,
    /// The folder of recordings, if there is one. The fence protects it from plugins.
    pub recordings: Option<PathBuf>,
    /// Sends traces and metrics, if anything does.
    pub telemetry: Option<Arc<OtlpExporter>>,
    /// Records spans, if `telemetry` does not.
    pub spans: Option<Arc<dyn SpanRecorder>>,
}

impl HostOptions {
    /// Names source lines in backtraces of traps: for authors.
    #[must_use]
    pub fn with_lines(self) -> Self {
        Self { engine: EngineOptions { backtraces: BacktraceDetail::Lines, ..self.engine }, ..self }
    }

    /// Leaves out what other hosts see or run: the database, and sources and guards of the settings. For commands that try files.
    #[must_use]
    pub fn isolated(self) -> Self {
        Self { sources: SourceSettings::default(), guards: Vec::new(), database: None, ..self }
    }
}

/// Error of starting a host.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The sandbox does not work on this machine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The cache cannot be opened.
    #[error("failed to open the cache {0}, which --cache DIR can change")]
    Cache(PathBuf, #[source] io::Error),
    /// The database cannot be used.
    #[error("failed to open the database of `state.url`")]
    Database(#[from] PostgresError),
    /// Guards that may know callers need the secret of the state folder.
    #[error("failed to open the state folder, by which guards know callers")]
    GuardKeys(#[from] StateError),
    /// Threads or the path of the own binary are unavailable.
    #[error("failed to start")]
    Io(#[from] io::Error),
}

/// A plugin host. Owns the runtimes of calls, so it must be dropped outside of any runtime.
pub struct PluginHost {
    /// The only way to run anything.
    pub gate: Gate,
    /// Turns files into facades.
    pub admitter: Arc<PluginAdmitter>,
    /// State of the files of the watched folder.
    pub load_status: Arc<LoadStatus>,
    /// The lock of approved versions.
    pub pins: Arc<PinKeeper>,
    services: Option<BTreeMap<String, ServiceIdentity>>,
    sources: SourceSettings,
    /// Loads the guards: one of its users at a time, which takes it. The lock is held only for that.
    guards: Mutex<Option<GuardLoader>>,
    runtimes: Option<CallRuntimes>,
    /// The journal in a database, in which the lease of this host ends with it.
    shared_journal: Option<Arc<PostgresJournal>>,
    /// Messages to and from other hosts. Locked only to be taken.
    fleet: Mutex<Option<FleetMember>>,
    /// Agreement with them on what is served.
    agreement: Option<Arc<SwapAgreement>>,
    notifies_callers: bool,
    /// Sends traces and metrics, if anything does.
    telemetry: Option<Arc<OtlpExporter>>,
    /// Tasks that watch folders, with the tokens that stop them. Only `watch_folder` and `drop` lock it, and neither waits
    /// while it holds the lock.
    watchers: Mutex<Vec<(CancellationToken, JoinHandle<()>)>>,
}

impl PluginHost {
    /// Assembles a host. Nothing is loaded yet.
    ///
    /// # Errors
    ///
    /// If the sandbox, the cache or threads are unavailable.
    pub fn new(options: &HostOptions) -> Result<Self, StartError> {
        vitals::record_start();
        raise_open_files();
        if let Some(gap) = compile::CONFINEMENT_GAPS {
            tracing::warn!(
                "plugins are compiled in a process that this system does not confine completely: {gap}"
            );
        }
        let engine = SandboxEngine::new(options.engine)?;
        let cache = CodeCache::open(&options.cache, &engine)
            .map_err(|error| StartError::Cache(options.cache.clone(), error))?;
        let compiler = CompilerCommand {
            program: compiler::own_binary()?,
            args: compiler::compiler_arguments(engine.target()),
            limits: PluginLimits::default().compile(),
        };
        let runtimes = CallRuntimes::new()?;
        let executor = Executor::new(runtimes.handles(), options.inline);
        let settings = options.settings.as_deref().filter(|_| options.database.is_some());
        let place = || place_option(settings, &options.state);
        let (shared, stores) = match &options.database {
            _ if !options.journal => (None, GateStores::default()),
            Some(database) => {
                let (access, shared) = open_database(database)?;
                let stores = to_stores(Arc::clone(&shared), options.approvals.as_ref(), place());
                (Some((access, shared)), stores)
            }
            None => (
                None,
                open_journal(&options.state)
                    .map(|journal| to_stores(journal, options.approvals.as_ref(), place()))
                    .unwrap_or_default(),
            ),
        };
        let fleet = shared.as_ref().map(|(access, journal)| start_fleet(access.clone(), journal.host()));
        let (fleet, agreement) = fleet.transpose()?.unzip();
        let own = options.clone();
        let states = FacadeStates::new(own.state.clone(), own.database, own.vault_key, own.logins)
            .temporary(own.is_state_temporary)
            .with_option(place());
        let places = TrustPlaces {
            cache: own.cache,
            state: own.state,
            settings: own.settings,
            keys: own.keys,
            audit: own.audit,
            recordings: own.recordings,
            database_password: own.database_password,
            guards: own.guards.iter().map(|guard| guard.component.clone()).collect(),
        };
        let admitter = PluginAdmitter::new(engine, cache, places, compiler, states);
        let admitter =
            Arc::new(admitter.with_probes(options.probes.clone()).with_tapes(options.tapes.clone()));
        // Created now, so that no policy can grant its future path. If that fails, the plugins that need state report it.
        if let Err(error) = admitter.open_state_folder() {
            tracing::warn!("{error}; --state DIR can name another place");
        }
        let pins = Arc::new(PinKeeper::new(options.pin, Arc::clone(admitter.states())));
        let guards = GuardLoader::new(Arc::clone(&admitter), Arc::clone(&pins), own.guards)?;
        let catalog = Arc::new(Catalog::with_lists(options.lists.clone()));
        let spans = options
            .telemetry
            .as_ref()
            .and_then(|telemetry| telemetry.recorder())
            .or_else(|| options.spans.clone());
        let stores = GateStores {
            unaudited: trail::refusal(),
            trail: trail::of_calls(),
            guards: guards.roster(),
            spans,
            ..stores
        };
        let gate = Gate::with_stores(catalog, executor, options.quotas, stores);
        Ok(Self {
            gate,
            admitter,
            pins,
            load_status: Arc::default(),
            services: options.services.clone(),
            sources: options.sources.clone(),
            guards: Mutex::new(Some(guards)),
            runtimes: Some(runtimes),
            shared_journal: shared.map(|(_, journal)| journal),
            fleet: Mutex::new(fleet),
            agreement,
            notifies_callers: options.notifies_callers,
            telemetry: options.telemetry.clone(),
            watchers: Mutex::default(),
        })
    }

    /// Sends traces and metrics, if anything does.
    pub fn telemetry(&self) -> Option<&OtlpExporter> {
        self.telemetry.as_deref()
    }

    /// Opens the credentials of callers.
    ///
    /// # Errors
    ///
    /// If the state folder or the key of credentials cannot be used.
    pub fn vault(&self) -> Result<CallerVault, StateError> {
        self.admitter.vault()
    }

    /// Logins that begin with calls.
    pub fn logins(&self) -> &Arc<CallLogins> {
        self.admitter.states().logins()
    }

    /// Messages to and from the other hosts that share the database; `None` without one, and if that was called before.
    pub fn join_fleet(&self) -> Option<FleetMember> {
        self.fleet.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Receiver of requests to hooks, if the settings have a secret for them.
    pub fn hooks(&self) -> Option<Arc<dyn HookReceiver>> {
        WorkflowHooks::open(self.gate.clone(), self.services.clone()?, self.seal_secret())
    }

    /// Secret of the state folder, for states that pass through clients.
    pub fn seal_secret(&self) -> SealSecret {
        let admitter = Arc::clone(&self.admitter);
        Arc::new(move || {
            let secret = admitter.open_state_folder().and_then(|folder| folder.secret());
            secret
                .inspect_err(|error| tracing::warn!("open questions will not survive a restart: {error}"))
                .ok()
        })
    }

    /// Logs resource usage on each SIGUSR1 from now on.
    ///
    /// # Errors
    ///
    /// If the signal cannot be received.
    pub fn log_vitals_on_signal(&self) -> io::Result<()> {
        self.runtimes.as_ref().map_or(Ok(()), |runtimes| vitals::log_on_signal(runtimes.handles()))
    }

    /// Returns the runtimes of calls; `None` during shutdown.
    pub(super) fn lanes(&self) -> Option<RuntimeHandles> {
        self.runtimes.as_ref().map(CallRuntimes::handles)
    }

    /// Starts the sources of the settings for a command that loads once. Their policies are in `folder`. Must be called within a
    /// runtime.
    pub fn start_sources(&self, folder: &Path) -> ConfiguredSources {
        let io = Handle::current();
        let calls = self.runtimes.as_ref().map_or_else(|| io.clone(), |own| own.calls.handle().clone());
        ConfiguredSources::start(
            &self.sources,
            folder,
            &UpstreamRuntimes { io, calls },
            Arc::clone(&self.load_status),
            (self.admitter.states(), &Arc::new(PinKeeper::unpinned())),
        )
    }

    /// Loads the guards for a command that loads once. Requires a multi-threaded runtime.
    pub async fn load_guards(&self) {
        let taken = self.guards.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut guards) = taken {
            guards.load_changed().await;
        }
    }

    /// Follows a folder and the sources of the settings until the host is dropped, guards and starts until `stop`. Needs the clients' runtime.
    pub fn watch_folder(&self, folder: PathBuf, stop: CancellationToken) {
        let Some(CallRuntimes { calls, .. }) = &self.runtimes else { return };
        let catalog = Arc::clone(self.gate.catalog());
        let (admitter, load_status) = (Arc::clone(&self.admitter), Arc::clone(&self.load_status));
        let loader = CatalogLoader::new(
            folder,
            &self.sources,
            (admitter, Arc::clone(&self.pins)),
            catalog,
            &UpstreamRuntimes { io: Handle::current(), calls: calls.handle().clone() },
            load_status,
        );
        let loader = loader.with_agreement(self.agreement.clone()).with_notices(self.notifies_callers);
        let stop = stop.child_token();
        if let Some(agreement) = self.agreement.clone() {
            calls.spawn(report_versions(agreement, Arc::clone(&self.load_status), stop.clone()));
        }
        calls.spawn(resume_runs(self.gate.clone(), stop.clone()));
        if let Some(services) = self.services.clone() {
            let scheduler = Scheduler::new(self.gate.clone(), services.clone(), self.seal_secret());
            let admitter = Arc::clone(&self.admitter);
            let states = StateWatcher::new(self.gate.clone(), services, self.seal_secret(), admitter);
            calls.spawn(states.run(stop.clone()));
            calls.spawn(scheduler.run(stop.clone()));
        }
        let guards = self.guards.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(guards) = guards {
            calls.spawn(guards.report_unknown(Arc::clone(self.gate.catalog()), stop.clone()));
            calls.spawn(guards.run(stop.clone()));
        }
        // Calls that may finish need their upstreams: the loader runs until the host is dropped.
        let end = CancellationToken::new();
        let watcher = calls.spawn(loader.run(end.clone()));
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner).push((end, watcher));
    }
}

impl Drop for PluginHost {
    fn drop(&mut self) {
        if let Some(runtimes) = self.runtimes.take() {
            let watchers = std::mem::take(self.watchers.get_mut().unwrap_or_else(PoisonError::into_inner));
            for (stop, watcher) in watchers {
                // Admissions are blocking work, and must not outlive the timers of the runtime.
                stop.cancel();
                let _ = runtimes.calls.block_on(async { tokio::time::timeout(LOADER_STOP, watcher).await });
            }
            runtimes.shut_down();
        }
        // Tasks of clients may hold the gate, and with it the journal, until the process ends.
        if let Some(journal) = &self.shared_journal {
            journal.close();
        }
    }
}

/// Resumes runs that ended hosts have left: at the start, and then those of other hosts that share the state folder. Cancels
/// those that `loggia runs cancel` names.
async fn resume_runs(gate: Gate, stop: CancellationToken) {
    gate.catalog().wait_until_admitted().await;
    // A journal that cannot be read is reported once, not every five seconds.
    let mut reported = None;
    loop {
        let looked = async {
            let resumed = gate.resume_runs().await?;
            gate.cancel_requested_runs().await.map(|()| resumed)
        };
        let error = match looked.await {
            Ok(0) => None,
            Ok(resumed) => {
                tracing::info!("took up {resumed} unfinished runs");
                None
            }
            Err(error) => Some(error),
        };
        if let Some(error) = error.as_ref().filter(|error| reported.as_ref() != Some(*error)) {
            tracing::warn!("failed to look for unfinished runs: {error}");
        }
        reported = error;
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(RESUME_PERIOD) => {}
        }
    }
}

/// Raises the soft limit of open files to the hard limit. The usual soft limit is meant for programs that use `select`, but
/// each client, call and granted directory holds descriptors.
fn raise_open_files() {
    if let Err(error) = descriptors::raise_limit() {
        tracing::debug!("failed to raise the limit of open files: {error}");
    }
}
