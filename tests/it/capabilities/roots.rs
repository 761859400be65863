//! Directories that the client names as its roots: lists, changes, effects, nested calls, and clients that name none.

use std::{fs, os::unix::fs::symlink};

use anyhow::Result;
use loggia_tests::{Client, ERAS, Era, Folder, HttpHost, RootsClient, binary, cache, plugin, roots, state};
use serde_json::{Value, json};
use tokio::process::Command;

use super::said;

/// A folder with `reaches` and `files`, which are granted the roots below `work` beside it.
fn granted(access: &str) -> Folder {
    let folder = Folder::with(&["reaches", "relays"]);
    folder.put("files", &plugin("files"));
    let policy = format!(
        "[grants]\ndirs = [{{ path = {:?}, roots = true, at = \"/\", access = {access:?} }}]\n",
        folder.beside("work")
    );
    folder.write("reaches.toml", &policy);
    folder.write("files.toml", &policy);
    folder.write("relays.toml", "[grants]\ninvoke = [\"reaches:*\"]\n");
    for name in ["app", "lib"] {
        fs::create_dir_all(folder.beside("work").join(name).join("src")).expect("made");
        fs::write(folder.beside("work").join(name).join("src/main.rs"), format!("// {name}"))
            .expect("written");
    }
    folder
}

fn dirs() -> Value {
    json!({"action": "dirs"})
}

#[tokio::test]
async fn a_plugin_sees_the_clients_roots() -> Result<()> {
    let folder = granted("read-write");
    let work = folder.beside("work");
    let (app, lib) = (work.join("app"), work.join("lib"));
    symlink(folder.beside("secret"), app.join("out"))?;
    fs::write(folder.beside("secret").join("file"), "hush")?;
    let mut client = RootsClient::start(folder.path(), roots(&[&app])).await?;
    for _ in 0..2 {
        assert_eq!(client.envelope("reaches", dirs()).await?["data"], json!(["/app"]));
    }
    let cases = [
        (json!({"action": "read_file", "path": "/app/src/main.rs"}), "\"// app\""),
        (json!({"action": "read_file", "path": "/lib/src/main.rs"}), "not_found"),
        (json!({"action": "read_file", "path": "/app/../lib/src/main.rs"}), "denied"),
        (json!({"action": "read_file", "path": "/app/out/file"}), "denied"),
        (json!({"action": "write_file", "path": "/app/new", "text": "x"}), "null"),
    ];
    for (arguments, expected) in cases {
        let told = said(&client.envelope("reaches", arguments.clone()).await?);
        assert!(told.starts_with(expected), "{arguments}: {told}");
    }
    assert_eq!(fs::read_to_string(app.join("new"))?, "x");
    // A read action changes nothing there.
    let tried = json!({"action": "tries_to_write", "path": "/app/src/main.rs"});
    let tried = client.envelope("reaches", tried).await?;
    assert!(
        tried["data"].as_object().is_some_and(|done| done.values().all(|said| said != "done")),
        "{tried}"
    );
    // Nested calls have the roots of the call above them.
    let relayed = json!({"action": "read", "facade": "reaches", "what": "dirs"});
    assert!(said(&client.envelope("relays", relayed).await?).contains("/app"));
    assert_eq!(client.asked, 1);
    // The client announces others.
    client.change(roots(&[&lib, &app, &work.join("app/../app")])).await?;
    assert_eq!(client.envelope("reaches", dirs()).await?["data"], json!(["/lib", "/app"]));
    client
        .change(json!({"roots": [{"uri": format!("file://{}", lib.display()), "name": "The library"}]}))
        .await?;
    assert_eq!(client.envelope("reaches", dirs()).await?["data"], json!(["/The library"]));
    assert_eq!(client.asked, 3);
    // A root that disappears is gone in the next call, and back when it is back.
    fs::rename(&lib, work.join("away"))?;
    assert_eq!(client.envelope("reaches", dirs()).await?["data"], json!([]));
    fs::rename(work.join("away"), &lib)?;
    assert_eq!(client.envelope("reaches", dirs()).await?["data"], json!(["/The library"]));
    assert_eq!(client.asked, 3);
    client.end().await
}

#[tokio::test]
async fn read_grants_of_roots_reject_writes() -> Result<()> {
    let folder = granted("read");
    let app = folder.beside("work").join("app");
    let mut client = RootsClient::start(folder.path(), roots(&[&app])).await?;
    let write = json!({"action": "write_file", "path": "/app/new", "text": "x"});
    assert!(said(&client.envelope("reaches", write).await?).starts_with("denied"));
    assert!(!app.join("new").exists());
    client.end().await
}

/// What the caller reads when roots are missing.
#[tokio::test]
async fn failures_explain_missing_roots() -> Result<()> {
    let folder = granted("read");
    let work = folder.beside("work");
    let hidden = |text: String| text.replace(&work.parent().unwrap_or(&work).display().to_string(), "");
    let mut report = String::new();
    let mut note = |title: &str, envelope: &Value| {
        let fields = ["data", "message", "code", "error", "hint"];
        let kept = fields.iter().filter(|field| !envelope[**field].is_null());
        let kept: Vec<String> = kept.map(|field| format!("  {field}: {}", envelope[*field])).collect();
        report.push_str(&hidden(format!("{title}\n{}\n\n", kept.join("\n"))));
    };
    let (list, get) = (json!({"action": "list"}), json!({"action": "get", "path": "/lib/src/main.rs"}));
    for (title, listed) in [
        ("no root", json!({"roots": []})),
        ("one of two below the grant", roots(&[&work.join("app"), &folder.beside("elsewhere")])),
        ("none below the grant", roots(&[&work, &folder.beside("elsewhere"), &work.join("gone")])),
        ("a rubbish answer", json!({"roots": 5})),
    ] {
        let mut client = RootsClient::start(folder.path(), listed).await?;
        note(&format!("{title}: list"), &client.envelope("files", list.clone()).await?);
        note(&format!("{title}: get"), &client.envelope("files", get.clone()).await?);
        client.end().await?;
    }
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    note("a client without roots: get", &client.envelope("files", get.clone()).await?);
    client.end().await?;
    let client = Client::stdio(folder.path(), Era::Stateless).await?;
    note("a client of 2026-07-28: get", &client.envelope("files", get.clone()).await?);
    client.end().await?;
    let host = HttpHost::start(folder.path()).await?;
    for era in ERAS {
        let client = Client::http(&host, era).await?;
        let envelope = client.envelope("files", get.clone()).await?;
        if era == Era::Stateful {
            note("over HTTP: get", &envelope);
        }
        let hint = envelope["hint"].as_str().unwrap_or_default();
        assert!(hint.starts_with("The client named no roots: over HTTP"), "{era:?}: {envelope}");
        client.end().await?;
    }
    insta::assert_snapshot!(report);
    Ok(())
}

#[tokio::test]
async fn the_command_line_names_its_working_directory() -> Result<()> {
    let folder = granted("read");
    let work = folder.beside("work");
    for (dir, expected) in [
        (work.join("app"), r#""data":["/app"]"#),
        (work.join("app/src"), r#""data":["/src"]"#),
        (work.clone(), r#""data":[]"#),
        (folder.beside("elsewhere"), r#""data":[]"#),
    ] {
        let mut command = Command::new(binary());
        command.args(["call", "reaches", "dirs", "--plugins"]).arg(folder.path()).current_dir(&dir);
        command.env("LOGGIA_CACHE", cache()).env("LOGGIA_STATE", state(folder.path()));
        let output = command.output().await?;
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(told.contains(expected), "{}: {told}", dir.display());
    }
    Ok(())
}

#[tokio::test]
async fn a_missing_bound_is_an_error() -> Result<()> {
    let folder = Folder::with(&["reaches"]);
    let check = async |path: &str| -> Result<String> {
        let policy = format!(
            "[grants]\ndirs = [{{ path = {path:?}, roots = true, at = \"/\", access = \"read\" }}]\n"
        );
        folder.write("reaches.toml", &policy);
        let mut command = Command::new(binary());
        command
            .arg("check")
            .arg(folder.path())
            .env("LOGGIA_CACHE", cache())
            .env("LOGGIA_STATE", state(folder.path()));
        Ok(String::from_utf8_lossy(&command.output().await?.stdout).into_owned())
    };
    fs::write(folder.beside("there").join("file"), "")?;
    for (path, expected) in [
        ("../gone", "cannot be opened: No such file or directory"),
        ("../there/file", "cannot be opened: Not a directory"),
        ("..", ""),
        ("../there", ""),
    ] {
        let told = check(path).await?;
        assert!(told.contains(expected), "{path}: {told}");
        assert_eq!(told.contains("does not load"), !expected.is_empty(), "{path}: {told}");
    }
    Ok(())
}
