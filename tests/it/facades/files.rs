//! `files`, over MCP: round trips above all, which must survive a kill.

use std::{
    collections::BTreeMap,
    fs,
    hash::{BuildHasher, RandomState},
    path::{Path, PathBuf},
    process::Command,
    sync::Once,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use loggia_tests::{Client, Era, Folder, Raw, binary, cache, plugin, rounds};
use serde_json::{Value, json};

/// Compiles once before all tests: a host's first call waits only a few seconds for compilation, which is too short on
/// a busy machine.
static COMPILED: Once = Once::new();

/// The real plugin, over two directories: `/one` and `/two`.
fn granted() -> (Folder, [PathBuf; 2]) {
    let folder = Folder::new();
    folder.put("files", &plugin("files"));
    let directories = ["one", "two"].map(|name| folder.beside(name));
    let [one, two] = directories.each_ref().map(|path| path.display());
    folder.write(
        "files.toml",
        &format!(
            "[grants]\nstore = true\ndirs = [\n  {{ path = \"{one}\", at = \"/one\", access = \"read-write\" }},\n  \
             {{ path = \"{two}\", at = \"/two\", access = \"read-write\" }},\n]\n"
        ),
    );
    COMPILED.call_once(|| {
        let mut check = Command::new(binary());
        check.arg("check").arg(folder.path()).env("LOGGIA_CACHE", cache()).output().expect("a check");
    });
    (folder, directories)
}

/// Renders an envelope as a model sees it, without timestamps.
fn shown(mut envelope: Value) -> String {
    if envelope["data"]["expires"].is_string() {
        envelope["data"]["expires"] = json!("…");
    }
    format!("{envelope:#}")
}

async fn ask(client: &Client, arguments: Value) -> Result<Value> {
    client.envelope("files", arguments).await
}

#[tokio::test]
async fn a_round_trip_starts_with_hashes_and_contents() -> Result<()> {
    let (folder, [one, two]) = granted();
    fs::write(one.join("a.md"), "# A\nmilk\n")?;
    fs::write(two.join("b.bin"), [0, 159, 146, 150])?;
    let client = Client::stdio(folder.path(), Era::Stateless).await?;
    let start = json!({"action": "roundtrip_start", "paths": ["/one/a.md", "/two/b.bin", "/one/new.md"]});
    insta::assert_snapshot!("files_start", shown(ask(&client, start).await?));
    client.end().await
}

#[tokio::test]
async fn a_preview_shows_differences_and_conflicts() -> Result<()> {
    let (folder, [one, two]) = granted();
    fs::write(one.join("a.md"), "# A\nmilk\n")?;
    fs::write(two.join("b.md"), "b\n")?;
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let start = json!({"action": "roundtrip_start", "paths": ["/one/a.md", "/two/b.md"]});
    ask(&client, start).await?;
    fs::write(two.join("b.md"), "theirs\n")?;
    let changes = json!([
        {"path": "/one/a.md", "content": "# A\nmilk\nbread\n"},
        {"path": "/one/new/c.md", "content": "c\n"},
    ]);
    let preview = json!({"action": "roundtrip_preview", "manifest_id": "rt_0001", "changes": changes});
    insta::assert_snapshot!("files_preview", shown(ask(&client, preview).await?));

    // And the commit is refused, with the names of the files that changed.
    let commit = json!({"action": "roundtrip_commit", "manifest_id": "rt_0001", "changes": changes});
    insta::assert_snapshot!("files_stale", shown(ask(&client, commit).await?));
    assert_eq!(fs::read_to_string(one.join("a.md"))?, "# A\nmilk\n");
    assert!(!one.join("new").exists());
    client.end().await
}

#[tokio::test]
async fn commits_follow_their_mode_and_keep_the_manifest() -> Result<()> {
    let (folder, [one, two]) = granted();
    let client = Client::stdio(folder.path(), Era::Stateless).await?;
    fs::write(one.join("old.md"), "0")?;
    let modes = [
        ("add_only", [("/one/old.md", "skip"), ("/two/d/a.md", "create")]),
        ("update_only", [("/one/old.md", "replace"), ("/two/d/u.md", "skip")]),
        ("replace", [("/one/old.md", "replace"), ("/two/d/r.md", "create")]),
    ];
    let start = json!({"action": "roundtrip_start", "paths": ["/one/old.md"]});
    ask(&client, start).await?;
    for (mode, files) in modes {
        let changes: Value = files.iter().map(|(path, _)| json!({"path": path, "content": mode})).collect();
        let commit =
            json!({"action": "roundtrip_commit", "manifest_id": "rt_0001", "changes": changes, "mode": mode});
        let told = ask(&client, commit).await?;
        let done: Vec<_> = told["data"]["files"].as_array().context("files")?.iter().collect();
        for ((path, fate), file) in files.iter().zip(done) {
            assert_eq!((file["path"].as_str(), file["done"].as_str()), (Some(*path), Some(*fate)), "{told}");
        }
    }
    assert_eq!(fs::read_to_string(one.join("old.md"))?, "replace");
    let names: Vec<_> = tree(&two).into_keys().collect();
    assert_eq!(names, ["d/a.md", "d/r.md"]);
    client.end().await
}

/// All files below a directory, hidden ones too, by their paths.
fn tree(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for path in fs::read_dir(next).expect("a directory").map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(directory).expect("below").display().to_string();
                files.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    files
}

/// Asks a host and waits for its answer; the envelope.
async fn call(host: &mut Raw, arguments: &Value) -> Result<Value> {
    host.call(7, "files", arguments).await?;
    Ok(host.answer().await?["result"]["structuredContent"].take())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hosts_that_commit_at_once_lose_nothing() -> Result<()> {
    const TIMES: usize = 20;
    /// Adds lines to two files in one commit and restarts after a conflict. Returns the number of restarts.
    async fn add(host: &mut Raw, name: &str) -> Result<usize> {
        let (mut done, mut refused) = (0, 0);
        while done < TIMES {
            let start = json!({"action": "roundtrip_start", "paths": ["/one/log", "/two/log"]});
            let told = call(host, &start).await?;
            if told["ok"] != true {
                ensure!(told["code"] == "unavailable", "{told}");
                continue;
            }
            let line = |file: &Value| {
                let text = format!("{}{name} {done}\n", file["text"].as_str().unwrap_or_default());
                json!({"path": file["path"], "content": text})
            };
            let changes: Value =
                told["data"]["files"].as_array().context("files")?.iter().map(line).collect();
            let id = &told["data"]["manifest_id"];
            let commit = json!({"action": "roundtrip_commit", "manifest_id": id, "changes": changes});
            let told = call(host, &commit).await?;
            if told["ok"] == true {
                done += 1;
            } else {
                ensure!(told["code"] == "conflict" || told["code"] == "unavailable", "{told}");
                refused += 1;
            }
        }
        Ok(refused)
    }
    let (folder, [one, two]) = granted();
    let (mut this, mut that) = (Raw::start(folder.path()).await?, Raw::start(folder.path()).await?);
    let refused = tokio::try_join!(add(&mut this, "this"), add(&mut that, "that"))?;
    let [log, other] = [one, two].map(|directory| tree(&directory));
    assert_eq!(log, other, "nothing else is left, and both files are of the same round trip");
    let log = String::from_utf8(log["log"].clone())?;
    let mut lines: Vec<_> = log.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 2 * TIMES, "{refused:?}: {log}");
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 2 * TIMES, "no line stands twice");
    Ok(())
}

/// The files of the round trips that are killed: some hundred KB.
const FILES: [(&str, usize); 8] = [
    ("/one/a.txt", 90_000),
    ("/one/b.txt", 4_000),
    ("/one/c.txt", 60_000),
    ("/one/new/d.txt", 20_000),
    ("/two/e.txt", 50_000),
    ("/two/f.txt", 1),
    ("/two/new/er/g.txt", 80_000),
    ("/two/h.txt", 10_000),
];
/// Paths that every round trip creates.
const ANEW: [&str; 3] = ["/one/new/d.txt", "/two/new/er/g.txt", "/two/h.txt"];

/// Content of a file after the round trip of that number.
fn content(number: usize, size: usize) -> String {
    format!("{number:07}\n").repeat(size.div_ceil(8))
}

/// A host's two directories, as a set of files.
struct Stage {
    folder: Folder,
    directories: [PathBuf; 2],
}

/// State left by a killed round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    /// All old, and no trace on the disk.
    Old,
    /// All files are old, with drafts next to them.
    Drafts,
    /// Some are new.
    Mixed,
    /// All new, but not tidied up.
    Untidy,
    /// All new, and no trace.
    New,
}

impl Stage {
    fn real(&self, path: &str) -> PathBuf {
        let [one, two] = &self.directories;
        path.strip_prefix("/one/").map_or_else(|| two.join(&path[5..]), |below| one.join(below))
    }

    /// Restores the old files and deletes the ones that a round trip creates.
    fn set(&self, number: usize) -> Result<()> {
        for path in ["/one/new", "/two/new"].map(|path| self.real(path)).iter().filter(|path| path.exists()) {
            fs::remove_dir_all(path)?;
        }
        for path in ANEW.map(|path| self.real(path)).iter().filter(|path| path.exists()) {
            fs::remove_file(path)?;
        }
        for (path, size) in FILES.iter().filter(|(path, _)| !ANEW.contains(path)) {
            fs::write(self.real(path), content(number, *size))?;
        }
        Ok(())
    }

    /// Compares the files with an old and a new number.
    fn look(&self, old: usize, new: usize) -> Result<Found> {
        let mut count = [0, 0];
        for (path, size) in FILES {
            let found = fs::read_to_string(self.real(path)).ok();
            let was = (!ANEW.contains(&path)).then(|| content(old, size));
            let is = [found == was, found == Some(content(new, size))];
            ensure!(is.contains(&true), "{path} is neither old nor new: {:?}", found.map(|text| text.len()));
            count = [count[0] + usize::from(is[0]), count[1] + usize::from(is[1])];
        }
        let hidden = self.directories.iter().flat_map(|directory| tree(directory).into_keys());
        let traces = hidden.filter(|name| name.contains(".loggia-")).count();
        Ok(match (count, traces) {
            ([8, 0], 0) => Found::Old,
            ([8, 0], _) => Found::Drafts,
            ([0, 8], 0) => Found::New,
            ([0, 8], _) => Found::Untidy,
            _ => Found::Mixed,
        })
    }

    async fn host(&self) -> Result<Raw> {
        Raw::start(self.folder.path()).await
    }
}

/// Reads the files and sends the commit of a round trip, without awaiting its reply.
async fn commit(host: &mut Raw, number: usize) -> Result<()> {
    let paths: Vec<_> = FILES.iter().map(|(path, _)| path).collect();
    let start = call(host, &json!({"action": "roundtrip_start", "paths": paths})).await?;
    ensure!(start["ok"] == true, "{start}");
    let change = |(path, size): &(&str, usize)| json!({"path": path, "content": content(number, *size)});
    let changes: Value = FILES.iter().map(change).collect();
    let id = &start["data"]["manifest_id"];
    let commit = json!({"action": "roundtrip_commit", "manifest_id": id, "changes": changes});
    host.call(8, "files", &commit).await
}

/// Makes the first call after a kill, which settles the unfinished commit; returns whether the reply reports that.
async fn next_call(stage: &Stage, host: &mut Raw, kill: usize) -> Result<&'static str> {
    let paths = ["/one/a.txt"];
    match kill % 4 {
        0 => {
            let told = call(host, &json!({"action": "roundtrip_start", "paths": paths})).await?;
            ensure!(told["ok"] == true, "{told}");
        }
        1 => {
            let told = call(host, &json!({"action": "put", "path": "/one/other", "content": "x"})).await?;
            ensure!(told["ok"] == true, "{told}");
            fs::remove_file(stage.real("/one/other"))?;
        }
        2 => return finish(host).await,
        _ => {
            // A read action refuses and names the call to make.
            let told = call(host, &json!({"action": "list", "path": "/one", "depth": 9})).await?;
            if told["ok"] != true {
                ensure!(told["code"] == "unavailable", "{told}");
                ensure!(told["next"]["arguments"]["action"] == "roundtrip_finish", "{told}");
                ensure!(finish(host).await? == "finished");
                return Ok("refused");
            }
            // Nothing to do, or only to clean up.
            return finish(host).await;
        }
    }
    Ok("silent")
}

async fn finish(host: &mut Raw) -> Result<&'static str> {
    let told = call(host, &json!({"action": "roundtrip_finish"})).await?;
    Ok(match told["data"]["did"].as_str() {
        Some("nothing") => "nothing",
        Some("finished") => "finished",
        _ => anyhow::bail!("{told}"),
    })
}

/// Measures the duration of an undisturbed commit.
async fn lasts(stage: &Stage, host: &mut Raw) -> Result<Duration> {
    let mut times = Vec::new();
    for number in 1..=5 {
        stage.set(number - 1)?;
        commit(host, number).await?;
        let began = Instant::now();
        let told = host.answer().await?;
        times.push(began.elapsed());
        ensure!(told["result"]["structuredContent"]["ok"] == true, "{told}");
        assert_eq!(stage.look(number - 1, number)?, Found::New);
    }
    times.sort_unstable();
    Ok(times[2])
}

#[tokio::test]
async fn a_killed_commit_is_atomic() -> Result<()> {
    let kills = rounds(200);
    let (folder, directories) = granted();
    let stage = Stage { folder, directories };
    let mut host = stage.host().await?;

    let chance = RandomState::new();
    let (mut before, mut after, mut settled) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut longest = 0;
    // On a busy machine it takes some more until each end was seen.
    for kill in 0..3 * kills {
        if kill >= kills && after.len() == 2 && settled.contains_key("finished") {
            break;
        }
        // A commit's duration may change over time.
        if kill % 20 == 0 {
            longest = u64::try_from(lasts(&stage, &mut host).await?.as_micros())? * 13 / 10;
        }
        let (old, new) = (10 + kill, 11 + kill);
        stage.set(old)?;
        commit(&mut host, new).await?;
        thread::sleep(Duration::from_micros(chance.hash_one(kill) % longest));
        host.child.start_kill()?;
        host.child.wait().await?;
        let found = stage.look(old, new)?;
        *before.entry(found).or_insert(0) += 1;

        host = stage.host().await?;
        if kill % 8 == 7 {
            // The helper is killed too.
            host.call(9, "files", &json!({"action": "roundtrip_finish"})).await?;
            thread::sleep(Duration::from_micros(chance.hash_one((kill, "again")) % (100_000 + longest)));
            host.child.start_kill()?;
            host.child.wait().await?;
            host = stage.host().await?;
        }
        let said = next_call(&stage, &mut host, kill).await?;
        *settled.entry(said).or_insert(0) += 1;
        let whole = stage.look(old, new)?;
        assert!(matches!(whole, Found::Old | Found::New), "kill {kill}, {found:?}: {whole:?}");
        assert!(found == Found::Old || whole == Found::New, "kill {kill}: what was begun is finished");
        *after.entry(whole).or_insert(0) += 1;
    }
    let figures = format!("{longest} µs: {before:?} became {after:?}, of which {settled:?}");
    assert!(after.len() == 2, "all were killed at the same moment: {figures}");
    let begun = before.iter().filter(|(found, _)| !matches!(found, Found::Old | Found::New)).count();
    assert!(begun > 0 && settled.contains_key("finished"), "none was killed in the middle: {figures}");
    Ok(())
}

#[tokio::test]
async fn parts_of_files_are_read_and_edited() -> Result<()> {
    let (folder, [one, two]) = granted();
    fs::write(one.join("a.md"), "one\r\ntwo\r\nthree")?;
    let client = Client::stdio(folder.path(), Era::Stateless).await?;
    let call = |arguments: Value| ask(&client, arguments);
    let seen = call(json!({"action": "get", "path": "/one/a.md", "lines": "2-", "numbered": true})).await?;
    assert_eq!(seen["data"]["text"], "2\ttwo\r\n3\tthree", "{seen}");
    let edits = json!([{"old": "one\ntwo", "new": "1\n2"}, {"lines": "3", "new": "3\n4\n"}]);
    let mut edit = json!({"action": "edit", "path": "/one/a.md", "edits": edits, "expect": "0"});
    let stale = call(edit.clone()).await?;
    assert_eq!((&stale["code"], &stale["next"]["arguments"]["action"]), (&json!("conflict"), &json!("get")));
    edit["expect"] = seen["data"]["version"].clone();
    edit["dry_run"] = json!(true);
    let shown = call(edit.clone()).await?;
    assert!(shown["data"]["diff"].as_str().is_some_and(|diff| diff.contains("\n+4\n")), "{shown}");
    assert_eq!(fs::read_to_string(one.join("a.md"))?, "one\r\ntwo\r\nthree");
    edit["dry_run"] = json!(false);
    let edited = call(edit.clone()).await?;
    assert_eq!(edited["data"]["replaced"], 2, "{edited}");
    assert_eq!(fs::read_to_string(one.join("a.md"))?, "1\r\n2\r\n3\r\n4");
    let missed =
        call(json!({"action": "edit", "path": "/one/a.md", "edits": [{"old": "2 ", "new": ""}]})).await?;
    assert_eq!(missed["details"]["nearest"][0]["lines"], "2", "{missed}");

    call(json!({"action": "mkdir", "path": "/two/x/y"})).await?;
    assert!(two.join("x/y").is_dir());
    let tree = call(json!({"action": "list", "depth": 3, "by": "tree"})).await?;
    let expected = "one/ (1 file, 10 B)\n  a.md 10 B\ntwo/ (2 directories, 0 files, 0 B)\n  x/ (1 directory, 0 files, 0 B)\n    y/ (0 files, 0 B)\n";
    assert_eq!(tree["data"]["tree"], expected, "{tree}");
    let paths = ["/one/a.md", "/two/none", "/etc/passwd"];
    let many = call(json!({"action": "get", "paths": paths, "lines": "1"})).await?;
    assert_eq!((&many["count"], &many["data"][0]["text"]), (&json!(3), &json!("1\r\n")), "{many}");
    assert_eq!((&many["data"][1]["code"], &many["data"][2]["code"]), (&json!("not_found"), &json!("denied")));
    client.end().await
}
