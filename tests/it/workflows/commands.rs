//! `loggia workflow`, as a person or a script uses it.

use std::process::{Output, Stdio};

use anyhow::Result;
use loggia_tests::{binary, cache, scratch};
use serde_json::{Value, json};
use tokio::process::Command;

use super::stage::{Stage, Word, example};

struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ended {
    /// All of it, for a snapshot: without the folders of this machine.
    fn told(&self) -> String {
        let folder = example("refs").parent().map(|path| path.display().to_string()).unwrap_or_default();
        let text =
            format!("exit code {:?}\n--- stdout\n{}--- stderr\n{}", self.code, self.stdout, self.stderr);
        text.replace(&folder, "…")
    }
}

async fn workflow<S: AsRef<std::ffi::OsStr>>(words: impl IntoIterator<Item = S>) -> Result<Ended> {
    let Output { status, stdout, stderr } = Command::new(binary())
        .arg("workflow")
        .args(words)
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await?;
    Ok(Ended { code: status.code(), stdout: String::from_utf8(stdout)?, stderr: String::from_utf8(stderr)? })
}

fn path(name: &str) -> String {
    example(name).display().to_string()
}

#[tokio::test]
async fn check_is_silent_about_nothing_in_a_good_file() -> Result<()> {
    for name in ["research_topic", "investigate_incident", "multi_source_data", "steps", "template_syntax"] {
        let ended = workflow(["check", &path(name)]).await?;
        assert_eq!(ended.code, Some(0), "{name}: {}", ended.told());
    }
    Ok(())
}

#[tokio::test]
async fn check_tells_all_that_is_wrong_with_its_lines() -> Result<()> {
    let ended = workflow(["check", &path("validation_error")]).await?;
    assert_ne!(ended.code, Some(0));
    insta::assert_snapshot!("check_validation_error", ended.told());
    Ok(())
}

/// What ToolHive would make of a file that was written for it: its approval example never worked there.
#[tokio::test]
async fn check_tells_what_never_worked_in_toolhive() -> Result<()> {
    let ended = workflow(["check", &path("deploy_with_approval")]).await?;
    assert_eq!(ended.code, Some(0), "{}", ended.told());
    insta::assert_snapshot!("check_deploy_with_approval", ended.told());
    Ok(())
}

#[tokio::test]
async fn check_takes_several_files_and_fails_where_one_is_wrong() -> Result<()> {
    let good = workflow(["check", &path("research_topic"), &path("retry")]).await?;
    assert_eq!(good.code, Some(0), "{}", good.told());
    let bad = workflow(["check", &path("research_topic"), &path("validation_error")]).await?;
    assert_ne!(bad.code, Some(0), "{}", bad.told());
    let none = workflow(["check", "/nowhere/at/all.workflow.yaml"]).await?;
    assert_ne!(none.code, Some(0), "{}", none.told());
    assert!(none.told().contains("/nowhere/at/all.workflow.yaml"), "{}", none.told());
    Ok(())
}

#[tokio::test]
async fn graph_draws_the_steps() -> Result<()> {
    let ended = workflow(["graph", &path("deploy_with_approval")]).await?;
    insta::assert_snapshot!("graph_deploy_with_approval", ended.told());
    Ok(())
}

#[tokio::test]
async fn run_prints_the_result_and_its_exit_code_tells_how_it_went() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    let file = stage.plugins.path().join("research_topic.workflow.yaml").display().to_string();
    let words = ["run", &file, "research_topic", "query=tea"];
    let ended = workflow(words).await?;
    assert_eq!(ended.code, Some(0), "{}", ended.told());
    let envelope: Value = serde_json::from_str(&ended.stdout)?;
    assert!(envelope["data"]["text"].as_str().unwrap_or_default().contains("It works."), "{}", ended.told());
    assert_eq!(envelope["action"], "research_topic");
    for step in ["search", "download", "read"] {
        assert!(ended.stderr.contains(step), "{step}: {}", ended.told());
    }
    stage.says("download_paper", Word::Fails(1, "unavailable"));
    let failed = workflow(words).await?;
    assert_eq!(failed.code, Some(20), "{}", failed.told());
    let envelope: Value = serde_json::from_str(&failed.stdout)?;
    assert_eq!(envelope["details"]["step"], "download", "{}", failed.told());
    assert_eq!(envelope["details"]["completed"], json!(["search"]), "{}", failed.told());
    Ok(())
}

#[tokio::test]
async fn run_says_what_it_cannot_run() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    let file = stage.plugins.path().join("research_topic.workflow.yaml").display().to_string();
    for (words, expected) in [
        (vec!["run", &file, "reserch_topic", "query=tea"], "research_topic"),
        (vec!["run", &file, "research_topic"], "`query` is required"),
        (vec!["run", "/nowhere/at/all.workflow.yaml", "x"], "/nowhere/at/all.workflow.yaml"),
    ] {
        let ended = workflow(&words).await?;
        assert!(ended.code.is_some_and(|code| code != 0), "{words:?}: {}", ended.told());
        assert!(ended.told().contains(expected), "{words:?}: {}", ended.told());
    }
    assert_eq!(stage.calls(), []);
    Ok(())
}

#[tokio::test]
async fn eval_expands_a_template_or_says_why_not() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let context = folder.path().join("context.json");
    let steps = json!({"s": {"output": {"items": ["a", "b"], "n": 1_234_567}}});
    std::fs::write(&context, json!({"params": {"name": "tea"}, "steps": steps}).to_string())?;
    let context = context.display().to_string();
    for (template, expected) in [
        ("{{.params.name}}", "tea"),
        ("{{len .steps.s.output.items}} of {{.steps.s.output.n}}", "2 of 1234567"),
        ("{{json .steps.s.output.items}}", "[\"a\",\"b\"]"),
        ("{{.params.nothing}}", "<no value>"),
    ] {
        let ended = workflow(["eval", template, "--context", &context]).await?;
        assert_eq!(
            (ended.code, ended.stdout.trim_end()),
            (Some(0), expected),
            "{template}: {}",
            ended.told()
        );
    }
    for template in ["{{.params.name", "{{fromJson .params.name}}", "{{exec \"rm\"}}"] {
        let ended = workflow(["eval", template, "--context", &context]).await?;
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{template}: {}", ended.told());
        assert!(!ended.stderr.trim().is_empty(), "{template}");
    }
    for (template, code) in [("{{fromJson .params.name}}", 0), ("{{if}}", 1), ("{{exec 1}}", 1)] {
        let ended = workflow(["eval", template, "--parse"]).await?;
        assert_eq!(ended.code, Some(code), "{template}: {}", ended.told());
    }
    Ok(())
}
