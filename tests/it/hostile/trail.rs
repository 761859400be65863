//! The audit log: refused calls are recorded too, and only the owner can read the file.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use anyhow::{Context, Result};
use loggia_tests::{Client, Era, Folder, Kind, Served, Token, accepted, eventually, signal, wire};
use rustix::process::Signal;
use serde_json::{Value, json};

/// The lines of a trail so far.
fn lines(file: &Path) -> Result<Vec<Value>> {
    let text = fs::read_to_string(file)?;
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    Ok(whole.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

/// Waits for a line with these members; the line.
async fn line(file: &Path, members: Value) -> Value {
    let is_it = |line: &Value| {
        members.as_object().is_some_and(|members| members.iter().all(|(key, value)| line[key] == *value))
    };
    eventually(async || match lines(file) {
        Ok(lines) => {
            lines.iter().find(|line| is_it(line)).cloned().ok_or_else(|| format!("{members}: {lines:#?}"))
        }
        Err(error) => Err(error.to_string()),
    })
    .await
}

/// H93.
#[tokio::test]
async fn probing_is_audited_by_name() -> Result<()> {
    let folder = Folder::with(&["echo", "lingers", "worker"]);
    folder.write("worker.toml", "[grants]\nelicit = true\n[actions]\nconfirm = [\"clean_all\"]\n");
    let file = folder.beside("log").join("audit.jsonl");
    let [mallory, ops] = [Token::new("mallory", &["echo:add"]).await?, Token::new("ops", &["*"]).await?];
    let settings = |file: &Path| format!("[audit]\nfile = {file:?}\n[http.per-caller]\nrate = 0\n");
    let served = Served::configured(&folder, &settings(&file), &[&mallory, &ops]).await?;
    let host = &served.host;
    assert_eq!(fs::metadata(&file)?.permissions().mode() & 0o777, 0o600);
    // The loaded file with the digest of its bytes.
    let loaded = line(&file, json!({"event": "loaded", "file": "worker.wasm"})).await;
    let digest =
        |value: &Value| value.as_str().is_some_and(|text| text.starts_with("sha256:") && text.len() == 71);
    assert!(digest(&loaded["bytes"]) && digest(&loaded["policy"]), "{loaded}");

    // Calls beyond the token's rights, and calls of missing tools.
    let probe = async |tool: &str, arguments: Value| -> Result<String> {
        let told = wire::answered(host, &mallory.header(), tool, &arguments).await?;
        Ok(told.header("x-request-id").context("a name")?.to_owned())
    };
    let canary = "canary-5d1c";
    for (tool, arguments, outcome) in [
        ("echo", json!({"action": "say", "text": canary}), "denied"),
        ("echo", json!({"action": "nothing", "text": canary}), "invalid_params"),
        ("echo", json!({"action": "add", "a": canary}), "invalid_params"),
        ("lingers", json!({"action": "wait", "mark": canary}), "unknown_tool"),
        ("no_such_tool", json!({"action": canary}), "unknown_tool"),
    ] {
        let request = probe(tool, arguments).await?;
        let told = line(&file, json!({"event": "refused", "request": request})).await;
        let whose = [&told["caller"], &told["address"], &told["tool"], &told["outcome"]];
        assert_eq!(whose, ["mallory", "127.0.0.1", tool, outcome], "{told}");
        assert!(told["params"].as_str().is_some_and(|digest| digest.len() == 32), "{told}");
    }
    let request = probe("echo", json!({"action": "describe"})).await?;
    let told = line(&file, json!({"request": request})).await;
    assert_eq!((&told["event"], &told["action"]), (&json!("answered"), &json!("describe")));
    let request = probe("echo", json!({"action": "add", "a": 1, "b": 2})).await?;
    let told = line(&file, json!({"request": request})).await;
    assert_eq!(
        (&told["event"], &told["action"], &told["outcome"]),
        (&json!("call"), &json!("add"), &json!("ok"))
    );

    // Unauthenticated requests of each kind.
    wire::answered(host, "", "echo", &json!({})).await?;
    wire::answered(host, "Authorization: Bearer loggia_guessed\r\n", "echo", &json!({})).await?;
    line(&file, json!({"event": "authentication", "outcome": "missing", "address": "127.0.0.1"})).await;
    line(&file, json!({"event": "authentication", "outcome": "invalid_token"})).await;
    // A flood of them leaves a few lines, in each minute that it lasts.
    for _ in 0..110 {
        wire::answered(host, "", "echo", &json!({})).await?;
    }
    let missing = |line: &&Value| line["event"] == "authentication" && line["outcome"] == "missing";
    let told = lines(&file)?.iter().filter(missing).count();
    assert!((10..=66).contains(&told), "{told} lines");

    // Answers of a person.
    let person = Kind::person([accepted(json!({"confirm": true})), accepted(json!({}))]);
    let client = Client::http_by(host, Era::Stateful, person, &ops).await?;
    client.envelope("worker", json!({"action": "clean_all"})).await?;
    let told = line(&file, json!({"event": "consent", "action": "clean_all"})).await;
    assert_eq!((&told["caller"], &told["outcome"]), (&json!("ops"), &json!("accepted")), "{told}");
    line(&file, json!({"event": "question", "action": "clean_all", "outcome": "accepted"})).await;
    client.end().await?;

    // Changes by the operator or others.
    folder.write("worker.toml", "[grants]\nelicit = true\n");
    let swapped = line(&file, json!({"event": "loaded", "old_policy": loaded["policy"]})).await;
    assert_eq!((&swapped["old_bytes"], &swapped["bytes"]), (&loaded["bytes"], &loaded["bytes"]));
    assert!(digest(&swapped["policy"]) && swapped["policy"] != loaded["policy"], "{swapped}");
    Served::settings(&folder, &settings(&file), &[&ops])?;
    let told = line(&file, json!({"event": "tokens"})).await;
    assert_eq!((&told["came"], &told["went"]), (&json!(""), &json!("mallory")));

    // The log contains no values, and the host writes the last line before it exits.
    wire::answered(host, &ops.header(), "echo", &json!({"action": "say", "text": canary})).await?;
    let mut served = served;
    signal(&served.host.child, Signal::TERM)?;
    served.host.child.wait().await?;
    let text = fs::read_to_string(&file)?;
    assert!(text.ends_with('\n') && text.contains("echo.say: ok"), "{text}");
    assert!(!text.lines().any(|line| line.contains(canary) && !line.contains("no_such_tool")), "{text}");
    assert!(!text.contains(&ops.secret) && !text.contains("loggia_guessed"), "{text}");
    Ok(())
}

/// H93.
#[tokio::test]
async fn without_a_writable_audit_log_startup_fails() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let log = folder.beside("log");
    let file = log.join("audit.jsonl");
    fs::write(&file, "")?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644))?;
    for (path, why) in
        [(&file, "chmod 600"), (&log, "failed to open the audit file"), (&log.join("a/b"), "a/b")]
    {
        let settings = Served::settings(&folder, &format!("[audit]\nfile = {path:?}\n"), &[])?;
        let mut command = tokio::process::Command::new(loggia_tests::binary());
        command
            .arg("serve")
            .arg(folder.path())
            .arg("--config")
            .arg(settings)
            .stdin(std::process::Stdio::null());
        let output = command.output().await?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(why), "{said}");
    }
    Ok(())
}
