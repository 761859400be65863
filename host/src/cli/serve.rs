//! `loggia serve`.

use std::{
    io::{IsTerminal, stdin},
    net::SocketAddr,
    num::NonZero,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, anyhow, bail, ensure};
use loggia_cases::recording::{CallTapes, RecordingFolder};
use loggia_gate::{
    access::{CallOrigin, CallerRights},
    flow::CallerQuotas,
};
use loggia_load::{SourceSettings, to_guard_specs};
use loggia_login::{LoginReturns, ReturnPlace, caller_vault::to_login_clients, listener_url};
use loggia_policy::settings::{Admin, Format, Http, PerCaller, PinMode, Revision, Settings, Span};
use loggia_sandbox::EngineOptions;
use loggia_serve::{
    HostOptions, PluginHost, StoreObserver, approvals::ApprovalOptions, rates::share_rates,
    revocations::RevocationFollower, signals, start_telemetry, starts::to_services,
};
use loggia_server::{
    ENDPOINT_PATH, auth,
    auth::{Authenticator, TokenReloader},
    card::ServerCards,
    http,
    http::{BrowserReturns, ServedPaths},
    mcp::{McpHandler, ServedEndpoint},
    stdio,
};
use loggia_telemetry::{
    logs,
    otlp::{OtlpExporter, OtlpOptions},
    trail,
};
use loggia_text::{printable, units};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::{
    admin_listener::start_admin,
    common::{LoadOptions, Threads, UsageError, env_default, io_runtime, shared_io_runtime},
    database::{password_file, to_database},
    publishing::{PublishOptions, PublishPlan},
    settings, term,
};

/// Serve a folder of plugins to an MCP client.
///
/// Without --http, the server speaks MCP on stdin and stdout with the process that started it. It reloads plugins that
/// are added, replaced or removed; if a new version does not load, the old one keeps serving.
///
/// On SIGTERM, SIGINT or SIGHUP, running calls finish first; a second SIGTERM or SIGINT stops at once, with exit code
/// 143 or 130. SIGUSR1 logs memory, open descriptors, threads and tasks.
///
/// All options but --record and --profile can be set in a file (docs/operators/config.md); the command line overrides it.
#[derive(clap::Args)]
pub struct ServeCommand {
    /// Plugin folder: <name>.wasm and <name>.workflow.yaml files, each with an optional policy <name>.toml. It may be
    /// created later
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Serve over HTTP instead of stdio, for example on 127.0.0.1:8080. Port 0 selects a free port
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,
    /// Allow unauthenticated callers although other machines can reach the server: on an address that is not loopback,
    /// behind a proxy (`http.hosts`), or if `[auth]` has no credential
    #[arg(long)]
    allow_anonymous: bool,
    /// Serve /healthz, /readyz and /metrics on this address, for example 127.0.0.1:9090. Unauthenticated: bind it to
    /// loopback or a private network
    #[arg(long, value_name = "ADDR")]
    admin: Option<SocketAddr>,
    /// How long the server accepts connections after SIGTERM while /readyz answers 503: as long as a load balancer
    /// needs to notice, such as 5s [default: 0s]
    #[arg(long, value_name = "TIME", value_parser = parse_delay)]
    drain_delay: Option<Span>,
    /// Which changes of plugins wait for `loggia approve`: none, those of what clients see and plugins ask for, or all [env: LOGGIA_PIN;
    /// default: surface, or artifact if other machines can reach the server]
    #[arg(long, value_name = "MODE", default_value = env_default("LOGGIA_PIN"), hide_default_value = true)]
    pin: Option<PinMode>,
    /// Log format: for people, or one JSON object per line [default: human]
    #[arg(long, value_name = "FORM")]
    log_format: Option<Format>,
    /// Newest MCP revision to offer clients [default: the newest supported]
    #[arg(long, value_name = "REVISION")]
    max_protocol_version: Option<Revision>,
    /// Serve only the tools of this profile of the settings file (`[profile.NAME]`), over stdio. Over HTTP, each has its path
    #[arg(long, value_name = "NAME", requires = "config", conflicts_with = "http")]
    profile: Option<String>,
    /// Write calls of actions that their policies name in `actions.record` to this folder, for `loggia replay`. The newest 1,000
    /// recordings of the process are kept
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    #[command(flatten)]
    publishing: PublishOptions,
    #[command(flatten)]
    common: LoadOptions,
}

/// What a command would serve.
pub struct ServePreview {
    /// The plugin folder.
    pub folder: Option<PathBuf>,
    /// The address, if it would serve over HTTP.
    pub http: Option<SocketAddr>,
    /// How its plugins load.
    pub options: HostOptions,
}

impl ServeCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        if self.log_format == Some(Format::Json) {
            logs::switch_to_json();
        }
        let file = self.read_file()?;
        let settings =
            self.merge_settings(file.as_ref().map(|file| file.settings.clone()).unwrap_or_default())?;
        let authenticator = settings::build_authenticator(&settings, self.common.config.as_deref())?;
        let state = self.common.state_folder(settings.state.folder.clone())?;
        let trail = trail::open(&settings.audit, &state).context("failed to open the audit file")?;
        logs::start(settings.log, trail);
        self.common.config.iter().for_each(|file| settings::audit_file(file));
        if let Some(warning) = settings::auth_warning(&settings) {
            tracing::warn!("{warning}");
        }
        if let Some(warning) = settings::card_warning(&settings) {
            tracing::warn!("{warning}");
        }
        if let Some(warning) = settings::login_warning(&settings) {
            tracing::warn!("{warning}");
        }
        let Some(folder) = settings.folder.clone() else {
            bail!(UsageError(
                "no plugin folder: pass one, as in `loggia serve plugins/`, or set `folder` in the settings file"
                    .into()
            ));
        };
        ensure!(
            !folder.exists() || folder.is_dir(),
            "{} is a file; pass the folder that contains it",
            folder.display()
        );
        if !folder.exists() {
            tracing::warn!(
                "the plugin folder {} does not exist yet; its plugins are served once it does",
                folder.display()
            );
        }
        if settings.http.is_some() && self.profile.is_some() {
            bail!(UsageError(
                "--profile is for stdio; over HTTP, each profile is served at its own path, as in /mcp/NAME"
                    .into()
            ));
        }
        let PublishPlan { lists, paths } = PublishPlan::new(&settings);
        let options = self.host_options(&settings, file.as_ref().map(|file| file.path.as_path()))?;
        let telemetry = OtlpOptions::new(settings.telemetry.as_ref(), |name| std::env::var(name).ok());
        let telemetry = telemetry.map_err(UsageError)?.map(|options| Arc::new(OtlpExporter::new(options)));
        let recordings = self.record.as_deref().map(RecordingFolder::open).transpose()?;
        let tapes = recordings.map(|folder| Arc::new(CallTapes::new(Arc::new(folder))));
        let options = HostOptions { lists, telemetry, tapes, recordings: self.record.clone(), ..options };
        let runtime = self.start_io(&settings, &options)?;
        let host = PluginHost::new(&options)?;
        let served = runtime.block_on(async {
            let served = match settings.http.clone() {
                None => {
                    let endpoint = match &self.profile {
                        None => paths.main,
                        Some(name) => find_profile(paths, name)?,
                    };
                    serve_stdio(&host, folder, endpoint, &settings).await
                }
                Some(http) => {
                    let door = HttpEndpoint { http, authenticator, paths, file };
                    serve_http(&host, folder, door, &settings, |_| {}).await
                }
            };
            if let Some(telemetry) = host.telemetry() {
                telemetry.flush(settings.drain.0).await;
            }
            served
        });
        // Running calls use timers of this runtime, so drop the host first.
        drop(host);
        // A blocking read of stdin may never return.
        runtime.shutdown_background();
        served?;
        Ok(ExitCode::SUCCESS)
    }

    /// Reads what this command would serve, without serving it.
    ///
    /// # Errors
    ///
    /// If its settings are invalid.
    pub fn preview(&self) -> anyhow::Result<ServePreview> {
        let file = self.read_file()?;
        let settings = self.merge_settings(file.map(|file| file.settings).unwrap_or_default())?;
        Ok(ServePreview {
            http: settings.http.as_ref().map(|http| http.listen),
            options: self.common.host_options()?,
            folder: settings.folder,
        })
    }

    /// Starts the runtime that serves clients. With one client and upstreams' children, it has one thread: their messages are
    /// short, and a second thread is mostly woken for nothing. Plugins' long results gain from a second one.
    fn start_io(&self, settings: &Settings, options: &HostOptions) -> std::io::Result<Runtime> {
        let has_children = options.sources.has_children();
        // With `--threads same`, it also runs the calls.
        let is_single = settings.http.is_none() && has_children && self.common.threads != Threads::Same;
        if is_single { io_runtime() } else { shared_io_runtime() }
    }

    fn read_file(&self) -> anyhow::Result<Option<TokenReloader>> {
        let Some(file) = &self.common.config else { return Ok(None) };
        let path =
            std::path::absolute(file).with_context(|| format!("failed to resolve {}", file.display()))?;
        let settings = settings::read_file(file, |settings| {
            if self.log_format.unwrap_or(settings.log.format) == Format::Json {
                logs::switch_to_json();
            }
        })?;
        Ok(Some(TokenReloader { settings, path, read: settings::reread_file }))
    }

    /// Applies the command line to the settings of the file.
    fn merge_settings(&self, mut settings: Settings) -> anyhow::Result<Settings> {
        settings.folder = self.folder.clone().or(settings.folder);
        settings.max_protocol_version = self.max_protocol_version.or(settings.max_protocol_version);
        settings.publish = self.publishing.override_file(settings.publish);
        settings.log.format = self.log_format.unwrap_or(settings.log.format);
        settings.pin = self.pin.or(settings.pin);
        if let Some(listen) = self.admin {
            let (hosts, token) = settings.admin.map(|admin| (admin.hosts, admin.token)).unwrap_or_default();
            settings.admin = Some(Admin { listen, hosts, token });
        }
        if let Some(listen) = self.http {
            settings.http = Some(Http { listen, ..settings.http.unwrap_or_default() });
        }
        if let Some(http) = &mut settings.http {
            http.allow_anonymous |= self.allow_anonymous;
            http.drain_delay = self.drain_delay.unwrap_or(http.drain_delay);
        }
        settings::check(&settings)?;
        Ok(settings)
    }

    fn host_options(&self, settings: &Settings, file: Option<&Path>) -> anyhow::Result<HostOptions> {
        let usual = self.common.host_options_with(settings.cache.clone(), settings.state.folder.clone())?;
        Ok(HostOptions {
            journal: true,
            database: to_database(&settings.state),
            database_password: password_file(&settings.state),
            sources: SourceSettings::new(settings),
            guards: to_guard_specs(&settings.guards),
            logins: to_login_clients(&settings.login),
            services: Some(to_services(&settings.service)),
            approvals: Some(ApprovalOptions::new(&settings.approvals)),
            settings: file.map(Path::to_owned),
            audit: settings.audit.file.clone(),
            keys: auth::key_file(settings.auth()),
            engine: EngineOptions {
                stack: self.common.wasm_stack.unwrap_or(settings.wasm_stack.bytes()),
                answers_first: settings.http.is_none(),
                ..usual.engine
            },
            pin: settings::pin_mode(settings),
            quotas: settings.http.as_ref().map_or(usual.quotas, |http| caller_quotas(http.per_caller)),
            ..usual
        })
    }
}

/// Returns the gate's quotas of each caller.
fn caller_quotas(limits: PerCaller) -> CallerQuotas {
    let usual = CallerQuotas::default();
    CallerQuotas {
        runs: limits.runs.map_or(usual.runs, |runs| NonZero::new(runs as usize)),
        parked: limits.questions.map_or(usual.parked, |questions| questions as usize),
    }
}

fn parse_delay(text: &str) -> Result<Span, String> {
    const MOST: Duration = Duration::from_secs(60 * 60);
    let delay = units::parse_duration(text)?;
    if delay > MOST { Err("must be 0s to 1h".to_owned()) } else { Ok(Span(delay)) }
}

/// Note for a person who starts a stdio server in a terminal.
const TERMINAL_NOTE: &str = "waiting for an MCP client on stdin, which is a terminal. MCP clients start this command \
                             themselves; --http 127.0.0.1:8080 serves over HTTP. Ctrl-D or Ctrl-C exits";

/// Finds what `--profile` names.
fn find_profile(mut paths: ServedPaths, name: &str) -> anyhow::Result<Arc<ServedEndpoint>> {
    let known = paths.profiles.keys().cloned().collect::<Vec<_>>().join(", ");
    paths.profiles.remove(name).ok_or_else(|| {
        let known = if known.is_empty() { "none".to_owned() } else { known };
        anyhow!(UsageError(format!(
            "there is no profile `{}` in the settings file; profiles: {known}",
            printable(name)
        )))
    })
}

async fn serve_stdio(
    host: &PluginHost,
    folder: PathBuf,
    endpoint: Arc<ServedEndpoint>,
    settings: &Settings,
) -> anyhow::Result<()> {
    host.log_vitals_on_signal()?;
    if stdin().is_terminal() {
        term::note(TERMINAL_NOTE);
    }
    let streams = stdio::take().context("failed to take over stdout")?;
    let stop = signals::shutdown()?;
    start_admin(host, settings, None, &stop).await?;
    start_telemetry(host, None, &stop);
    host.logins().return_to(ReturnPlace::Loopback);
    host.watch_folder(folder, stop.clone());
    let handler = McpHandler::with_seal_secret(
        host.gate.clone(),
        CallOrigin::local(),
        stop.clone(),
        Some(host.seal_secret()),
    );
    let handler = handler.with_newest_revision(settings.max_protocol_version);
    let handler = handler.with_state_observer(Arc::new(StoreObserver::new(Arc::clone(&host.admitter))));
    let handler = handler.with_endpoint(endpoint).in_fleet(host.join_fleet(), stop.clone());
    if let Err(error) = stdio::serve(handler, streams, settings.drain.0, stop).await {
        bail!("{error}");
    }
    Ok(())
}

/// Refuses the tokens that are revoked in the state folder or the database. Only a server with a database does not start without
/// the list: a folder that cannot be opened has none that this server could have written.
async fn follow_revocations(
    host: &PluginHost,
    authenticator: &Authenticator,
    stop: CancellationToken,
    is_required: bool,
) -> anyhow::Result<()> {
    let mut follower = RevocationFollower::new(Arc::clone(&host.admitter), authenticator.clone());
    if let Err(error) = follower.look().await
        && is_required
    {
        return Err(error).context("failed to read the list of revoked tokens");
    }
    tokio::spawn(follower.run(stop));
    Ok(())
}

/// Address and authentication of an HTTP server.
pub struct HttpEndpoint {
    /// HTTP settings.
    pub http: Http,
    /// `None` if callers are not authenticated.
    pub authenticator: Option<Authenticator>,
    /// What each path serves.
    pub paths: ServedPaths,
    /// The settings file, to follow changes of its tokens.
    pub file: Option<TokenReloader>,
}

/// Lets callers log in from their calls, if they are authenticated and browsers can return to this server.
fn start_logins(
    host: &PluginHost,
    settings: &Settings,
    is_authenticated: bool,
    address: SocketAddr,
) -> Option<Arc<dyn BrowserReturns>> {
    if settings.login.is_empty() || !is_authenticated {
        return None;
    }
    let resource = settings.auth().resource.as_ref().map(|resource| &resource.url);
    host.logins().return_to(ReturnPlace::Listener(listener_url(resource, address)?));
    Some(Arc::new(LoginReturns(Arc::clone(host.logins()))))
}

/// Serves a folder over HTTP until a signal. Calls `ready` with the address once clients can connect.
pub async fn serve_http(
    host: &PluginHost,
    folder: PathBuf,
    HttpEndpoint { http, authenticator, paths, file }: HttpEndpoint,
    settings: &Settings,
    ready: impl FnOnce(SocketAddr),
) -> anyhow::Result<()> {
    host.log_vitals_on_signal()?;
    let address = http.listen;
    let listener = loggia_server::listen(address)
        .with_context(|| format!("failed to listen on {address}: choose another address with --http ADDR"))?;
    let address = listener.local_addr()?;
    let shutdown: CancellationToken = signals::shutdown()?;
    let stop = signals::delayed(&shutdown, http.drain_delay.0);
    if let Some(authenticator) = &authenticator {
        authenticator.start();
        follow_revocations(host, authenticator, stop.clone(), settings.state.url.is_some()).await?;
    }
    if let Some(file) = file {
        tokio::spawn(file.run(authenticator.clone()));
    }
    start_admin(host, settings, authenticator.clone(), &shutdown).await?;
    start_telemetry(host, authenticator.clone(), &shutdown);
    let returns = start_logins(host, settings, authenticator.is_some(), address);
    host.watch_folder(folder, stop.clone());
    // Fallback for a request without a caller.
    let nobody = match &authenticator {
        None => CallOrigin::anonymous(),
        Some(_) => CallOrigin::named("nobody", CallerRights::from_scopes([])),
    };
    let handler =
        McpHandler::with_seal_secret(host.gate.clone(), nobody, stop.clone(), Some(host.seal_secret()));
    let handler = handler.with_card(settings.card.as_ref());
    let handler = handler.with_newest_revision(settings.max_protocol_version);
    let handler = handler.with_state_observer(Arc::new(StoreObserver::new(Arc::clone(&host.admitter))));
    term::note(&format!("listening on http://{address}{}", ENDPOINT_PATH));
    for profile in paths.profiles.keys() {
        term::note(&format!("profile {profile} at http://{address}{ENDPOINT_PATH}/{profile}"));
    }
    ready(address);
    let serving = http::HttpServer {
        handler,
        paths,
        http,
        authenticator,
        returns,
        hooks: host.hooks(),
        documents: ServerCards::new(settings).map(|cards| cards.documents()).unwrap_or_default(),
        fleet: host.join_fleet(),
        shared_rates: share_rates(host.seal_secret(), to_database(&settings.state).as_ref()).await,
        leaving: shutdown,
        drain: settings.drain.0,
        release_memory: loggia_serve::memory::trim,
    };
    http::serve(serving, listener, stop).await?;
    Ok(())
}
