//! `loggia workflow check` and `graph` as processes.

use std::{fs, path::Path, process::Command};

/// Runs a command in a folder; returns exit code, stdout and stderr.
fn workflow(folder: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loggia"));
    let (cache, state) = (folder.join(".cache"), folder.join(".state"));
    command.env("LOGGIA_CACHE", cache).env("LOGGIA_STATE", state);
    let output = command.arg("workflow").args(words).current_dir(folder).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Note without `--plugins`.
const UNCHECKED: &str = "calls of other facades were not checked; pass their folder with --plugins DIR\n";

const FINE: &str = "\
spec:
  groupRef: tools
  config:
    compositeTools:
    - name: deploy
      description: Deploys.
      steps:
      - {id: ask, type: elicitation, message: Deploy?, schema: {properties: {ok: {type: boolean}}}}
      - {id: deploy, tool: ci.deploy, dependsOn: [ask], condition: '{{.steps.ask.content.ok}}'}
    compositeToolRefs: [{name: my-flow}]
";
const OTHER: &str =
    "metadata: {name: my-flow}\nspec: {name: flow, description: Flows., steps: [{id: a, tool: x.y}]}\n";
const BROKEN: &str = "name: t\ndescription: d\nsteps:\n- id: a\n  tol: x.y\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("fine.workflow.yaml", FINE),
        ("other.workflow.yml", OTHER),
        ("broken.workflow.yaml", BROKEN),
        ("notes.yaml", "nothing: to do with it\n"),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn all_problems_are_reported_with_file_and_line() {
    let folder = folder();
    let broken = "\
broken.workflow.yaml:4: steps[0].tool is required when type is tool
broken.workflow.yaml:5: steps[0] has an unknown field `tol` (at steps[0].tol; did you mean `tool`?)
";
    let fine = "\
fine.workflow.yaml:2: warning: spec.groupRef means nothing here
fine.workflow.yaml:9: note: ToolHive has the answer under `.steps.ask.output.content` alone, not under \
                `.steps.ask.content` (at spec.config.compositeTools[0].steps[1].condition)
fine.workflow.yaml: 2 workflows: deploy, flow
";
    let (code, stdout, stderr) =
        workflow(folder.path(), &["check", "broken.workflow.yaml", "fine.workflow.yaml"]);
    assert_eq!(
        (code, stdout.as_str(), stderr.as_str()),
        (Some(10), &*[broken, fine].concat(), &*format!("{UNCHECKED}1 of 2 cannot be served\n"))
    );
    let (code, stdout, stderr) = workflow(folder.path(), &["check", "fine.workflow.yaml"]);
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(0), fine, UNCHECKED));
    // A folder stands for its workflow files.
    let (code, stdout, _) = workflow(folder.path(), &["check", "."]);
    assert_eq!((code, stdout.lines().count()), (Some(10), 6), "{stdout}");
    assert!(stdout.ends_with("other.workflow.yml: 1 workflow: flow\n"), "{stdout}");
}

#[test]
fn json_has_the_same_problems() {
    let folder = folder();
    let (code, stdout, _) =
        workflow(folder.path(), &["check", "--json", "fine.workflow.yaml", "broken.workflow.yaml"]);
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &json[0]["ok"], &json[1]["ok"]), (Some(10), &true.into(), &false.into()));
    assert_eq!(json[0]["workflows"], serde_json::json!(["deploy", "flow"]));
    assert_eq!(json[0]["warnings"][0]["line"], 2);
    assert_eq!(json[0]["toolhive"][0]["line"], 9);
    assert_eq!(json[1]["problems"][1]["path"], "steps[0].tol");
    assert_eq!(json[1]["problems"][1]["hint"], "did you mean `tool`?");
}

#[test]
fn missing_and_unreadable_files_have_exit_codes() {
    let folder = folder();
    fs::create_dir(folder.path().join("empty")).unwrap();
    fs::write(folder.path().join("bytes.workflow.yaml"), b"name: a\nb: \xff\n").unwrap();
    let large = format!("name: {}\n", "a".repeat(1 << 21));
    fs::write(folder.path().join("large.workflow.yaml"), large).unwrap();
    let check = |words: &[&str], expected: i32, reason: &str| {
        let (code, stdout, stderr) = workflow(folder.path(), words);
        assert_eq!(code, Some(expected), "{words:?}: {stdout}{stderr}");
        assert!(stderr.contains(reason) || stdout.contains(reason), "{words:?}: {stdout}{stderr}");
    };
    check(&["check", "none.workflow.yaml"], 11, "there is no none.workflow.yaml");
    check(&["check", "empty"], 11, "no workflows: there is no .workflow.yaml file in empty");
    check(&["check"], 2, "FILE|DIR");
    check(&["check", "bytes.workflow.yaml"], 10, "bytes.workflow.yaml:2: the file is not UTF-8");
    check(&["check", "large.workflow.yaml"], 10, "at most 1048576 are accepted");
    check(&["graph", "none.workflow.yaml"], 11, "there is no file none.workflow.yaml");
    check(&["graph", "broken.workflow.yaml"], 10, "steps[0].tool is required when type is tool");
    check(&["graph", "fine.workflow.yaml", "deplyo"], 11, "did you mean `deploy`?");
}

#[test]
fn one_workflow_or_all_are_drawn() {
    let folder = folder();
    let (code, one, _) = workflow(folder.path(), &["graph", "fine.workflow.yaml", "deploy"]);
    assert_eq!((code, one.starts_with("flowchart TD\n")), (Some(0), true), "{one}");
    let (_, all, _) = workflow(folder.path(), &["graph", "fine.workflow.yaml"]);
    assert_eq!(
        all.lines().filter(|line| line.starts_with("%% ")).collect::<Vec<_>>(),
        ["%% deploy", "%% flow"]
    );
    assert!(all.contains(one.trim_end()), "{all}");
}

/// Checks calls against other workflow files.
#[test]
fn calls_are_checked_against_a_folder() {
    let folder = folder();
    let calls = |name: &str, tool: &str| {
        let text = format!("name: {name}\ndescription: d\nsteps: [{{id: a, tool: {tool}}}]\n");
        fs::write(folder.path().join(format!("{name}.workflow.yaml")), text).unwrap();
    };
    calls("remember", "nowhere.at_all");
    calls("misspelt", "remembr.remember");
    calls("itself", "itself.itself");
    fs::remove_file(folder.path().join("broken.workflow.yaml")).unwrap();
    for (name, expected) in [
        (
            "misspelt",
            "step `a`: `remembr` is unavailable: it is not served now (at steps[0].tool; did you mean `remember`?)",
        ),
        (
            "itself",
            "step `a`: `itself` is this file itself; a workflow calls those of other files alone (at steps[0].tool)",
        ),
        ("remember", "step `a`: `nowhere` is unavailable: it is not served now (at steps[0].tool)"),
    ] {
        let file = format!("{name}.workflow.yaml");
        let (code, stdout, stderr) = workflow(folder.path(), &["check", &file, "--plugins", "."]);
        assert_eq!((code, stdout), (Some(10), format!("{file}:3: {expected}\n")), "{stderr}");
        // Without the folder, it is valid.
        assert_eq!(workflow(folder.path(), &["check", &file]).0, Some(0));
    }
}

#[test]
fn runs_that_cannot_begin_have_exit_codes() {
    let folder = folder();
    let check = |words: &[&str], expected: i32, reason: &str| {
        let (code, stdout, stderr) = workflow(folder.path(), &[&["run", "--plugins", "."], words].concat());
        assert_eq!((code, stdout.as_str()), (Some(expected), ""), "{words:?}: {stderr}");
        assert!(stderr.contains(reason), "{words:?}: {stderr}");
    };
    check(&["none.workflow.yaml"], 11, "there is no file none.workflow.yaml");
    check(&["fine.workflow.yaml", "deplyo"], 11, "did you mean deploy?");
    check(&["fine.workflow.yaml"], 11, "the file has several workflows; pass one of deploy, flow");
    check(&["broken.workflow.yaml"], 10, "steps[0].tool is required");
    check(&["other.workflow.yml", "no-pair"], 11, "there is no workflow no-pair");
    check(&["other.workflow.yml", "flow", "no-pair"], 2, "`no-pair` is neither a JSON object nor key=value");
}

/// With one tool per workflow, two files may have tools of the same name.
#[test]
fn a_taken_tool_name_is_reported_once() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        let text = "name: deploy\ndescription: d\nsteps: [{id: a, type: elicitation, message: Well?, schema: {type: object}}]\n";
        fs::write(folder.path().join(format!("{name}.workflow.yaml")), text).unwrap();
        fs::write(folder.path().join(format!("{name}.toml")), "[expose]\nschema = \"granular\"\n").unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_loggia"));
    let (cache, state) = (folder.path().join(".cache"), folder.path().join(".state"));
    command.env("LOGGIA_CACHE", cache).env("LOGGIA_STATE", state).arg("check").arg(folder.path());
    let output = command.output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr =
        "the tool of `two` is not published: another facade or tool has its name; rename one of them";
    let findings: Vec<&str> = stdout.lines().filter(|line| line.contains("is not published")).collect();
    assert!(findings.iter().any(|line| *line == format!("deploy\t{stderr}")), "{stdout}");
    assert_eq!(findings.iter().filter(|line| line.starts_with("deploy\t")).count(), 1, "{stdout}");
}
