//! `loggia workflow graph`.

use std::{path::PathBuf, process::ExitCode};

use anyhow::anyhow;
use loggia_schema::nearest;
use loggia_text::printable;
use loggia_workflow::{FileProblems, graph::render_mermaid};

use super::files;
use crate::cli::{exit, term};

/// Draw workflows, in Mermaid's words.
///
/// Prints a flowchart of the steps, what they wait for and under which condition they run; GitHub and many editors show
/// it as a picture.
///
/// Ends with 10 if the file has problems (`loggia workflow check` tells more), and with 11 if there is no such file or
/// workflow.
#[derive(clap::Args)]
pub struct Graph {
    /// The workflow file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// One of its workflows [default: all]
    #[arg(value_name = "TOOL")]
    tool: Option<String>,
}

impl Graph {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        if !self.file.is_file() {
            term::note(&format!("there is no file {}", self.file.display()));
            return Ok(ExitCode::from(exit::NOTHING));
        }
        let checked = files::check(std::slice::from_ref(&self.file))?;
        let Some(definition) = checked.first().and_then(|checked| checked.definition.as_ref()) else {
            let problems = FileProblems(checked.into_iter().flat_map(|checked| checked.problems).collect());
            let said = problems.to_string();
            term::error(&anyhow!("{}: {}", self.file.display(), printable(&said)));
            return Ok(ExitCode::from(exit::REFUSED));
        };
        let workflows = &definition.workflows;
        let wanted = |name: &str| self.tool.as_deref().is_none_or(|tool| tool == name);
        let drawn: Vec<_> = workflows.iter().filter(|workflow| wanted(&workflow.name)).collect();
        if drawn.is_empty() {
            let tool = self.tool.unwrap_or_default();
            let names: Vec<&str> = workflows.iter().map(|workflow| workflow.name.as_str()).collect();
            let near = match nearest(&tool, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", names.join(", ")),
            };
            let said = format!("there is no workflow `{tool}` in {}; {near}", self.file.display());
            term::error(&anyhow!("{}", printable(&said)));
            return Ok(ExitCode::from(exit::NOTHING));
        }
        let charts = drawn.iter().map(|workflow| match drawn.len() {
            1 => render_mermaid(workflow),
            _ => format!("%% {}\n{}", workflow.name, render_mermaid(workflow)),
        });
        term::out(charts.collect::<Vec<_>>().join("\n").trim_end());
        Ok(ExitCode::SUCCESS)
    }
}
