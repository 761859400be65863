//! Builders of other languages than Rust, with small scripts in place of their tools, and `loggia new`.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Output,
};

use anyhow::{Context, Result, bail};
use loggia_tests::{Client, Era, HttpHost, PATIENCE, eventually, fixture};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::author::command;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

/// Exit code of a command, and what it printed.
pub fn outcome(output: &Output) -> (Option<i32>, String) {
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text)
}

/// Tools that note how they are called, and make components by copying one.
fn fake_tools(folder: &Path) -> Result<(PathBuf, PathBuf)> {
    let (tools, log) = (folder.join("tools"), folder.join("calls.txt"));
    fs::create_dir(&tools)?;
    let echo = fixture("echo");
    let note = format!("echo \"$(basename $0) $*\" | sed \"s|$PWD/||g\" >> {log:?}");
    let copies = format!("for out; do :; done; cp {echo:?} \"$out\"");
    let python = format!("{note}\\ncase \"$2\" in loggia_sdk) {};; esac", copies.replace('"', "\\\""));
    let scripts = [
        ("npm", format!("{note}\nmkdir -p node_modules")),
        ("npx", format!("{note}\n{copies}")),
        // `-m venv DIR` makes a Python of its own.
        (
            "python3",
            format!(
                "{note}\nmkdir -p \"$3/bin\"\nprintf '#!/bin/sh\\n{}\\n' > \"$3/bin/python\"\nchmod +x \"$3/bin/python\"",
                python.replace('%', "%%").replace("\\\"", "\"")
            ),
        ),
    ];
    for (name, script) in scripts {
        let path = tools.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n"))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    Ok((tools, log))
}

#[tokio::test]
async fn projects_of_each_language_are_built() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (tools, log) = fake_tools(folder.path())?;
    let sources = folder.path().join("sources");
    let put = |file: &str, text: &str| -> Result<()> {
        let path = sources.join(file);
        fs::create_dir_all(path.parent().context("no folder")?)?;
        Ok(fs::write(path, text)?)
    };
    put("weather/requirements.txt", "loggia-sdk[build]\n")?;
    put("weather/app.py", "")?;
    put("weather/weather.toml", "[expose]\nname = \"weather\"\n")?;
    put("quote/package.json", r#"{"name": "quote", "dependencies": {"loggia-sdk": "1"}}"#)?;
    put("quote/src/index.ts", "")?;
    put("quote/quote.toml", "[expose]\nname = \"quote\"\n")?;
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    let build = async || -> Result<(Option<i32>, String)> {
        let output = command(&["build", "--out", "dist"])
            .arg(&sources)
            .current_dir(folder.path())
            .env("PATH", &path)
            .output()
            .await?;
        Ok(outcome(&output))
    };
    let (code, text) = build().await?;
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("weather\t") && text.contains("quote\t"), "{text}");
    let calls =
        || -> Result<Vec<String>> { Ok(fs::read_to_string(&log)?.lines().map(str::to_owned).collect()) };
    let pip = "python -m pip install --disable-pip-version-check --quiet -r requirements.txt";
    let [quote, weather] = [
        "npx --no-install loggia-sdk build src/index.ts --out .loggia/quote.wasm",
        "python -m loggia_sdk build app.py --out .loggia/weather.wasm",
    ];
    let install = "npm install --no-audit --no-fund --no-package-lock";
    assert_eq!(calls()?, [install, quote, "python3 -m venv .loggia/venv", pip, weather]);
    fs::remove_file(&log)?;
    let (code, text) = build().await?;
    assert!(code == Some(0) && text.contains("weather\t") && text.contains("quote\t"), "{text}");
    assert!(!log.exists(), "what has not changed is not built");
    put("weather/app.py", "import json\n")?;
    put("quote/src/index.ts", "export {};\n")?;
    assert_eq!(build().await?.0, Some(0));
    assert_eq!(calls()?, [quote, weather], "packages are installed once");
    let words = ["call", "weather", "say", "text=hello", "--plugins", "dist"];
    let (code, text) = outcome(&command(&words).current_dir(folder.path()).output().await?);
    assert!(code == Some(0) && text.contains(r#""text":"hello""#), "{text}");
    Ok(())
}

#[tokio::test]
async fn build_checks_what_it_built() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let build = async |command_line: &str, words: &[&str]| -> Result<(Option<i32>, String)> {
        fs::write(folder.path().join("plugin.toml"), format!("name = 'odd'\nbuild = {command_line:?}\n"))?;
        let output =
            command(&["build", "--out", "dist"]).args(words).current_dir(folder.path()).output().await?;
        Ok(outcome(&output))
    };
    let (code, text) = build("echo no component > odd.wasm", &[]).await?;
    assert_eq!(code, Some(10), "{text}");
    assert!(text.contains("odd.wasm: does not load: not a WebAssembly component"), "{text}");
    assert_eq!(build("echo no component > odd.wasm", &["--no-check"]).await?.0, Some(0));
    let (code, text) = build("echo broken; exit 3", &[]).await?;
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("broken") && text.contains("`odd` does not build (see above)"), "{text}");
    fs::write(folder.path().join("plugin.toml"), "biuld = 'make'\n")?;
    let (code, text) = outcome(&command(&["build"]).current_dir(folder.path()).output().await?);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("line 1: unknown key `biuld`; did you mean `build`?"), "{text}");
    Ok(())
}

/// Starts `loggia dev` for the folder `sources` in a folder.
async fn start_dev(folder: &Path) -> Result<HttpHost> {
    let mut child = command(&["dev", "--http", "127.0.0.1:0", "--out"])
        .arg(folder.join("out"))
        .arg(folder.join("sources"))
        .spawn()?;
    let mut lines = BufReader::new(child.stderr.take().context("no stderr")?).lines();
    let mut printed = String::new();
    let url = async {
        while let Some(line) = lines.next_line().await? {
            if let Some(url) = line.strip_prefix("listening on ") {
                return Ok(url.to_owned());
            }
            printed.push_str(&line);
        }
        bail!("loggia dev ended: {printed}")
    };
    let url = tokio::time::timeout(PATIENCE, url).await??;
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    Ok(HttpHost { url, child })
}

#[tokio::test]
async fn listed_files_elsewhere_lead_to_builds() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let [source, shared] = ["sources/weather", "shared"].map(|name| folder.path().join(name));
    for folder in [&source, &shared] {
        fs::create_dir_all(folder)?;
    }
    let (listed, other, builds) =
        (shared.join("my text.md"), shared.join("other.md"), folder.path().join("builds.txt"));
    let script = format!(
        "cat '../../shared/my text.md' ../../shared/other.md >> ../../builds.txt\n\
         echo 'weather.wasm: ../../shared/my\\ text.md build.sh' > weather.d\ncp {:?} weather.wasm",
        fixture("echo")
    );
    fs::write(source.join("build.sh"), script)?;
    fs::write(source.join("plugin.toml"), "build = 'sh build.sh'\n")?;
    fs::write(&listed, "1")?;
    fs::write(&other, "a\n")?;
    let mut host = start_dev(folder.path()).await?;
    let becomes = async |expected: &str| {
        eventually(async || match fs::read_to_string(&builds) {
            Ok(text) if text == expected => Ok(()),
            other => Err(format!("{other:?}, not {expected:?}")),
        })
        .await;
    };
    becomes("1a\n").await;
    // No build follows this one, but it is in the next.
    fs::write(&other, "b\n")?;
    fs::write(&listed, "2")?;
    becomes("1a\n2b\n").await;
    // As editors save.
    fs::write(shared.join("new"), "3")?;
    fs::rename(shared.join("new"), &listed)?;
    becomes("1a\n2b\n3b\n").await;
    host.child.kill().await?;
    Ok(())
}

#[tokio::test]
async fn callers_hear_why_an_older_build_answers() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("sources/weather");
    fs::create_dir_all(&source)?;
    let broken = source.join("broken.txt");
    let script = format!(
        "if test -s broken.txt; then echo \"SyntaxError in $PWD/app.py, line 3\" >&2; exit 1; fi\ncp {:?} weather.wasm",
        fixture("echo")
    );
    fs::write(source.join("build.sh"), script)?;
    fs::write(source.join("plugin.toml"), "build = 'sh build.sh'\n")?;
    let host = start_dev(folder.path()).await?;
    let client = Client::http(&host, Era::Stateless).await?;
    let notice = async || -> std::result::Result<Value, String> {
        let said = client.envelope("echo", json!({"action": "say", "text": "hello"})).await;
        let said = said.map_err(|error| error.to_string())?;
        if said["ok"] == true { Ok(said["notice"].clone()) } else { Err(said.to_string()) }
    };
    let becomes = async |expected: Value| {
        eventually(async || match notice().await {
            Ok(found) if found == expected => Ok(()),
            other => Err(format!("{other:?}")),
        })
        .await;
    };
    becomes(Value::Null).await;
    fs::write(&broken, "yes")?;
    let reason = "the newest source of `echo` does not build: SyntaxError in app.py, line 3; an older version answered";
    becomes(json!(reason)).await;
    fs::write(&broken, "")?;
    becomes(Value::Null).await;
    // What builds may still not load.
    fs::write(source.join("weather.toml"), "[grants]\nstor = true\n")?;
    eventually(async || match notice().await {
        Ok(Value::String(text)) if text.contains("does not load: the policy weather.toml cannot be used") => {
            let path = folder.path().display().to_string();
            if text.contains(&path) { Err(text) } else { Ok(()) }
        }
        other => Err(format!("{other:?}")),
    })
    .await;
    client.end().await
}

#[tokio::test]
async fn a_new_plugin_is_built_and_called() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let make = async |words: &[&str]| -> Result<(Option<i32>, String)> {
        let mut new = command(&["new"]);
        let output = new.args(words).arg("--sdk").arg(root()).current_dir(folder.path()).output().await?;
        Ok(outcome(&output))
    };
    let (code, text) = make(&["scaffold", "--lang", "rust"]).await?;
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("is not published yet: the plugin names it by its path"), "{text}");
    let (code, text) = make(&["scaffold", "--lang", "rust"]).await?;
    assert!(code == Some(1) && text.contains("scaffold is not empty"), "{text}");
    let (code, text) = make(&["other"]).await?;
    assert!(code == Some(2) && text.contains("--lang is one of rust, python, js, ts"), "{text}");
    assert_eq!(make(&["Other", "--lang", "rust"]).await?.0, Some(2));
    assert_eq!(fs::read_dir(folder.path())?.count(), 1, "nothing else is left");

    let own = folder.path().join("scaffold");
    // The versions that were tested, and nothing to look up.
    fs::copy(root().join("Cargo.lock"), own.join("Cargo.lock"))?;
    let (code, text) = outcome(&command(&["build"]).current_dir(&own).output().await?);
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains("needs `store`"), "its policy grants what it needs: {text}");
    let state = tempfile::tempdir()?;
    let call = async |words: &[&str]| -> Result<String> {
        let mut call = command(&["call", "scaffold"]);
        call.args(words).args(["--plugins", "dist"]).env("LOGGIA_STATE", state.path()).current_dir(&own);
        Ok(outcome(&call.output().await?).1)
    };
    let added = call(&["add", "text=milk"]).await?;
    assert!(added.contains(r#""data":{"id":"n_0001","text":"milk"}"#), "{added}");
    let listed = call(&["list"]).await?;
    assert!(listed.contains(r#""data":[{"id":"n_0001","text":"milk"}],"count":1"#), "{listed}");
    // Without its policy, the build says what to write.
    fs::remove_file(own.join("scaffold.toml"))?;
    fs::remove_dir_all(own.join("dist"))?;
    let (code, text) = outcome(&command(&["build"]).current_dir(&own).output().await?);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("write `store = true` under [grants]"), "{text}");
    Ok(())
}

#[tokio::test]
async fn ungranted_needs_come_with_their_line() -> Result<()> {
    let expected =
        "needs `store`, which its policy does not grant (to store them): write `store = true` under [grants]";
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("keeps");
    fs::create_dir(&source)?;
    fs::write(
        source.join("plugin.toml"),
        format!("build = 'cp {} keeps.wasm'\n", fixture("keeps").display()),
    )?;
    // The first builds what the others read.
    for words in [&["build", "keeps", "--out", "dist"][..], &["check", "dist"], &["check", "dist", "--json"]]
    {
        let (code, text) = outcome(&command(words).current_dir(folder.path()).output().await?);
        assert_eq!(code, Some(0), "a plugin is served without it: {text}");
        assert!(text.contains(expected), "{words:?}: {text}");
    }
    for words in [&["serve", "dist"][..], &["dev", "keeps", "--out", "out"]] {
        let mut host = command(words).args(["--http", "127.0.0.1:0"]).current_dir(folder.path()).spawn()?;
        let mut lines = BufReader::new(host.stderr.take().context("no stderr")?).lines();
        let mut log = String::new();
        let logged = async {
            while !log.contains(expected) {
                let line = lines.next_line().await?;
                log += &line.with_context(|| format!("{words:?} ended: {log}"))?;
            }
            anyhow::Ok(())
        };
        tokio::time::timeout(PATIENCE, logged).await.with_context(|| format!("{words:?}"))??;
        host.kill().await?;
    }
    Ok(())
}
