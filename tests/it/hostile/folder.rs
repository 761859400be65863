//! What a folder may hold, and what may happen to it: half-written files, files that are no files, names that are taken,
//! more events than anybody can hear, and an end in the midst of writing.

use std::{
    cell::RefCell,
    fs::{self, File, OpenOptions},
    io::Write,
    os::unix::{
        fs::{FileExt, symlink},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    process::Stdio,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS, Era, Folder, HttpHost, binary, eventually, fixture, scratch};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::process::Command;

use super::stage::{check, check_in, memory, pretends, text, told};

async fn version(client: &Client) -> Result<String, String> {
    let envelope = client.envelope("version", json!({"action": "get"})).await.map_err(|e| e.to_string())?;
    envelope["data"].as_str().map(str::to_owned).ok_or_else(|| envelope.to_string())
}

async fn becomes(client: &Client, expected: &str) {
    eventually(async || match version(client).await {
        Ok(found) if found == expected => Ok(()),
        other => Err(format!("expected {expected}, got {other:?}")),
    })
    .await;
}

/// One way in which version two comes to stand where version one stood.
struct Way {
    name: &'static str,
    /// For a moment there is no file, so the name may be unavailable.
    gap: bool,
    /// What is done to the folder, one thing after another.
    steps: Vec<Box<dyn Fn(&Path) -> std::io::Result<()>>>,
}

/// All ways to replace a plugin that we know of editors, copying tools and deployments.
fn ways() -> Result<Vec<Way>> {
    let two = fs::read(fixture("version_two"))?;
    let pieces: Vec<Vec<u8>> = two.chunks(two.len() / 8 + 1).map(<[u8]>::to_vec).collect();
    let target = |folder: &Path| folder.join("version.wasm");
    let whole = two.clone();
    let put = move |path: PathBuf| fs::write(path, &whole);
    let way = |name, gap, steps| Way { name, gap, steps };

    // One writer that keeps its file open, in eight pieces.
    let open: Rc<RefCell<Option<File>>> = Rc::default();
    let truncate = |open: &Rc<RefCell<Option<File>>>| {
        let open = Rc::clone(open);
        Box::new(move |folder: &Path| {
            *open.borrow_mut() = Some(File::create(target(folder))?);
            Ok(())
        }) as Box<dyn Fn(&Path) -> std::io::Result<()>>
    };
    let append = |open: &Rc<RefCell<Option<File>>>, piece: &Vec<u8>, pause: Duration| {
        let (open, piece) = (Rc::clone(open), piece.clone());
        Box::new(move |_: &Path| {
            std::thread::sleep(pause);
            if let Some(file) = &mut *open.borrow_mut() {
                file.write_all(&piece)?;
                file.sync_data()?;
            }
            Ok(())
        }) as Box<dyn Fn(&Path) -> std::io::Result<()>>
    };
    let close = |open: &Rc<RefCell<Option<File>>>| {
        let open = Rc::clone(open);
        Box::new(move |_: &Path| {
            drop(open.borrow_mut().take());
            Ok(())
        }) as Box<dyn Fn(&Path) -> std::io::Result<()>>
    };
    let written = |pause: Duration| {
        let pieces = pieces.iter().map(|piece| append(&open, piece, pause));
        std::iter::once(truncate(&open)).chain(pieces).chain([close(&open)]).collect()
    };
    let appended = pieces.iter().enumerate().map(|(index, piece)| {
        let piece = piece.clone();
        Box::new(move |folder: &Path| {
            let mut file =
                OpenOptions::new().create(true).append(true).truncate(false).open(target(folder))?;
            if index == 0 {
                file.set_len(0)?;
            }
            file.write_all(&piece)
        }) as Box<dyn Fn(&Path) -> std::io::Result<()>>
    });
    // As curl and torrents may: the length first, the beginning last.
    let backwards = pieces.iter().enumerate().rev().map(|(index, piece)| {
        let (piece, at, length) = (piece.clone(), (index * pieces[0].len()) as u64, two.len() as u64);
        Box::new(move |folder: &Path| {
            let file = OpenOptions::new().write(true).open(target(folder))?;
            file.set_len(length)?;
            if at == (length - 1) / piece.len() as u64 * piece.len() as u64 {
                file.write_all_at(&vec![0; at as usize], 0)?;
            }
            file.write_all_at(&piece, at)
        }) as Box<dyn Fn(&Path) -> std::io::Result<()>>
    });
    let (a, b, c, d, e, f) = (put.clone(), put.clone(), put.clone(), put.clone(), put.clone(), put);
    Ok(vec![
        way("truncated and written in pieces", false, written(Duration::ZERO)),
        // Longer than a file that is still open is waited for.
        way("written in pieces with long pauses", false, written(Duration::from_millis(300))),
        way("appended to and closed each time", false, appended.collect()),
        way("written from its end", false, backwards.collect()),
        way(
            "renamed over",
            false,
            vec![
                Box::new(move |folder| a(folder.join(".version.wasm.Xw3f"))),
                Box::new(move |folder| fs::rename(folder.join(".version.wasm.Xw3f"), target(folder))),
            ],
        ),
        way(
            "saved as vim does",
            true,
            vec![
                Box::new(|folder| fs::write(folder.join("4913"), "")),
                Box::new(|folder| fs::remove_file(folder.join("4913"))),
                Box::new(move |folder| fs::rename(target(folder), folder.join("version.wasm~"))),
                Box::new(move |folder| b(target(folder))),
                Box::new(|folder| fs::remove_file(folder.join("version.wasm~"))),
            ],
        ),
        way(
            "saved as Emacs does",
            false,
            vec![
                Box::new(|folder| symlink("me@here.1:1", folder.join(".#version.wasm"))),
                Box::new(move |folder| c(folder.join("#version.wasm#"))),
                Box::new(move |folder| d(target(folder))),
                Box::new(|folder| fs::remove_file(folder.join("#version.wasm#"))),
                Box::new(|folder| fs::remove_file(folder.join(".#version.wasm"))),
            ],
        ),
        way(
            "removed and written anew",
            true,
            vec![
                Box::new(move |folder| fs::remove_file(target(folder))),
                Box::new(move |folder| e(target(folder))),
            ],
        ),
        way(
            "the whole folder exchanged",
            true,
            vec![
                Box::new(|folder| fs::create_dir(folder.with_extension("next"))),
                Box::new(move |folder| f(folder.with_extension("next").join("version.wasm"))),
                Box::new(|folder| fs::rename(folder, folder.with_extension("old"))),
                Box::new(|folder| fs::rename(folder.with_extension("next"), folder)),
            ],
        ),
    ])
}

/// H30.
#[tokio::test]
async fn however_a_file_is_written_its_old_version_serves_until_the_new_one_is_whole() -> Result<()> {
    for way in ways()? {
        let folder = Folder::new();
        folder.put("version", &fixture("version_one"));
        let client = Client::stdio(folder.path(), Era::Stateful).await?;
        becomes(&client, "one").await;
        let last = way.steps.len() - 1;
        for (index, step) in way.steps.iter().enumerate() {
            step(folder.path()).with_context(|| format!("{}, step {index}", way.name))?;
            match version(&client).await {
                Ok(found) if found == "one" => {}
                Ok(found) if found == "two" && (index == last || way.name.starts_with("saved")) => {}
                Err(said) if way.gap && said.contains(r#""code":"unavailable""#) => {}
                other => panic!("{}, step {index}: {other:?}", way.name),
            }
        }
        becomes(&client, "two").await;
        client.end().await?;
    }
    Ok(())
}

/// H31.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_two_versions_alternate_each_call_is_answered_by_one_of_them() -> Result<()> {
    let folder = Arc::new(Folder::new());
    folder.put("version", &fixture("version_one"));
    let host = HttpHost::start(folder.path()).await?;
    let process = host.child.id().context("the host ended")?;
    let mut clients = Vec::new();
    for era in ERAS.into_iter().cycle().take(8) {
        clients.push(Arc::new(Client::http(&host, era).await?));
    }
    // Both are known, and the allocator has seen some work.
    for (file, expected) in [("version_two", "two"), ("version_one", "one")] {
        folder.put("version", &fixture(file));
        becomes(&clients[0], expected).await;
    }
    let before = memory(process, "VmRSS")?;
    let stop = Arc::new(AtomicBool::new(false));
    let (made, seen) = (Arc::new(AtomicUsize::new(0)), Arc::new([const { AtomicUsize::new(0) }; 2]));
    let storm = {
        let (folder, stop) = (Arc::clone(&folder), Arc::clone(&stop));
        std::thread::spawn(move || {
            let mut puts = 0;
            while !stop.load(Ordering::SeqCst) {
                folder.put("version", &fixture(["version_two", "version_one"][puts % 2]));
                puts += 1;
            }
            puts
        })
    };
    let callers: Vec<_> = (0..24)
        .map(|n| {
            let client = Arc::clone(&clients[n % clients.len()]);
            let (stop, made, seen) = (Arc::clone(&stop), Arc::clone(&made), Arc::clone(&seen));
            tokio::spawn(async move {
                while !stop.load(Ordering::SeqCst) {
                    match version(&client).await?.as_str() {
                        "one" => seen[0].fetch_add(1, Ordering::SeqCst),
                        "two" => seen[1].fetch_add(1, Ordering::SeqCst),
                        other => return Err(other.to_owned()),
                    };
                    made.fetch_add(1, Ordering::SeqCst);
                }
                Ok(())
            })
        })
        .collect();
    // Some seconds, or as long as it takes until both versions have answered.
    eventually(async || {
        let (made, both) = (made.load(Ordering::SeqCst), seen.iter().all(|n| n.load(Ordering::SeqCst) >= 20));
        if made >= 500 && both { Ok(()) } else { Err(format!("{made} calls, {seen:?}")) }
    })
    .await;
    stop.store(true, Ordering::SeqCst);
    for caller in callers {
        caller.await?.map_err(anyhow::Error::msg)?;
    }
    let puts = storm.join().expect("the storm ends");
    assert!(puts > 100, "{puts}");
    let grown = memory(process, "VmRSS")?.saturating_sub(before);
    assert!(grown < 128 << 20, "{grown} bytes more after {puts} versions");
    folder.put("version", &fixture("version_two"));
    becomes(&clients[0], "two").await;
    Ok(())
}

/// H32: more events than the kernel keeps while the host does not read them, and the one that counts among the lost.
#[tokio::test]
async fn events_that_are_lost_cost_no_truth() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    folder.put("version", &fixture("version_one"));
    let host = HttpHost::start(folder.path()).await?;
    let client = Client::http(&host, Era::Stateful).await?;
    becomes(&client, "one").await;
    let kept: usize = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events")?.trim().parse()?;
    let process = host.child.id().and_then(|id| Pid::from_raw(id.cast_signed())).context("the host ended")?;
    kill_process(process, Signal::STOP)?;
    // Each is made or opened for writing, and closed: two events at least.
    for n in 0..kept {
        File::create(folder.path().join(format!("{}.wasm.part", n % 5000)))?;
    }
    folder.put("version", &fixture("version_two"));
    folder.put("late", &fixture("keeps"));
    folder.remove("echo.wasm");
    kill_process(process, Signal::CONT)?;
    becomes(&client, "two").await;
    eventually(async || {
        let names = client.names().await.map_err(|e| e.to_string())?;
        if names == ["keeps", "version"] { Ok(()) } else { Err(format!("{names:?}")) }
    })
    .await;
    client.end().await
}

/// A component that exports this instance under this name.
fn exporting(name: &str, functions: &str) -> String {
    format!(
        r#"(component
            (core module $m
                (memory (export "memory") 1)
                (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 0)
                (func (export "none"))
                (func (export "one") (result i32) i32.const 0)
                (func (export "echo") (param i32) (result i32) i32.const 0))
            (core instance $i (instantiate $m))
            (func $none (canon lift (core func $i "none")))
            (func $one (result u32) (canon lift (core func $i "one")))
            (func $echo (param "x" u32) (result u32) (canon lift (core func $i "echo")))
            (instance $facade {functions})
            (export "{name}" (instance $facade)))"#
    )
}

/// H34.
#[tokio::test]
async fn a_file_that_is_no_plugin_is_refused_by_what_it_is() -> Result<()> {
    let facade = "loggia:plugin/facade@0.1.0";
    let all =
        r#"(export "describe" (func $one)) (export "schema" (func $echo)) (export "dispatch" (func $echo))"#;
    let wat = |text: &str| wat::parse_str(text).map_err(anyhow::Error::from);
    let whole = fs::read(fixture("echo"))?;
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("text", b"#!/bin/sh\necho hello\n".to_vec()),
        ("native", fs::read(binary())?[..4096].to_vec()),
        ("core_module", wat("(module)")?),
        ("only_a_head", whole[..8].to_vec()),
        ("truncated", whole[..20_000].to_vec()),
        ("nothing_but_zeros", vec![0; 1 << 20]),
        ("exports_nothing", wat("(component)")?),
        ("other_world", wat(&exporting("wasi:cli/run@0.2.0", r#"(export "run" (func $none))"#))?),
        ("newer_contract", wat(&exporting("loggia:plugin/facade@0.9.0", r#"(export "run" (func $none))"#))?),
        ("functions_missing", wat(&exporting(facade, r#"(export "dispatch" (func $echo))"#))?),
        ("function_of_another_type", wat(&exporting(facade, r#"(export "describe" (func $none))"#))?),
        ("functions_of_other_types", wat(&exporting(facade, all))?),
        ("unknown_import", {
            let import = r#"(component (import "acme:magic/wand@1.0.0" (instance (export "wave" (func))))"#;
            wat(&exporting(facade, all).replacen("(component", import, 1))?
        }),
    ];
    let mut said = String::new();
    let folder = Folder::new();
    for (name, bytes) in cases {
        let line = told(folder.path(), name, &bytes).await?;
        // How long the whole file is changes with the SDK.
        let (begin, range) = line.split_once("section range ").unwrap_or((&line, ""));
        said.push_str(begin);
        if let Some((_, end)) = range.split_once(" is ") {
            said.push_str("section range … is ");
            said.push_str(end);
        }
        said.push('\n');
    }
    insta::assert_snapshot!("files_refused", said);
    Ok(())
}

/// What is called like a plugin and is no file, or not one that can be read.
fn oddities(folder: &Folder) -> Result<Option<UnixListener>> {
    let path = |name: &str| folder.path().join(format!("{name}.wasm"));
    let beside = folder.beside("elsewhere");
    fs::create_dir(path("a_folder"))?;
    anyhow::ensure!(std::process::Command::new("mkfifo").arg(path("a_pipe")).status()?.success());
    fs::rename(path("a_pipe"), beside.join("pipe"))?;
    anyhow::ensure!(std::process::Command::new("mkfifo").arg(path("a_pipe")).status()?.success());
    symlink(beside.join("pipe"), path("a_link_to_a_pipe"))?;
    symlink("/dev/zero", path("a_link_to_zeros"))?;
    symlink("/", path("a_link_to_everything"))?;
    symlink("/etc/passwd", path("a_link_to_passwords"))?;
    symlink("a_link_to_itself.wasm", path("a_link_to_itself"))?;
    symlink(beside.join("nothing"), path("a_link_to_nothing"))?;
    // Five gibibytes that take no room, and one byte more than may be.
    File::create(path("huge"))?.set_len(5 << 30)?;
    File::create(path("too_large"))?.set_len((32 << 20) + 1)?;
    // A socket's path has few characters.
    let socket = folder.path().join("s.wasm");
    Ok(UnixListener::bind(socket).ok())
}

/// H34.
#[tokio::test]
async fn what_is_called_like_a_plugin_and_is_no_file_holds_up_nobody() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let socket = oddities(&folder)?;
    let output = check(folder.path()).await?;
    assert_eq!(output.status.code(), Some(10));
    let said = String::from_utf8(output.stdout)?;
    let lines: Vec<&str> =
        said.lines().skip(1).map(str::trim_end).filter(|line| !line.starts_with("echo\t")).collect();
    insta::assert_snapshot!("no_files_refused", lines.join("\n"));
    // The host starts, serves what can be served, and says of the others what they are, but not where they lead.
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    assert_eq!(client.names().await?, ["echo"]);
    for (name, why) in
        [("a_pipe", "not a regular file"), ("a_link_to_zeros", "not a regular file"), ("huge", "too large")]
    {
        let refused = client.envelope(name, json!({"action": "go"})).await?;
        let error = refused["error"].as_str().unwrap_or_default();
        assert!(refused["code"] == "unavailable" && error.contains(why), "{name}: {refused}");
    }
    let unnamed = client.envelope("a_link_to_passwords", json!({"action": "go"})).await?;
    assert!(!unnamed.to_string().contains("/etc"), "{unnamed}");
    client.end().await?;
    drop(socket);
    Ok(())
}

/// H40: a plugin may want what it likes, now or later; the policy alone grants.
#[tokio::test]
async fn what_a_new_version_wants_it_does_not_get() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let wants = [
        "dirs",
        "dirs: /",
        "dirs: ~ read-write",
        "env: HOME",
        "http: https://*",
        "config: region",
        "secrets: TOKEN",
        "store",
        "caller",
        "invoke: *",
        "elicit",
        "limits.memory: 1GiB",
        "grants",
    ];
    let put = |bytes: Vec<u8>| -> Result<()> {
        let beside = folder.beside("next").join("pretends.wasm");
        fs::write(&beside, bytes)?;
        Ok(fs::rename(beside, folder.path().join("pretends.wasm"))?)
    };
    put(pretends(&json!({}))?)?;
    let client = Client::stdio_with(folder.path(), Era::Stateful, |command| {
        command.env("TOKEN", "canary");
    })
    .await?;
    let reach = async || client.envelope("pretends", json!({"action": "go"})).await;
    let first = reach().await?;
    let nothing = json!({"env": 0, "dirs": 0, "config": null, "caller": null, "invoked": "[Err(\"denied\")]", "sent": 2});
    assert_eq!(first["data"], nothing, "{first}");
    let wants: Vec<_> = wants.into_iter().map(text).collect();
    put(pretends(&json!({"summary": text("Wants it all."), "wants": wants}))?)?;
    eventually(async || {
        let tools = client.service.list_all_tools().await.map_err(|e| e.to_string())?;
        let wants_it_all = |tool: &rmcp::model::Tool| {
            tool.description.as_deref().is_some_and(|text| text.contains("Wants it all."))
        };
        if tools.iter().any(wants_it_all) { Ok(()) } else { Err(format!("{tools:?}")) }
    })
    .await;
    let second = reach().await?;
    assert_eq!(second["data"], nothing, "{second}");
    // Granted less than it wants, it gets what is granted and no more.
    folder.write("pretends.toml", "[grants]\nconfig = { region = \"eu\" }\n");
    let granted = json!({"env": 0, "dirs": 0, "config": "\"eu\"", "caller": null, "invoked": "[Err(\"denied\")]", "sent": 2});
    eventually(async || match reach().await {
        Ok(told) if told["data"] == granted => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    client.end().await
}

/// H41.
#[tokio::test]
async fn no_other_plugin_takes_a_name_whatever_came_first() -> Result<()> {
    let shadow = |name: &str| pretends(&json!({"name": text(name), "summary": text("A shadow.")}));
    // The files, in the order in which they come.
    let orders = [["echo", "a", "b", "ech0"], ["b", "a", "echo", "ech0"], ["a", "echo", "ech0", "b"]];
    for order in orders {
        let folder = Folder::new();
        let put = |file: &str| -> Result<()> {
            match file {
                "echo" => folder.put("echo", &fixture("echo")),
                // Two that take the very name, and one that looks like it.
                "a" | "b" => fs::write(folder.path().join(format!("{file}.wasm")), shadow("echo")?)?,
                alike => fs::write(folder.path().join(format!("{alike}.wasm")), shadow(alike)?)?,
            }
            Ok(())
        };
        let holds = async |client: &Client| -> Result<(), String> {
            let names = client.names().await.map_err(|e| e.to_string())?;
            if names != ["echo"] {
                return Err(format!("{order:?}: {names:?}"));
            }
            let real = client.envelope("echo", json!({"action": "add", "a": 1, "b": 2})).await;
            let alike = client.envelope("ech0", json!({"action": "go"})).await;
            match (real, alike) {
                (Ok(real), Ok(alike)) if real["data"] == 3.0 && alike["code"] == "unavailable" => {
                    let error = "`ech0` is unavailable: its name looks like that of `echo`";
                    if alike["error"] == error { Ok(()) } else { Err(alike.to_string()) }
                }
                other => Err(format!("{order:?}: {other:?}")),
            }
        };
        // They come one after another while a host runs, …
        let running = Client::stdio(folder.path(), Era::Stateful).await?;
        for file in order {
            put(file)?;
            if file == "echo" {
                eventually(async || {
                    match running.envelope("echo", json!({"action": "add", "a": 1, "b": 2})).await {
                        Ok(told) if told["data"] == 3.0 => Ok(()),
                        other => Err(format!("{order:?}: {other:?}")),
                    }
                })
                .await;
            }
        }
        eventually(async || holds(&running).await).await;
        running.end().await?;
        // … and they are all there when one starts, again and again.
        for _ in 0..2 {
            let started = Client::stdio(folder.path(), Era::Stateful).await?;
            holds(&started).await.map_err(anyhow::Error::msg)?;
            started.end().await?;
        }
        // The operator is told who it is that is not served.
        let output = check(folder.path()).await?;
        assert_eq!(output.status.code(), Some(10));
        let said = String::from_utf8(output.stdout)?;
        for (file, why) in [
            ("a", "not served: `echo.wasm` owns the name `echo`"),
            ("ech0", "not served: `echo.wasm` owns the name `echo`, which looks like `ech0`"),
        ] {
            assert!(said.contains(&format!("{file}\t{why}")), "{said}");
        }
    }
    Ok(())
}

/// A file of the cache, and what the sum beside it says it must be.
fn entries(cache: &Path) -> Result<Vec<(PathBuf, u64, String)>> {
    let mut entries = Vec::new();
    for engine in fs::read_dir(cache)? {
        for entry in fs::read_dir(engine?.path())? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "code") {
                let sum = fs::read_to_string(path.with_extension("sum"))
                    .with_context(|| format!("{} has no sum", path.display()))?;
                entries.push((path.clone(), fs::metadata(&path)?.len(), sum));
            }
        }
    }
    Ok(entries)
}

/// The files that are being written.
fn unfinished(cache: &Path) -> Vec<PathBuf> {
    let engines = fs::read_dir(cache).into_iter().flatten().flatten();
    let files = engines.filter_map(|engine| fs::read_dir(engine.path()).ok()).flatten().flatten();
    files.map(|file| file.path()).filter(|path| path.extension().is_none()).collect()
}

/// H52.
#[tokio::test]
async fn a_host_that_is_killed_while_it_writes_the_cache_leaves_no_half_file() -> Result<()> {
    // Much code to write, and little to compile: the kill finds it writing.
    let bulk = format!(
        r#"(component (core module (memory 1000) (data (i32.const 0) "{}")))"#,
        "loggia has many rooms, and each is open on one side only ".repeat(60_000)
    );
    let folder = Folder::new();
    fs::write(folder.path().join("bulk.wasm"), wat::parse_str(bulk)?)?;
    let compiled = tempfile::tempdir()?;
    let (mut whole, mut cut) = (0, 0);
    for kill in 0..36_u32 {
        let mut host = Command::new(binary())
            .arg("check")
            .arg(folder.path())
            .env("LOGGIA_CACHE", compiled.path())
            .env("LOGGIA_STATE", scratch())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        // From the moment at which it begins to write, a little later each time.
        while unfinished(compiled.path()).is_empty() && host.try_wait()?.is_none() {
            std::hint::spin_loop();
        }
        std::thread::sleep(Duration::from_micros(u64::from(kill) * 100));
        host.start_kill()?;
        host.wait().await?;
        // What has the name of an entry is one.
        let entries = entries(compiled.path())?;
        match entries.first() {
            None => cut += 1,
            Some((path, length, sum)) => {
                whole += 1;
                assert!(sum.ends_with(&format!(" {length}")), "{length} bytes, but the sum is {sum}");
                fs::remove_file(path)?;
            }
        }
        // The lock of the dead, and a sum without its code, stay as they are.
        unfinished(compiled.path()).into_iter().try_for_each(fs::remove_file)?;
    }
    assert!(cut > 0, "{whole} of {} were whole: no kill came in time", whole + cut);
    let output = check_in(folder.path(), compiled.path()).await?;
    let said = String::from_utf8(output.stdout)?;
    assert!(said.contains("bulk\tdoes not load: the component does not export"), "{said}");
    assert_eq!(entries(compiled.path())?.len(), 1);
    Ok(())
}
