//! Surfaces that are kept over restarts: used for unchanged files, and never trusted over the bytes.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use loggia_tests::{Client, Folder, fixture};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::reload::becomes;

/// Result of one start: how the plugin was loaded, its tool, and the answer to the first call.
#[derive(Debug, PartialEq)]
struct Start {
    loaded: &'static str,
    tools: Value,
    answer: Value,
}

/// Starts a host, lists, calls and ends it.
async fn start(folder: &Folder, cache: &Path) -> Result<(Start, String)> {
    let (client, log) = Client::stdio_logged(folder.path(), |command| {
        command.env("LOGGIA_CACHE", cache);
    })
    .await?;
    let tools = serde_json::to_value(client.service.peer().list_all_tools().await?)?;
    let answer = client.envelope("version", json!({"action": "get"})).await?;
    client.end().await?;
    let log = log.await??;
    let methods = ["compiled", "cached", "indexed"];
    let loaded = methods.into_iter().find(|method| log.contains(&format!("loaded ({method}")));
    Ok((Start { loaded: loaded.with_context(|| log.clone())?, tools, answer }, log))
}

/// Path of the index.
fn index(cache: &Path) -> Result<PathBuf> {
    let engine = fs::read_dir(cache)?.next().context("no engine")??.path();
    let path = engine.join("surfaces");
    ensure!(path.exists(), "no index in {}", engine.display());
    Ok(path)
}

#[tokio::test]
async fn a_known_component_is_loaded_at_its_first_call() -> Result<()> {
    let (folder, cache) = (Folder::with(&["version_one"]), tempfile::tempdir()?);
    let (first, _) = start(&folder, cache.path()).await?;
    assert_eq!((first.loaded, &first.answer["data"]), ("compiled", &json!("one")));
    let (second, _) = start(&folder, cache.path()).await?;
    assert_eq!(second, Start { loaded: "indexed", ..first });

    // Without its code, it is not deferred: compiling takes long.
    let code = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|end| end == "code");
    let engine = index(cache.path())?.parent().context("no folder")?.to_owned();
    let code = fs::read_dir(&engine)?.flatten().find(code).context("no code")?.path();
    fs::remove_file(&code)?;
    let (third, _) = start(&folder, cache.path()).await?;
    assert_eq!(third, Start { loaded: "compiled", ..second });

    // Damaged code is noticed at the first call.
    fs::write(&code, "damaged")?;
    let (fourth, log) = start(&folder, cache.path()).await?;
    assert_eq!(fourth, Start { loaded: "indexed", ..third });
    ensure!(log.contains("compiled at its first call"), "{log}");

    // A policy applies whether the component is known or not.
    folder.write("version_one.toml", "[limits]\nartifact = \"1KiB\"");
    let (client, log) = Client::stdio_logged(folder.path(), |command| {
        command.env("LOGGIA_CACHE", cache.path());
    })
    .await?;
    assert_eq!(client.names().await?, [""; 0]);
    client.end().await?;
    let log = log.await??;
    ensure!(log.contains("the file is larger than 1KiB (`limits.artifact`)"), "{log}");
    Ok(())
}

#[tokio::test]
async fn a_damaged_index_is_written_again() -> Result<()> {
    let (folder, cache) = (Folder::with(&["version_one"]), tempfile::tempdir()?);
    let (first, _) = start(&folder, cache.path()).await?;
    let path = index(cache.path())?;
    let intact = fs::read_to_string(&path)?;
    let harms: [(&str, String); 6] = [
        ("nothing", String::new()),
        ("half of it", intact[..intact.len() / 2].to_owned()),
        ("another surface", intact.replace("\"version\"", "\"virgins\"")),
        ("another format", intact.replacen("surfaces 1", "surfaces 2", 1)),
        ("another build", intact.replacen("surfaces 1 ", "surfaces 1 1", 1)),
        ("no lines", intact.replace('\n', " ")),
    ];
    for (harm, text) in harms {
        fs::write(&path, text)?;
        let (again, _) = start(&folder, cache.path()).await?;
        assert_eq!(again, Start { loaded: "cached", ..first_like(&first) }, "{harm}");
        let (known, _) = start(&folder, cache.path()).await?;
        assert_eq!(known.loaded, "indexed", "{harm}");
    }
    Ok(())
}

fn first_like(first: &Start) -> Start {
    Start { loaded: first.loaded, tools: first.tools.clone(), answer: first.answer.clone() }
}

#[tokio::test]
async fn an_index_is_not_trusted_over_the_bytes() -> Result<()> {
    let (folder, cache) = (Folder::with(&["version_one"]), tempfile::tempdir()?);
    start(&folder, cache.path()).await?;
    // Other bytes whose metadata the index claims to know.
    let plugin = folder.path().join("version_one.wasm");
    fs::write(&plugin, fs::read(fixture("version_two"))?)?;
    let path = index(cache.path())?;
    forge(&path, &fs::metadata(&plugin)?)?;

    let (client, log) = Client::stdio_logged(folder.path(), |command| {
        command.env("LOGGIA_CACHE", cache.path());
    })
    .await?;
    let refused = client.envelope("version", json!({"action": "get"})).await?;
    insta::assert_json_snapshot!(refused);
    becomes(&client, "two").await;
    client.end().await?;
    let log = log.await??;
    ensure!(log.contains("loaded (indexed"), "{log}");
    ensure!(log.contains("its bytes are not those of its surface"), "{log}");
    // A host that ends at once may not have written the index any more; the next one does.
    start(&folder, cache.path()).await?;
    let (next, _) = start(&folder, cache.path()).await?;
    assert_eq!((next.loaded, &next.answer["data"]), ("indexed", &json!("two")));
    Ok(())
}

/// H121: bytes that were replaced unseen are found at the first call, and wait for approval like any others.
#[tokio::test]
async fn bytes_that_were_replaced_unseen_await_approval() -> Result<()> {
    let (folder, cache) = (Folder::with(&["version_one"]), tempfile::tempdir()?);
    let pinned = async || {
        Client::stdio_logged(folder.path(), |command| {
            command.env("LOGGIA_CACHE", cache.path()).env("LOGGIA_PIN", "surface");
        })
        .await
    };
    let (client, log) = pinned().await?;
    becomes(&client, "one").await;
    client.end().await?;
    log.await??;
    // A host that ends at once may not have written the index any more; the next one does.
    start(&folder, cache.path()).await?;
    let plugin = folder.path().join("version_one.wasm");
    fs::write(&plugin, fs::read(fixture("version_effect"))?)?;
    forge(&index(cache.path())?, &fs::metadata(&plugin)?)?;

    let (client, log) = pinned().await?;
    let first = client.envelope("version", json!({"action": "get"})).await?;
    ensure!(first["ok"] == false || first["data"] == "one", "{first}");
    // The approved version, from its copy.
    becomes(&client, "one").await;
    client.end().await?;
    let log = log.await??;
    for expected in ["loaded (indexed", "its bytes are not those of its surface", "waits for approval"] {
        ensure!(log.contains(expected), "{expected}: {log}");
    }
    Ok(())
}

/// The version that was admitted serves, as if it had been called before, until the new one is admitted.
#[tokio::test]
async fn a_component_that_is_replaced_before_its_first_call_loses_none() -> Result<()> {
    let (folder, cache) = (Folder::with(&["version_one"]), tempfile::tempdir()?);
    start(&folder, cache.path()).await?;
    for round in 0..4 {
        let (client, log) = Client::stdio_logged(folder.path(), |command| {
            command.env("LOGGIA_CACHE", cache.path());
        })
        .await?;
        client.names().await?;
        let (now, next) = if round % 2 == 0 { ("one", "two") } else { ("two", "one") };
        folder.put("version_one", &fixture(&format!("version_{next}")));
        let answer = client.envelope("version", json!({"action": "get"})).await?;
        ensure!(answer["data"] == now || answer["data"] == next, "{round}: {answer}");
        becomes(&client, next).await;
        client.end().await?;
        let log = log.await??;
        ensure!(log.contains("loaded (indexed"), "{round}: {log}");
    }
    Ok(())
}

/// Gives the only entry of an index the metadata of a file.
fn forge(index: &Path, meta: &fs::Metadata) -> Result<()> {
    let text = fs::read_to_string(index)?;
    let lines: Vec<&str> = text.lines().collect();
    let [header, key, surface] = lines[..] else { anyhow::bail!("{text}") };
    let mut key: Value = serde_json::from_str(key)?;
    key["stamp"] = json!({
        "device": meta.dev(),
        "inode": meta.ino(),
        "size": meta.size(),
        "modified": [meta.mtime(), meta.mtime_nsec()],
        "changed": [meta.ctime(), meta.ctime_nsec()],
    });
    let body = format!("{key}\n{surface}\n");
    let sum: String = Sha256::digest(&body).iter().map(|byte| format!("{byte:02x}")).collect();
    let (kept, _) = header.rsplit_once(' ').context("no checksum")?;
    fs::write(index, format!("{kept} {sum}\n{body}"))?;
    Ok(())
}
