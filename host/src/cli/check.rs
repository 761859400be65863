//! `loggia check`.

use std::{path::PathBuf, process::ExitCode};

use loggia_gate::catalog::{HIDDEN, tools};
use loggia_schema::lint;
use loggia_text::printable;
use serde_json::{Value, json};

use super::{
    columns,
    common::Common,
    exit,
    loaded::{Plugin, load, nothing, slots},
    publishing::Publishing,
    term,
};
use crate::telemetry::{logs, logs::Level};

/// Load plugins without serving them, and say what is wrong.
///
/// What some client would reject of the tools, or show in part only, is listed below the plugins; they are served all
/// the same. So are workflows that call facades which are not there; they work as soon as these are.
///
/// Ends with 0 if every plugin would be served, with 10 if one would not (it does not load, or another owns its name) or
/// if a workflow can never run beside the facades that are there (it calls an action or gives an argument that does not
/// exist, calls itself, or says that it only reads), and with 11 if there is none.
#[derive(clap::Args)]
pub struct Check {
    /// A .wasm or .workflow.yaml file, or a folder of them
    #[arg(value_name = "FILE|DIR")]
    path: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
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
const BLOCKED: [&str; 2] = ["workflows", "what must be changed before one can run"];

impl Check {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Error);
        let plugins = load(&self.path, &self.common.options()?)?;
        if plugins.is_empty() {
            return Ok(nothing(&self.path));
        }
        let findings = self.findings(&plugins);
        if self.json {
            term::out(&serde_json::to_string_pretty(&as_json(&plugins, &findings))?);
        } else {
            print(&plugins, &findings);
        }
        let refused = plugins.iter().filter(|plugin| plugin.loaded.is_err()).count();
        if refused > 0 {
            term::note(&format!("{refused} of {} would not be served", plugins.len()));
        }
        let blocked = plugins.iter().flat_map(|plugin| &plugin.blocked);
        let blocked = blocked.filter(|blocked| !blocked.is_temporary()).count();
        if blocked > 0 {
            let plural = if blocked == 1 { "" } else { "s" };
            term::note(&format!("{blocked} workflow{plural} cannot run before something is changed"));
        }
        Ok(if refused + blocked > 0 { ExitCode::from(exit::REFUSED) } else { ExitCode::SUCCESS })
    }

    /// What clients would make of the tools, as they are published.
    fn findings(&self, plugins: &[Plugin]) -> Vec<[String; 2]> {
        let shown = self.publishing.publisher().shown(&slots(plugins));
        let hidden = shown.iter().flat_map(|shown| shown.hidden.iter().map(|tool| (&shown.facade, tool)));
        let hidden = hidden.map(|(facade, tool)| {
            let said = format!("of `{facade}` {}", HIDDEN);
            [printable(tool).into_owned(), printable(&said).into_owned()]
        });
        let tools = tools(&shown);
        let findings = tools.iter().flat_map(|(name, tool)| {
            let findings = lint(&tool.published).into_iter();
            findings.map(|finding| [name.clone(), printable(&finding.to_string()).into_owned()])
        });
        hidden.chain(findings).collect()
    }
}

/// Tables for a person, lines for a program.
fn print(plugins: &[Plugin], findings: &[[String; 2]]) {
    let rows: Vec<_> = plugins.iter().map(row).collect();
    let of = |temporary: bool| plugins.iter().flat_map(move |plugin| blocked(plugin, temporary)).collect();
    let (waiting, blocked): (Vec<_>, Vec<_>) = (of(true), of(false));
    let further = [(FINDINGS, findings), (WAITING, &waiting[..]), (BLOCKED, &blocked[..])];
    let further = further.iter().filter(|(_, rows)| !rows.is_empty());
    if term::stdout_is_terminal() {
        term::out(&columns::table(&HEAD, &rows, SIZE).to_string());
        further.for_each(|(head, rows)| term::out(&columns::table(head, rows, head.len()).to_string()));
    } else {
        term::out(&columns::lines(&HEAD, &rows));
        further.for_each(|(head, rows)| term::out(&format!("\n{}", columns::lines(head, rows))));
    }
}

/// A plugin's workflows that are served and cannot run: those that wait for a facade, or the others.
fn blocked(plugin: &Plugin, temporary: bool) -> impl Iterator<Item = [String; 2]> {
    let blocked = plugin.blocked.iter().filter(move |blocked| blocked.is_temporary() == temporary);
    blocked.map(|said| [printable(plugin.stem()).into_owned(), printable(&said.to_string()).into_owned()])
}

/// `{"plugins": [{"file", "name", "ok", "actions", "imports", "bytes"} or {"file", "name", "ok", "error"}], "findings":
/// [{"tool", "finding"}], "workflows": [{"file", "name", "temporary", "problems"}]}`.
fn as_json(plugins: &[Plugin], findings: &[[String; 2]]) -> Value {
    let findings = findings.iter().map(|[tool, finding]| json!({"tool": tool, "finding": finding}));
    let workflows = plugins.iter().flat_map(|plugin| {
        plugin.blocked.iter().map(|blocked| {
            json!({
                "file": plugin.file,
                "name": blocked.name,
                "temporary": blocked.is_temporary(),
                "problems": blocked.problems,
            })
        })
    });
    json!({
        "plugins": plugins.iter().map(plugin_json).collect::<Vec<_>>(),
        "findings": findings.collect::<Vec<_>>(),
        "workflows": workflows.collect::<Vec<_>>(),
    })
}

fn plugin_json(plugin: &Plugin) -> Value {
    match &plugin.loaded {
        Ok((entry, facts)) => {
            let surface = entry.surface();
            let actions: Vec<&str> = surface.actions.iter().map(|action| action.name.as_str()).collect();
            json!({
                "file": plugin.file,
                "name": surface.name,
                "ok": true,
                "actions": actions,
                "imports": packages(&facts.imports),
                "bytes": facts.bytes,
            })
        }
        Err(why) => json!({"file": plugin.file, "name": plugin.stem(), "ok": false, "error": why}),
    }
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
    [surface.name.clone(), actions.join(", "), packages(&facts.imports).join(", "), size]
}

/// The packages that a component imports from, without versions: what it could use, if it were granted.
fn packages(imports: &[String]) -> Vec<&str> {
    let mut packages: Vec<&str> = imports.iter().filter_map(|name| name.split(['/', '@']).next()).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}
