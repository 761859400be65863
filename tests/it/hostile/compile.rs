//! Plugins that take excessive time or memory to compile, and machine code that changed in the cache.

use std::{
    fmt::Write,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use loggia_tests::{Client, Folder, Raw, binary, eventually, scratch};
use serde_json::{Value, json};
use tokio::process::Command;

use super::{
    host::{children, figure, id, oom_score},
    wat::Guest,
};

/// Builds a component with an additional core module.
fn beside(name: &'static str, fields: &str) -> Guest {
    Guest { name, items: format!("(core module $bomb {fields})"), ..Guest::default() }
}

/// Types within types.
fn nested_types(depth: usize) -> String {
    let mut all = String::from("(type $t0 (list u8))");
    for n in 1..depth {
        let _ = write!(all, "(type $t{n} (list $t{}))", n - 1);
    }
    all
}

/// Builds a function that permutes thousands of locals in many branches: the compiler has to track each local at every
/// join.
fn locals(branches: usize) -> String {
    const LOCALS: usize = 20_000;
    let turns = (0..branches).fold(String::new(), |mut all, n| {
        let (to, from) = (n % LOCALS + 1, n * 7 % LOCALS + 1);
        let _ = write!(
            all,
            "(if (local.get 0) (then (local.set {to} (i32.add (local.get {from}) (local.get 0)))))"
        );
        all
    });
    let many = "i32 ".repeat(LOCALS + 1);
    format!("(func (param i32) (local {many}) (loop $again {turns} (br_if $again (local.get 0))))")
}

/// H35.
#[tokio::test]
async fn compile_limits_refuse_one_plugin_only() -> Result<()> {
    let stopped = "compiling was stopped: it";
    let refused = "the component does not compile: ";
    let bombs = [
        (beside("functions", &"(func)".repeat(100_000)), "compile-cpu = \"1s\"", stopped),
        (beside("branches", &locals(6000)), "compile-cpu = \"1s\"", stopped),
        (beside("memory", &locals(6000)), "compile-memory = \"512MiB\"", stopped),
        (beside("locals", &format!("(func (local {}))", "i32 ".repeat(1_000_000))), "", refused),
        (Guest { name: "types", items: nested_types(2000), ..Guest::default() }, "", refused),
    ];
    // A separate cache, or the valid plugin would not be compiled.
    let (folder, cache) = (Folder::with(&["echo"]), tempfile::tempdir()?);
    for (guest, limits, _) in &bombs {
        guest.put(&folder);
        folder.write(&format!("{}.toml", guest.name), &format!("[limits]\n{limits}\n"));
    }
    let (client, log) = Client::stdio_logged(folder.path(), |command| {
        command.env("LOGGIA_CACHE", cache.path());
    })
    .await?;
    let added = client.envelope("echo", json!({"action": "add", "a": 1, "b": 2})).await?;
    assert_eq!(added["data"], 3.0, "{added}");
    for (guest, ..) in &bombs {
        let told = client.envelope(guest.name, json!({"action": "go"})).await?;
        assert_eq!(told["code"], "unavailable", "{told}");
        let added = client.envelope("echo", json!({"action": "add", "a": 1, "b": 2})).await?;
        assert_eq!(added["data"], 3.0, "after {}: {added}", guest.name);
    }
    client.end().await?;
    let log = log.await??;
    for (guest, _, expected) in &bombs {
        let line = log.lines().find(|line| line.contains(&format!("\"{}.wasm\"", guest.name)));
        assert!(line.is_some_and(|line| line.contains(expected)), "{}: {log:.4000}", guest.name);
    }
    Ok(())
}

/// H92.
#[tokio::test]
async fn excessive_compilation_ends_only_the_child() -> Result<()> {
    let (folder, cache, log) =
        (Folder::with(&["echo"]), tempfile::tempdir()?, tempfile::NamedTempFile::new()?);
    let stderr = log.reopen()?;
    let mut host = Raw::start_with(folder.path(), |command| {
        command.env("LOGGIA_CACHE", cache.path()).stderr(stderr);
    })
    .await?;
    let mut ids = 1..;
    let mut call = async |host: &mut Raw, tool: &str, arguments: Value| -> Result<Value> {
        host.call(ids.next().context("an id")?, tool, &arguments).await?;
        Ok(host.answer().await?["result"]["structuredContent"].take())
    };
    let add = json!({"action": "add", "a": 1, "b": 2});
    assert_eq!(call(&mut host, "echo", add.clone()).await?["data"], 3.0);
    let before = oom_score(id(&host.child)?)?;

    beside("greedy", &locals(6000)).put(&folder);
    // The child drops its privileges before it reads a byte.
    let child = eventually(async || {
        let children = children(&host.child).map_err(|error| error.to_string())?;
        let confined = |child: &u32| figure(*child, "Seccomp").is_ok_and(|mode| mode == 2);
        children.into_iter().find(confined).ok_or_else(|| "no confined child".to_owned())
    })
    .await;
    assert_eq!((oom_score(child)?, figure(child, "NoNewPrivs")?), (1000, 1));
    eventually(async || {
        let log = fs::read_to_string(log.path()).unwrap_or_default();
        let stopped =
            "compiling was stopped: it needs more than 512MiB of address space (`limits.compile-memory`)";
        if log.contains(stopped) { Ok(()) } else { Err(log) }
    })
    .await;

    assert_eq!(oom_score(id(&host.child)?)?, before);
    assert_eq!(call(&mut host, "echo", add).await?["data"], 3.0);
    host.finish().await?;
    Ok(())
}

/// Path of the machine code of the only plugin in a cache, next to its checksum.
fn code(cache: &Path) -> Result<PathBuf> {
    let engine = fs::read_dir(cache)?.next().context("no engine")??.path();
    let mut files = fs::read_dir(engine)?.filter_map(|entry| Some(entry.ok()?.path()));
    files.find(|path| path.extension().is_some_and(|end| end == "code")).context("no code")
}

/// Loads a folder's plugin with this cache; returns whether it was compiled.
async fn compiled(folder: &Folder, cache: &Path) -> Result<bool> {
    let (client, log) = Client::stdio_logged(folder.path(), |command| {
        command.env("LOGGIA_CACHE", cache);
    })
    .await?;
    let told = client.envelope("odd", json!({"action": "go"})).await?;
    ensure!(told["data"] == "gone", "{told}");
    client.end().await?;
    let log = log.await??;
    let compiled = log.contains("loaded (compiled") || log.contains("compiled at its first call");
    ensure!(compiled || log.contains("loaded (cached") || log.contains("loaded (indexed"), "{log}");
    Ok(compiled)
}

/// H53.
#[tokio::test]
async fn corrupt_machine_code_is_recompiled() -> Result<()> {
    let (folder, own) = (Folder::new(), tempfile::tempdir()?);
    Guest::default().put(&folder);
    let cache = own.path();
    assert!(compiled(&folder, cache).await?);
    assert!(!compiled(&folder, cache).await?);
    let path = code(cache)?;
    // Code of this plugin for different engine settings: those of hosts with little address space.
    let short = tempfile::tempdir()?;
    let script = r#"ulimit -v 3000000; exec "$0" check "$1""#;
    let mut checked = Command::new("sh");
    checked.args(["-c", script]).arg(binary()).arg(folder.path());
    let checked = checked.env("LOGGIA_CACHE", short.path()).env("LOGGIA_STATE", scratch()).output().await?;
    ensure!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    let foreign = code(short.path())?;
    ensure!(foreign.parent().and_then(Path::file_name) != path.parent().and_then(Path::file_name));

    let change = |change: fn(&mut Vec<u8>)| {
        let mut bytes = fs::read(&path)?;
        change(&mut bytes);
        fs::write(&path, bytes)
    };
    let elsewhere = own.path().join("elsewhere.code");
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    type Harm<'a> = Box<dyn Fn() -> std::io::Result<()> + 'a>;
    let harms: [(&str, Harm<'_>); 9] = [
        (
            "a byte in the midst",
            Box::new(|| {
                change(|bytes| {
                    let middle = bytes.len() / 2;
                    bytes[middle] ^= 1;
                })
            }),
        ),
        (
            "the last byte",
            Box::new(|| change(|bytes| bytes.iter_mut().next_back().into_iter().for_each(|last| *last ^= 1))),
        ),
        ("half of it", Box::new(|| change(|bytes| bytes.truncate(bytes.len() / 2)))),
        ("nothing", Box::new(|| change(Vec::clear))),
        ("no sum", Box::new(|| fs::remove_file(path.with_extension("sum")))),
        ("others may write it", Box::new(|| mode(&path, 0o622))),
        ("the group may write it", Box::new(|| mode(&path, 0o620))),
        ("a link", Box::new(|| fs::rename(&path, &elsewhere).and_then(|()| symlink(&elsewhere, &path)))),
        (
            "code for another engine",
            Box::new(|| {
                fs::copy(&foreign, &path)?;
                fs::copy(foreign.with_extension("sum"), path.with_extension("sum")).map(drop)
            }),
        ),
    ];
    for (what, harm) in harms {
        harm()?;
        assert!(compiled(&folder, cache).await.with_context(|| what)?, "{what}");
        assert!(fs::symlink_metadata(&path)?.is_file(), "{what}");
        assert_eq!(fs::metadata(&path)?.permissions().mode() & 0o022, 0, "{what}");
        assert!(!compiled(&folder, cache).await?, "{what}");
    }
    // Write permission of others on a folder is revoked.
    for dir in [cache, path.parent().context("a folder")?] {
        mode(dir, 0o777)?;
        compiled(&folder, cache).await?;
        assert_eq!(fs::metadata(dir)?.permissions().mode() & 0o777, 0o700, "{}", dir.display());
    }
    Ok(())
}
