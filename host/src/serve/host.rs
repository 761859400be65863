//! Engine, cache, catalog, gate and reloader, put together.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use loggia_gate::{
    call::Gate,
    catalog::{Catalog, Publisher},
    flow::Quotas,
    schedule::{Executor, Inline, Lanes},
};
use loggia_sandbox::{Cache, Engine, EngineError, Limits, compile::Compiler};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{
    load::{Loader, Reloader, Standing, TrustPlaces, compiler},
    serve::{runtimes::CallRuntimes, vitals},
};

/// How long admissions may take to notice that the host ends. Compilers are killed at once.
const ADMISSIONS: Duration = Duration::from_secs(2);

/// How a host is started.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// Where compiled components are kept.
    pub cache: PathBuf,
    /// Where plugins' state is kept.
    pub state: PathBuf,
    /// The settings file that the host runs by, if there is one: no plugin may reach it.
    pub settings: Option<PathBuf>,
    /// The file of keys (JWKS) that the settings name, if there is one.
    pub keys: Option<PathBuf>,
    /// The file of the audit trail, if there is one.
    pub audit: Option<PathBuf>,
    /// Whether calls begin on the I/O runtime.
    pub inline: Inline,
    /// How deep guests may recurse, in bytes of stack.
    pub stack: usize,
    /// How facades are published whose policies do not say.
    pub publisher: Publisher,
    /// What one caller may leave unfinished.
    pub quotas: Quotas,
}

/// Why a host does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No sandbox on this machine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// No cache.
    #[error("failed to open the cache {0}, which --cache DIR can change")]
    Cache(PathBuf, #[source] io::Error),
    /// No threads, no own path.
    #[error("failed to start")]
    Io(#[from] io::Error),
}

/// The parts of a host. Owns the runtimes of calls, so it must be dropped outside of any runtime.
pub struct PluginHost {
    /// The only way to run anything.
    pub gate: Gate,
    /// Turns files into facades.
    pub loader: Arc<Loader>,
    /// How the folder that is followed stands.
    pub standing: Arc<Standing>,
    runtimes: Option<CallRuntimes>,
    /// What follows folders, and how it is told to end.
    following: Mutex<Vec<(CancellationToken, JoinHandle<()>)>>,
}

impl PluginHost {
    /// Puts a host together. Nothing is loaded yet.
    ///
    /// # Errors
    ///
    /// If the machine does not give what a host needs.
    pub fn new(options: &HostOptions) -> Result<Self, StartError> {
        vitals::record_start();
        raise_open_files();
        let engine = Engine::new(options.stack)?;
        let cache = Cache::open(&options.cache, &engine)
            .map_err(|error| StartError::Cache(options.cache.clone(), error))?;
        let compiler = Compiler {
            program: own_binary()?,
            args: compiler::arguments(engine.space()),
            limits: Limits::default().compile,
        };
        let runtimes = CallRuntimes::new()?;
        let executor = Executor::new(runtimes.lanes(), options.inline);
        let gate = Gate::under(Arc::new(Catalog::new(options.publisher)), executor, options.quotas);
        let HostOptions { cache: cached, state, settings, keys, audit, .. } = options.clone();
        let places = TrustPlaces { cache: cached, state, settings, keys, audit };
        let loader = Loader::new(engine, cache, places, compiler);
        // Made now, so that no policy can grant the place where it will be. Where it cannot be, the plugins that need a
        // state say so.
        if let Err(error) = loader.state() {
            tracing::warn!("{error}; --state DIR can name another place");
        }
        Ok(Self {
            gate,
            loader: Arc::new(loader),
            standing: Arc::default(),
            runtimes: Some(runtimes),
            following: Mutex::default(),
        })
    }

    /// From now on SIGUSR1 writes what the host holds to the log.
    ///
    /// # Errors
    ///
    /// If the signal cannot be received.
    pub fn log_vitals_on_signal(&self) -> io::Result<()> {
        self.runtimes.as_ref().map_or(Ok(()), |runtimes| vitals::log_on_signal(runtimes.lanes()))
    }

    /// The runtimes of calls; none once it ends.
    pub(super) fn lanes(&self) -> Option<Lanes> {
        self.runtimes.as_ref().map(CallRuntimes::lanes)
    }

    /// Loads a folder and follows it until told to stop.
    pub fn watch_folder(&self, folder: PathBuf, stop: CancellationToken) {
        let Some(CallRuntimes { calls, .. }) = &self.runtimes else { return };
        let catalog = Arc::clone(self.gate.catalog());
        let (loader, standing) = (Arc::clone(&self.loader), Arc::clone(&self.standing));
        let reloader = Reloader::new(folder, loader, catalog, calls.handle().clone(), standing);
        let stop = stop.child_token();
        let follows = calls.spawn(reloader.run(stop.clone()));
        self.following.lock().unwrap_or_else(PoisonError::into_inner).push((stop, follows));
    }
}

impl Drop for PluginHost {
    fn drop(&mut self) {
        if let Some(runtimes) = self.runtimes.take() {
            let following = std::mem::take(self.following.get_mut().unwrap_or_else(PoisonError::into_inner));
            for (stop, follows) in following {
                // Admissions are blocking work: they must not outlive the clocks of the runtime.
                stop.cancel();
                let _ = runtimes.calls.block_on(async { tokio::time::timeout(ADMISSIONS, follows).await });
            }
            runtimes.shut_down();
        }
    }
}

/// This very binary, even after another took its place on disk: a new one could not compile for this engine.
fn own_binary() -> io::Result<PathBuf> {
    let own = Path::new("/proc/self/exe");
    if own.exists() { Ok(own.to_owned()) } else { std::env::current_exe() }
}

/// As many descriptors as this process may have: the usual soft limit is for programs that use `select`, and each
/// client, call and granted directory holds some.
fn raise_open_files() {
    let most = getrlimit(Resource::Nofile).maximum;
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }) {
        tracing::debug!("the limit of open files stays as it is: {error}");
    }
}
