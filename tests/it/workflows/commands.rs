//! `loggia workflow`, as a person or a script uses it.

use std::{
    ffi::OsStr,
    path::Path,
    process::{Output, Stdio},
};

use anyhow::{Context, Result};
use loggia_tests::{Folder, PATIENCE, binary, cache, scratch};
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

async fn workflow<S: AsRef<OsStr>>(words: impl IntoIterator<Item = S>) -> Result<Ended> {
    ended(Command::new(binary()).arg("workflow").args(words)).await
}

/// A command on a folder.
async fn loggia(words: &[&str], folder: &Path) -> Result<Ended> {
    ended(Command::new(binary()).args(words).arg(folder)).await
}

async fn ended(command: &mut Command) -> Result<Ended> {
    let Output { status, stdout, stderr } = command
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
async fn check_accepts_valid_files() -> Result<()> {
    for name in ["research_topic", "investigate_incident", "multi_source_data", "steps", "template_syntax"] {
        let ended = workflow(["check", &path(name)]).await?;
        assert_eq!(ended.code, Some(0), "{name}: {}", ended.told());
    }
    Ok(())
}

#[tokio::test]
async fn check_reports_all_problems_with_lines() -> Result<()> {
    let ended = workflow(["check", &path("validation_error")]).await?;
    assert_ne!(ended.code, Some(0));
    insta::assert_snapshot!("check_validation_error", ended.told());
    Ok(())
}

/// Differences from ToolHive: its approval example never worked there.
#[tokio::test]
async fn check_reports_differences_from_toolhive() -> Result<()> {
    let ended = workflow(["check", &path("deploy_with_approval")]).await?;
    assert_eq!(ended.code, Some(0), "{}", ended.told());
    insta::assert_snapshot!("check_deploy_with_approval", ended.told());
    Ok(())
}

#[tokio::test]
async fn check_fails_if_any_file_is_invalid() -> Result<()> {
    let good = workflow(["check", &path("research_topic"), &path("retry")]).await?;
    assert_eq!(good.code, Some(0), "{}", good.told());
    let bad = workflow(["check", &path("research_topic"), &path("validation_error")]).await?;
    assert_ne!(bad.code, Some(0), "{}", bad.told());
    let none = workflow(["check", "/nowhere/at/all.workflow.yaml"]).await?;
    assert_ne!(none.code, Some(0), "{}", none.told());
    assert!(none.told().contains("/nowhere/at/all.workflow.yaml"), "{}", none.told());
    Ok(())
}

/// The example files of the guide are valid.
#[tokio::test]
async fn check_agrees_with_the_guide() -> Result<()> {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/authors/workflows.md");
    let guide = std::fs::read_to_string(guide)?;
    let blocks: Vec<&str> =
        guide.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!blocks.is_empty());
    let folder = tempfile::tempdir()?;
    for (n, block) in blocks.into_iter().enumerate() {
        let path = folder.path().join(format!("guide{n}.workflow.yaml"));
        std::fs::write(&path, block)?;
        let ended = workflow([OsStr::new("check"), path.as_os_str()]).await?;
        assert_eq!(ended.code, Some(0), "{block}: {}", ended.told());
    }
    Ok(())
}

/// `check` also reports names that the host reserves and names that no tool may have.
#[tokio::test]
async fn check_reports_refused_plugins() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let named =
        |name: &str| format!("name: {name}\ndescription: D.\nsteps: [{{id: a, tool: backend.fetch}}]\n");
    for (file, text) in [
        ("described", named("describe")),
        ("status", named("run_status")),
        ("batches", named("batch")),
        ("upper", named("Upper")),
        ("My Flow", named("fetch")),
        ("incident-v1.2", named("fetch")),
        ("called", format!("facade: No Name\n{}", named("fetch"))),
    ] {
        let path = folder.path().join(format!("{file}.workflow.yaml"));
        std::fs::write(&path, text)?;
        let ended = workflow([OsStr::new("check"), path.as_os_str()]).await?;
        assert_eq!(ended.code, Some(10), "{file}: {}", ended.told());
    }
    Ok(())
}

#[tokio::test]
async fn graph_draws_the_steps() -> Result<()> {
    let ended = workflow(["graph", &path("deploy_with_approval")]).await?;
    insta::assert_snapshot!("graph_deploy_with_approval", ended.told());
    Ok(())
}

/// The words that run a workflow of a stage's folder.
fn run_words(stage: &Stage, name: &str, words: &[&str]) -> Vec<String> {
    let folder = stage.plugins.path();
    let file = folder.join(format!("{name}.workflow.yaml")).display().to_string();
    let words = words.iter().map(|word| (*word).to_owned());
    let options = ["--plugins".to_owned(), folder.display().to_string()];
    ["run".to_owned(), file].into_iter().chain(words).chain(options).collect()
}

#[tokio::test]
async fn run_prints_the_result_and_sets_exit_codes() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    let words = run_words(&stage, "research_topic", &["research_topic", "query=tea"]);
    let ended = workflow(&words).await?;
    assert_eq!(ended.code, Some(0), "{}", ended.told());
    let envelope: Value = serde_json::from_str(&ended.stdout)?;
    assert!(envelope["data"]["text"].as_str().unwrap_or_default().contains("It works."), "{}", ended.told());
    assert_eq!(envelope["action"], "research_topic");
    for step in ["search", "download", "read"] {
        assert!(ended.stderr.contains(step), "{step}: {}", ended.told());
    }
    stage.says("download_paper", Word::Fails(1, "unavailable"));
    let failed = workflow(&words).await?;
    assert_eq!(failed.code, Some(20), "{}", failed.told());
    let envelope: Value = serde_json::from_str(&failed.stdout)?;
    assert_eq!(envelope["details"]["step"], "download", "{}", failed.told());
    assert_eq!(envelope["details"]["completed"], json!(["search"]), "{}", failed.told());
    Ok(())
}

/// A file outside of the folder, whose only workflow needs no name.
#[tokio::test]
async fn run_takes_a_file_from_elsewhere() -> Result<()> {
    let stage = Stage::with(&["retry"]).await?;
    stage.plugins.remove("retry.workflow.yaml");
    let folder = stage.plugins.path().display().to_string();
    let ended = workflow(["run", &path("retry"), "--plugins", &folder]).await?;
    assert_eq!(ended.code, Some(0), "{}", ended.told());
    let envelope: Value = serde_json::from_str(&ended.stdout)?;
    assert_eq!(envelope["data"]["value"], 1_234_567, "{}", ended.told());
    Ok(())
}

#[tokio::test]
async fn run_in_a_script_uses_given_answers() -> Result<()> {
    let stage = Stage::with(&["deploy_with_approval"]).await?;
    for (answer, code, deployments) in [
        (Some("{\"approved\": true}"), 0, 1),
        (Some("{\"approved\": false}"), 0, 1),
        (Some("decline"), 20, 1),
        (None, 20, 1),
    ] {
        let mut words = vec!["pr_number=42"];
        words.extend(answer.map(|_| "--answer"));
        words.extend(answer);
        let ended = workflow(run_words(&stage, "deploy_with_approval", &words)).await?;
        assert_eq!(ended.code, Some(code), "{answer:?}: {}", ended.told());
        assert_eq!(stage.times("trigger_deployment"), deployments, "{answer:?}: {}", ended.told());
    }
    Ok(())
}

/// Ctrl-C stops the running steps and prints the completed ones.
#[tokio::test]
async fn run_is_interrupted() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    stage.says("download_paper", Word::Waits);
    let child = Command::new(binary())
        .arg("workflow")
        .args(run_words(&stage, "research_topic", &["query=tea"]))
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let pid = i32::try_from(child.id().context("it runs")?)?;
    stage.called("download_paper", 1).await;
    let pid = rustix::process::Pid::from_raw(pid).context("a process")?;
    rustix::process::kill_process(pid, rustix::process::Signal::INT)?;
    let output = tokio::time::timeout(PATIENCE, child.wait_with_output()).await??;
    let told: Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(output.status.code(), Some(20), "{told}");
    assert_eq!((&told["code"], stage.times("read_paper")), (&json!("cancelled"), 0), "{told}");
    stage.quiet().await;
    Ok(())
}

#[tokio::test]
async fn run_reports_invalid_requests() -> Result<()> {
    let stage = Stage::with(&["research_topic", "validation_error"]).await?;
    let folder = stage.plugins.path().display().to_string();
    let of = |name: &str, words: &[&str]| run_words(&stage, name, words);
    let nowhere = ["run", "/nowhere/at/all.workflow.yaml", "x", "--plugins", &folder].map(str::to_owned);
    for (words, expected) in [
        (of("research_topic", &["reserch_topic", "query=tea"]), "did you mean research_topic?"),
        (of("research_topic", &["research_topic"]), "`query` is required"),
        (of("validation_error", &[]), "defaultResults"),
        (nowhere.to_vec(), "/nowhere/at/all.workflow.yaml"),
    ] {
        let ended = workflow(&words).await?;
        assert!(ended.code.is_some_and(|code| code != 0), "{words:?}: {}", ended.told());
        assert!(ended.told().contains(expected), "{words:?}: {}", ended.told());
    }
    // A server that the file needs is missing.
    stage.plugins.remove("arxiv.wasm");
    let ended = workflow(of("research_topic", &["query=tea"])).await?;
    assert!(ended.code.is_some_and(|code| code != 0), "{}", ended.told());
    assert!(ended.told().contains("`arxiv`"), "{}", ended.told());
    assert_eq!(stage.calls(), []);
    Ok(())
}

#[tokio::test]
async fn check_names_workflows_that_cannot_run_now() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    stage.plugins.remove("arxiv.wasm");
    let checked = loggia(&["check"], stage.plugins.path()).await?;
    let said = format!("{}{}", checked.stdout, checked.stderr);
    assert!(said.contains("`arxiv` is unavailable"), "{}", checked.told());
    Ok(())
}

/// A composite tool of one step.
fn tool(name: &str, more: &str, step: &str) -> String {
    format!("  - name: {name}\n    description: D.\n{more}    steps:\n      - {{id: a, {step}}}\n")
}

#[tokio::test]
async fn check_fails_for_workflows_that_never_run() -> Result<()> {
    let folder = Folder::with(&["tasks"]);
    let delete = "tool: tasks.delete, arguments: {id: 1}";
    for (file, more, step, expected) in [
        ("waits", "", "tool: later.list", None),
        ("action", "", "tool: tasks.lst", Some("Unknown action: \"lst\"")),
        ("argument", "", "tool: tasks.list, arguments: {projct: x}", Some("has no argument `projct`")),
        ("own", "", "tool: own.own", Some("is this file itself")),
        ("safe", "    annotations: {readOnlyHint: true}\n", delete, Some("`readOnlyHint: true`")),
    ] {
        let text = format!("compositeTools:\n{}", tool(file, more, step));
        let name = format!("{file}.workflow.yaml");
        folder.write(&name, &text);
        let checked = loggia(&["check"], folder.path()).await?;
        let told = checked.told();
        match expected {
            None => {
                assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""), "{file}: {told}");
                assert!(checked.stdout.contains("cannot run yet"), "{file}: {told}");
            }
            Some(why) => {
                assert_eq!(checked.code, Some(10), "{file}: {told}");
                assert!(checked.stdout.contains("cannot run until changed"), "{file}: {told}");
                assert!(checked.stdout.contains(why), "{file}: {told}");
                assert_eq!(checked.stderr, "1 workflow cannot run until something is changed\n", "{file}");
            }
        }
        folder.remove(&name);
    }
    Ok(())
}

#[tokio::test]
async fn check_prints_json() -> Result<()> {
    let folder = Folder::with(&["tasks"]);
    folder.write("broken.wasm", "nonsense");
    let tools = [tool("waits", "", "tool: later.list"), tool("wrong", "", "tool: tasks.lst")];
    folder.write("flow.workflow.yaml", &format!("compositeTools:\n{}", tools.concat()));
    let checked = loggia(&["check", "--json"], folder.path()).await?;
    assert_eq!(checked.code, Some(10), "{}", checked.told());
    let json: Value = serde_json::from_str(&checked.stdout)?;
    let of = |list: &str, name: &str| -> Value {
        let mut all = json[list].as_array().into_iter().flatten();
        all.find(|item| item["name"] == name).cloned().unwrap_or_default()
    };
    let tasks = of("plugins", "tasks");
    assert_eq!((&tasks["ok"], &tasks["file"]), (&json!(true), &json!("tasks.wasm")), "{json:#}");
    assert_eq!(tasks["actions"], json!(["create", "list", "update", "delete"]), "{json:#}");
    assert!(tasks["bytes"].as_u64().is_some_and(|bytes| bytes > 1000), "{json:#}");
    assert_eq!(of("plugins", "broken")["ok"], false, "{json:#}");
    assert!(of("plugins", "broken")["error"].is_string(), "{json:#}");
    assert_eq!(of("workflows", "waits")["temporary"], true, "{json:#}");
    let wrong = of("workflows", "wrong");
    assert_eq!(
        (&wrong["temporary"], &wrong["file"]),
        (&json!(false), &json!("flow.workflow.yaml")),
        "{json:#}"
    );
    assert!(wrong["problems"][0]["line"].as_u64().is_some_and(|line| line > 0), "{json:#}");
    Ok(())
}

/// A problem of one tool does not prevent the checks of the others.
#[tokio::test]
async fn workflow_check_reports_all_tools() -> Result<()> {
    let folder = Folder::with(&["tasks"]);
    let tools = [
        tool("first", "    nonsense: 1\n", "tool: tasks.nothing"),
        tool("second", "", "tool: tasks.lst"),
        tool("third", "", "tool: tasks.list"),
        tool("fourth", "", "tool: taks.list"),
    ];
    let file = folder.path().join("all.workflow.yaml");
    std::fs::write(&file, format!("strict: true\ncompositeTools:\n{}", tools.concat()))?;
    let words = [OsStr::new("check"), file.as_os_str()];
    let plugins = [OsStr::new("--plugins"), folder.path().as_os_str()];
    let ended = workflow(words.into_iter().chain(plugins)).await?;
    assert_eq!(ended.code, Some(10), "{}", ended.told());
    for expected in ["nonsense", "Unknown action: \"lst\"", "did you mean `tasks`?"] {
        assert!(ended.stdout.contains(expected), "{expected}: {}", ended.told());
    }
    assert_eq!(ended.stdout.lines().count(), 3, "{}", ended.told());
    assert!(!ended.stderr.contains("were not checked"), "{}", ended.told());
    Ok(())
}

#[tokio::test]
async fn piped_check_reports_what_was_not_checked() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("misspelt.workflow.yaml");
    std::fs::write(&file, format!("compositeTools:\n{}", tool("find", "", "tool: memorys.serch")))?;
    for json in [&[][..], &["--json"]] {
        let words = [OsStr::new("check"), file.as_os_str()];
        let ended = workflow(words.into_iter().chain(json.iter().map(OsStr::new))).await?;
        assert_eq!(ended.code, Some(0), "{}", ended.told());
        let said = "calls of other facades were not checked; pass their folder with --plugins DIR\n";
        assert_eq!(ended.stderr, said);
    }
    Ok(())
}

/// The commands for plugins know workflows, too.
#[tokio::test]
async fn check_and_call_accept_workflows() -> Result<()> {
    let stage = Stage::with(&["research_topic", "validation_error"]).await?;
    let checked = loggia(&["check"], stage.plugins.path()).await?;
    assert_eq!(checked.code, Some(10), "{}", checked.told());
    assert!(checked.stdout.contains("research_topic\tresearch_topic\t"), "{}", checked.told());
    assert!(checked.stdout.contains("step 'conditional_step' can be skipped"), "{}", checked.told());
    let called =
        loggia(&["call", "research_topic", "research_topic", "query=tea", "--plugins"], stage.plugins.path())
            .await?;
    assert_eq!(called.code, Some(0), "{}", called.told());
    assert!(called.stdout.contains("It works."), "{}", called.told());
    Ok(())
}

#[tokio::test]
async fn eval_expands_a_template_or_explains() -> Result<()> {
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
