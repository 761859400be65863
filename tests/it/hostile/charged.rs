//! Work that the host does for a call on other threads: it is charged to the call and never blocks forever.

use std::{
    fs,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

use anyhow::{Context, Result};
use loggia_tests::{Client, Era, Folder, HttpHost, Raw, rounds};
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
use serde_json::json;

use super::{
    files::granted,
    host::{cpu, threads},
};

/// H78.
#[tokio::test]
async fn work_on_other_threads_is_charged_to_calls() -> Result<()> {
    // The wall clock would allow much more, and the guest itself computes almost nothing.
    let limits = "[limits]\ncpu = \"1s\"\nwall = \"10m\"\nbreaker-faults = 1000\n";
    let folder = Folder::with(&["pesters"]);
    let data = folder.beside("data");
    for n in 0..5000 {
        fs::write(data.join(n.to_string()), "")?;
    }
    let dirs = format!("dirs = [{{ path = {data:?}, at = \"/data\", access = \"read\" }}]");
    folder.write("pesters.toml", &format!("[grants]\nstore = {{ quota = \"1MiB\" }}\n{dirs}\n{limits}"));
    let mut host = Raw::start(folder.path()).await?;
    host.call(1, "pesters", &json!({"action": "keep"})).await?;
    let told = host.answer().await?["result"]["structuredContent"].take();
    assert_eq!(told["ok"], true, "{told}");
    for (id, what) in (2..).zip(["listing", "keys"]) {
        let before = cpu(&host.child)?;
        host.call(id, "pesters", &json!({"action": "ask", "what": what})).await?;
        let told = host.answer().await?["result"]["structuredContent"].take();
        let error = "timed out: the plugin `pesters` used up its CPU time of 1s";
        assert_eq!(told["error"], error, "{what}: {told}");
        // One second of budget, the work in progress when it ran out, and the host's own. Uncharged work would take
        // several seconds.
        let used = cpu(&host.child)?.saturating_sub(before);
        assert!(used.as_millis() < 2500, "{what}: {used:?}");
    }
    host.finish().await?;
    Ok(())
}

/// Creates a directory with a file and a pipe that no other process has open.
fn with_pipe(folder: &Folder) -> Result<()> {
    let data = folder.beside("data");
    fs::write(data.join("file"), "inside")?;
    mknodat(CWD, data.join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    Ok(())
}

/// H79.
#[tokio::test]
async fn a_pipe_holds_no_thread() -> Result<()> {
    // Enough time for a busy machine; a thread that waits for the other end would block forever.
    let folder = granted("trespasses", &[("data", "read-write")], "[limits]\ncpu = \"30s\"\nwall = \"2m\"\n");
    with_pipe(&folder)?;
    let host = HttpHost::start(folder.path()).await?;
    let client = Client::http(&host, Era::Stateless).await?;
    let reread = |n: usize| json!({"action": "reread", "at": "/data", "paths": ["pipe", "file"], "n": n});
    let told = client.envelope("trespasses", reread(2)).await?;
    assert_eq!(told["data"], json!({"inside": 1, "not-permitted": 1}), "{told}");
    let before = threads(&host.child)?;
    // More than the blocking threads of a runtime.
    let told = client.envelope("trespasses", reread(1200)).await?;
    assert_eq!(told["data"], json!({"inside": 600, "not-permitted": 600}), "{told}");
    // Changing its times would open it, too.
    let touch = json!({"action": "touch", "at": "/data", "paths": ["pipe", "file"]});
    let told = client.envelope("trespasses", touch).await?;
    assert_eq!(told["data"], json!({"pipe": "not-permitted", "file": "done"}), "{told}");
    // A runtime's threads come and go; 600 pipes would occupy all that it may have.
    let after = threads(&host.child)?;
    assert!(after <= before + 64, "{before} threads before, {after} after");
    client.end().await
}

/// H79.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_replaced_by_a_pipe_blocks_nothing() -> Result<()> {
    let all = rounds(20_000);
    let folder = granted("trespasses", &[("data", "read")], "[limits]\ncpu = \"30s\"\nwall = \"60s\"\n");
    with_pipe(&folder)?;
    let (file, pipe) = (folder.beside("data").join("file"), folder.beside("data").join("pipe"));
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let (turned, ended) = (AtomicUsize::new(0), AtomicBool::new(false));
    let exchange = || -> Result<()> {
        while !ended.load(Ordering::Relaxed) {
            renameat_with(CWD, &file, CWD, &pipe, RenameFlags::EXCHANGE)?;
            turned.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    };
    let read = async || -> Result<usize> {
        let mut opened = 0;
        while opened < all {
            let arguments = json!({"action": "reread", "at": "/data", "paths": ["file"], "n": 2000});
            // A thread waiting for the pipe's other end would use up the call's time.
            let told = client.envelope("trespasses", arguments).await?;
            let seen = told["data"].as_object().with_context(|| told.to_string())?;
            anyhow::ensure!(seen.keys().all(|what| what == "inside" || what == "not-permitted"), "{told}");
            opened += 2000;
        }
        Ok(opened)
    };
    thread::scope(|scope| -> Result<()> {
        let exchanging = scope.spawn(exchange);
        let runtime = tokio::runtime::Handle::current();
        let read = tokio::task::block_in_place(|| runtime.block_on(read()));
        ended.store(true, Ordering::Relaxed);
        exchanging.join().expect("it does not panic")?;
        read.map(drop)
    })?;
    assert!(turned.load(Ordering::Relaxed) > 100, "{turned:?}");
    client.end().await
}

/// H80.
#[tokio::test]
async fn a_hole_in_a_file_counts_as_written() -> Result<()> {
    for way in ["far", "far_stream", "length"] {
        let folder = granted("hoards", &[("data", "read-write")], "");
        let client = Client::stdio(folder.path(), Era::Stateful).await?;
        let fill =
            |bytes: u64| client.envelope("hoards", json!({"action": "fill", "way": way, "bytes": bytes}));
        let told = fill(1 << 40).await?;
        assert_eq!(told["data"], "quota", "{way}: {told}");
        let file = folder.beside("data").join("file");
        assert_eq!(fs::metadata(&file)?.len(), 0, "{way}");
        // Within the limit, writes succeed.
        let told = fill(1 << 20).await?;
        assert_eq!(told["data"], "all of it", "{way}: {told}");
        assert!(fs::metadata(&file)?.len() >= 1 << 20, "{way}");
        client.end().await?;
    }
    Ok(())
}
