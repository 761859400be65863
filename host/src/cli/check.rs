//! `loggia check`.

use std::{path::PathBuf, process::ExitCode};

use loggia_gate::{
    catalog::{HIDDEN_REASON, ToolList, UNSERVED_REASON},
    guard::GuardRule,
};
use loggia_load::{FacadeKind, FileKind};
use loggia_policy::clients::client_table;
use loggia_policy::settings::Level;
use loggia_schema::{lint, lint_parameters};
use loggia_telemetry::logs;
use loggia_text::printable;
use loggia_workbench::loaded::{LoadedGuard, LoadedPlugin, catalog_slots, load_with_guards};
use serde_json::{Value, json};

use super::{
    columns,
    common::{LoadOptions, report_no_plugins},
    exit,
    publishing::PublishOptions,
    term,
};

/// Load plugins without serving them, and report problems.
///
/// Lists below the plugins what they need and their policies do not grant, texts that look like instructions to a model or are hidden from people, parameters
/// whose types models fill in wrongly, what some clients would reject or truncate in their tools, and workflows that call missing facades. None of it prevents serving; such a workflow works once its
/// facades are served.
///
/// Exits with 0 if every plugin would be served; with 10 if one would not (it does not load, or another file owns its
/// name), if a guard of the settings does not load, or if a workflow cannot run until something is changed (it calls an unknown action, passes an unknown
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
const GUARD_HEAD: [&str; 2] = ["guard", "looks at"];
const BLOCKED_HEAD: [&str; 2] = ["workflows", "cannot run until changed"];

impl CheckCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Error);
        let (plugins, guards) = load_with_guards(&self.path, &self.common.host_options()?)?;
        if plugins.is_empty() {
            return Ok(report_no_plugins(&self.path));
        }
        let mut findings = lacking_rows(&plugins);
        findings.extend(flag_rows(&plugins));
        findings.extend(parameter_rows(&plugins));
        findings.extend(self.lint_tools(&plugins)?);
        if self.json {
            term::print(&serde_json::to_string_pretty(&to_json(&plugins, &findings, &guards))?);
        } else {
            print_tables(&plugins, &findings, &guards);
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
        let unready = guards.iter().filter(|guard| !guard.is_ready).count();
        if unready > 0 {
            let does = if unready == 1 { " does" } else { "s do" };
            term::note(&format!("{unready} guard{does} not load: no call is made that it would look at"));
        }
        Ok(if refused + blocked + unready > 0 { ExitCode::from(exit::REFUSED) } else { ExitCode::SUCCESS })
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

/// Builds rows of grants that plugins need and their policies lack.
fn lacking_rows(plugins: &[LoadedPlugin]) -> Vec<[String; 2]> {
    let loaded = plugins.iter().filter_map(|plugin| plugin.loaded.as_ref().ok());
    let lacking = loaded
        .flat_map(|(entry, facts)| facts.lacking.iter().map(|lacking| (&entry.surface().name, lacking)));
    lacking.map(|(name, lacking)| [name.clone(), lacking.to_string()]).collect()
}

/// Builds rows of texts that look like instructions to a model, or are hidden from people.
fn flag_rows(plugins: &[LoadedPlugin]) -> Vec<[String; 2]> {
    let loaded = plugins.iter().filter_map(|plugin| plugin.loaded.as_ref().ok());
    let flags =
        loaded.flat_map(|(entry, facts)| facts.flags.iter().map(|flag| (&entry.surface().name, flag)));
    flags.map(|(name, flag)| [name.clone(), printable(&flag.to_string()).into_owned()]).collect()
}

/// Builds rows of parameters that models fill in wrongly. Only of components, whose author can change them.
fn parameter_rows(plugins: &[LoadedPlugin]) -> Vec<[String; 2]> {
    let is_component = |plugin: &&LoadedPlugin| plugin.kind() == FacadeKind::File(FileKind::Component);
    let loaded = plugins.iter().filter(is_component).filter_map(|plugin| plugin.loaded.as_ref().ok());
    let rows = loaded.flat_map(|(entry, _)| {
        let name = &entry.surface().name;
        let findings = lint_parameters(&entry.contract).into_iter();
        findings.map(move |finding| [name.clone(), printable(&finding.to_string()).into_owned()])
    });
    rows.collect()
}

/// Prints tables for people, lines for programs.
fn print_tables(plugins: &[LoadedPlugin], findings: &[[String; 2]], guards: &[LoadedGuard]) {
    let guards: Vec<_> = guards.iter().map(|guard| guard_row(guard, plugins)).collect();
    let rows: Vec<_> = plugins.iter().map(plugin_row).collect();
    let of =
        |temporary: bool| plugins.iter().flat_map(move |plugin| blocked_rows(plugin, temporary)).collect();
    let (waiting, blocked): (Vec<_>, Vec<_>) = (of(true), of(false));
    let further = [
        (FINDING_HEAD, findings),
        (WAITING_HEAD, &waiting[..]),
        (BLOCKED_HEAD, &blocked[..]),
        (GUARD_HEAD, &guards[..]),
    ];
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

/// Builds the row of a guard: the plugins whose calls it looks at, and what of them.
fn guard_row(LoadedGuard { rule, is_ready }: &LoadedGuard, plugins: &[LoadedPlugin]) -> [String; 2] {
    let facades = guarded_facades(rule, plugins).join(", ");
    let moments = match (rule.before, rule.after) {
        (true, false) => "calls",
        (false, true) => "results",
        _ => "calls and results",
    };
    let state = if *is_ready { "" } else { "; it does not load, so none is made" };
    let facades = if facades.is_empty() { "no plugin".to_owned() } else { facades };
    [rule.name.clone(), format!("{moments} of {facades}{state}")]
}

/// Names the plugins whose calls a guard looks at.
fn guarded_facades<'a>(rule: &GuardRule, plugins: &'a [LoadedPlugin]) -> Vec<&'a str> {
    let loaded = plugins.iter().filter_map(|plugin| plugin.loaded.as_ref().ok());
    let names = loaded.map(|(entry, _)| entry.surface().name.as_str());
    names.filter(|name| rule.covers(name)).collect()
}

/// Builds rows of workflows that cannot run: temporarily, or until something is changed.
fn blocked_rows(plugin: &LoadedPlugin, temporary: bool) -> impl Iterator<Item = [String; 2]> {
    let blocked = plugin.blocked.iter().filter(move |blocked| blocked.is_temporary() == temporary);
    blocked
        .map(|message| [printable(plugin.stem()).into_owned(), printable(&message.to_string()).into_owned()])
}

/// Renders `{"plugins": [{"file", "name", "ok", "actions", "unpublished": [{"action", "needs"}], "imports", "bytes"} or {"file", "name", "ok", "error"}],
/// "findings": [{"tool", "finding"}], "workflows": [{"file", "name", "temporary", "problems"}], "guards": [{"guard", "ok", "facades",
/// "before", "after"}]}`; `guards` only if there are any.
fn to_json(plugins: &[LoadedPlugin], findings: &[[String; 2]], guards: &[LoadedGuard]) -> Value {
    let guards: Vec<_> = guards
        .iter()
        .map(|LoadedGuard { rule, is_ready }| {
            let facades = guarded_facades(rule, plugins);
            json!({"guard": rule.name, "ok": is_ready, "facades": facades, "before": rule.before, "after": rule.after})
        })
        .collect();
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
    let mut report = json!({
        "plugins": plugins.iter().map(plugin_json).collect::<Vec<_>>(),
        "findings": findings.collect::<Vec<_>>(),
        "workflows": workflows.collect::<Vec<_>>(),
    });
    if !guards.is_empty() {
        report["guards"] = guards.into();
    }
    report
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
