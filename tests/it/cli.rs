//! The commands, as a person or a script uses them.

use std::{fs, process::Output, time::Duration};

use anyhow::{Context, Result};
use loggia_tests::{
    Client, Era, Folder, HttpHost, PATIENCE, binary, cache, eventually, fixture, plugin, scratch,
};
use serde_json::{Value, json};
use tokio::process::Command;

async fn loggia(words: &[&str], folder: &Folder) -> Result<(Option<i32>, String, String)> {
    let Output { status, stdout, stderr } = Command::new(binary())
        .args(words)
        .arg(folder.path())
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .output()
        .await?;
    Ok((status.code(), String::from_utf8(stdout)?, String::from_utf8(stderr)?))
}

#[tokio::test]
async fn check_reports_two_files_with_one_name() -> Result<()> {
    let folder = Folder::new();
    folder.put("a", &fixture("version_one"));
    folder.put("version", &fixture("version_two"));
    let (code, stdout, stderr) = loggia(&["check"], &folder).await?;
    assert_eq!(code, Some(10), "{stdout}");
    let lines: Vec<&str> = stdout.lines().map(str::trim_end).collect();
    let refused = "a\tnot served: `version.wasm` owns the name `version`; to give this file the name";
    assert!(lines[1].starts_with(refused), "{}", lines[1]);
    assert!(lines[2].starts_with("version\tget\t"), "{stdout}");
    assert_eq!(stderr, "1 of 2 would not be served\n");
    Ok(())
}

#[tokio::test]
async fn call_prints_the_result_and_describes_media() -> Result<()> {
    let folder = Folder::new();
    folder.put("files", &plugin("files"));
    let granted = tempfile::tempdir()?;
    let path = granted.path();
    folder.write(
        "files.toml",
        &format!("[grants]\ndirs = [{{ path = {path:?}, at = \"/d\", access = \"read\" }}]\n"),
    );
    fs::write(path.join("a.png"), b"\x89PNG\r\n\x1a\n0000")?;
    let words = ["call", "files", "get", "path=/d/a.png", "--plugins"];
    let (code, stdout, stderr) = loggia(&words, &folder).await?;
    assert_eq!(code, Some(0), "{stdout} {stderr}");
    let envelope: Value = serde_json::from_str(&stdout)?;
    assert_eq!(envelope["data"]["path"], "/d/a.png");
    assert_eq!(stderr, "(image, image/png, 12 bytes: not shown)\n");
    let (code, stdout, _) = loggia(&["call", "nothing", "get", "--plugins"], &folder).await?;
    assert_eq!(
        (code, stdout.contains("not found: there is no facade `nothing`")),
        (Some(20), true),
        "{stdout}"
    );
    Ok(())
}

#[tokio::test]
async fn call_answers_questions_by_its_options() -> Result<()> {
    let folder = Folder::with(&["worker"]);
    folder.write("worker.toml", "[grants]\nelicit = true\n");
    for (answers, code, key, expected) in [
        (&[][..], 20, "error", "unavailable: this client cannot ask the person"),
        (&[r#"{"newest": 3, "why": "dust"}"#], 0, "data", "kept 3 because dust"),
        (&["decline"], 0, "data", "declined"),
        (
            &[r#"{"newest": "all"}"#],
            20,
            "error",
            "the answer does not fit the question: `newest` does not fit `type`",
        ),
    ] {
        let mut words = vec!["call", "worker", "clean"];
        words.extend(answers.iter().flat_map(|answer| ["--answer", answer]));
        words.push("--plugins");
        let (ended, stdout, stderr) = loggia(&words, &folder).await?;
        let envelope: Value = serde_json::from_str(&stdout)?;
        assert_eq!((ended, &envelope[key]), (Some(code), &json!(expected)), "{answers:?} {stderr}");
        let asks = "the plugin asks a question: run the command at a terminal, or answer with --answer";
        assert_eq!(stderr.contains(asks), answers.is_empty(), "{stderr}");
    }
    let words = ["call", "worker", "clean", "--answer", "perhaps", "--plugins"];
    let (code, _, stderr) = loggia(&words, &folder).await?;
    assert!(code == Some(2) && stderr.contains("--answer takes accept, decline, cancel"), "{stderr}");
    Ok(())
}

#[tokio::test]
async fn profile_writes_a_flame_graph() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    folder.put("script", &plugin("script"));
    folder.write("script.toml", "[grants]\ninvoke = [\"echo:*\"]\nconfig = { steps = 20000000 }\n");
    let image = folder.path().join("script.svg");
    let out = image.display().to_string();
    let program = "code=let sum = 0; for (let i = 0; i < 50000; i++) sum += i; return sum";
    let words = ["profile", "script", "run", program, "--calls", "2", "--out", &out, "--plugins"];
    let (code, stdout, stderr) = loggia(&words, &folder).await?;
    assert_eq!(code, Some(0), "{stdout} {stderr}");
    assert!(
        stdout.starts_with("script.run: 2 calls, ") && stdout.contains("self  total  function"),
        "{stdout}"
    );
    let svg = fs::read_to_string(&image)?;
    assert!(
        svg.starts_with("<svg ") && svg.contains("script.run: 2 calls") && svg.ends_with("</svg>\n"),
        "{svg}"
    );
    let words = ["profile", "script", "run", program, "--calls", "2", "--folded", "--plugins"];
    let (code, stdout, stderr) = loggia(&words, &folder).await?;
    let is_stack =
        |line: &str| line.rsplit_once(' ').is_some_and(|(_, count)| count.parse::<usize>().is_ok());
    assert!(code == Some(0) && !stdout.is_empty() && stdout.lines().all(is_stack), "{stdout} {stderr}");
    for (facade, program, expected, said) in [
        ("nothing", program, 11, "there is no facade `nothing`"),
        ("script", "code=throw 1", 20, "the program threw 1"),
    ] {
        let words = ["profile", facade, "run", program, "--plugins"];
        let (code, stdout, stderr) = loggia(&words, &folder).await?;
        assert!(
            code == Some(expected) && (stdout.contains(said) || stderr.contains(said)),
            "{stdout} {stderr}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn call_separates_usage_errors_from_failed_calls() -> Result<()> {
    let folder = Folder::with(&["echo", "version_one"]);
    folder.put("files", &plugin("files"));
    folder
        .write("files.toml", "[grants]\ndirs = [{ path = \"/nowhere\", at = \"/d\", access = \"read\" }]\n");
    for (words, said) in [
        (["call", "echo", "add", "milk", "--plugins"], "`milk` is neither a JSON object nor key=value"),
        (["call", "echo", "add", "{nonsense", "--plugins"], "the parameters are not a JSON object"),
    ] {
        let (code, stdout, stderr) = loggia(&words, &folder).await?;
        assert_eq!((code, &*stdout), (Some(2), ""), "{words:?} {stderr}");
        assert!(stderr.starts_with("error: ") && stderr.contains(said), "{stderr}");
    }
    // The alternatives are listed once all plugins are loaded.
    for tool in ["files", "nothing"] {
        let (code, stdout, _) = loggia(&["call", tool, "list", "--plugins"], &folder).await?;
        let envelope: Value = serde_json::from_str(&stdout)?;
        assert_eq!(
            (code, &envelope["hint"]),
            (Some(20), &json!("available facades: echo, version")),
            "{tool}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_host_raises_its_descriptor_limit() -> Result<()> {
    let folder = Folder::new();
    let script = r#"ulimit -Sn 100; ulimit -Hn 900; exec "$0" serve "$1" --http 127.0.0.1:0"#;
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .arg(binary())
        .arg(folder.path())
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch());
    let host = HttpHost::spawn(&mut command).await?;
    let limits = fs::read_to_string(format!("/proc/{}/limits", host.child.id().context("ended")?))?;
    let open = limits.lines().find(|line| line.starts_with("Max open files")).context("no such limit")?;
    assert_eq!(open.split_whitespace().nth(3), Some("900"), "{open}");
    Ok(())
}

#[tokio::test]
async fn a_host_whose_binary_was_replaced_still_compiles() -> Result<()> {
    let (folder, compiled) = (Folder::new(), tempfile::tempdir()?);
    // In the binary's folder, so that a hard link suffices.
    let beside = tempfile::tempdir_in(binary().parent().context("no folder")?)?;
    let own = beside.path().join("loggia");
    fs::hard_link(binary(), &own)?;
    let mut command = Command::new(&own);
    command.args(["serve", "--http", "127.0.0.1:0"]).arg(folder.path()).env("LOGGIA_CACHE", compiled.path());
    let host = HttpHost::spawn(&mut command).await?;
    fs::remove_file(&own)?;
    fs::write(&own, "another version")?;
    let client = Client::http(&host, Era::Stateless).await?;
    folder.put("version", &fixture("version_one"));
    for _ in 0..3 {
        let served = eventually(async || match client.envelope("version", json!({"action": "get"})).await {
            Ok(envelope) => Ok(envelope),
            Err(error) => Err(error.to_string()),
        });
        if let Ok(envelope) = tokio::time::timeout(PATIENCE - Duration::from_secs(1), served).await {
            assert_eq!(envelope["data"], "one", "{envelope}");
            return client.end().await;
        }
    }
    panic!("never compiled")
}

/// The command with the environment that operators have, on no folder.
async fn plain(words: &[&str]) -> Result<(Option<i32>, String, String)> {
    let output = Command::new(binary())
        .args(words)
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .env("LOGGIA_WASM_STACK", "256KiB")
        .output()
        .await?;
    Ok((output.status.code(), String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?))
}

#[tokio::test]
async fn shells_and_man_know_every_command() -> Result<()> {
    let commands =
        ["serve", "dev", "build", "check", "tokens", "policy", "call", "state", "workflow", "config"];
    for shell in ["bash", "zsh", "fish"] {
        let (code, script, stderr) = plain(&["completions", shell]).await?;
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{shell}");
        for command in commands {
            assert!(script.contains(command), "{shell}: {command}");
        }
        assert!(!script.contains("compile-component"), "{shell}");
    }
    let (code, page, _) = plain(&["man"]).await?;
    assert_eq!((code, page.contains(".TH loggia 1")), (Some(0), true), "{page}");
    let folder = tempfile::tempdir()?;
    let pages = folder.path().join("man1");
    let (code, _, stderr) = plain(&["man", "--out", pages.to_str().context("a path of words")?]).await?;
    assert_eq!(code, Some(0), "{stderr}");
    for command in commands {
        let page = fs::read_to_string(pages.join(format!("loggia-{command}.1")))?;
        // The pages are the same on every machine.
        assert!(!page.contains(scratch().to_str().context("a path of words")?), "{command}: {page}");
    }
    Ok(())
}

#[tokio::test]
async fn an_invalid_command_line_exits_with_2() -> Result<()> {
    let (code, _, stderr) = plain(&["compile"]).await?;
    assert_eq!((code, stderr.contains("compile-component")), (Some(2), false), "{stderr}");
    for words in [&["policy", "explain"][..], &["check"], &["state", "export"]] {
        let (code, _, stderr) = plain(words).await?;
        let usage = stderr.lines().find(|line| line.starts_with("Usage:")).context("a usage line")?;
        assert_eq!(code, Some(2), "{stderr}");
        for option in ["--state", "--cache", "--wasm-stack"] {
            assert!(!usage.contains(option), "no option is required: {usage}");
        }
    }
    for (words, said) in [
        (&["dev", "--http", "0.0.0.0:0"][..], "use an address such as 127.0.0.1:0"),
        (&["policy", "init", "notes.toml"], "pass a .wasm file"),
        (&["completions", "cmd"], "possible values"),
    ] {
        let (code, _, stderr) = plain(words).await?;
        assert_eq!((code, stderr.contains(said)), (Some(2), true), "{words:?}: {stderr}");
    }
    let folder = Folder::new();
    folder.write("w.workflow.yaml", "name: w\ndescription: D.\nsteps: [{id: a, tool: b.c}]\n");
    let (file, plugins) = (folder.path().join("w.workflow.yaml"), folder.path().to_owned());
    let [file, plugins] = [&file, &plugins].map(|path| path.to_str().unwrap_or_default());
    for wrong in [&["w", "no pair"][..], &["w", "{"], &["w", "--answer", "yes"]] {
        let words = [&["workflow", "run", file, "--plugins", plugins], wrong].concat();
        let (code, _, stderr) = plain(&words).await?;
        assert_eq!(code, Some(2), "{wrong:?}: {stderr}");
    }
    Ok(())
}

/// Environment variables are defaults of options; invalid values are reported.
#[tokio::test]
async fn variables_are_defaults_of_options() -> Result<()> {
    let (there, other) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let list = async |state: &std::path::Path, words: &[&str]| -> Result<String> {
        let output = Command::new(binary())
            .args(["state", "list"])
            .args(words)
            .env("LOGGIA_STATE", state)
            .output()
            .await?;
        Ok(String::from_utf8(output.stderr)?)
    };
    let [one, two] = [there.path(), other.path()].map(|path| path.to_str().unwrap_or_default());
    assert!(list(there.path(), &[]).await?.contains(one));
    assert!(list(there.path(), &["--state", two]).await?.contains(two));
    let output =
        Command::new(binary()).args(["check", "."]).env("LOGGIA_WASM_STACK", "1KiB").output().await?;
    let stderr = String::from_utf8(output.stderr)?;
    assert_eq!((output.status.code(), stderr.contains("must be 64KiB to")), (Some(2), true), "{stderr}");
    let (settings, own) = (there.path().join("loggia.toml"), other.path().join("own"));
    std::fs::write(&settings, format!("state = {own:?}\n"))?;
    let mut listed = Command::new(binary());
    listed.args(["credential", "list"]).env("LOGGIA_CONFIG", &settings).env("XDG_STATE_HOME", other.path());
    assert!(listed.env_remove("LOGGIA_STATE").status().await?.success());
    assert!(own.is_dir(), "the state folder of the settings");
    let json =
        Command::new(binary()).args(["state", "list", "--json"]).env("LOGGIA_STATE", one).output().await?;
    assert_eq!(String::from_utf8(json.stdout)?, "[]\n");
    Ok(())
}
