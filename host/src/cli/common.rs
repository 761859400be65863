//! Shared by commands: options of those that load plugins, usage errors, what they report alike.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
    thread::available_parallelism,
};

use anyhow::ensure;
use clap::{
    Args,
    builder::{OsStr, Resettable},
};
use loggia_gate::{
    catalog::{ListPlan, ToolPublisher},
    flow::CallerQuotas,
    schedule::InlinePolicy,
};
use loggia_load::{FileKind, SourceSettings, places, to_guard_specs};
use loggia_login::caller_vault::to_login_clients;
use loggia_policy::{
    model::ceilings::{STACK_CEILING, STACK_FLOOR},
    settings::{PinMode, Settings},
};
use loggia_sandbox::{
    CallProbes, EngineOptions,
    engine::{INSTANCES, STACK},
};
use loggia_serve::HostOptions;
pub use loggia_serve::{io_runtime, shared_io_runtime};
use loggia_server::auth;
use loggia_text::units;

use super::{
    database::{password_file, to_database},
    exit, settings, term,
};

/// A command line error that clap cannot detect.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// What a command line names does not exist.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct MissingError(pub String);

/// Reads an environment variable as the default of an option. clap's `env` would show options with a set variable as
/// required in usage lines.
pub fn env_default(name: &str) -> Resettable<OsStr> {
    match std::env::var_os(name).filter(|value| !value.is_empty()) {
        Some(value) => Resettable::Value(value.into()),
        None => Resettable::Reset,
    }
}

/// Options of every command that loads plugins.
#[derive(Args)]
pub struct LoadOptions {
    /// Settings file, loggia.toml; `loggia config check` validates it
    #[arg(long, value_name = "FILE", env = "LOGGIA_CONFIG")]
    pub config: Option<PathBuf>,
    /// Folder for compiled plugins [env: LOGGIA_CACHE; default: the platform's cache folder]
    #[arg(long, value_name = "DIR", default_value = env_default("LOGGIA_CACHE"), hide_default_value = true)]
    cache: Option<PathBuf>,
    /// Folder for plugins' state [env: LOGGIA_STATE; default: the platform's state folder]
    #[arg(long, value_name = "DIR", default_value = env_default("LOGGIA_STATE"), hide_default_value = true)]
    state: Option<PathBuf>,
    /// Stack size of plugins, such as 1MiB [env: LOGGIA_WASM_STACK; default: 512KiB]
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = parse_stack_size,
        default_value = env_default("LOGGIA_WASM_STACK"),
        hide_default_value = true
    )]
    pub wasm_stack: Option<usize>,
    /// Where calls start, for benchmarks: inline, second or same
    #[arg(long, value_name = "MODEL", default_value = "inline", hide = true)]
    pub threads: Threads,
    /// Instances of plugins that can live at once, for benchmarks under valgrind, which has little address space
    #[arg(long, value_name = "NUMBER", default_value_t = INSTANCES, hide = true)]
    instances: u32,
}

/// Parses a stack size. One limit holds for all plugins, so it is not in policies.
fn parse_stack_size(text: &str) -> Result<usize, String> {
    let bytes = units::parse_bytes(text)?;
    let within = usize::try_from(bytes).ok().filter(|bytes| (STACK_FLOOR..=STACK_CEILING).contains(bytes));
    within.ok_or_else(|| {
        let [least, most] = [STACK_FLOOR, STACK_CEILING].map(|bytes| units::format_bytes(bytes as u64));
        format!("must be {least} to {most}")
    })
}

/// Runtimes of calls, for benchmarks.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Threads {
    /// First slice inline, the rest on the second runtime.
    Inline,
    /// Everything on the second runtime.
    Second,
    /// Everything on the runtime that serves clients.
    Same,
}

impl LoadOptions {
    /// Builds the options of a host, with the sources and the folders of the settings file, if one is given.
    ///
    /// # Errors
    ///
    /// If the settings are invalid, or the platform has no folder for cache or state.
    pub fn host_options(&self) -> anyhow::Result<HostOptions> {
        let Some(file) = &self.config else { return self.host_options_with(None, None) };
        let settings = settings::read_and_check(file)?;
        Ok(HostOptions {
            sources: SourceSettings::new(&settings),
            guards: to_guard_specs(&settings.guards),
            logins: to_login_clients(&settings.login),
            settings: Some(file.clone()),
            audit: settings.audit.file.clone(),
            keys: auth::key_file(settings.auth()),
            database: to_database(&settings.state),
            database_password: password_file(&settings.state),
            ..self.host_options_with(settings.cache, settings.state.folder)?
        })
    }

    /// Reads the settings file, if one is given.
    ///
    /// # Errors
    ///
    /// If the settings are invalid.
    pub fn settings(&self) -> anyhow::Result<Option<Settings>> {
        self.config.as_deref().map(settings::read_and_check).transpose()
    }

    /// Returns the plugin folder: the given one, that of the settings file, or `plugins`.
    ///
    /// # Errors
    ///
    /// If the settings are invalid, or the folder does not exist.
    pub fn plugin_folder(&self, given: Option<PathBuf>) -> anyhow::Result<PathBuf> {
        let folder = match given {
            Some(folder) => folder,
            None => self
                .settings()?
                .and_then(|settings| settings.folder)
                .unwrap_or_else(|| PathBuf::from("plugins")),
        };
        ensure!(
            folder.is_dir(),
            "there is no folder {}; set the plugin folder with --plugins DIR",
            folder.display()
        );
        Ok(folder)
    }

    /// Returns the state folder: the given one, that of the settings file, or the platform's.
    ///
    /// # Errors
    ///
    /// If the platform has none.
    pub fn state_folder(&self, settings: Option<PathBuf>) -> anyhow::Result<PathBuf> {
        Ok(self.state.clone().or(settings).map_or_else(places::state, Ok)?)
    }

    /// Builds the options of a host, with the folders of a settings file as defaults.
    pub fn host_options_with(
        &self,
        cache: Option<PathBuf>,
        state: Option<PathBuf>,
    ) -> anyhow::Result<HostOptions> {
        // One slot per thread that serves clients. A slice lasts 1 ms at most, and a facade that exceeds it starts on
        // the second runtime for a while. A thread without slots costs a fifth of the throughput and does not improve
        // p99 beside looping guests (docs/design/performance.md).
        let slots = available_parallelism().map_or(1, usize::from);
        let inline = match self.threads {
            Threads::Inline => InlinePolicy::Slots(slots),
            Threads::Second => InlinePolicy::Never,
            Threads::Same => InlinePolicy::Always,
        };
        let cache = self.cache.clone().or(cache).map_or_else(places::cache, Ok)?;
        let state = self.state_folder(state)?;
        Ok(HostOptions {
            cache,
            state,
            is_state_temporary: false,
            notifies_callers: false,
            journal: false,
            database: None,
            database_password: None,
            vault_key: places::vault_key().map_err(UsageError)?,
            logins: BTreeMap::new(),
            services: None,
            approvals: None,
            guards: Vec::new(),
            sources: SourceSettings::default(),
            settings: None,
            audit: None,
            keys: None,
            inline,
            engine: EngineOptions {
                stack: self.wasm_stack.unwrap_or(STACK),
                instances: self.instances,
                ..EngineOptions::default()
            },
            lists: ListPlan::new(ToolPublisher::default()),
            quotas: CallerQuotas::default(),
            pin: PinMode::Open,
            probes: CallProbes::default(),
            tapes: None,
            recordings: None,
            telemetry: None,
            spans: None,
        })
    }
}

/// Reports that there is no plugin; returns the exit code.
pub fn report_no_plugins(path: &Path) -> ExitCode {
    let suffixes: Vec<&str> =
        FileKind::ALL.iter().filter_map(|kind| kind.suffixes().first().copied()).collect();
    term::note(&format!("no plugins: there is no {} file in {}", suffixes.join(" or "), path.display()));
    ExitCode::from(exit::NOTHING)
}
