//! `loggia tokens`.
//!
//! | file | concept |
//! |---|---|
//! | `file.rs` | reads and writes figures |
//! | `table.rs` | renders figures |
//! | `advice.rs` | finds facades that would be cheaper in another form |

mod advice;
mod file;
mod table;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Command, error::ErrorKind};
use loggia_gate::{
    catalog::UNSERVED_REASON,
    tokens::{ServedList, TokenFigures, compare_figures, measure_facades},
};
use loggia_policy::{
    clients::{ClientTraits, client_table},
    settings::Level,
};
use loggia_schema::PublishedTool;
use loggia_telemetry::logs;
use loggia_text::printable;
use loggia_workbench::loaded::{LoadedPlugin, catalog_slots, load_path};

use super::{
    clients::known_client,
    columns,
    common::{LoadOptions, report_no_plugins},
    exit,
    publishing::PublishOptions,
    term,
};

/// Count the tokens of the tool list, in every form.
///
/// A model reads the tool list on every turn. Counts the o200k_base tokens and the bytes of each tool's name,
/// description, input schema and annotations, without network access. Policies apply: denied actions are not counted.
/// `*` marks the form that is served. `granular` is the baseline: one tool per action, as a server without Loggia would
/// list them.
///
/// --compare prints the change of each form, and as `served` that of the list that clients get.
///
/// Exits with 1 if the served list exceeds --budget, with 10 if a plugin does not load (--output is not written then),
/// and with 11 if there are no plugins.
#[derive(clap::Args)]
pub struct TokensCommand {
    /// Plugin folder, or one plugin file. Optional if two files are compared
    #[arg(value_name = "DIR", required_unless_present = "compare")]
    path: Option<PathBuf>,
    /// Write the figures to this file, as JSON
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print JSON: the figures as in --output, or with --compare a list of changes
    #[arg(long)]
    json: bool,
    /// Compare a file of --output with a second one, or with DIR
    #[arg(long, value_name = "FILE", num_args = 1..=2)]
    compare: Vec<PathBuf>,
    /// Exit with 1 if the served list has more tokens than this
    #[arg(long, value_name = "N")]
    budget: Option<usize>,
    /// Count the list that this client is served (`loggia clients`) [default: other]
    #[arg(long, value_name = "NAME", value_parser = known_client)]
    client: Option<&'static ClientTraits>,
    #[command(flatten)]
    publishing: PublishOptions,
    #[command(flatten)]
    common: LoadOptions,
}

impl TokensCommand {
    pub fn run(mut self, cli: Command) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        // `--compare FILE DIR` is the same as `DIR --compare FILE`.
        if self.path.is_none() && self.compare.get(1).is_some_and(|path| path.is_dir()) {
            self.path = self.compare.pop();
        }
        let Some(path) = &self.path else { return self.compare_files(cli) };
        let plugins = load_path(path, &self.common.host_options()?)?;
        if plugins.is_empty() {
            return Ok(report_no_plugins(path));
        }
        self.measure_plugins(&plugins)
    }

    /// Compares two files, without plugins.
    fn compare_files(&self, mut cli: Command) -> anyhow::Result<ExitCode> {
        let wrong = match self.compare.as_slice() {
            [before, after] if self.output.is_none() && self.budget.is_none() => {
                self.print_changes(before, &file::read_figures(after)?)?;
                return Ok(ExitCode::SUCCESS);
            }
            [_, _] => "--output and --budget require a plugin folder: pass it as DIR",
            _ => "pass a second file, or a plugin folder as DIR",
        };
        let error = cli.error(ErrorKind::MissingRequiredArgument, wrong);
        error.print()?;
        Ok(ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(exit::FAILED)))
    }

    fn measure_plugins(&self, plugins: &[LoadedPlugin]) -> anyhow::Result<ExitCode> {
        let publisher =
            self.publishing.publisher(&self.common, self.client.unwrap_or(&client_table().unknown))?;
        let slots = catalog_slots(plugins);
        for name in publisher.unserved_names(&slots) {
            term::note(&format!("`{}` {UNSERVED_REASON}", printable(name)));
        }
        let mut shown = publisher.publish(&slots);
        // Unlisted facades cost a model nothing.
        shown.retain(|shown| shown.listed);
        let list = shown.iter().map(|shown| {
            let tools = shown.tools.iter().map(|tool| &**tool).collect();
            (shown.facade.as_str(), shown.expose.form, tools)
        });
        let list = ServedList::measure::<&PublishedTool>(list);
        let served = list.total;
        let entries: Vec<_> = plugins.iter().filter_map(|plugin| plugin.loaded.as_ref().ok()).collect();
        let contracts = entries.iter().map(|(entry, _)| (&entry.contract, publisher.expose(entry).split));
        let now = TokenFigures { served: Some(list), ..measure_facades(contracts) };
        let refused: Vec<&LoadedPlugin> = plugins.iter().filter(|plugin| plugin.loaded.is_err()).collect();
        for plugin in &refused {
            let why = plugin.refusal().unwrap_or_default();
            term::note(&format!("{}: {why}", printable(plugin.stem())));
        }
        match self.compare.as_slice() {
            [] if self.json => term::print(&serde_json::to_string_pretty(&now)?),
            [] => term::print(&table::render_figures(&now, &shown, served)),
            [before] => self.print_changes(before, &now)?,
            [before, after, ..] => self.print_changes(before, &file::read_figures(after)?)?,
        }
        if self.compare.is_empty() && !self.json {
            let advice =
                entries.iter().filter_map(|(entry, _)| advice::advise_granular(&entry.contract, &shown));
            advice.for_each(|advice| term::note(&advice));
        }
        if let Some(path) = &self.output
            && refused.is_empty()
        {
            file::write_figures(path, &now)?;
        }
        if let Some(budget) = self.budget
            && served.tokens > budget
        {
            term::note(&format!(
                "the served tool list has {} tokens, {} more than the budget of {budget}",
                served.tokens,
                served.tokens - budget
            ));
            return Ok(ExitCode::from(exit::FAILED));
        }
        if !refused.is_empty() {
            term::note(&format!("{} of {} would not be served", refused.len(), plugins.len()));
            return Ok(ExitCode::from(exit::REFUSED));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn print_changes(&self, before: &Path, after: &TokenFigures) -> anyhow::Result<()> {
        let figures = file::read_figures(before)?;
        let changes = compare_figures(&figures, after);
        if self.json {
            term::print(&serde_json::to_string_pretty(&changes)?);
        } else {
            term::print(&table::render_changes(&changes));
        }
        if figures.served.is_none() || after.served.is_none() {
            term::note(
                "some figures do not record the served forms, so only the forms are compared; write them again with \
                 `loggia tokens DIR --output FILE`",
            );
        }
        Ok(())
    }
}
