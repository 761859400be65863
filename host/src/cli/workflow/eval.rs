//! `loggia workflow eval`.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, anyhow, bail};
use loggia_facade::Object;
use loggia_workflow::template::{ExpandedText, TemplateScope, TextTemplate};
use serde_json::Value;

use crate::cli::term;

/// Evaluate a template of a workflow and print its result
///
/// Templates have the syntax of Go's text/template, with ToolHive's functions json, quote and fromJson:
///
///   loggia workflow eval '{{(index .steps.search.output.papers 0).id}}' --context run.json
///
/// Exits with 1 if the template is invalid or fails.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct EvalCommand {
    /// Template
    template: String,
    /// Data of the template, as JSON: {"params": {...}, "steps": {...}, "forEach": {...}}; - is stdin
    #[arg(long, value_name = "FILE", conflicts_with = "parse")]
    context: Option<PathBuf>,
    /// Parse the template without evaluating it; prints nothing if it is valid
    #[arg(long)]
    parse: bool,
    /// Fail if the template would print a missing value
    #[arg(long, conflicts_with = "parse")]
    strict: bool,
    /// Print JSON: the value, as a step gets it, if the template is a single action; otherwise the text as a string
    #[arg(long, conflicts_with = "parse")]
    json: bool,
}

impl EvalCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        if let Some(text) = self.render(std::io::stdin())? {
            term::print(&text);
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Renders the output, if any.
    fn render(&self, stdin: impl Read) -> anyhow::Result<Option<String>> {
        let template = parse_template(&self.template)?;
        if self.parse {
            return Ok(None);
        }
        let base = match &self.context {
            Some(path) => read_context(path, stdin)?,
            None => Object::new(),
        };
        // Here `forEach` is plain data.
        let expanded = template.expand(&TemplateScope { base: &base, for_each: None }, self.strict);
        let expanded = expanded.map_err(|error| match error.hint {
            Some(hint) => anyhow!("{}\n  {hint}", error.message),
            None => anyhow!(error.message),
        })?;
        Ok(Some(if self.json { to_json(expanded) } else { expanded.text }))
    }
}

fn parse_template(source: &str) -> anyhow::Result<TextTemplate> {
    TextTemplate::parse(source).map_err(|error| match error.at.and_then(|at| source.get(..at)) {
        Some(before) => {
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
            anyhow!("line {line}, column {column}: {}", error.message)
        }
        None => anyhow!(error.message),
    })
}

fn read_context(path: &Path, mut stdin: impl Read) -> anyhow::Result<Object> {
    let (name, text) = if path == Path::new("-") {
        let mut text = String::new();
        stdin.read_to_string(&mut text).context("failed to read stdin")?;
        ("stdin".to_owned(), text)
    } else {
        let text = fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
        (path.display().to_string(), text)
    };
    match serde_json::from_str(&text).with_context(|| format!("{name} is not valid JSON"))? {
        Value::Object(object) => Ok(object),
        _ => {
            bail!("{name} is not a JSON object: write the data of the template, such as {{\"params\": {{}}}}")
        }
    }
}

fn to_json(expanded: ExpandedText) -> String {
    expanded.value.unwrap_or(Value::String(expanded.text)).to_string()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(clap::Parser)]
    struct Cli {
        #[command(flatten)]
        eval: EvalCommand,
    }

    const DATA: &str = r#"{"params": {"title": "Milk", "n": 3, "list": [1, null]},
        "steps": {"my-step": {"output": {"text": "[{\"id\": 7}]"}}}, "forEach": {"item": "a", "index": 0}}"#;

    /// Output of the command, or its error.
    fn eval(words: &[&str], stdin: &str) -> String {
        let words = [&["eval"], words].concat();
        match Cli::try_parse_from(words).unwrap().eval.render(stdin.as_bytes()) {
            Ok(Some(text)) => text,
            Ok(None) => "(nothing)".to_owned(),
            Err(error) => format!("error: {error:#}"),
        }
    }

    #[test]
    fn the_text_is_printed_as_it_is() {
        let check = |template: &str, expected: &str| {
            assert_eq!(eval(&[template, "--context", "-"], DATA), expected, "{template}");
        };
        check("# {{.params.title}}\n", "# Milk\n");
        check("{{.params.list}} {{.params.nope}}", "[1 <nil>] <no value>");
        check("{{(index (fromJson (index .steps \"my-step\").output.text) 0).id}}", "7");
        check("{{.forEach.item}}@{{.forEach.index}}", "a@0");
        check("{{len .params.n}}", "error: `len .params.n`: a number has no length");
        assert_eq!(eval(&["{{1}}{{.params}}"], "not read"), "1<no value>");
    }

    #[test]
    fn json_is_the_value_that_a_step_gets() {
        let check = |template: &str, expected: &str| {
            assert_eq!(eval(&[template, "--json", "--context", "-"], DATA), expected, "{template}");
        };
        check("{{.params.list}}", "[1,null]");
        check("{{.params.n}}", "3");
        check("n={{.params.n}}", "\"n=3\"");
        check("{{.params.nope}}", "\"<no value>\"");
    }

    #[test]
    fn strict_mode_rejects_missing_values() {
        let printed = eval(&["{{.params.titel}}", "--strict", "--context", "-"], DATA);
        assert_eq!(
            printed,
            "error: `.params.titel` does not exist\n  `.params` has: list, n, title; did you mean `title`?"
        );
    }

    #[test]
    fn a_template_can_be_parsed_without_evaluation() {
        assert_eq!(eval(&["{{.params.title}}", "--parse"], ""), "(nothing)");
        let printed = eval(&["a\n  {{.steps.my-step.output}}", "--parse"], "");
        assert!(
            printed
                .starts_with("error: line 2, column 11: `.my-step` is not one name because it contains `-`"),
            "{printed}"
        );
        assert!(printed.ends_with("write `(index .steps \"my-step\")`"), "{printed}");
        assert!(Cli::try_parse_from(["eval", "{{.a}}", "--parse", "--strict"]).is_err());
    }

    #[test]
    fn data_that_is_no_object_is_rejected() {
        let check = |data: &str, expected: &str| {
            let printed = eval(&["{{.a}}", "--context", "-"], data);
            assert!(printed.starts_with(expected), "{printed}");
        };
        check("[]", "error: stdin is not a JSON object");
        check("{", "error: stdin is not valid JSON: EOF");
        let printed = eval(&["{{.a}}", "--context", "/nowhere/run.json"], "");
        assert!(printed.starts_with("error: failed to read /nowhere/run.json"), "{printed}");
    }

    #[test]
    fn a_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        fs::write(&path, DATA).unwrap();
        assert_eq!(eval(&["{{.params.title}}", "--context", path.to_str().unwrap()], ""), "Milk");
    }
}
