//! Token counts of the tool list, as `loggia tokens` reports them for real plugins.

use std::{fs, path::Path, process::Output};

use anyhow::Result;
use loggia_tests::{Folder, binary, cache, plugin, scratch};
use serde_json::{Value, json};
use tokio::process::Command;

/// The two that are measured: 13 actions with much in common, and 4.
const MEASURED: [&str; 2] = ["issues", "tasks"];

async fn tokens(words: &[&str]) -> Result<(Option<i32>, String, String)> {
    let Output { status, stdout, stderr } = Command::new(binary())
        .arg("tokens")
        .args(words)
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .output()
        .await?;
    Ok((status.code(), String::from_utf8(stdout)?, String::from_utf8(stderr)?))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of words")
}

/// The figures that are written for a folder.
async fn written(folder: &Folder) -> Result<Value> {
    let file = tempfile::tempdir()?;
    let file = file.path().join("figures.json");
    let (code, _, stderr) = tokens(&[text(folder.path()), "--output", text(&file)]).await?;
    assert_eq!(code, Some(0), "{stderr}");
    Ok(serde_json::from_slice(&fs::read(file)?)?)
}

#[tokio::test]
async fn token_savings_match_the_readme() -> Result<()> {
    let folder = Folder::with(&MEASURED);
    folder.put("files", &plugin("files"));
    let figures = written(&folder).await?;
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md"))?;
    let tokens = |facade: &str, form: &str| {
        figures["facades"][facade][form]["tokens"].as_u64().expect("a number of tokens")
    };
    for (facade, actions, least) in
        [("issues", 13, [70.0, 85.0]), ("tasks", 4, [60.0, 80.0]), ("files", 13, [50.0, 85.0])]
    {
        let whole = tokens(facade, "granular");
        let saved = |form: &str| 100.0 - 100.0 * tokens(facade, form) as f64 / whole as f64;
        for (form, least) in ["flat", "signatures"].into_iter().zip(least) {
            let saved = saved(form);
            assert!(saved >= least, "{facade} as {form} saves {saved:.1} percent, not {least}");
        }
        let cell = |form| format!("{} (-{:.0} %)", tokens(facade, form), saved(form).floor());
        let cells = ["flat", "signatures", "names"].map(cell).join(" | ");
        let row = format!("| `{facade}` | {actions} | {whole} | {cells} |");
        assert!(readme.contains(&row), "the README should say: {row}");
    }
    Ok(())
}

#[tokio::test]
async fn piped_output_has_one_line_per_form() -> Result<()> {
    let folder = Folder::with(&["issues", "tasks", "version_one"]);
    folder.write("issues.toml", "[expose]\nschema = \"signatures\"\n");
    let (code, stdout, stderr) = tokens(&[text(folder.path())]).await?;
    assert_eq!(code, Some(0), "{stderr}");
    insta::assert_snapshot!("tokens_lines", format!("{stdout}---\n{stderr}"));
    Ok(())
}

#[tokio::test]
async fn a_file_holds_totals_and_facades_by_form() -> Result<()> {
    let folder = Folder::with(&MEASURED);
    folder.write("tasks.toml", "[actions]\ndeny = [\"create\", \"update\", \"delete\"]\n");
    let figures = written(&folder).await?;
    let forms = |of: &Value| of.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    // `raw` is for a single action, which is all that the policy leaves of `tasks`.
    assert_eq!(forms(&figures["total"]), ["flat", "granular", "names", "signatures", "union"]);
    assert_eq!(forms(&figures["facades"]), MEASURED);
    assert_eq!(forms(&figures["facades"]["issues"]), forms(&figures["total"]));
    assert_eq!(
        forms(&figures["facades"]["tasks"]),
        ["flat", "granular", "names", "raw", "signatures", "union"]
    );
    for unit in ["tokens", "bytes"] {
        let of = |at: &str| figures.pointer(at).and_then(|cost| cost[unit].as_u64()).expect("a number");
        assert_eq!(of("/total/flat"), of("/facades/issues/flat") + of("/facades/tasks/flat"));
    }
    assert_eq!(forms(&figures), ["total", "facades", "served"]);
    let tasks = &figures["served"]["facades"]["tasks"];
    assert_eq!(
        (&tasks["form"], &tasks["tokens"]),
        (&json!("flat"), &figures["facades"]["tasks"]["flat"]["tokens"])
    );
    assert_eq!(figures["served"]["total"], figures["total"]["flat"]);
    // A single action gains nothing from routing, only from brief texts.
    let of = |form: &str| figures["facades"]["tasks"][form]["tokens"].as_u64().expect("a number");
    assert!(of("granular") < of("union") && of("flat") < of("granular"), "{figures}");
    Ok(())
}

#[tokio::test]
async fn figures_compare_with_a_file_or_folder() -> Result<()> {
    let here = tempfile::tempdir()?;
    let [before, after] = ["before", "after"].map(|name| here.path().join(name));
    let file = |facades: Value, total: Value| json!({"total": total, "facades": facades}).to_string();
    let cost = |tokens: u64| json!({"tokens": tokens, "bytes": tokens * 4});
    fs::write(
        &before,
        file(
            json!({"gone": {"flat": cost(100)}, "notes": {"flat": cost(300), "signatures": cost(200)}}),
            json!({"flat": cost(400)}),
        ),
    )?;
    fs::write(
        &after,
        file(
            json!({"new": {"flat": cost(80)}, "notes": {"flat": cost(240), "signatures": cost(200)}}),
            json!({"flat": cost(320)}),
        ),
    )?;
    let (code, stdout, stderr) = tokens(&["--compare", text(&before), text(&after)]).await?;
    let old = "some figures do not record the served forms, so only the forms are compared; write them again with \
        `loggia tokens DIR --output FILE`\n";
    assert_eq!((code, stderr.as_str()), (Some(0), old));
    insta::assert_snapshot!("tokens_compared", stdout);

    let folder = Folder::with(&["tasks"]);
    let dir = text(folder.path());
    fs::write(&before, written(&folder).await?.to_string())?;
    folder.write("tasks.toml", "[actions]\ndeny = [\"delete\"]\n");
    for words in [[dir, "--compare", text(&before)], ["--compare", text(&before), dir]] {
        let (code, stdout, stderr) = tokens(&words).await?;
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
        let flat = stdout.lines().find(|line| line.starts_with("tasks\tflat\t")).expect("a line");
        assert!(flat.split('\t').nth(4).expect("a change").starts_with('-'), "{flat}");
    }
    Ok(())
}

/// A policy that selects another form changes the served list, but not the size of any form.
#[tokio::test]
async fn changes_of_the_served_form_are_compared() -> Result<()> {
    let (here, folder) = (tempfile::tempdir()?, Folder::with(&MEASURED));
    let before = here.path().join("before");
    fs::write(&before, written(&folder).await?.to_string())?;
    folder.write("issues.toml", "[expose]\nschema = \"names\"\n");
    let words = [text(folder.path()), "--compare", text(&before)];
    let (code, stdout, stderr) = tokens(&words).await?;
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let changed: Vec<Vec<&str>> = stdout
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|cells| cells[4] != "0")
        .collect();
    let names: Vec<_> = changed.iter().map(|cells| (cells[0], cells[1])).collect();
    assert_eq!(names, [("issues", "served"), ("total", "served")], "{stdout}");
    assert!(changed.iter().all(|cells| cells[4].starts_with('-')), "{stdout}");

    let (code, stdout, _) = tokens(&[&words[..], &["--json"]].concat()).await?;
    let changes: Vec<Value> = serde_json::from_str(&stdout)?;
    let served = changes.iter().find(|change| change["facade"] == "issues" && change["form"] == "served");
    assert!(served.is_some_and(|change| change["before"].as_u64() > change["after"].as_u64()), "{stdout}");
    let (_, stdout, _) = tokens(&[words[0], "--json"]).await?;
    let now: Value = serde_json::from_str(&stdout)?;
    assert_eq!((code, &now["served"]["facades"]["issues"]["form"]), (Some(0), &json!("names")), "{now:#}");
    Ok(())
}

#[tokio::test]
async fn exceeding_the_budget_exits_with_1() -> Result<()> {
    let folder = Folder::with(&["tasks"]);
    let dir = text(folder.path());
    let served = written(&folder).await?;
    let flat = served["facades"]["tasks"]["flat"]["tokens"].as_u64().expect("a number");
    let (fits, short) = (flat.to_string(), (flat - 1).to_string());
    for (words, code) in [
        (&["--budget", &fits][..], 0),
        (&["--budget", &short], 1),
        (&["--budget", &short, "--schema", "signatures"], 0),
        (&["--budget", &short, "--token-budget", &short], 0),
    ] {
        let (ended, _, stderr) = tokens(&[&[dir], words].concat()).await?;
        assert_eq!(ended, Some(code), "{words:?}: {stderr}");
        let said = format!("the served tool list has {flat} tokens, 1 more than the budget of {short}\n");
        assert_eq!(stderr, if code == 1 { said } else { String::new() }, "{words:?}");
    }
    Ok(())
}

#[tokio::test]
async fn uncountable_plugins_are_reported() -> Result<()> {
    let here = tempfile::tempdir()?;
    let [missing, broken, written] = ["missing", "broken", "written"].map(|name| here.path().join(name));
    fs::write(&broken, r#"{"total": 5}"#)?;
    let (empty, folder) = (Folder::new(), Folder::with(&["tasks"]));
    folder.write("tasks.toml", "[actions]\ndeny = [\"purge\"]\n");
    let (empty, folder) = (text(empty.path()), text(folder.path()));
    let [missing, broken, file] = [&missing, &broken, &written].map(|path| text(path));
    let mut told = String::new();
    for (words, code) in [
        (&[][..], 2),
        (&[missing], 1),
        (&[empty], 11),
        (&[folder, "--output", file], 10),
        (&["--compare", broken], 2),
        (&["--compare", broken, broken], 1),
        (&["--compare", missing, broken], 1),
        (&["--compare", broken, broken, "--budget", "5"], 2),
    ] {
        let (ended, _, stderr) = tokens(words).await?;
        assert_eq!(ended, Some(code), "{words:?}: {stderr}");
        let stderr = stderr.replace(text(here.path()), "HERE").replace(empty, "EMPTY");
        told.push_str(&format!("{}\n", stderr.split("\n\nUsage").next().unwrap_or_default().trim_end()));
    }
    insta::assert_snapshot!("tokens_errors", told);
    assert!(!written.exists(), "figures that lack a plugin would mislead");
    Ok(())
}
