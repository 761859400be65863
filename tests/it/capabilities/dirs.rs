//! Directories: access modes, write limits, and directories that are never granted.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use anyhow::{Context, Result};
use loggia_tests::{Client, Era, Folder, binary, cache, state};
use serde_json::{Value, json};
use tokio::process::Command;

use super::said;

/// Creates a folder with the fixture, which is granted sibling directories.
fn granted(dirs: &[(&str, &str, &str)], more: &str) -> Folder {
    let folder = Folder::with(&["reaches"]);
    let dirs: Vec<String> = dirs
        .iter()
        .map(|(path, at, access)| {
            format!("{{ path = {:?}, at = {at:?}, access = {access:?} }}", folder.beside(path))
        })
        .collect();
    folder.write("reaches.toml", &format!("[grants]\ndirs = [{}]\n{more}", dirs.join(", ")));
    folder
}

/// H20.
#[tokio::test]
async fn a_plugin_sees_only_granted_directories() -> Result<()> {
    let folder = granted(&[("a", "/a", "read"), ("b", "/deep/b", "read-write")], "");
    fs::write(folder.beside("a").join("file"), "in a")?;
    fs::write(folder.beside("c").join("file"), "in c")?;
    symlink(folder.beside("c"), folder.beside("a").join("link"))?;
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    assert_eq!(
        client.envelope("reaches", json!({"action": "dirs"})).await?["data"],
        json!(["/a", "/deep/b"])
    );
    let cases = [
        (json!({"action": "read_file", "path": "/a/file"}), "\"in a\""),
        (json!({"action": "read_file", "path": "/a/link/file"}), "denied"),
        (json!({"action": "read_file", "path": "/a/../c/file"}), "denied"),
        (json!({"action": "read_file", "path": "/c/file"}), "not_found"),
        (json!({"action": "read_file", "path": "/etc/passwd"}), "not_found"),
        (json!({"action": "write_file", "path": "/a/new", "text": "x"}), "denied"),
        (json!({"action": "write_file", "path": "/deep/b/new", "text": "x"}), "null"),
    ];
    for (arguments, expected) in cases {
        let told = said(&client.envelope("reaches", arguments.clone()).await?);
        assert!(told.starts_with(expected), "{arguments}: {told}");
    }
    assert!(!folder.beside("a").join("new").exists());
    assert_eq!(fs::read_to_string(folder.beside("b").join("new"))?, "x");
    client.end().await
}

/// Name, size, text and times of everything in a directory.
fn contents(dir: &Path) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let meta = entry.path().symlink_metadata()?;
        let text = if meta.is_file() { fs::read_to_string(entry.path())? } else { String::new() };
        all.push(format!("{:?} {:?} {text:?} {:?}", entry.file_name(), meta.file_type(), meta.modified()?));
    }
    all.sort();
    Ok(all)
}

/// H19.
#[tokio::test]
async fn read_only_directories_reject_every_kind_of_write() -> Result<()> {
    let prepare = |folder: &Folder| -> Result<Vec<String>> {
        let dir = folder.beside("data");
        fs::write(dir.join("file"), "as it was")?;
        fs::create_dir_all(dir.join("file.empty"))?;
        contents(&dir)
    };
    let cases = [
        ("read-write", "does_write", true),
        ("read-write", "tries_to_write", false),
        ("read", "does_write", false),
    ];
    for (access, action, writes) in cases {
        let folder = granted(&[("data", "/data", access)], "");
        let before = prepare(&folder)?;
        let client = Client::stdio(folder.path(), Era::Stateful).await?;
        let told = client.envelope("reaches", json!({"action": action, "path": "/data/file"})).await?;
        let done = told["data"].as_object().context("what was done")?;
        assert_eq!(done.len(), 11, "{told}");
        for (kind, said) in done {
            assert_eq!(said == "done", writes, "{kind} by {action} where {access} is granted: {said}");
        }
        assert_eq!(
            contents(&folder.beside("data"))? == before,
            !writes,
            "{action} where {access} is granted"
        );
        client.end().await?;
    }
    Ok(())
}

/// H22, H23.
#[tokio::test]
async fn a_call_writes_and_opens_only_so_much() -> Result<()> {
    let limits = "[limits]\nwritten = \"256KiB\"\ndescriptors = 10\n";
    let folder = granted(&[("data", "/data", "read-write")], limits);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let call = async |arguments: Value| client.envelope("reaches", arguments).await;

    let within = call(json!({"action": "write_big", "path": "/data/big", "bytes": 192 << 10})).await?;
    assert_eq!(within["data"], 192 << 10, "{within}");
    let beyond = call(json!({"action": "write_big", "path": "/data/big", "bytes": 1 << 20})).await?;
    let hint =
        "it wrote as much to files as a call may, which is 256KiB; the operator can raise `limits.written`";
    assert_eq!((&beyond["ok"], &beyond["hint"]), (&json!(false), &json!(hint)), "{beyond}");
    let size = fs::metadata(folder.beside("data").join("big"))?.len();
    assert!(size <= 256 << 10, "{size} bytes were written");
    // The limit is a call's, not the plugin's.
    let again = call(json!({"action": "write_file", "path": "/data/again", "text": "x"})).await?;
    assert_eq!(again["ok"], true, "{again}");

    let opened = call(json!({"action": "open_many", "dir": "/data", "n": 100})).await?;
    assert_eq!(opened["data"]["opened"], 10, "{opened}");
    let few = call(json!({"action": "open_many", "dir": "/data", "n": 9})).await?;
    assert_eq!(few["data"], json!({"opened": 9, "error": null}), "{few}");
    client.end().await
}

#[tokio::test]
async fn directories_that_control_permissions_are_refused() -> Result<()> {
    let folder = Folder::with(&["reaches"]);
    let (plugins, all) = (folder.path().to_owned(), folder.path().parent().context("a parent")?.to_owned());
    folder.beside("fine");
    let kept = folder.beside("kept");
    fs::write(kept.join("token"), "0123456789")?;
    symlink(&plugins, all.join("link"))?;
    symlink(kept.join("token"), all.join("token-link"))?;
    let secret = |path: &Path| {
        format!(
            "http = [\"https://api.example.com\"]\nsecrets = [{{ from-file = {path:?}, host = \"api.example.com\", \
             header = \"authorization\" }}]\n"
        )
    };
    let stores = state(folder.path()).join("stores");
    let cases = [
        (all.join("fine"), String::new(), None),
        (all.join("fine"), secret(&kept.join("token")), None),
        (plugins.clone(), String::new(), Some("the plugin folder")),
        (plugins.join("data"), String::new(), Some("the plugin folder")),
        (all.clone(), String::new(), Some("the plugin folder")),
        (all.join("link"), String::new(), Some("the plugin folder")),
        (all.join("link/../fine/../plugins"), String::new(), Some("the plugin folder")),
        ("/".into(), String::new(), Some("the plugin folder")),
        (state(&plugins), String::new(), Some("the state folder")),
        (stores, String::new(), Some("the state folder")),
        (cache(), String::new(), Some("the cache folder")),
        (kept.clone(), secret(&kept.join("token")), Some("the folder of a secret")),
        (kept.clone(), secret(&all.join("token-link")), Some("the folder of a secret")),
    ];
    fs::create_dir(plugins.join("data"))?;
    for (path, more, refused) in cases {
        let dir = format!("dirs = [{{ path = {path:?}, at = \"/data\", access = \"read\" }}]");
        folder.write("reaches.toml", &format!("[grants]\n{dir}\n{more}"));
        let output = Command::new(binary())
            .arg("check")
            .arg(&plugins)
            .env("LOGGIA_CACHE", cache())
            .env("LOGGIA_STATE", state(&plugins))
            .output()
            .await?;
        let told = String::from_utf8_lossy(&output.stdout);
        match refused {
            None => assert!(output.status.success(), "{path:?} {more}: {told}"),
            Some(what) => {
                assert!(told.contains("the policy grants") && told.contains(what), "{path:?} {more}: {told}")
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn targets_of_the_plugin_folders_links_are_protected() -> Result<()> {
    let folder = Folder::with(&["reaches"]);
    let (policies, builds) = (folder.beside("policies"), folder.beside("builds"));
    fs::create_dir(builds.join("below"))?;
    symlink("../policies/reaches.toml", folder.path().join("reaches.toml"))?;
    // Through two links; the plugin itself may be missing.
    symlink("../policies/other", folder.path().join("other.wasm"))?;
    symlink(builds.join("other.wasm"), policies.join("other"))?;
    for (path, access, refused) in [
        (&policies, "read-write", true),
        (&builds, "read-write", true),
        (&builds, "read", false),
        (&builds.join("below"), "read-write", false),
    ] {
        let policy =
            format!("[grants]\ndirs = [{{ path = {path:?}, at = \"/data\", access = {access:?} }}]\n");
        fs::write(policies.join("reaches.toml"), policy)?;
        let output = Command::new(binary())
            .arg("check")
            .arg(folder.path())
            .env("LOGGIA_CACHE", cache())
            .env("LOGGIA_STATE", state(folder.path()))
            .output()
            .await?;
        let told = String::from_utf8_lossy(&output.stdout);
        assert_eq!(told.contains("is or contains a folder of links"), refused, "{path:?} {access}: {told}");
        assert!(told.contains("other\tdoes not load: failed to read the file"), "{path:?} {access}: {told}");
    }
    Ok(())
}

/// H21: another plugin may write next to a granted directory and replace it by a link at any moment.
#[tokio::test]
async fn a_directory_replaced_after_its_check_is_refused() -> Result<()> {
    let folder = granted(&[("data/sub", "/data", "read-write")], "");
    let data = folder.beside("data");
    fs::rename(data.join("sub"), data.join("real"))?;
    symlink("real", data.join("sub"))?;
    let ended = AtomicBool::new(false);
    let call = || {
        std::process::Command::new(binary())
            .args(["call", "reaches", "read_file", "path=/data/reaches.toml", "--plugins"])
            .arg(folder.path())
            .env("LOGGIA_CACHE", cache())
            .env("LOGGIA_STATE", state(folder.path()))
            .output()
    };
    thread::scope(|scope| -> Result<()> {
        scope.spawn(|| {
            for target in ["../plugins", "real"].iter().cycle() {
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                let exchanged = symlink(target, data.join("new"))
                    .and_then(|()| fs::rename(data.join("new"), data.join("sub")));
                exchanged.expect("exchanged");
                thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        let told = (0..20).map(|_| call()).collect::<Result<Vec<_>, _>>();
        ended.store(true, Ordering::Relaxed);
        for output in told? {
            let told = String::from_utf8_lossy(&output.stdout);
            assert!(told.contains("\"ok\":false"), "it read its own policy: {told}");
        }
        Ok(())
    })
}
