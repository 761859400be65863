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

/// Try a template of a workflow: print what it gives
///
/// Templates are those of Go's text/template, with ToolHive's functions json, quote and fromJson:
///
///   loggia workflow eval '{{(index .steps.search.output.papers 0).id}}' --context run.json
///
/// Ends with 1 if it is no template, or fails.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Eval {
    /// The template
    template: String,
    /// The data that it sees, as JSON: {"params": {...}, "steps": {...}, "forEach": {...}}; - is stdin
    #[arg(long, value_name = "FILE", conflicts_with = "parse")]
    context: Option<PathBuf>,
    /// Only read the template, and print nothing if it is one
    #[arg(long)]
    parse: bool,
    /// Fail where the template would print something that is not there
    #[arg(long, conflicts_with = "parse")]
    strict: bool,
    /// Print JSON: the value that a step gets of a template that is one action, otherwise the text as a string
    #[arg(long, conflicts_with = "parse")]
    json: bool,
}

impl Eval {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        if let Some(text) = self.printed(std::io::stdin())? {
            term::out(&text);
        }
        Ok(ExitCode::SUCCESS)
    }

    /// What is printed, if anything is.
    fn printed(&self, stdin: impl Read) -> anyhow::Result<Option<String>> {
        let template = parsed(&self.template)?;
        if self.parse {
            return Ok(None);
        }
        let base = match &self.context {
            Some(path) => context(path, stdin)?,
            None => Object::new(),
        };
        // `forEach` is a name in the data like any other here.
        let expanded = template.expand(&TemplateScope { base: &base, for_each: None }, self.strict);
        let expanded = expanded.map_err(|error| match error.hint {
            Some(hint) => anyhow!("{}\n  {hint}", error.message),
            None => anyhow!(error.message),
        })?;
        Ok(Some(if self.json { json(expanded) } else { expanded.text }))
    }
}

fn parsed(source: &str) -> anyhow::Result<TextTemplate> {
    TextTemplate::parse(source).map_err(|error| match error.at.and_then(|at| source.get(..at)) {
        Some(before) => {
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
            anyhow!("line {line}, column {column}: {}", error.message)
        }
        None => anyhow!(error.message),
    })
}

fn context(path: &Path, mut stdin: impl Read) -> anyhow::Result<Object> {
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
            bail!("{name} is not a JSON object: it holds what a template sees, such as {{\"params\": {{}}}}")
        }
    }
}

fn json(expanded: ExpandedText) -> String {
    expanded.value.unwrap_or(Value::String(expanded.text)).to_string()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(clap::Parser)]
    struct Cli {
        #[command(flatten)]
        eval: Eval,
    }

    const DATA: &str = r#"{"params": {"title": "Milk", "n": 3, "list": [1, null]},
        "steps": {"my-step": {"output": {"text": "[{\"id\": 7}]"}}}, "forEach": {"item": "a", "index": 0}}"#;

    /// What the command prints, or its error.
    fn eval(words: &[&str], stdin: &str) -> String {
        let words = [&["eval"], words].concat();
        match Cli::try_parse_from(words).unwrap().eval.printed(stdin.as_bytes()) {
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
    fn strictly_what_is_missing_is_an_error() {
        let told = eval(&["{{.params.titel}}", "--strict", "--context", "-"], DATA);
        assert_eq!(
            told,
            "error: `.params.titel` is not there\n  `.params` has: list, n, title; did you mean `title`?"
        );
    }

    #[test]
    fn a_template_can_be_read_only() {
        assert_eq!(eval(&["{{.params.title}}", "--parse"], ""), "(nothing)");
        let told = eval(&["a\n  {{.steps.my-step.output}}", "--parse"], "");
        assert!(told.starts_with("error: line 2, column 11: `.my-step` is not read as one name"), "{told}");
        assert!(told.ends_with("write `(index .steps \"my-step\")`"), "{told}");
        assert!(Cli::try_parse_from(["eval", "{{.a}}", "--parse", "--strict"]).is_err());
    }

    #[test]
    fn data_that_is_no_object_is_told() {
        let check = |data: &str, expected: &str| {
            let told = eval(&["{{.a}}", "--context", "-"], data);
            assert!(told.starts_with(expected), "{told}");
        };
        check("[]", "error: stdin is not a JSON object");
        check("{", "error: stdin is not valid JSON: EOF");
        let told = eval(&["{{.a}}", "--context", "/nowhere/run.json"], "");
        assert!(told.starts_with("error: failed to read /nowhere/run.json"), "{told}");
    }

    #[test]
    fn a_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        fs::write(&path, DATA).unwrap();
        assert_eq!(eval(&["{{.params.title}}", "--context", path.to_str().unwrap()], ""), "Milk");
    }
}
