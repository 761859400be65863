//! `loggia dev`.

use std::{
    collections::BTreeMap,
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context, bail};
use loggia_builder::{BuildError, PluginSource};
use loggia_clients::{ServerTarget, TokenOrigin, find_client, render_entry, render_snippet};
use loggia_gate::catalog::NoticeMap;
use loggia_load::{LoadStatusReport, file_stem};
use loggia_policy::settings::{Http, Level, Publish, Settings};
use loggia_serve::{HostOptions, PluginHost, approvals::ApprovalOptions};
use loggia_server::ENDPOINT_PATH;
use loggia_telemetry::{logs, span_source::SystemRecorder};
use loggia_workbench::dev::{BuildEnd, BuildOutput, CallLines, SourceWatcher, find_sources};

use super::{
    common::{LoadOptions, UsageError, shared_io_runtime},
    publishing::{PublishOptions, PublishPlan},
    serve::{HttpEndpoint, serve_http},
    term,
};

/// Build plugin sources, serve them over HTTP, rebuild and reload on save.
///
/// Prints the configuration for common clients. Builds crates, Python, JavaScript and TypeScript projects, and what plugin.toml
/// says; build commands run with your rights. While the newest source does not build or load, results of the older version say
/// why. Policy files (<name>.toml in a plugin's folder) apply as with `serve`, and workflow files (<name>.workflow.yaml) beside
/// the plugins are served too. A policy cannot grant the plugin folder
/// itself, but a directory beside it: ../data is DIR/data, which is created if it is missing.
#[derive(clap::Args)]
pub struct DevCommand {
    /// The folder of a plugin's sources, or a folder of them
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// Loopback address to listen on. Port 0 selects a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    http: SocketAddr,
    /// Output folder; built plugins go into its folder `plugins`
    #[arg(long, value_name = "DIR", default_value = "target/loggia")]
    out: PathBuf,
    #[command(flatten)]
    publishing: PublishOptions,
    #[command(flatten)]
    common: LoadOptions,
}

impl DevCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        if !self.http.ip().is_loopback() {
            let (address, port) = (self.http, self.http.port());
            bail!(UsageError(format!(
                "{address} can be reached from other machines; `dev` serves only on loopback: use an address such as \
                 127.0.0.1:{port}"
            )));
        }
        logs::start_plain(Level::Info);
        let path =
            fs::canonicalize(&self.path).with_context(|| format!("there is no {}", self.path.display()))?;
        // Before anything is written: probably this is the wrong folder.
        find_or_explain(&path)?;
        let mut out = BuildOutput::create(&self.out)
            .with_context(|| format!("failed to create {}", self.out.display()))?;
        // Before the first build, so that no save during it is missed.
        let mut watcher = SourceWatcher::watch(path.clone(), out.folder().to_owned())
            .context("failed to watch the sources")?;
        let runtime = shared_io_runtime()?;
        let file = self.common.settings()?.map_or_else(Publish::default, |settings| settings.publish);
        let settings = Settings { publish: self.publishing.override_file(file), ..Settings::default() };
        let PublishPlan { lists, paths } = PublishPlan::new(&settings);
        let approvals = Some(ApprovalOptions::new(&settings.approvals));
        let options = HostOptions {
            journal: true,
            notifies_callers: true,
            lists,
            approvals,
            spans: Some(Arc::new(SystemRecorder(CallLines::default()))),
            ..self.common.host_options()?.with_lines()
        };
        let host = PluginHost::new(&options)?;
        let plugins = out.plugins().to_owned();
        let (catalog, status) = (Arc::clone(host.gate.catalog()), Arc::clone(&host.load_status));
        // Beside the server, which serves each plugin when it is built.
        std::thread::Builder::new().name("loggia-dev".into()).spawn(move || {
            term::note(&format!(
                "building the plugins under {}; each is served when it is built",
                path.display()
            ));
            let mut done = "the first build has ended";
            loop {
                log_build(out.build(&path), done);
                done = "built";
                catalog.notices.set_builds(build_notices(out.failed(), &status.now()));
                // A file that was not followed so far may have been saved: the next build finds out.
                if !watcher.follow(&out.outside_files()) && !watcher.wait() {
                    return;
                }
            }
        })?;
        let door = HttpEndpoint {
            http: Http { listen: self.http, ..Http::default() },
            authenticator: None,
            paths,
            file: None,
        };
        let served = runtime.block_on(serve_http(&host, plugins.clone(), door, &settings, move |address| {
            match client_configs(address, &plugins) {
                Ok(text) => term::print(&text),
                Err(error) => term::print_error(&error),
            }
        }));
        // Running calls use timers of this runtime, so drop the host first.
        drop(host);
        runtime.shutdown_background();
        served?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Fails if no save could lead to a build: there are no sources, or the tools are missing. Any other mistake may be fixed by a
/// save.
fn find_or_explain(path: &Path) -> anyhow::Result<()> {
    match find_sources(path) {
        Ok((sources, _)) if sources.iter().any(PluginSource::is_crate) => {
            Ok(loggia_builder::ensure_target()?)
        }
        Err(error @ (BuildError::Nothing(_) | BuildError::Tool(..))) => Err(error.into()),
        _ => Ok(()),
    }
}

/// Logs the end of a build. `dev` continues after a failed one, since the next save may fix it.
fn log_build(built: Result<BuildEnd, BuildError>, done: &str) {
    match built {
        Ok(BuildEnd::Complete) => tracing::info!("{done}"),
        Ok(BuildEnd::Unchanged) => tracing::debug!("nothing to build"),
        Ok(BuildEnd::Partial) => {
            tracing::error!("not all plugins could be built; earlier builds keep serving");
        }
        Err(error) => {
            tracing::error!("{:#}; earlier builds keep serving", anyhow::Error::new(error));
        }
    }
}

/// Builds a sentence for callers of each facade whose newest source does not build.
fn build_notices(failed: &BTreeMap<String, String>, status: &LoadStatusReport) -> NoticeMap {
    let notices = failed.iter().map(|(plugin, reason)| {
        let served = status.files.iter().find(|file| file_stem(&file.file) == plugin);
        let name = served.and_then(|file| file.facade.as_ref()).unwrap_or(plugin);
        (name.clone(), format!("the newest source of `{name}` does not build: {reason}"))
    });
    notices.collect()
}

/// Clients whose configuration is printed: one of each form.
const SHOWN: [&str; 5] = ["claude-code", "vscode", "cursor", "codex", "claude-desktop"];

/// Renders configuration to copy, and the command that writes it.
fn client_configs(address: SocketAddr, out: &Path) -> anyhow::Result<String> {
    let url = format!("http://{address}{}", ENDPOINT_PATH);
    let exe = std::env::current_exe().unwrap_or_else(|_| "loggia".into());
    let mut text = format!("\nloggia client add CLIENT --url {url}    configures a client; or copy:\n");
    for client in SHOWN.iter().filter_map(|name| find_client(name)) {
        let starts = client.name == "claude-desktop";
        let target = if starts {
            let args = vec!["serve".to_owned(), out.display().to_string()];
            ServerTarget::Stdio { command: exe.display().to_string(), args }
        } else {
            ServerTarget::Http { url: url.clone(), token: TokenOrigin::None }
        };
        let entry = render_entry(client, "loggia", &target).map_err(anyhow::Error::msg)?;
        let place = client.project.filter(|_| client.name == "vscode").unwrap_or(client.user.linux.path);
        let note = if starts { " (starts its own server for the same folder)" } else { "" };
        text.push_str(&format!("\n{}: {place}{note}\n", client.title));
        for line in render_snippet(client, "loggia", &entry)?.trim_end().lines() {
            text.push_str(&format!("    {line}\n"));
        }
    }
    Ok(text)
}
