//! `loggia upstream tools`.

use std::process::ExitCode;

use anyhow::{anyhow, bail};
use loggia_facade::{Action, Facade};
use loggia_schema::nearest;
use loggia_text::{printable, shorten};
use loggia_upstream::UpstreamFacade;
use serde_json::{Value, json};

use super::started::{SettingsOption, StartedUpstream, inspect};
use crate::cli::{columns, exit, term};

/// List the tools of an upstream, with the actions that they become.
///
/// Starts the upstream.
#[derive(clap::Args)]
pub struct ToolsCommand {
    /// Name of the upstream in the settings
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    settings: SettingsOption,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const HEAD: [&str; 4] = ["action", "tool", "effect", "summary"];
/// Longest summary in a table, in characters.
const SUMMARY: usize = 80;

impl ToolsCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let specs = self.settings.specs()?;
        let Some(spec) = specs.iter().find(|spec| spec.name == self.name).cloned() else {
            let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
            let hint = match nearest(&self.name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if names.is_empty() => "it has none".to_owned(),
                None => format!("there are {}", names.join(", ")),
            };
            let (file, name) = (self.settings.path().display(), printable(&self.name));
            term::print_error(&anyhow!("{file} has no upstream `{name}`; {hint}"));
            return Ok(ExitCode::from(exit::NOTHING));
        };
        let started = inspect(vec![spec])?.pop();
        let Some(StartedUpstream { tools, .. }) = started else { bail!("the upstream did not start") };
        let facade = match tools {
            Ok(facade) => facade,
            Err(reason) => {
                let reason = printable(&reason);
                term::print_error(&anyhow!("the upstream `{}` is unavailable: {reason}", self.name));
                return Ok(ExitCode::from(exit::REFUSED));
            }
        };
        if self.json {
            let all: Vec<Value> =
                facade.surface().actions.iter().map(|action| to_json(&facade, action)).collect();
            term::print(&format!("{:#}", Value::Array(all)));
        } else {
            let rows: Vec<_> =
                facade.surface().actions.iter().map(|action| to_row(&facade, action)).collect();
            if term::stdout_is_terminal() {
                term::print(&columns::build_table(&HEAD, &rows, HEAD.len()).to_string());
            } else {
                term::print(&columns::tab_separated(&HEAD, &rows));
            }
        }
        for problem in &facade.tools().problems {
            term::note(&printable(problem));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn tool_of(facade: &UpstreamFacade, action: &Action) -> String {
    facade.tools().routes.get(&action.name).map(|route| route.tool.clone()).unwrap_or_default()
}

fn to_row(facade: &UpstreamFacade, action: &Action) -> [String; 4] {
    let summary = action.summary.lines().next().unwrap_or_default();
    let tool = tool_of(facade, action);
    [
        action.name.clone(),
        printable(&tool).into_owned(),
        action.effect.as_str().to_owned(),
        printable(&shorten(summary, SUMMARY)).into_owned(),
    ]
}

fn to_json(facade: &UpstreamFacade, action: &Action) -> Value {
    json!({
        "action": action.name,
        "tool": tool_of(facade, action),
        "effect": action.effect.as_str(),
        "summary": action.summary,
    })
}
