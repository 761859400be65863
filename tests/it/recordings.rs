//! `loggia serve --record` and `loggia replay`: calls are recorded where their policies allow it, and run again.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, Result};
use loggia_tests::{
    Client, Era, Folder, Kind, Served, accepted, binary, cache, eventually, fixture, plugin, scratch,
    web::{Answer, Web},
};
use serde_json::{Value, json};
use tokio::process::Command;

/// Runs the command; returns its exit code and its output.
async fn replay(file: &Path, folder: &Folder, words: &[&str]) -> Result<(Option<i32>, String)> {
    let output = Command::new(binary())
        .arg("replay")
        .arg(file)
        .args(words)
        .arg("--plugins")
        .arg(folder.path())
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await?;
    let text = [output.stdout, output.stderr].concat();
    Ok((output.status.code(), String::from_utf8_lossy(&text).into_owned()))
}

/// Waits for this many recordings; by facade and action.
async fn recordings(folder: &Path, count: usize) -> BTreeMap<String, PathBuf> {
    eventually(async || {
        let files = fs::read_dir(folder).map_err(|error| error.to_string())?.flatten();
        let files: Vec<PathBuf> = files
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|suffix| suffix == "json"))
            .collect();
        if files.len() != count {
            return Err(format!("{files:?}"));
        }
        let named = files.into_iter().map(|path| {
            let recording: Value =
                serde_json::from_str(&fs::read_to_string(&path).map_err(|error| error.to_string())?)
                    .map_err(|error| error.to_string())?;
            let [facade, action] =
                ["facade", "action"].map(|key| recording[key].as_str().unwrap_or_default());
            Ok((format!("{facade}.{action}"), path))
        });
        named.collect()
    })
    .await
}

/// A folder with plugins that use state, requests, questions and other plugins.
fn world(web: &Web) -> Folder {
    let folder = Folder::with(&["echo", "worker", "reaches", "relays", "version_one"]);
    folder.put("memories", &plugin("memories"));
    folder.remove("version_one.wasm");
    folder.put("version", &fixture("version_one"));
    for (name, grants, record) in [
        ("memories", "store = true", r#"["add", "list"]"#),
        ("echo", "", r#"["say"]"#),
        ("worker", "elicit = true", r#"["clean"]"#),
        ("reaches", &format!("http = [\"{}\"]", web.url("")), r#"["fetch"]"#),
        ("relays", "invoke = [\"version:*\"]", r#"["read"]"#),
        ("version", "", r#"["get"]"#),
    ] {
        folder.write(&format!("{name}.toml"), &format!("[grants]\n{grants}\n[actions]\nrecord = {record}\n"));
    }
    folder
}

#[tokio::test]
async fn recorded_calls_are_run_again() -> Result<()> {
    let web = Web::start(|_| Answer::text("a page")).await?;
    let folder = world(&web);
    let kept = folder.beside("recordings");
    let served = Served::start(&folder, |command| {
        command.arg("--record").arg(&kept);
    })
    .await?;
    let kind = Kind::person([accepted(json!({"newest": 3, "why": "dust"}))]);
    let client = Client::http_as(&served.host, Era::Stateful, kind).await?;
    client.names_become(&["echo", "memories", "reaches", "relays", "version", "worker"]).await;
    for (tool, arguments) in [
        ("memories", json!({"action": "add", "title": "Tea"})),
        ("memories", json!({"action": "add", "title": "Coffee"})),
        // There is a next page, then as well.
        ("memories", json!({"action": "list", "limit": 1})),
        // Its policy does not let it be recorded.
        ("memories", json!({"action": "get", "id": "m_0001"})),
        ("echo", json!({"action": "say", "text": "access_token=s3cr3ts3cr3t"})),
        ("worker", json!({"action": "clean"})),
        ("reaches", json!({"action": "fetch", "url": web.url("/page")})),
        ("relays", json!({"action": "read", "facade": "version", "what": "get"})),
    ] {
        let envelope = client.envelope(tool, arguments).await?;
        assert_eq!(envelope["ok"], true, "{tool}: {envelope}");
    }
    // The call that `relays` makes is one of `version`, too.
    let files = recordings(&kept, 8).await;
    client.end().await?;
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "echo.say",
            "memories.add",
            "memories.list",
            "reaches.fetch",
            "relays.read",
            "version.get",
            "worker.clean"
        ]
    );
    for (name, file) in &files {
        let text = fs::read_to_string(file)?;
        assert!(!text.contains("s3cr3t"), "{text}");
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(file)?.permissions()) & 0o777,
            0o600
        );
        let (code, said) = replay(file, &folder, &[]).await?;
        assert!(code == Some(0) && said.contains("nothing differs"), "{name}: {code:?} {said}");
    }
    assert_eq!(web.asked().len(), 1, "a replay sends nothing");

    // Another version, another policy: what differs is shown.
    folder.put("version", &fixture("version_two"));
    let (code, said) = replay(&files["version.get"], &folder, &[]).await?;
    assert!(
        code == Some(20)
            && said.contains("now, by another version")
            && said.contains("  - result.reply.data: \"one\"\n  + result.reply.data: \"two\"\n"),
        "{code:?} {said}"
    );
    // What `version` answers now is not what it answered.
    let (code, said) = replay(&files["relays.read"], &folder, &[]).await?;
    assert!(code == Some(0), "{code:?} {said}");
    folder.write("memories.toml", "");
    let (code, said) = replay(&files["memories.add"], &folder, &["--json"]).await?;
    let report: Value = serde_json::from_str(&said).with_context(|| said.clone())?;
    assert_eq!((code, &report["now"]["end"]["failure"]["code"]), (Some(20), &json!("denied")), "{report}");
    let differences = report["differences"].as_array().context("differences")?;
    assert!(
        differences.iter().any(|line| line.as_str().is_some_and(|line| line.starts_with("- state "))),
        "{report}"
    );
    folder.remove("version.wasm");
    let (code, said) = replay(&files["version.get"], &folder, &[]).await?;
    assert!(code == Some(10) && said.contains("no plugin serves `version`"), "{code:?} {said}");
    let (code, said) = replay(&folder.path().join("memories.toml"), &folder, &[]).await?;
    assert!(code == Some(1) && said.contains("is no recording of a call"), "{code:?} {said}");
    Ok(())
}

#[tokio::test]
async fn the_folder_of_recordings_is_fenced() -> Result<()> {
    let folder = Folder::with(&["reaches", "echo"]);
    let kept = folder.beside("recordings");
    let grant = format!("[grants]\ndirs = [{{ path = {kept:?}, at = \"/d\", access = \"read\" }}]\n");
    folder.write("reaches.toml", &grant);
    let served = Served::start(&folder, |command| {
        command.arg("--record").arg(&kept);
    })
    .await?;
    let client = Client::http(&served.host, Era::Stateful).await?;
    client.names_become(&["echo"]).await;
    served.logs(|log| log.contains("the folder of recordings")).await;
    client.end().await
}
