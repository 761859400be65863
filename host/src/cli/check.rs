//! `loggia check`.

use std::{path::PathBuf, process::ExitCode};

use loggia_schema::lint;

use super::{
    Common, columns, exit,
    loaded::{Plugin, load, nothing, slots},
    publishing::Publishing,
    term,
};
use crate::{
    gate::printable,
    publish,
    telemetry::logs::{self, Level},
};

/// Load plugins without serving them, and say what is wrong.
///
/// What some client would reject of the tools, or show in part only, is listed below the plugins; they are served all
/// the same. So are workflows that call facades which are not there; they work as soon as these are.
///
/// Ends with 0 if every plugin would be served, with 10 if one would not (it does not load, or another owns its name),
/// and with 11 if there is none.
#[derive(clap::Args)]
pub struct Check {
    /// A .wasm or .workflow.yaml file, or a folder of them
    #[arg(value_name = "FILE|DIR")]
    path: PathBuf,
    #[command(flatten)]
    publishing: Publishing,
    #[command(flatten)]
    common: Common,
}

const HEAD: [&str; 4] = ["name", "actions", "imports", "size"];
/// The size is a number.
const SIZE: usize = 3;
const FINDINGS: [&str; 2] = ["tool", "finding"];
const WAITING: [&str; 2] = ["workflows", "what keeps one from running"];

impl Check {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::at(Level::Error);
        let plugins = load(&self.path, &self.common.options()?)?;
        if plugins.is_empty() {
            return Ok(nothing(&self.path));
        }
        let rows: Vec<_> = plugins.iter().map(row).collect();
        let findings = self.findings(&plugins);
        let waiting: Vec<[String; 2]> = plugins.iter().flat_map(waiting).collect();
        if term::stdout_is_terminal() {
            term::out(&columns::table(&HEAD, &rows, SIZE).to_string());
            if !findings.is_empty() {
                term::out(&columns::table(&FINDINGS, &findings, FINDINGS.len()).to_string());
            }
            if !waiting.is_empty() {
                term::out(&columns::table(&WAITING, &waiting, WAITING.len()).to_string());
            }
        } else {
            term::out(&columns::lines(&HEAD, &rows));
            if !findings.is_empty() {
                term::out(&format!("\n{}", columns::lines(&FINDINGS, &findings)));
            }
            if !waiting.is_empty() {
                term::out(&format!("\n{}", columns::lines(&WAITING, &waiting)));
            }
        }
        let refused = plugins.iter().filter(|plugin| plugin.loaded.is_err()).count();
        if refused > 0 {
            term::note(&format!("{refused} of {} would not be served", rows.len()));
            return Ok(ExitCode::from(exit::REFUSED));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// What clients would make of the tools, as they are published.
    fn findings(&self, plugins: &[Plugin]) -> Vec<[String; 2]> {
        let shown = self.publishing.publisher().shown(&slots(plugins));
        let hidden = shown.iter().flat_map(|shown| shown.hidden.iter().map(|tool| (&shown.facade, tool)));
        let hidden = hidden.map(|(facade, tool)| {
            let said = format!("of `{facade}` {}", publish::HIDDEN);
            [printable(tool).into_owned(), printable(&said).into_owned()]
        });
        let tools = publish::tools(&shown);
        let findings = tools.iter().flat_map(|(name, tool)| {
            let findings = lint(&tool.published).into_iter();
            findings.map(|finding| [name.clone(), printable(&finding.to_string()).into_owned()])
        });
        hidden.chain(findings).collect()
    }
}

/// Workflows that are served, and cannot run before something else is.
fn waiting(plugin: &Plugin) -> impl Iterator<Item = [String; 2]> {
    plugin
        .unavailable
        .iter()
        .map(|said| [printable(plugin.stem()).into_owned(), printable(said).into_owned()])
}

fn row(plugin: &Plugin) -> [String; 4] {
    let (entry, facts) = match &plugin.loaded {
        Ok(loaded) => loaded,
        Err(_) => {
            let name = printable(plugin.stem()).into_owned();
            return [name, plugin.refusal().unwrap_or_default(), String::new(), String::new()];
        }
    };
    let surface = entry.surface();
    let actions: Vec<&str> = surface.actions.iter().map(|action| action.name.as_str()).collect();
    let size = format!("{} KB", facts.bytes.div_ceil(1000));
    [surface.name.clone(), actions.join(", "), imports(&facts.imports), size]
}

/// The packages that a component imports from, without versions: what it could use, if it were granted.
fn imports(names: &[String]) -> String {
    let mut packages: Vec<&str> = names.iter().filter_map(|name| name.split(['/', '@']).next()).collect();
    packages.sort_unstable();
    packages.dedup();
    packages.join(", ")
}
