//! `loggia check`.

use std::{path::PathBuf, process::ExitCode};

use loggia_gate::catalog::{HIDDEN_REASON, ToolList, UNSERVED_REASON};
use loggia_policy::clients::client_table;
use loggia_policy::settings::Level;
use loggia_schema::lint;
use loggia_text::printable;
use serde_json::{Value, json};

use super::{
    columns,
    common::LoadOptions,
    exit,
    loaded::{LoadedPlugin, catalog_slots, load_path, report_no_plugins},
    publishing::PublishOptions,
    term,
};
use crate::telemetry::logs;

/// Load plugins without serving them, and report problems.
///
/// Lists below the plugins what some clients would reject or truncate in their tools, and workflows that call missing
/// facades. Neither prevents serving; such a workflow works once its facades are served.
///
/// Exits with 0 if every plugin would be served; with 10 if one would not (it does not load, or another file owns its
/// name), or if a workflow cannot run until something is changed (it calls an unknown action, passes an unknown
/// argument, calls itself, or declares itself read-only but is not); and with 11 if there are no plugins.
#[derive(clap::Args)]
pub struct CheckCommand {
    /// A .wasm or .workflow.yaml file, or a folder of them
    #[arg(value_name = "FILE|DIR")]
    path: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    publishing: PublishOptions,
    #[command(flatten)]
    common: LoadOptions,
}

const PLUGIN_HEAD: [&str; 4] = ["name", "actions", "imports", "size"];
/// Column of numbers.
const SIZE_COLUMN: usize = 3;
const FINDING_HEAD: [&str; 2] = ["tool", "finding"];
const WAITING_HEAD: [&str; 2] = ["workflows", "cannot run yet"];
const BLOCKED_HEAD: [&str; 2] = ["workflows", "cannot run until changed"];

impl CheckCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Error);
        let plugins = load_path(&self.path, &self.common.host_options()?)?;
        if plugins.is_empty() {
            return Ok(report_no_plugins(&self.path));
        }
        let findings = self.lint_tools(&plugins)?;
        if self.json {
            term::print(&serde_json::to_string_pretty(&to_json(&plugins, &findings))?);
        } else {
            print_tables(&plugins, &findings);
        }
        let refused = plugins.iter().filter(|plugin| plugin.loaded.is_err()).count();
        if refused > 0 {
            term::note(&format!("{refused} of {} would not be served", plugins.len()));
        }
        let blocked = plugins.iter().flat_map(|plugin| &plugin.blocked);
        let blocked = blocked.filter(|blocked| !blocked.is_temporary()).count();
        if blocked > 0 {
            let plural = if blocked == 1 { "" } else { "s" };
            term::note(&format!("{blocked} workflow{plural} cannot run until something is changed"));
        }
        Ok(if refused + blocked > 0 { ExitCode::from(exit::REFUSED) } else { ExitCode::SUCCESS })
    }

    /// Lints the tools as they would be published.
    fn lint_tools(&self, plugins: &[LoadedPlugin]) -> anyhow::Result<Vec<[String; 2]>> {
        let (publisher, slots) =
            (self.publishing.publisher(&self.common, &client_table().unknown)?, catalog_slots(plugins));
        let shown = publisher.publish(&slots);
        let hidden = shown.iter().flat_map(|shown| shown.hidden.iter().map(|tool| (&shown.facade, tool)));
        let hidden = hidden.map(|(facade, tool)| {
            let message = format!("the tool of `{facade}` {}", HIDDEN_REASON);
            [printable(tool).into_owned(), printable(&message).into_owned()]
        });
        let unserved = publisher.unserved_names(&slots);
        let unserved = unserved.map(|name| [printable(name).into_owned(), UNSERVED_REASON.to_owned()]);
        let list = ToolList::new(&shown);
        let findings = list.listed().flat_map(|(name, tool)| {
            let findings = lint(&tool.published).into_iter();
            findings.map(|finding| [name.clone(), printable(&finding.to_string()).into_owned()])
        });
        Ok(unserved.chain(hidden).chain(findings).collect())
    }
}

/// Prints tables for people, lines for programs.
fn print_tables(plugins: &[LoadedPlugin], findings: &[[String; 2]]) {
    let rows: Vec<_> = plugins.iter().map(plugin_row).collect();
    let of =
        |temporary: bool| plugins.iter().flat_map(move |plugin| blocked_rows(plugin, temporary)).collect();
    let (waiting, blocked): (Vec<_>, Vec<_>) = (of(true), of(false));
    let further = [(FINDING_HEAD, findings), (WAITING_HEAD, &waiting[..]), (BLOCKED_HEAD, &blocked[..])];
    let further = further.iter().filter(|(_, rows)| !rows.is_empty());
    if term::stdout_is_terminal() {
        term::print(&columns::build_table(&PLUGIN_HEAD, &rows, SIZE_COLUMN).to_string());
        further
            .for_each(|(head, rows)| term::print(&columns::build_table(head, rows, head.len()).to_string()));
    } else {
        term::print(&columns::tab_separated(&PLUGIN_HEAD, &rows));
        further.for_each(|(head, rows)| term::print(&format!("\n{}", columns::tab_separated(head, rows))));
    }
}

/// Builds rows of workflows that cannot run: temporarily, or until something is changed.
fn blocked_rows(plugin: &LoadedPlugin, temporary: bool) -> impl Iterator<Item = [String; 2]> {
    let blocked = plugin.blocked.iter().filter(move |blocked| blocked.is_temporary() == temporary);
    blocked
        .map(|message| [printable(plugin.stem()).into_owned(), printable(&message.to_string()).into_owned()])
}

/// Renders `{"plugins": [{"file", "name", "ok", "actions", "unpublished": [{"action", "needs"}], "imports", "bytes"} or {"file", "name", "ok", "error"}],
/// "findings": [{"tool", "finding"}], "workflows": [{"file", "name", "temporary", "problems"}]}`.
fn to_json(plugins: &[LoadedPlugin], findings: &[[String; 2]]) -> Value {
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

fn plugin_json(plugin: &LoadedPlugin) -> Value {
    match &plugin.loaded {
        Ok((entry, facts)) => {
            let surface = entry.surface();
            let actions: Vec<&str> = surface.actions.iter().map(|action| action.name.as_str()).collect();
            let unmet = entry.contract.policy().unmet.iter();
            let unmet = unmet.map(|unmet| json!({"action": unmet.action, "needs": unmet.grant}));
            json!({
                "file": plugin.file,
                "name": surface.name,
                "ok": true,
                "actions": actions,
                "unpublished": unmet.collect::<Vec<_>>(),
                "imports": import_packages(&facts.imports),
                "bytes": facts.bytes,
            })
        }
        Err(why) => json!({"file": plugin.file, "name": plugin.stem(), "ok": false, "error": why}),
    }
}

fn plugin_row(plugin: &LoadedPlugin) -> [String; 4] {
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
    let unmet = entry.contract.policy().unmet.iter();
    let unmet = unmet.map(|unmet| format!("; without `{}`: no {}", unmet.grant, unmet.action));
    let actions = unmet.fold(actions.join(", "), |actions, unmet| actions + &unmet);
    [surface.name.clone(), actions, import_packages(&facts.imports).join(", "), size]
}

/// Lists the packages that a component imports from, without versions: what it could use if granted.
fn import_packages(imports: &[String]) -> Vec<&str> {
    let mut packages: Vec<&str> = imports.iter().filter_map(|name| name.split(['/', '@']).next()).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}
