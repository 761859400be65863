//! The author's work with the plugin of `sdk/README.md`: it is created, built, served, edited, broken and fixed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex},
};

use anyhow::{Context, Result, bail};
use loggia_tests::{
    Client, Era, HttpHost, PATIENCE, binary, cache, eventually, eventually_within, guests, scratch,
};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

/// The block of the guide that is marked as this file.
fn from_guide(file: &str) -> Result<String> {
    let guide = fs::read_to_string(root().join("sdk/README.md"))?;
    let (_, rest) = guide.split_once(&format!("<!-- plugin: {file} -->\n```")).context("no such block")?;
    let (_, rest) = rest.split_once('\n').context("no block")?;
    Ok(rest.split_once("```").context("no end")?.0.to_owned())
}

/// The guide's crate, in a folder of its own.
fn author(folder: &Path) -> Result<PathBuf> {
    let crate_folder = folder.join("notes");
    fs::create_dir_all(crate_folder.join("src"))?;
    let sdk = root().join("sdk");
    let manifest = from_guide("Cargo.toml")?.replace("\"../loggia/sdk\"", &format!("{sdk:?}"));
    assert!(manifest.contains(&format!("{sdk:?}")), "the guide names the SDK in another way");
    fs::write(crate_folder.join("Cargo.toml"), manifest + "\n[workspace]\n")?;
    fs::write(crate_folder.join("src/lib.rs"), from_guide("src/lib.rs")?)?;
    // The versions that were tested, and nothing to look up.
    fs::copy(root().join("Cargo.lock"), crate_folder.join("Cargo.lock"))?;
    Ok(crate_folder)
}

/// A command of the binary, with the caches of the tests.
pub fn command(words: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command
        .args(words)
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .env("CARGO_TARGET_DIR", guests())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// Serialises the tests from writing the crate to its last build: cargo does not distinguish crates of equal names in
/// folders of equal names, and detects changes only by time.
static CRATE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

#[tokio::test]
async fn a_plugin_that_exports_nothing_does_not_link() -> Result<()> {
    let _alone = CRATE.lock().await;
    let folder = tempfile::tempdir()?;
    let source = author(folder.path())?;
    let lib = source.join("src/lib.rs");
    let text = fs::read_to_string(&lib)?;
    let without: Vec<&str> = text.lines().filter(|line| !line.contains("export!")).collect();
    assert!(without.len() < text.lines().count(), "the guide's plugin exports its facade otherwise");
    fs::write(&lib, without.join("\n"))?;
    let output = command(&["build"]).current_dir(&source).output().await?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no facade is exported: write loggia_sdk::export!(NAME);"), "{said}");
    assert!(!source.join("dist/notes.wasm").exists());
    Ok(())
}

#[tokio::test]
async fn the_guides_plugin_is_built_served_and_followed() -> Result<()> {
    let _alone = CRATE.lock().await;
    let folder = tempfile::tempdir()?;
    let [sources, shared] = ["plugins", "shared"].map(|name| folder.path().join(name));
    for folder in [&sources, &shared] {
        fs::create_dir(folder)?;
    }
    let source = author(&sources)?;
    let out = folder.path().join("out");
    fs::write(
        source.join("notes.toml"),
        "[grants]\ndirs = [{ path = \"../kept\", at = \"/kept\", access = \"read\" }]\n",
    )?;
    let lib = source.join("src/lib.rs");
    let text = fs::read_to_string(&lib)?;
    fs::write(&lib, "this does not compile")?;
    let mut child = command(&["dev", "--http", "127.0.0.1:0", "--out"]).arg(&out).arg(&sources).spawn()?;
    let mut lines = BufReader::new(child.stderr.take().context("no stderr")?).lines();
    let said = Arc::new(Mutex::new(String::new()));
    let url = async {
        while let Some(line) = lines.next_line().await? {
            if let Some(url) = line.strip_prefix("listening on ") {
                return Ok(url.to_owned());
            }
            said.lock().expect("not poisoned").push_str(&line);
        }
        bail!("loggia dev ended: {}", said.lock().expect("not poisoned"))
    };
    let url = tokio::time::timeout(PATIENCE * 5, url).await??;
    let hears = Arc::clone(&said);
    tokio::spawn(async move {
        while let Ok(Some(line)) = lines.next_line().await {
            hears.lock().expect("not poisoned").push_str(&line);
        }
    });
    let mut printed = BufReader::new(child.stdout.take().context("no stdout")?).lines();
    let mut configuration = String::new();
    while !configuration.contains("claude_desktop_config.json") {
        let line = tokio::time::timeout(PATIENCE, printed.next_line()).await??.context("no configuration")?;
        configuration.push_str(&line);
    }
    assert!(configuration.contains(&format!("loggia client add CLIENT --url {url}")), "{configuration}");
    // The server does not wait for the build, which compiles the SDK's dependencies beside other tests.
    eventually_within(PATIENCE * 5, async || {
        let said = said.lock().expect("not poisoned");
        if said.contains("`notes` does not build") { Ok(()) } else { Err(said.clone()) }
    })
    .await;
    assert!(out.join("kept").is_dir(), "what the policy grants is made");

    let host = HttpHost { url, child };
    let client = Client::http(&host, Era::Stateless).await?;
    assert_eq!(client.names().await?, [""; 0], "what cannot be built is waited for");
    fs::write(&lib, &text)?;
    let id = async || {
        let added = client.envelope("notes", json!({"action": "add", "text": "milk"})).await;
        added
            .map(|added| added["data"]["id"].as_str().unwrap_or_default().to_owned())
            .map_err(|e| e.to_string())
    };
    let becomes = async |expected: &str| {
        for _ in 0..5 {
            let found = tokio::time::timeout(
                PATIENCE,
                eventually(async || match id().await {
                    Ok(found) if found == expected => Ok(()),
                    other => Err(format!("{other:?}")),
                }),
            );
            if found.await.is_ok() {
                return;
            }
        }
        panic!("never {expected}: {}", said.lock().expect("not poisoned"));
    };
    becomes("n_0001").await;
    assert_eq!(client.names().await?, ["notes"]);

    // What the crate includes is followed elsewhere, too.
    fs::write(shared.join("id.txt"), "n_0001b")?;
    fs::write(&lib, text.replace("\"n_0001\"", "include_str!(\"../../../shared/id.txt\")"))?;
    becomes("n_0001b").await;
    fs::write(shared.join("id.txt"), "n_0002")?;
    becomes("n_0002").await;

    said.lock().expect("not poisoned").clear();
    fs::write(&lib, "this does not compile")?;
    eventually(async || {
        let said = said.lock().expect("not poisoned");
        if said.contains("earlier builds keep serving") { Ok(()) } else { Err(said.clone()) }
    })
    .await;
    assert_eq!(id().await.as_deref(), Ok("n_0002"));

    fs::write(&lib, text.replace("\"n_0001\"", "\"n_0003\""))?;
    becomes("n_0003").await;

    // Each call has a line, and a trap the lines of the source where it happened.
    fs::write(&lib, text.replace("\"n_0001\".into()", "panic!(\"spoiled {text}\")"))?;
    eventually(async || match client.envelope("notes", json!({"action": "add", "text": "milk"})).await {
        Ok(failed) if failed["error"] == "the plugin `notes` panicked: spoiled milk" => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    let line = text.lines().position(|line| line.contains("\"n_0001\"")).context("a line")? + 1;
    eventually(async || {
        let said = said.lock().expect("not poisoned").replace("facade=", "\n");
        let trace = format!("notes/src/lib.rs:{line}");
        let has_trace = said.lines().any(|said| said.contains("  in ") && said.contains(&trace));
        let has_calls =
            ["notes.add: ok in ", "notes.add: internal in "].iter().all(|line| said.contains(line));
        if has_trace && has_calls { Ok(()) } else { Err(said) }
    })
    .await;

    let elsewhere = tempfile::tempdir()?;
    fs::rename(&source, elsewhere.path().join("notes"))?;
    eventually(async || match client.envelope("notes", json!({"action": "add", "text": "milk"})).await {
        Ok(gone) if gone["error"] == "`notes` is unavailable: its file was removed" => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    client.end().await
}

#[tokio::test]
async fn build_makes_callable_plugins() -> Result<()> {
    let _alone = CRATE.lock().await;
    let folder = tempfile::tempdir()?;
    let source = author(folder.path())?;
    let out = folder.path().join("dist");
    let grants = "[grants]\ndirs = [{ path = \"../kept\", at = \"/kept\", access = \"read\" }]\n";
    fs::write(source.join("notes.toml"), grants)?;
    let step = "{id: a, tool: notes.search, arguments: {query: milk}}";
    fs::write(source.join("milk.workflow.yaml"), format!("name: milk\ndescription: D.\nsteps: [{step}]\n"))?;
    let built = command(&["build", "--out"]).arg(&out).arg(&source).output().await?;
    let (stdout, stderr) =
        (String::from_utf8(built.stdout)?, String::from_utf8_lossy(&built.stderr).into_owned());
    assert!(built.status.success(), "{stderr}");
    assert!(stdout.starts_with("notes\t") && stdout.contains("\nmilk\t"), "{stdout}");
    let created =
        format!("created {}, granted by notes.toml", fs::canonicalize(folder.path())?.join("kept").display());
    assert!(stderr.contains(&created), "{stderr}");
    // The output can be served without changes.
    let checked = command(&["check"]).arg(&out).output().await?;
    let told = String::from_utf8(checked.stdout)? + &String::from_utf8_lossy(&checked.stderr);
    assert_eq!(checked.status.code(), Some(0), "{told}");
    assert!(!told.contains("cannot run"), "{told}");
    fs::remove_dir(folder.path().join("kept"))?;
    let checked = command(&["check"]).arg(&out).output().await?;
    let told = String::from_utf8(checked.stdout)?;
    let path = out.join("../kept").display().to_string();
    assert_eq!(checked.status.code(), Some(10), "{told}");
    assert!(
        told.contains(&format!("`{path}` cannot be opened")) && told.contains(&format!("mkdir -p {path}")),
        "{told}"
    );
    fs::create_dir(folder.path().join("kept"))?;
    let size = fs::metadata(out.join("notes.wasm"))?.len();
    assert!(size <= 200 << 10, "a plugin of this kind is at most 200 KB; it is {size} bytes");

    let call = async |words: &[&str]| -> Result<(Option<i32>, String)> {
        let output = command(&["call", "notes"]).args(words).arg("--plugins").arg(&out).output().await?;
        Ok((output.status.code(), String::from_utf8(output.stdout)?.trim().to_owned()))
    };
    let found = call(&["search", "query=milk", "limit=1"]).await?;
    let data = r#"[{"id":"n_0001","text":"milk","tags":[]}]"#;
    let expected =
        format!(r#"{{"ok":true,"action":"search","data":{data},"count":1,"resolved_inputs":{{"limit":1}}}}"#);
    assert_eq!(found, (Some(0), expected));
    let (code, said) = call(&["rm", "id=n_9"]).await?;
    assert!(code == Some(20) && said.contains("not found: there is no note `n_9`"), "{said}");
    let (code, _) = call(&["add", "neither json nor a pair"]).await?;
    assert_eq!(code, Some(2));
    Ok(())
}

#[tokio::test]
async fn build_reports_that_nothing_was_found() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let output = command(&["build"]).arg(folder.path()).output().await?;
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr)?;
    assert!(
        stderr.contains("no plugin under")
            && stderr.contains("loggia new")
            && stderr.contains("crate-type = [\"cdylib\"]"),
        "{stderr}"
    );
    Ok(())
}
