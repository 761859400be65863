//! `loggia test`: cases of plugins, as an author runs them.

use std::{
    fmt::Write,
    fs,
    path::Path,
    process::{Output, Stdio},
};

use anyhow::{Context, Result};
use loggia_tests::{
    Folder, PATIENCE, binary, cache, fixture, guests, scratch,
    web::{Answer, Web},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader, Lines},
    process::Command,
    time::timeout,
};

/// The command in a folder.
fn command(path: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command
        .arg("test")
        .arg(path)
        .args(words)
        .current_dir(path)
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .env("CARGO_TARGET_DIR", guests())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command
}

/// Runs the command in a folder.
async fn output(path: &Path, words: &[&str]) -> Result<Output> {
    Ok(command(path, words).output().await?)
}

/// Runs the command; returns its exit code and its JSON.
async fn run(path: &Path, words: &[&str]) -> Result<(Option<i32>, Value)> {
    let output = output(path, &[words, &["--json"]].concat()).await?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| json!({"stderr": stderr}));
    Ok((output.status.code(), report))
}

/// Messages of all failures, with their lines and columns.
fn failures(report: &Value) -> Vec<String> {
    let files = report["files"].as_array().into_iter().flatten();
    let cases = files.flat_map(|file| file["cases"].as_array().into_iter().flatten().chain([file]));
    let problems = cases.flat_map(|case| {
        [&case["failures"], &case["problems"]].into_iter().filter_map(Value::as_array).flatten()
    });
    problems
        .map(|problem| {
            let message = problem["message"].as_str().unwrap_or_default();
            format!("{}:{} {message}", problem["line"], problem["column"])
        })
        .collect()
}

#[tokio::test]
async fn a_bundled_plugin_passes_its_cases() -> Result<()> {
    let folder = Folder::new();
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the workspace")?.join("plugins/memories");
    folder.put("memories", &loggia_tests::plugin("memories"));
    fs::copy(source.join("memories.toml"), folder.path().join("memories.toml"))?;
    for part in ["tests", "tests/snapshots"] {
        fs::create_dir(folder.path().join(part))?;
        for entry in fs::read_dir(source.join(part))? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                fs::copy(entry.path(), folder.path().join(part).join(entry.file_name()))?;
            }
        }
    }
    let (code, report) = run(folder.path(), &[]).await?;
    assert_eq!((code, &report["passed"], failures(&report)), (Some(0), &json!(7), vec![]), "{report}");
    Ok(())
}

#[tokio::test]
async fn differences_are_reported_at_their_places() -> Result<()> {
    let folder = Folder::with(&["worker"]);
    folder.write(
        "worker.test.yaml",
        "policy: { elicit: true }\n\
         cases:\n\
        \x20 - name: keeps what the person says\n\
        \x20   person: [{ asks: /old notes/, accepted: { newest: 3, why: dust } }]\n\
        \x20   call: { action: clean }\n\
        \x20   expect: { exactly: kept 3 because dust }\n\
        \x20 - name: keeps nothing\n\
        \x20   person: [{ declined: true }, { declined: true }]\n\
        \x20   call: { action: clean }\n\
        \x20   expect: { data: accepted }\n\
        \x20 - name: asks\n\
        \x20   person: []\n\
        \x20   call: { action: clean }\n\
        \x20   expect: { data: cancelled }\n\
        \x20 - name: works\n\
        \x20   call: { action: work, steps: many }\n\
        limits: { tokens: 1 }\n",
    );
    let (code, report) = run(folder.path(), &[]).await?;
    let reported = failures(&report);
    assert_eq!((code, reported.len()), (Some(20), 5), "{reported:#?}");
    for (failure, expected) in reported.iter().zip([
        "7:0 1 of the replies in `person` were not asked for",
        "10:21 `data` is \"declined\", expected \"accepted\"",
        "11:0 it asks “",
        "15:0 the call failed, invalid_params: ",
        "0:0 the tools have ",
    ]) {
        assert!(failure.starts_with(expected), "{failure} is not {expected}");
    }
    let (code, report) = run(folder.path(), &["what the person"]).await?;
    assert_eq!((code, &report["passed"], &report["failed"]), (Some(0), &json!(1), &json!(0)), "{report}");
    let (code, _) = run(folder.path(), &["no such case"]).await?;
    assert_eq!(code, Some(11));
    Ok(())
}

#[tokio::test]
async fn requests_are_answered_from_recordings() -> Result<()> {
    let folder = Folder::with(&["reaches"]);
    let web = Web::start(|_| {
        Answer::Plain(200, vec![("set-cookie", "sid=s3cr3ts3cr3t".into())], b"a page".to_vec())
    })
    .await?;
    let (url, cassette) = (web.url("/page"), folder.path().join("cassettes/reaches.test.fetches.json"));
    let cases = |http: &str| {
        format!(
            "policy: {{ http: [\"{}\"] }}\n{http}cases:\n  - name: fetches\n    call: {{ action: fetch, url: \"{url}\" }}\n    \
             expect: {{ data: {{ status: 200, body: a page }} }}\n",
            web.url("")
        )
    };
    folder.write("reaches.test.yaml", &cases(""));
    let (code, report) = run(folder.path(), &[]).await?;
    let missing = format!("3:0 not recorded: GET {url}");
    assert_eq!(
        (code, failures(&report)[0].as_str(), web.asked().len()),
        (Some(20), missing.as_str(), 0),
        "{report}"
    );

    folder.write("reaches.test.yaml", &cases("http: cassettes/\n"));
    let (code, report) = run(folder.path(), &["--record"]).await?;
    assert_eq!((code, web.asked().len()), (Some(0), 1), "{report}");
    let recorded = fs::read_to_string(&cassette)?;
    assert!(recorded.contains("a page") && !recorded.contains("s3cr3t"), "{recorded}");
    let (code, report) = run(folder.path(), &[]).await?;
    assert_eq!((code, web.asked().len()), (Some(0), 1), "{report}");

    folder.write("reaches.test.yaml", &cases("http: live\n"));
    let (code, report) = run(folder.path(), &[]).await?;
    assert_eq!((code, web.asked().len()), (Some(0), 2), "{report}");
    Ok(())
}

#[tokio::test]
async fn files_with_mistakes_do_not_run() -> Result<()> {
    let folder = Folder::with(&["worker", "reaches"]);
    let check = async |text: &str, expected: &str| -> Result<()> {
        folder.write("some.test.yaml", text);
        let (code, report) = run(folder.path(), &[]).await?;
        let reported = failures(&report);
        assert_eq!((code, &report["refused"]), (Some(10), &json!(1)), "{report}");
        assert!(reported[0].starts_with(expected), "{} is not {expected}", reported[0]);
        Ok(())
    };
    let cases = "cases: [{ name: a, call: { action: describe } }]\n";
    check("cses: []\n", "1:1 the file has an unknown key `cses`").await?;
    check(cases, "0:0 it does not say which plugin it calls: reaches, worker").await?;
    check(&format!("plugin: wrker\n{cases}"), "0:0 there is no plugin `wrker`").await?;
    check(
        &format!("plugin: worker\npolicy: {{ limits: {{ memory: 7 }} }}\n{cases}"),
        "0:0 `worker`: does not load: ",
    )
    .await?;
    Ok(())
}

#[tokio::test]
async fn requests_of_apis_are_recorded_too() -> Result<()> {
    let folder = Folder::new();
    let web = Web::start(|_| {
        let json = vec![("content-type", "application/json".into())];
        Answer::Plain(200, json, br#"[{"id":1}]"#.to_vec())
    })
    .await?;
    let origin = web.url("");
    folder.write(
        "shop.api.toml",
        &format!(
            "format = 1\nname = \"shop\"\nsummary = \"A shop.\"\nserver = \"{origin}\"\n[[operation]]\naction = \"list\"\n\
             method = \"GET\"\npath = \"/items\"\nsummary = \"Lists items.\"\n"
        ),
    );
    let cases = |http: &str| {
        format!(
            "policy: {{ http: [\"{origin}\"] }}\n{http}cases:\n  - name: lists\n    call: {{ action: list }}\n    \
             expect: {{ data: [{{ id: 1 }}] }}\n  - name: lists again\n    call: {{ action: list }}\n"
        )
    };
    folder.write("shop.test.yaml", &cases(""));
    let (code, report) = run(folder.path(), &[]).await?;
    let missing = format!("not recorded: GET {}", web.url("/items"));
    assert!(code == Some(20) && failures(&report).iter().any(|text| text.ends_with(&missing)), "{report}");
    assert_eq!(web.asked().len(), 0, "nothing is sent");

    folder.write("shop.test.yaml", &cases("http: cassettes/\n"));
    let (code, report) = run(folder.path(), &["--record"]).await?;
    assert_eq!((code, web.asked().len()), (Some(0), 2), "{report}");
    let (code, report) = run(folder.path(), &[]).await?;
    assert_eq!((code, web.asked().len()), (Some(0), 2), "{report}");

    // An unreadable recording fails its own case.
    folder.write("cassettes/shop.test.lists.json", "{");
    let (code, report) = run(folder.path(), &[]).await?;
    let reported = failures(&report);
    assert_eq!((code, reported.len(), &report["passed"]), (Some(20), 1, &json!(1)), "{report}");
    assert!(
        reported[0].starts_with("4:0 ") && reported[0].contains("is no cassette; --record writes it again"),
        "{report}"
    );
    Ok(())
}

#[tokio::test]
async fn a_hundred_cases_run_in_one_command() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let mut cases = "cases:\n".to_owned();
    for n in 0..100 {
        writeln!(
            cases,
            "  - {{ name: adds {n}, call: {{ action: add, a: {n}, b: 1 }}, expect: {{ data: {} }} }}",
            n + 1
        )?;
    }
    folder.write("echo.test.yaml", &cases);
    let (code, report) = run(folder.path(), &[]).await?;
    let counts = [&report["passed"], &report["failed"], &report["refused"]];
    assert_eq!((code, counts), (Some(0), [&json!(100), &json!(0), &json!(0)]), "{report}");
    let ran = report["files"][0]["cases"].as_array().context("cases")?;
    let names: Vec<&str> = ran.iter().filter_map(|case| case["name"].as_str()).collect();
    assert_eq!((names.len(), names[0], names[99]), (100, "adds 0", "adds 99"), "in their order");
    Ok(())
}

#[tokio::test]
async fn changed_results_differ_from_their_snapshots() -> Result<()> {
    let folder = Folder::new();
    folder.put("version", &fixture("version_one"));
    folder.write(
        "version.test.yaml",
        "cases:\n  - name: tells its version\n    call: { action: get }\n    expect: { snapshot: true }\n",
    );
    let file = "snapshots/version.test.tells-its-version.json";
    let check = async |words: &[&str], expected: &[&str]| -> Result<()> {
        let (code, report) = run(folder.path(), words).await?;
        assert_eq!(failures(&report), expected, "{report}");
        assert_eq!(code, Some(if expected.is_empty() { 0 } else { 20 }));
        Ok(())
    };
    check(&[], &[&format!("2:0 there is no {file}")]).await?;
    assert!(!folder.path().join(file).exists(), "only --update writes");
    check(&["--update"], &[]).await?;
    let written = fs::read_to_string(folder.path().join(file))?;
    assert!(written.contains("\n  \"data\": \"one\",\n"), "{written}");
    check(&[], &[]).await?;
    folder.put("version", &fixture("version_two"));
    let change = "@@ -3,3 +3,3 @@\n   \"action\": \"get\",\n-  \"data\": \"one\",\n+  \"data\": \"two\",\n   \"resolved_inputs\": {";
    check(&[], &[&format!("2:0 it differs from {file}:\n{change}")]).await?;
    assert_eq!(fs::read_to_string(folder.path().join(file))?, written, "only --update writes");
    check(&["--update"], &[]).await?;
    check(&[], &[]).await?;
    Ok(())
}

#[tokio::test]
async fn calls_are_checked_against_their_time_limit() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    // A call takes at least as long as it waits for.
    for (limit, expected) in [(60_000, None), (1, Some("0:0 95 % of the calls took up to "))] {
        let cases = "cases: [{ name: waits, call: { action: wait, ms: 5 } }]\n";
        folder.write("echo.test.yaml", &format!("{cases}limits: {{ p95-ms: {limit} }}\n"));
        let (code, report) = run(folder.path(), &[]).await?;
        let names = report["files"][0]["cases"].as_array().into_iter().flatten().map(|case| &case["name"]);
        assert_eq!(names.collect::<Vec<_>>(), ["waits", "p95"], "{report}");
        let reported = failures(&report);
        assert_eq!(
            (code, reported.len()),
            (Some(expected.map_or(0, |_| 20)), expected.iter().count()),
            "{report}"
        );
        for (failure, expected) in reported.iter().zip(expected) {
            assert!(failure.starts_with(expected) && failure.ends_with(" ms, more than 1 ms"), "{failure}");
        }
    }
    Ok(())
}

/// Reads lines up to one that contains this.
async fn line_with(lines: &mut Lines<BufReader<impl AsyncRead + Unpin>>, part: &str) -> Result<String> {
    while let Some(line) = timeout(PATIENCE, lines.next_line()).await?? {
        if line.contains(part) {
            return Ok(line);
        }
    }
    anyhow::bail!("it ended without {part:?}")
}

#[tokio::test]
async fn a_watched_folder_runs_again_with_what_its_build_read() -> Result<()> {
    let root = tempfile::tempdir()?;
    let (shared, plugin) = (root.path().join("shared"), root.path().join("plugins/version"));
    fs::create_dir_all(&shared)?;
    fs::create_dir_all(plugin.join("tests"))?;
    let choose = |version: &str| fs::write(shared.join("chosen"), fixture(version).display().to_string());
    let cases = plugin.join("tests/version.yaml");
    let expect = |version: &str, file: &Path| {
        let case =
            format!("cases: [{{ name: tells, call: {{ action: get }}, expect: {{ data: {version} }} }}]\n");
        fs::write(file, case)
    };
    choose("version_one")?;
    expect("one", &cases)?;
    fs::write(plugin.join("plugin.toml"), "build = 'sh build.sh'\nartifact = 'version.wasm'\n")?;
    // Lists what it reads, as compilers do. The cases that it moves stand for those that somebody saves during the run.
    let script = "chosen=$(realpath ../../shared/chosen)\n\
        cp \"$(cat \"$chosen\")\" version.wasm\n\
        echo \"version.wasm: $chosen\" >version.d\n\
        if [ -e ../../shared/saved.yaml ]; then mv ../../shared/saved.yaml tests/version.yaml; fi\n";
    fs::write(plugin.join("build.sh"), script)?;

    let mut child = command(&plugin, &["--watch", "--format", "tap"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut report = BufReader::new(child.stdout.take().context("stdout")?).lines();
    let mut notes = BufReader::new(child.stderr.take().context("stderr")?).lines();
    let mut next = async |then: &str| -> Result<bool> {
        let line = line_with(&mut report, "ok 1 ").await?;
        line_with(&mut notes, then).await?;
        Ok(!line.starts_with("not"))
    };
    let (waiting, changed) = ("waiting for a change", "a file changed during the run");
    assert!(next(waiting).await?, "version one");
    choose("version_two")?;
    assert!(!next(waiting).await?, "version two, of a file outside the folder");
    expect("two", &cases)?;
    assert!(next(waiting).await?, "the case expects version two");
    expect("one", &shared.join("saved.yaml"))?;
    choose("version_one")?;
    assert!(!next(changed).await?, "the case still expects version two");
    assert!(next(waiting).await?, "the case that was saved during the run");
    child.kill().await?;
    Ok(())
}

/// A report without the times that were measured.
fn timeless(report: &str) -> String {
    ["duration_ms: ", "time=\""].iter().fold(report.to_owned(), |report, key| {
        let mut parts = report.split(key);
        let first = parts.next().unwrap_or_default().to_owned();
        let is_time = |c: char| c.is_ascii_digit() || c == '.';
        parts.fold(first, |report, part| format!("{report}{key}(time){}", part.trim_start_matches(is_time)))
    })
}

#[tokio::test]
async fn reports_for_programs_name_each_case() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    folder.write(
        "echo.test.yaml",
        "cases:\n\
        \x20 - name: adds\n\
        \x20   call: { action: add, a: 1, b: 2 }\n\
        \x20   expect: { data: 3 }\n\
        \x20 - name: \"says #1 & <2>\"\n\
        \x20   call: { action: say, text: <hello> }\n\
        \x20   expect: { data: { text: bye } }\n\
        limits: { tokens: 100000, p95-ms: 60000 }\n",
    );
    folder.write("other.test.yaml", "cses: []\n");
    for format in ["tap", "junit"] {
        let output = output(folder.path(), &["--format", format]).await?;
        assert_eq!(output.status.code(), Some(10), "{}", String::from_utf8_lossy(&output.stderr));
        insta::assert_snapshot!(format!("report_{format}"), timeless(&String::from_utf8(output.stdout)?));
    }
    Ok(())
}
