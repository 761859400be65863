//! `loggia policy explain`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, anyhow, ensure};
use loggia_text::printable;

use super::{
    explanation::{Explanation, Subject, explain},
    shown,
    shown::Style,
};
use crate::{
    cli::{
        common::Common,
        exit,
        loaded::{Plugin, load},
        term,
    },
    config::{Policy, places, policy::nearest},
    load::stem,
    telemetry::{logs, logs::Level},
};

/// Say in plain words what a plugin may do, itself and by calling others.
///
/// Names each directory, each host, each secret (never its value), and what can be reached through the facades that it
/// may call; what it wants and may not have; and warns where what it can read can leave this machine.
///
/// Ends with 10 if the plugin does not load, because of its policy or otherwise, and with 11 if there is none of that
/// name.
#[derive(clap::Args)]
pub struct Explain {
    /// The facade, or a .wasm, .workflow.yaml or .toml file
    #[arg(value_name = "NAME|FILE")]
    name: String,
    /// The folder of plugins, where a name is given
    #[arg(long, value_name = "DIR", default_value = "plugins")]
    plugins: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

/// A plugin of the folder with its policy.
struct Known<'a> {
    plugin: &'a Plugin,
    policy: Policy,
}

impl Explain {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Error);
        let file = file(&self.name);
        let folder = match file {
            Some(file) => {
                file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
            }
            None => &self.plugins,
        };
        ensure!(
            folder.is_dir(),
            "there is no folder {}: name the one that holds the plugins",
            folder.display()
        );
        let plugins = load(folder, &self.common.options()?)?;
        let wanted = match file {
            Some(file) => {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                stem(name.strip_suffix(".toml").unwrap_or(&name)).to_owned()
            }
            None => self.name.clone(),
        };
        let of_file = || plugins.iter().find(|plugin| plugin.stem() == wanted);
        let plugin = match file {
            Some(_) => of_file(),
            None => plugins.iter().find(|plugin| name(plugin) == wanted).or_else(of_file),
        };
        let known = known(&plugins, folder)?;
        let explanation = match plugin {
            Some(plugin) => {
                if let Some(why) = plugin.refusal() {
                    term::error(&anyhow!("{}: {why}", printable(&wanted)));
                    return Ok(ExitCode::from(exit::REFUSED));
                }
                of_plugin(name(plugin), &known)
            }
            None => {
                let path = folder.join(format!("{wanted}.toml"));
                if !path.exists() {
                    return Ok(nothing(&wanted, folder, &plugins));
                }
                match read(&path)? {
                    Ok(policy) => of_policy(&wanted, &policy, &known),
                    Err(error) => {
                        term::error(&anyhow!("the policy {} cannot be used: {error}", path.display()));
                        return Ok(ExitCode::from(exit::REFUSED));
                    }
                }
            }
        };
        let explanation = explanation.context("there is nothing to explain")?;
        if self.json {
            term::out(&serde_json::to_string_pretty(&explanation)?);
        } else {
            let colours = term::stdout_is_terminal() && std::env::var_os("NO_COLOR").is_none();
            term::out(&shown::text(&explanation, if colours { Style::Coloured } else { Style::Plain }));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The file that is meant, if it is not a facade's name: names have neither slashes nor dots.
fn file(name: &str) -> Option<&Path> {
    let path = Path::new(name);
    let endings = ["wasm", "toml", "yaml", "yml"];
    let named = path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known));
    (named || name.contains('/')).then_some(path)
}

/// Under which name a plugin serves; its file's, where it does not load.
fn name(plugin: &Plugin) -> &str {
    plugin.loaded.as_ref().map_or(plugin.stem(), |(entry, _)| &entry.surface().name)
}

/// The plugins that serve, with their policies.
fn known<'a>(plugins: &'a [Plugin], folder: &Path) -> anyhow::Result<Vec<Known<'a>>> {
    let mut known = Vec::new();
    for plugin in plugins.iter().filter(|plugin| plugin.loaded.is_ok()) {
        let path = folder.join(format!("{}.toml", plugin.stem()));
        let mut policy = if path.exists() {
            read(&path)?.context("a policy changed just now")?
        } else {
            Policy::default()
        };
        if let Ok((entry, _)) = &plugin.loaded {
            // Of workflows more follows than the policy says.
            policy.rules = entry.rules.clone();
        }
        known.push(Known { plugin, policy });
    }
    Ok(known)
}

fn read(path: &Path) -> anyhow::Result<Result<Policy, crate::config::PolicyError>> {
    let text = fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
    let folder = std::path::absolute(path)?.parent().map(Path::to_owned).unwrap_or_default();
    Ok(Policy::parse(&text, &places::setting(&folder)))
}

fn subjects<'a>(known: &'a [Known<'a>]) -> impl Iterator<Item = Subject<'a>> {
    known.iter().map(|Known { plugin, policy }| {
        let surface = plugin.loaded.as_ref().ok().map(|(entry, _)| &**entry.surface());
        Subject { name: name(plugin), policy, surface }
    })
}

fn of_plugin(wanted: &str, known: &[Known<'_>]) -> Option<Explanation> {
    let (mut first, others): (Vec<_>, Vec<_>) = subjects(known).partition(|subject| subject.name == wanted);
    first.extend(others);
    explain(&first)
}

/// A policy whose plugin is not there.
fn of_policy(wanted: &str, policy: &Policy, known: &[Known<'_>]) -> Option<Explanation> {
    let name = policy.expose.name.as_deref().unwrap_or(wanted);
    let first = Subject { name, policy, surface: None };
    let others = subjects(known).filter(|subject| subject.name != name);
    explain(&std::iter::once(first).chain(others).collect::<Vec<_>>())
}

fn nothing(wanted: &str, folder: &Path, plugins: &[Plugin]) -> ExitCode {
    let names: Vec<&str> = plugins.iter().map(name).collect();
    let near = match nearest(wanted, names.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if names.is_empty() => "; there is no plugin at all".to_owned(),
        None => format!("; there are {}", names.join(", ")),
    };
    let said = format!("there is no plugin `{wanted}` in {}{near}", folder.display());
    term::error(&anyhow!("{}", printable(&said)));
    ExitCode::from(exit::NOTHING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_told_from_a_file() {
        let check = |text: &str, expected: bool| assert_eq!(file(text).is_some(), expected, "{text}");
        check("notes", false);
        check("notes.wasm", true);
        check("notes.toml", true);
        check("plugins/notes.toml", true);
        check("./notes", true);
        check("notes.txt", false);
    }
}
