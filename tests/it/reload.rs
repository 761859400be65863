//! Changes of the folder take effect at once, without losing a call.

use std::{
    fs,
    os::unix::fs::symlink,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use loggia_tests::{
    Client, ERAS, Era, Folder, HttpHost, Served, eventually, fixture, heard, lingers::lingers, soon,
};
use rmcp::model::SubscriptionFilter;
use serde_json::json;

pub async fn version(client: &Client) -> Result<String, String> {
    let envelope = client.envelope("version", json!({"action": "get"})).await.map_err(|e| e.to_string())?;
    envelope["data"].as_str().map(str::to_owned).ok_or_else(|| envelope.to_string())
}

pub async fn becomes(client: &Client, expected: &str) {
    eventually(async || match version(client).await {
        Ok(found) if found == expected => Ok(()),
        other => Err(format!("expected {expected}, got {other:?}")),
    })
    .await;
}

/// Starts a host that reports the state of each file, and a client.
async fn served(folder: &Folder) -> Result<(Served, Client)> {
    let served = Served::start(folder, |_| {}).await?;
    let client = Client::http(&served.host, Era::Stateful).await?;
    Ok((served, client))
}

#[tokio::test]
async fn added_replaced_and_removed_plugins_are_noticed() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    client.names_become(&["echo"]).await;

    folder.put("version", &fixture("version_one"));
    becomes(&client, "one").await;
    folder.put("version", &fixture("version_two"));
    becomes(&client, "two").await;
    fs::write(folder.path().join("version.wasm"), fs::read(fixture("version_three"))?)?;
    becomes(&client, "three").await;

    folder.remove("version.wasm");
    client.names_become(&["echo"]).await;
    let gone = client.envelope("version", json!({"action": "get"})).await?;
    assert_eq!(gone["code"], "unavailable", "{gone}");
    assert_eq!(gone["hint"], "available facades: echo", "{gone}");
    client.end().await
}

#[tokio::test]
async fn clients_are_notified_only_of_changed_lists() -> Result<()> {
    for transport in ["stdio", "http"] {
        let folder = Folder::new();
        folder.put("version", &fixture("version_one"));
        let host = HttpHost::start(folder.path()).await?;
        let mut stateful = match transport {
            "stdio" => Client::stdio(folder.path(), Era::Stateful).await?,
            _ => Client::http(&host, Era::Stateful).await?,
        };
        let stateless = match transport {
            "stdio" => Client::stdio(folder.path(), Era::Stateless).await?,
            _ => Client::http(&host, Era::Stateless).await?,
        };
        becomes(&stateful, "one").await;
        becomes(&stateless, "one").await;
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let mut listening = stateless.service.peer().listen(filter).await?;

        // The same surface from other bytes: no notification for many times the debounce interval.
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(300) {
            for (file, expected) in [("version_two", "two"), ("version_one", "one")] {
                folder.put("version", &fixture(file));
                becomes(&stateful, expected).await;
                becomes(&stateless, expected).await;
            }
        }
        assert!(stateful.changed.try_recv().is_err(), "{transport}: told of a list that did not change");

        folder.put("version", &fixture("version_three"));
        heard("that the list changed", &mut stateful.changed).await?;
        soon("that the list changed", listening.next()).await??.context(transport)?;
        becomes(&stateful, "three").await;
        assert!(stateful.changed.try_recv().is_err(), "{transport}: told twice");
        listening.cancel().await?;
        stateful.end().await?;
        stateless.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_broken_version_leaves_the_old_one_serving() -> Result<()> {
    let folder = Folder::new();
    folder.put("version", &fixture("version_one"));
    let (served, client) = served(&folder).await?;
    becomes(&client, "one").await;
    folder.write("version.wasm", "this is no component");
    served.readies(|_, told| told["stale"] == 1).await;
    assert_eq!(version(&client).await.as_deref(), Ok("one"));
    folder.put("version", &fixture("version_one"));
    served.readies(|_, told| told["stale"] == 0).await;
    folder.write("version.toml", "[limits]\nmemroy = \"1MiB\"\n");
    served.readies(|_, told| told["stale"] == 1).await;
    assert_eq!(version(&client).await.as_deref(), Ok("one"));
    fs::remove_file(folder.path().join("version.toml"))?;
    folder.put("version", &fixture("version_two"));
    becomes(&client, "two").await;
    client.end().await
}

#[tokio::test]
async fn unloaded_plugins_answer_with_the_reason() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    folder.write("broken.wasm", "this is no component");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    client.names_become(&["echo"]).await;
    let broken = client.envelope("broken", json!({"action": "go"})).await?;
    assert_eq!(broken["code"], "unavailable");
    insta::assert_snapshot!(broken["error"].as_str().unwrap_or_default(), @"`broken` is unavailable: not a WebAssembly component: the file does not begin with the WebAssembly magic number");
    client.end().await
}

#[tokio::test]
async fn many_changes_at_once_all_arrive() -> Result<()> {
    let folder = Folder::with(&["version_one"]);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    client.names_become(&["version"]).await;
    folder.put("echo", &fixture("echo"));
    folder.put("misbehaves", &fixture("misbehaves"));
    folder.put("lies", &fixture("lies"));
    folder.remove("version_one.wasm");
    client.names_become(&["echo", "lies", "misbehaves"]).await;
    client.end().await
}

#[tokio::test]
async fn a_folder_created_later_is_served() -> Result<()> {
    let parent = Folder::new();
    let path = parent.path().join("not/yet");
    for era in ERAS {
        // Beside the folder, it would be written to while the parent is deleted file by file.
        let state = parent.beside("state");
        let client = Client::stdio_with(&path, era, |command| {
            command.env("LOGGIA_STATE", state);
        })
        .await?;
        assert_eq!(client.names().await?, [""; 0]);
        fs::create_dir_all(&path)?;
        fs::copy(fixture("echo"), path.join("echo.wasm"))?;
        client.names_become(&["echo"]).await;
        fs::remove_dir_all(parent.path().join("not"))?;
        client.names_become(&[]).await;
        client.end().await?;
    }
    Ok(())
}

/// As Kubernetes mounts a ConfigMap: the files are links into `..data`, a link that is replaced.
#[tokio::test]
async fn changed_links_in_a_folder_are_followed() -> Result<()> {
    let folder = Folder::new();
    let mount = folder.path();
    for (name, from) in [("..one", "version_one"), ("..two", "version_two")] {
        fs::create_dir(mount.join(name))?;
        fs::copy(fixture(from), mount.join(name).join("version.wasm"))?;
    }
    symlink("..one", mount.join("..data"))?;
    symlink("..data/version.wasm", mount.join("version.wasm"))?;
    let client = Client::stdio(mount, Era::Stateful).await?;
    becomes(&client, "one").await;
    symlink("..two", mount.join("..data_tmp"))?;
    fs::rename(mount.join("..data_tmp"), mount.join("..data"))?;
    becomes(&client, "two").await;
    client.end().await
}

#[tokio::test]
async fn a_changed_link_to_a_folder_is_followed() -> Result<()> {
    let parent = Folder::new();
    for (name, from) in [("one", "version_one"), ("two", "version_two")] {
        fs::create_dir(parent.path().join(name))?;
        fs::copy(fixture(from), parent.path().join(name).join("version.wasm"))?;
    }
    let link = parent.path().join("plugins");
    symlink("one", &link)?;
    let client = Client::stdio(&link, Era::Stateful).await?;
    becomes(&client, "one").await;
    symlink("two", parent.path().join("next"))?;
    fs::rename(parent.path().join("next"), &link)?;
    becomes(&client, "two").await;
    client.end().await
}

#[tokio::test]
async fn running_calls_finish_on_their_version() -> Result<()> {
    let folder = Folder::new();
    let data = lingers(&folder, "version");
    folder.put("version", &fixture("version_one"));
    let mut client = Client::stdio(folder.path(), Era::Stateful).await?;
    becomes(&client, "one").await;
    while client.progress.try_recv().is_ok() {}
    let peer = client.service.peer().clone();
    let slow = tokio::spawn(async move {
        let serde_json::Value::Object(arguments) = json!({"action": "get", "until": "/data/go"}) else {
            unreachable!()
        };
        peer.call_tool(rmcp::model::CallToolRequestParams::new("version").with_arguments(arguments)).await
    });
    heard("progress of the slow call", &mut client.progress).await?;
    folder.put("version", &fixture("version_two"));
    becomes(&client, "two").await;
    assert!(!slow.is_finished(), "the slow call was to end after the reload");
    fs::write(data.join("go"), "")?;
    let envelope = soon("the slow call's end", slow).await???.structured_content.unwrap_or_default();
    assert_eq!(envelope["data"], "one");
    client.end().await
}

#[tokio::test]
async fn replacing_a_plugin_loses_no_call() -> Result<()> {
    let folder = Folder::new();
    folder.put("version", &fixture("version_one"));
    let client = Arc::new(Client::stdio(folder.path(), Era::Stateful).await?);
    becomes(&client, "one").await;
    let (stop, made) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let caller = {
        let (client, stop, made) = (Arc::clone(&client), Arc::clone(&stop), Arc::clone(&made));
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(Duration::from_millis(20));
            while !stop.load(Ordering::SeqCst) {
                ticks.tick().await;
                let found = version(&client).await?;
                if found != "one" && found != "two" {
                    return Err(found);
                }
                made.fetch_add(1, Ordering::SeqCst);
            }
            Ok(())
        })
    };
    for turn in 0..6 {
        let (file, expected) = if turn % 2 == 0 { ("version_two", "two") } else { ("version_one", "one") };
        let before = made.load(Ordering::SeqCst);
        folder.put("version", &fixture(file));
        becomes(&client, expected).await;
        eventually(async || {
            let calls = made.load(Ordering::SeqCst) - before;
            if calls >= 10 { Ok(()) } else { Err(format!("{calls} calls")) }
        })
        .await;
    }
    stop.store(true, Ordering::SeqCst);
    caller.await?.map_err(anyhow::Error::msg)
}

#[tokio::test]
async fn the_file_named_like_the_facade_owns_it() -> Result<()> {
    let folder = Folder::new();
    folder.put("a", &fixture("version_two"));
    folder.put("version", &fixture("version_one"));
    let (served, client) = served(&folder).await?;
    becomes(&client, "one").await;
    folder.put("aa", &fixture("version_three"));
    served.readies(|_, told| told["refused"] == 2).await;
    assert_eq!(version(&client).await.as_deref(), Ok("one"));
    client.end().await
}

#[tokio::test]
async fn a_name_stays_with_its_owner() -> Result<()> {
    let folder = Folder::new();
    folder.put("b", &fixture("version_two"));
    let (served, client) = served(&folder).await?;
    becomes(&client, "two").await;
    // A newcomer that would be first after a restart.
    folder.put("a", &fixture("version_one"));
    served.readies(|_, told| told["refused"] == 1).await;
    assert_eq!(version(&client).await.as_deref(), Ok("two"));
    // The owner releases the name; its state is still not a newcomer's.
    folder.put("b", &fixture("lies"));
    client.names_become(&["lies"]).await;
    let (_, told) = served.readies(|_, told| told["refused"] == 1).await;
    assert!(told.to_string().contains("belong to the plugin `b`, which does not serve now"), "{told}");
    // Until the operator reassigns it.
    folder.write("a.toml", "[expose]\nname = \"version\"\n");
    becomes(&client, "one").await;
    folder.remove("a.toml");
    folder.put("a", &fixture("misbehaves"));
    client.names_become(&["lies", "misbehaves"]).await;
    let renamed = client.envelope("version", json!({"action": "get"})).await?;
    assert_eq!(
        renamed["error"], "`version` is unavailable: its plugin is now named `misbehaves`",
        "{renamed}"
    );
    client.end().await
}

#[tokio::test]
async fn plugin_folder_and_cache_are_never_granted() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    fs::create_dir(folder.path().join("data"))?;
    symlink(folder.path(), folder.path().join("link"))?;
    let elsewhere = tempfile::tempdir()?;
    let cache = loggia_tests::cache();
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let grant = |path: &std::path::Path| {
        folder.write(
            "echo.toml",
            &format!("[grants]\ndirs = [{{ path = {path:?}, at = \"/d\", access = \"read\" }}]\n"),
        );
    };
    let check = async || {
        let output = tokio::process::Command::new(loggia_tests::binary())
            .arg("check")
            .arg(folder.path())
            .env("LOGGIA_CACHE", loggia_tests::cache())
            .env("LOGGIA_STATE", loggia_tests::scratch())
            .output()
            .await?;
        anyhow::Ok((output.status.code(), String::from_utf8(output.stdout)?))
    };
    let inside = ["data", ".", "..", "link", "link/data"].map(std::path::PathBuf::from);
    for path in inside.iter().chain([&cache, &std::path::PathBuf::from("/")]) {
        grant(path);
        let (code, said) = check().await?;
        assert_eq!(code, Some(10), "{path:?}: {said}");
        assert!(said.contains("which is, contains or lies in the"), "{path:?}: {said}");
    }
    // A host that starts with this file shows no path to its callers.
    let other = Client::stdio(folder.path(), Era::Stateful).await?;
    let refused = other.envelope("echo", json!({"action": "say", "text": "x"})).await?;
    assert_eq!(
        refused["error"], "`echo` is unavailable: its policy grants a directory that no plugin may have",
        "{refused}"
    );
    grant(elsewhere.path());
    assert_eq!(check().await?.0, Some(0));
    other.names_become(&["echo"]).await;
    other.end().await?;
    client.end().await
}
