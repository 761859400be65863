//! `loggia test`: cases of plugins, as an author runs them.

use std::{fs, path::Path, process::Stdio};

use anyhow::{Context, Result};
use loggia_tests::{
    Folder, binary, cache, guests, scratch,
    web::{Answer, Web},
};
use serde_json::{Value, json};
use tokio::process::Command;

/// Runs the command; returns its exit code and its JSON.
async fn run(path: &Path, words: &[&str]) -> Result<(Option<i32>, Value)> {
    let output = Command::new(binary())
        .arg("test")
        .arg(path)
        .args(words)
        .arg("--json")
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .env("CARGO_TARGET_DIR", guests())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await?;
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
