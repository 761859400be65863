//! `loggia tokens`.
//!
//! | file | concept |
//! |---|---|
//! | `file.rs` | figures in a file |
//! | `table.rs` | figures as they are shown |
//! | `advice.rs` | where another form would be cheaper |

mod advice;
mod file;
mod table;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Command, error::ErrorKind};
use loggia_gate::tokens::{Figures, ServedList, changes, figures};
use loggia_schema::PublishedTool;
use loggia_text::printable;

use super::{
    columns,
    common::Common,
    exit,
    loaded::{Plugin, load, nothing, slots},
    publishing::Publishing,
    term,
};
use crate::telemetry::{logs, logs::Level};

/// Say what the tool list costs a model that reads it on every turn, in every form.
///
/// Counts tokens of o200k_base and bytes of each tool's name, description, input schema and annotations, without a
/// network. Policies apply: what they deny is not listed. The form that is served is marked `*`. `granular` is what the
/// others are measured by: one tool for each action, as a server without Loggia would list them.
///
/// --compare tells for each form what changed, and as `served` what changed of the list that clients get.
///
/// Ends with 1 if the list takes more than --budget as it is served, with 10 if a plugin does not load (no file is
/// written then), and with 11 if there is none.
#[derive(clap::Args)]
pub struct Tokens {
    /// A folder of .wasm files, or one of them; not needed to compare two files
    #[arg(value_name = "DIR", required_unless_present = "compare")]
    path: Option<PathBuf>,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print JSON: the figures as --output writes them, or with --compare a list of changes
    #[arg(long)]
    json: bool,
    /// Compare what was written before with what was written after, or with DIR as it is
    #[arg(long, value_name = "FILE", num_args = 1..=2)]
    compare: Vec<PathBuf>,
    /// End with 1 if the whole list takes more than this many tokens as it is served
    #[arg(long, value_name = "N")]
    budget: Option<usize>,
    #[command(flatten)]
    publishing: Publishing,
    #[command(flatten)]
    common: Common,
}

impl Tokens {
    pub fn run(mut self, cli: Command) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        // `--compare FILE DIR` says the same as `DIR --compare FILE`.
        if self.path.is_none() && self.compare.get(1).is_some_and(|path| path.is_dir()) {
            self.path = self.compare.pop();
        }
        let Some(path) = &self.path else { return self.of_files(cli) };
        let plugins = load(path, &self.common.options()?)?;
        if plugins.is_empty() {
            return Ok(nothing(path));
        }
        self.of_plugins(&plugins)
    }

    /// Two files and nothing else.
    fn of_files(&self, mut cli: Command) -> anyhow::Result<ExitCode> {
        let wrong = match self.compare.as_slice() {
            [before, after] if self.output.is_none() && self.budget.is_none() => {
                self.compare(before, &file::read(after)?)?;
                return Ok(ExitCode::SUCCESS);
            }
            [_, _] => "--output and --budget are about a folder of plugins: name it as DIR",
            _ => "name a second file, or the folder of plugins as DIR",
        };
        let error = cli.error(ErrorKind::MissingRequiredArgument, wrong);
        error.print()?;
        Ok(ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(exit::FAILED)))
    }

    fn of_plugins(&self, plugins: &[Plugin]) -> anyhow::Result<ExitCode> {
        let publisher = self.publishing.publisher();
        let slots = slots(plugins);
        let shown = publisher.shown(&slots);
        let list = shown.iter().map(|shown| {
            let tools = shown.tools.iter().map(|tool| &**tool).collect();
            (shown.facade.as_str(), shown.expose.form, tools)
        });
        let list = ServedList::of::<&PublishedTool>(list);
        let served = list.total;
        let entries: Vec<_> = plugins.iter().filter_map(|plugin| plugin.loaded.as_ref().ok()).collect();
        let contracts = entries.iter().map(|(entry, _)| (&entry.contract, publisher.expose(entry).split));
        let now = Figures { served: Some(list), ..figures(contracts) };
        let refused: Vec<&Plugin> = plugins.iter().filter(|plugin| plugin.loaded.is_err()).collect();
        for plugin in &refused {
            let why = plugin.refusal().unwrap_or_default();
            term::note(&format!("{}: {why}", printable(plugin.stem())));
        }
        match self.compare.as_slice() {
            [] if self.json => term::out(&serde_json::to_string_pretty(&now)?),
            [] => term::out(&table::figures(&now, &shown, served)),
            [before] => self.compare(before, &now)?,
            [before, after, ..] => self.compare(before, &file::read(after)?)?,
        }
        if self.compare.is_empty() && !self.json {
            let advice = entries.iter().filter_map(|(entry, _)| advice::on(&entry.contract, &shown));
            advice.for_each(|advice| term::note(&advice));
        }
        if let Some(path) = &self.output
            && refused.is_empty()
        {
            file::write(path, &now)?;
        }
        if let Some(budget) = self.budget
            && served.tokens > budget
        {
            term::note(&format!(
                "the tool list takes {} tokens as it is served, {} more than the budget of {budget}",
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

    fn compare(&self, before: &Path, after: &Figures) -> anyhow::Result<()> {
        let figures = file::read(before)?;
        let changes = changes(&figures, after);
        if self.json {
            term::out(&serde_json::to_string_pretty(&changes)?);
        } else {
            term::out(&table::changes(&changes));
        }
        if figures.served.is_none() || after.served.is_none() {
            term::note(
                "not all figures say which forms were served, so only the forms are compared: write them anew with \
                 `loggia tokens DIR --output FILE`",
            );
        }
        Ok(())
    }
}
