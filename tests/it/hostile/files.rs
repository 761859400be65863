//! Directories that were granted: nothing beyond them, and no more than was granted in them.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt, symlink},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

use anyhow::{Context, Result};
use loggia_tests::{Client, Era, Folder, eventually, lingers::go, rounds};
use serde_json::{Value, json};

/// Content that only granted readers may see.
const CANARY: &str = "canary-of-the-outside";

/// Creates a folder with a fixture, which is granted sibling directories: `(path, access)`, each at `/path`.
pub(super) fn granted(fixture: &str, dirs: &[(&str, &str)], more: &str) -> Folder {
    let folder = Folder::with(&[fixture]);
    let dirs: Vec<String> = dirs
        .iter()
        .map(|(name, access)| {
            format!("{{ path = {:?}, at = \"/{name}\", access = {access:?} }}", folder.beside(name))
        })
        .collect();
    folder.write(&format!("{fixture}.toml"), &format!("[grants]\ndirs = [{}]\n{more}", dirs.join(", ")));
    folder
}

/// Name, inode, text and time of everything in a directory.
fn contents(dir: &Path) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir)? {
        let (path, meta) =
            (entry.as_ref().map(fs::DirEntry::path), entry.as_ref().map(fs::DirEntry::metadata));
        let (Ok(path), Ok(meta)) = (path, meta) else { continue };
        let meta = meta?;
        let text = if meta.is_file() { fs::read_to_string(&path)? } else { String::new() };
        let below = if meta.is_dir() { contents(&path)? } else { Vec::new() };
        let (inode, links, time) = (meta.ino(), meta.nlink(), (meta.mtime(), meta.mtime_nsec()));
        all.push(format!("{path:?} {:?} {inode} {links} {time:?} {text:?} {below:?}", meta.file_type()));
    }
    all.sort();
    Ok(all)
}

fn map(told: &Value) -> Result<BTreeMap<String, String>> {
    serde_json::from_value(told["data"].clone()).with_context(|| told.to_string())
}

/// H19.
#[tokio::test]
async fn no_flags_open_read_only_files_for_writing() -> Result<()> {
    let cases = [
        ("read", "flags_writing", false),
        ("read-write", "flags", false),
        ("read-write", "flags_writing", true),
    ];
    for (access, action, writes) in cases {
        let folder = granted("trespasses", &[("data", access)], "");
        let data = folder.beside("data");
        fs::write(data.join("file"), "as it was")?;
        let (before, own) = (contents(&data)?, fs::metadata(&data)?.mtime_nsec());
        let client = Client::stdio(folder.path(), Era::Stateful).await?;
        let told =
            client.envelope("trespasses", json!({"action": action, "at": "/data", "file": "file"})).await?;
        let wrote = told["data"].as_array().with_context(|| told.to_string())?;
        assert_eq!(wrote.is_empty(), !writes, "{action} where {access} is granted: {told}");
        let after = (contents(&data)?, fs::metadata(&data)?.mtime_nsec());
        assert_eq!(after == (before, own), !writes, "{action} where {access} is granted: {after:?}");
        client.end().await?;
    }
    Ok(())
}

/// H19.
#[tokio::test]
async fn links_and_renames_keep_read_only_files_protected() -> Result<()> {
    for (access, carried) in [("read", false), ("read-write", true)] {
        let folder = granted("trespasses", &[("from", access), ("to", "read-write")], "");
        let (from, to) = (folder.beside("from"), folder.beside("to"));
        for path in [from.join("file"), from.join("own"), to.join("own"), to.join("other")] {
            fs::write(path, "as it was")?;
        }
        let before = contents(&from)?;
        let client = Client::stdio(folder.path(), Era::Stateful).await?;
        let arguments = json!({"action": "carry", "from": "/from", "to": "/to", "file": "file"});
        let told = map(&client.envelope("trespasses", arguments).await?)?;
        for (way, said) in &told {
            // If the link could not be created, there is nothing to write through.
            let refused = if way == "write by the link" { "no-entry" } else { "not-permitted" };
            assert_eq!(
                said,
                if carried { "done" } else { refused },
                "{way} where {access} is granted: {told:?}"
            );
        }
        assert_eq!(told.len(), 7, "{told:?}");
        assert_eq!(contents(&from)? == before, !carried, "where {access} is granted");
        client.end().await?;
    }
    Ok(())
}

/// Paths out of a directory, as far as they are any; the last ones mean something to Windows only.
fn ways_out(outside: &Path) -> Vec<String> {
    let mut paths = vec![outside.display().to_string(), outside.join("secret").display().to_string()];
    paths.extend(
        [
            "..",
            "../",
            "../outside",
            "../outside/secret",
            "./../outside/secret",
            "below/../../outside/secret",
            "below/./.././../outside/secret",
            "//../outside/secret",
            "/",
            "//",
            "/etc/passwd",
            "/proc/self/root/etc/passwd",
            "/dev/zero",
            "root",
            "root/etc/passwd",
            "up",
            "up/secret",
            "chain",
            "chain/secret",
            "proc/self/environ",
            "fd/0",
            "below/up/secret",
            "below/../up/secret",
            "nothing/../../outside/secret",
            "file/../../outside/secret",
            "..\\outside\\secret",
            "..\\",
            "below\\..\\..\\outside\\secret",
            "C:\\outside\\secret",
            "\\\\?\\C:\\secret",
            "COM1",
            "COM¹",
            "CON",
            "NUL",
            "LPT1.txt",
            "file::$DATA",
            "file:stream",
            "..%2foutside%2fsecret",
            "..\u{2215}outside",
            "．．/outside/secret",
            ".. /outside/secret",
            ".../outside/secret",
            "",
            "\0",
            "../outside/secret\0",
            "up\0/secret",
        ]
        .map(str::to_owned),
    );
    paths.push("../".repeat(100) + "etc/passwd");
    paths.push("x".repeat(5000));
    paths.push("d/".repeat(3000));
    paths
}

/// Creates a granted directory with links that leave it, and an `outside` that is not granted.
fn with_links(folder: &Folder) -> Result<(PathBuf, PathBuf)> {
    let (data, outside) = (folder.beside("data"), folder.beside("outside"));
    fs::write(outside.join("secret"), CANARY)?;
    fs::create_dir(data.join("below"))?;
    for file in ["file", "own"] {
        fs::write(data.join(file), "inside")?;
    }
    for (target, link) in [
        (Path::new("/"), "root"),
        (Path::new("/proc"), "proc"),
        (Path::new("/proc/self/fd"), "fd"),
        (Path::new("../outside"), "up"),
        (Path::new("below/further"), "chain"),
        (&outside, "below/further"),
        (Path::new("../../outside"), "below/up"),
    ] {
        symlink(target, data.join(link))?;
    }
    Ok((data, outside))
}

/// H20.
#[tokio::test]
async fn no_path_escapes_its_directory() -> Result<()> {
    let folder = granted("trespasses", &[("data", "read-write")], "");
    let (data, outside) = with_links(&folder)?;
    let before = contents(&outside)?;
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let paths = ways_out(&outside);

    let told = map(&client
        .envelope("trespasses", json!({"action": "look", "at": "/data", "paths": paths}))
        .await?)?;
    assert_eq!(told.len(), 5 * paths.len());
    for (way, said) in &told {
        let code = matches!(
            said.as_str(),
            "not-permitted"
                | "no-entry"
                | "invalid"
                | "loop"
                | "name-too-long"
                | "illegal-byte-sequence"
                | "not-directory"
                | "access"
        );
        assert!(code, "{way:.100}: {said}");
    }
    // Paths inside the directory are visible.
    let inside = json!(["file", "below/../file", "./below/.././file"]);
    let told = map(&client
        .envelope("trespasses", json!({"action": "look", "at": "/data", "paths": inside}))
        .await?)?;
    assert_eq!(told.values().filter(|said| *said == "inside").count(), 2 * 3, "{told:?}");

    // In its own directory the guest may create any name; nothing of it appears elsewhere.
    for path in &paths {
        fs::write(data.join("own"), "inside")?;
        let told = client
            .envelope("trespasses", json!({"action": "change", "at": "/data", "paths": [path]}))
            .await?;
        let told = map(&told)?;
        assert_eq!(told.len(), 12, "{told:?}");
        assert_eq!(contents(&outside)?, before, "{path:.100}: {told:?}");
        let inside = format!("{:?}", contents(&data)?);
        assert!(!inside.contains(CANARY), "{path:.100}: {told:?}");
        // The created entry may be a file, a link or a directory; it is removed so that the next name can be created.
        let taken = data.join("taken");
        if fs::remove_file(&taken).is_err() && taken.is_dir() {
            fs::remove_dir_all(&taken)?;
        }
    }

    // Links that the guest makes itself.
    let mut targets = vec![outside.display().to_string(), outside.join("secret").display().to_string()];
    targets.extend(
        ["/", "..", "../outside", "../outside/secret", "below/../../outside", "up", "chain"]
            .map(str::to_owned),
    );
    let told = map(&client
        .envelope("trespasses", json!({"action": "links", "at": "/data", "targets": targets}))
        .await?)?;
    assert!(!format!("{told:?}").contains(CANARY), "{told:?}");
    assert_eq!(told.get("make /").map(String::as_str), Some("not-permitted"), "{told:?}");
    assert_eq!(contents(&outside)?, before);
    assert!(data.join("below").is_dir());
    client.end().await
}

/// H20.
#[tokio::test(flavor = "multi_thread")]
async fn replacing_a_path_during_open_escapes_nothing() -> Result<()> {
    let turns = rounds(10_000);
    let folder = granted("trespasses", &[("data", "read")], "[limits]\ncpu = \"30s\"\n");
    let (data, outside) = (folder.beside("data"), folder.beside("outside"));
    fs::write(outside.join("secret"), CANARY)?;
    fs::create_dir_all(data.join("real"))?;
    fs::create_dir_all(data.join("moves/deep"))?;
    fs::write(data.join("real/secret"), "inside")?;
    fs::write(data.join("secret"), "inside")?;
    symlink("real", data.join("door"))?;
    let client = Client::stdio(folder.path(), Era::Stateful).await?;

    let (turned, ended) = (AtomicUsize::new(0), AtomicBool::new(false));
    let exchange = || -> std::io::Result<()> {
        let targets = [Path::new("real"), Path::new("../outside"), Path::new("real"), &outside];
        for target in targets.iter().cycle() {
            if ended.load(Ordering::Relaxed) {
                break;
            }
            // A link in place of a directory, and a directory that is moved away while it is in use.
            symlink(target, data.join("next"))?;
            fs::rename(data.join("next"), data.join("door"))?;
            let (from, to) = (data.join("moves/deep"), outside.join("deep"));
            fs::rename(&from, &to)?;
            fs::rename(&to, &from)?;
            turned.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    };
    let mut seen = BTreeMap::<String, usize>::new();
    let read = async |seen: &mut BTreeMap<String, usize>| -> Result<()> {
        let paths = json!(["door/secret", "moves/deep/../../secret", "moves/deep/../secret"]);
        let arguments = json!({"action": "reread", "at": "/data", "paths": paths, "n": 600});
        let told = client.envelope("trespasses", arguments).await?;
        let some: BTreeMap<String, usize> =
            serde_json::from_value(told["data"].clone()).with_context(|| told.to_string())?;
        some.into_iter().for_each(|(what, times)| *seen.entry(what).or_default() += times);
        Ok(())
    };
    thread::scope(|scope| -> Result<()> {
        let exchanging = scope.spawn(exchange);
        let runtime = tokio::runtime::Handle::current();
        let read = tokio::task::block_in_place(|| {
            runtime.block_on(async {
                let all = |seen: &BTreeMap<String, usize>| seen.values().sum::<usize>();
                while (turned.load(Ordering::Relaxed) < turns || all(&seen) < turns)
                    && !exchanging.is_finished()
                {
                    read(&mut seen).await?;
                }
                anyhow::Ok(())
            })
        });
        ended.store(true, Ordering::Relaxed);
        exchanging.join().expect("it does not panic")?;
        read
    })?;
    assert!(!seen.contains_key(CANARY), "{seen:?}");
    // Both outcomes must have occurred.
    for what in ["inside", "not-permitted"] {
        assert!(seen.contains_key(what), "{seen:?}");
    }
    client.end().await
}

/// Waits until a directory of that name exists in another.
pub(super) async fn made(dir: &Path, name: &str) {
    eventually(async || dir.join(name).is_dir().then_some(()).ok_or_else(|| format!("no {name}"))).await;
}

/// H21.
#[tokio::test]
async fn an_open_directory_survives_a_changed_path() -> Result<()> {
    // By redirecting a link, and by replacing a directory.
    for linked in [true, false] {
        let folder = granted("lingers", &[("data", "read-write")], "");
        let (data, other) = (folder.beside("data"), folder.beside("other"));
        let real = data.with_file_name("real");
        let turn = |to: &Path| -> Result<()> {
            match linked {
                true => {
                    symlink(to, data.with_file_name("next"))?;
                    fs::rename(data.with_file_name("next"), &data)?;
                }
                false => {
                    fs::rename(&data, &real)?;
                    fs::rename(to, &data)?;
                }
            }
            Ok(())
        };
        if linked {
            fs::rename(&data, &real)?;
            symlink(&real, &data)?;
        }
        fs::write(other.join("go"), "elsewhere")?;
        let client = Client::stdio(folder.path(), Era::Stateful).await?;

        let wait = |mark: &str| {
            client.envelope(
                "lingers",
                json!({"action": "wait", "mark": format!("/data/{mark}"), "until": "/data/go"}),
            )
        };
        let running = async {
            made(&data, "first").await;
            turn(&other)?;
            go(&real, "the same")?;
            anyhow::Ok(())
        };
        let (told, turned) = tokio::join!(wait("first"), running);
        turned?;
        assert_eq!(told?["data"], "the same", "linked: {linked}");
        // The next call too: it uses the directory that was checked with the policy.
        let told = wait("second").await?;
        assert_eq!(told["data"], "the same", "linked: {linked}");
        assert!(real.join("second").is_dir() && !data.join("second").exists(), "linked: {linked}");
        client.end().await?;
    }
    Ok(())
}
