//! `loggia policy explain`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, anyhow, ensure};
use loggia_load::{
    FacadeKind, FileKind,
    explain::{OutputStyle, PolicyExplanation, PolicySubject, explain, explain_guards, render_text},
    file_stem, places, to_roster,
};
use loggia_policy::{model::Policy, settings::Level};
use loggia_schema::nearest;
use loggia_telemetry::logs;
use loggia_text::printable;
use loggia_workbench::loaded::{LoadedPlugin, load_path};

use crate::cli::{common::LoadOptions, exit, term};

/// Explain what a plugin may do, itself and by calling others.
///
/// Lists directories, hosts and secrets (never their values), what the plugin can reach through facades that it may
/// call, and what it requests but is not granted. Warns if data that it can read can leave this machine.
///
/// Exits with 10 if the plugin does not load or its policy is invalid, and with 11 if there is no such plugin.
#[derive(clap::Args)]
pub struct ExplainCommand {
    /// Facade, or a .wasm, .workflow.yaml or .toml file
    #[arg(value_name = "NAME|FILE")]
    name: String,
    /// Plugin folder, if NAME is a facade [default: that of the settings file, or plugins]
    #[arg(long, value_name = "DIR")]
    plugins: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: LoadOptions,
}

/// A plugin of the folder, with its policy.
struct KnownPlugin<'a> {
    plugin: &'a LoadedPlugin,
    policy: Policy,
}

impl ExplainCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Error);
        let file = as_file(&self.name);
        let folder = match file {
            Some(file) => {
                file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
            }
            None => &self.common.plugin_folder(self.plugins.clone())?,
        };
        ensure!(folder.is_dir(), "there is no folder {}", folder.display());
        let options = self.common.host_options()?;
        let plugins = load_path(folder, &options)?;
        let wanted = match file {
            Some(file) => {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                file_stem(name.strip_suffix(".toml").unwrap_or(&name)).to_owned()
            }
            None => self.name.clone(),
        };
        let of_file = || plugins.iter().find(|plugin| plugin.stem() == wanted);
        let plugin = match file {
            Some(_) => of_file(),
            None => plugins.iter().find(|plugin| facade_name(plugin) == wanted).or_else(of_file),
        };
        let known = read_policies(&plugins, folder)?;
        let explanation = match plugin {
            Some(plugin) => {
                if let Some(why) = plugin.refusal() {
                    term::print_error(&anyhow!("{}: {why}", printable(&wanted)));
                    return Ok(ExitCode::from(exit::REFUSED));
                }
                explain_plugin(facade_name(plugin), &known)
            }
            None => {
                let path = folder.join(format!("{wanted}.toml"));
                if !path.exists() {
                    return Ok(report_unknown(&wanted, folder, &plugins));
                }
                match read_policy(&path)? {
                    Ok(policy) => explain_policy(&wanted, &policy, &known),
                    Err(error) => {
                        term::print_error(&anyhow!("the policy {} cannot be used: {error}", path.display()));
                        return Ok(ExitCode::from(exit::REFUSED));
                    }
                }
            }
        };
        let mut explanation = explanation.context("there is nothing to explain")?;
        explanation.guards = explain_guards(&to_roster(&options.guards), &explanation.facade);
        if self.json {
            term::print(&serde_json::to_string_pretty(&explanation)?);
        } else {
            let colours = term::stdout_is_terminal() && std::env::var_os("NO_COLOR").is_none();
            term::print(&render_text(
                &explanation,
                if colours { OutputStyle::Coloured } else { OutputStyle::Plain },
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Takes an argument for a file if it cannot be a facade name, which has neither slashes nor dots.
fn as_file(name: &str) -> Option<&Path> {
    let path = Path::new(name);
    let endings = ["wasm", "toml", "yaml", "yml"];
    let named = path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known));
    (named || name.contains('/')).then_some(path)
}

/// Name under which a plugin is served; its file's stem if it does not load.
fn facade_name(plugin: &LoadedPlugin) -> &str {
    plugin.loaded.as_ref().map_or(plugin.stem(), |(entry, _)| &entry.surface().name)
}

/// Reads the policies of the plugins that are served.
fn read_policies<'a>(plugins: &'a [LoadedPlugin], folder: &Path) -> anyhow::Result<Vec<KnownPlugin<'a>>> {
    let mut known = Vec::new();
    for plugin in plugins.iter().filter(|plugin| plugin.loaded.is_ok()) {
        let path = folder.join(format!("{}.toml", plugin.stem()));
        let mut policy = if path.exists() {
            read_policy(&path)?.context("a policy changed just now")?
        } else {
            Policy::default()
        };
        if let Ok((entry, _)) = &plugin.loaded {
            // The rules of a workflow follow from its steps, too.
            policy.rules = entry.rules.clone();
            // Only the plugin knows what its actions need.
            policy.terms.unmet = entry.contract.policy().unmet.clone();
        }
        known.push(KnownPlugin { plugin, policy });
    }
    Ok(known)
}

fn read_policy(path: &Path) -> anyhow::Result<Result<Policy, loggia_policy::file::PolicyError>> {
    let text = fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
    let folder = std::path::absolute(path)?.parent().map(Path::to_owned).unwrap_or_default();
    Ok(Policy::parse(&text, &places::setting(&folder)))
}

fn subjects<'a>(known: &'a [KnownPlugin<'a>]) -> impl Iterator<Item = PolicySubject<'a>> {
    known.iter().map(|KnownPlugin { plugin, policy }| {
        let surface = plugin.loaded.as_ref().ok().map(|(entry, _)| &**entry.surface());
        PolicySubject { name: facade_name(plugin), policy, surface, kind: plugin.kind() }
    })
}

fn explain_plugin(wanted: &str, known: &[KnownPlugin<'_>]) -> Option<PolicyExplanation> {
    let (mut first, others): (Vec<_>, Vec<_>) = subjects(known).partition(|subject| subject.name == wanted);
    first.extend(others);
    explain(&first)
}

/// Explains a policy whose plugin is missing.
fn explain_policy(wanted: &str, policy: &Policy, known: &[KnownPlugin<'_>]) -> Option<PolicyExplanation> {
    let name = policy.expose.name.as_deref().unwrap_or(wanted);
    let first = PolicySubject { name, policy, surface: None, kind: FacadeKind::File(FileKind::Component) };
    let others = subjects(known).filter(|subject| subject.name != name);
    explain(&std::iter::once(first).chain(others).collect::<Vec<_>>())
}

fn report_unknown(wanted: &str, folder: &Path, plugins: &[LoadedPlugin]) -> ExitCode {
    let names: Vec<&str> = plugins.iter().map(facade_name).collect();
    let near = match nearest(wanted, names.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if names.is_empty() => "; the folder has no plugins".to_owned(),
        None => format!("; it has {}", names.join(", ")),
    };
    let message = format!("there is no plugin `{wanted}` in {}{near}", folder.display());
    term::print_error(&anyhow!("{}", printable(&message)));
    ExitCode::from(exit::NOTHING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_files_are_distinguished() {
        let check = |text: &str, expected: bool| assert_eq!(as_file(text).is_some(), expected, "{text}");
        check("notes", false);
        check("notes.wasm", true);
        check("notes.toml", true);
        check("plugins/notes.toml", true);
        check("./notes", true);
        check("notes.txt", false);
    }
}
