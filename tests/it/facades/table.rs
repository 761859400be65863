//! The table of `plugins/README.md`, and the size limits of the plugins.

use std::{fmt::Write, fs, path::Path};

use anyhow::{Context, Result, ensure};
use loggia_tests::{Client, Era, Folder, binary, cache, plugin, scratch};
use serde_json::{Value, json};
use tokio::process::Command;

use super::readme_table::read_table;

/// Plugins: name, purpose, required grants, optional grants, maximum size in bytes.
const PLUGINS: [(&str, &str, &str, &str, u64); 12] = [
    (
        "files",
        "files in granted directories, changed in parts, whole, or several atomically",
        "`dirs`",
        "`store`: round trips",
        1_120_000,
    ),
    (
        "memories",
        "facts, preferences, decisions, and how they are related",
        "`store`",
        "`http`, `config`: meaning; `invoke`: import",
        1_750_000,
    ),
    ("knowledge", "documents, found as passages", "`store`", "`http`, `config`: meaning", 1_720_000),
    ("conversations", "conversations, stored verbatim", "`store`", "", 600_000),
    (
        "projects",
        "epics of features of tasks: planned, tracked, validated",
        "`store`",
        "`invoke`: validations; `elicit`: confirmations",
        700_000,
    ),
    ("search", "all of these at once", "`invoke`", "`http`, `config`: meaning", 1_600_000),
    (
        "web",
        "pages, PDFs and data of the web as text; a search of it",
        "`http`",
        "`config`: search, robots",
        1_600_000,
    ),
    (
        "context",
        "suggested context for a task, persona, preferences",
        "`invoke` or `store`",
        "`caller`: one persona each",
        550_000,
    ),
    ("tools", "all other facades as one tool", "`invoke`", "", 600_000),
    (
        "script",
        "JavaScript programs over all other facades",
        "`invoke`",
        "`config`: limits of a program",
        4_000_000,
    ),
    (
        "banking",
        "example: transfers; a locked account leads to an agent",
        "`store`",
        "`elicit`: missing accounts; `invoke`: handoff",
        400_000,
    ),
    ("support", "example: tickets for human agents", "`store`", "", 350_000),
];

/// Tokens that a facade of any size may take as `signatures`.
const LARGEST: u64 = 250;

const FORMS: [&str; 4] = ["flat", "signatures", "names", "granular"];

fn folder() -> Folder {
    let folder = Folder::new();
    for (name, ..) in PLUGINS {
        folder.put(name, &plugin(name));
    }
    folder
}

/// Counts the tokens of all plugins with `loggia tokens`.
async fn tokens(folder: &Path) -> Result<Value> {
    let file = tempfile::tempdir()?;
    let file = file.path().join("figures.json");
    let output = Command::new(binary())
        .arg("tokens")
        .arg(folder)
        .arg("--output")
        .arg(&file)
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .output()
        .await?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&fs::read(file)?)?)
}

/// Column of the sizes. They depend slightly on the path of the sources.
const SIZE: usize = 6;

fn sizeless(table: &str) -> Vec<Vec<&str>> {
    let cells = |line| str::split(line, '|').enumerate().filter(|(at, _)| *at != SIZE).map(|(_, cell)| cell);
    table.lines().map(|line| cells(line).collect()).collect()
}

fn sizes(table: &str) -> Vec<u64> {
    table.lines().filter_map(|line| line.split('|').nth(SIZE)?.trim().parse().ok()).collect()
}

#[tokio::test]
async fn the_table_matches_the_plugins() -> Result<()> {
    let folder = folder();
    // The only setting without which an action is not published.
    folder.write("web.toml", "[grants]\nconfig.search = { url = \"https://searx.example.org/search\" }\n");
    let figures = tokens(folder.path()).await?;
    let total = |form: &str| figures["total"][form]["tokens"].as_u64().context("a total");
    let whole = total("granular")?;
    // In percent of `granular`.
    for (form, most) in [("flat", 50), ("signatures", 20), ("names", 14)] {
        let taken = total(form)?;
        assert!(
            100 * taken <= most * whole,
            "all facades take {taken} tokens as `{form}`, not {most} % of {whole}"
        );
    }
    for (name, ..) in PLUGINS {
        let taken = figures["facades"][name]["signatures"]["tokens"].as_u64().context("tokens")?;
        assert!(taken <= LARGEST, "`{name}` takes {taken} tokens as `signatures`, not {LARGEST}");
    }
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let mut table = "| facade | what it is for | actions | needs | can use | KB | flat | signatures | names | granular |\n\
        |---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let mut count = 0;
    for (name, purpose, needs, wants, _) in PLUGINS {
        let described = client.envelope(name, json!({"action": "describe"})).await?;
        let actions = described["data"]["actions"].as_array().context("no actions")?;
        let actions: Vec<String> = actions
            .iter()
            .filter_map(|action| {
                action["signature"].as_str()?.split('(').next().map(|name| format!("`{name}`"))
            })
            .collect();
        count += actions.len();
        let size = fs::metadata(plugin(name))?.len().div_ceil(1000);
        let tokens = FORMS.map(|form| figures["facades"][name][form]["tokens"].to_string()).join(" | ");
        let actions = actions.join(", ");
        writeln!(
            table,
            "| [`{name}`]({name}) | {purpose} | {actions} | {needs} | {wants} | {size} | {tokens} |"
        )?;
    }
    let totals = FORMS.map(|form| figures["total"][form]["tokens"].to_string()).join(" | ");
    writeln!(table, "| together | | | | | | {totals} |")?;
    client.end().await?;

    let cell = |form: &str| {
        let taken = total(form)?;
        anyhow::Ok(format!("{taken} (-{:.0} %)", (100.0 - 100.0 * taken as f64 / whole as f64).floor()))
    };
    let row = format!(
        "| [{} plugins](plugins/README.md) | {count} | {whole} | {} | {} | {} |",
        PLUGINS.len(),
        cell("flat")?,
        cell("signatures")?,
        cell("names")?
    );
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md"))?;
    assert!(readme.contains(&row), "the README should say: {row}");

    let there = read_table("README.md", &table)?;
    let said = "LOGGIA_WRITE=1 updates the table of plugins/README.md";
    assert!(sizeless(&there) == sizeless(&table), "{said}:\n{table}\nbut it is\n{there}");
    for (there, now) in sizes(&there).into_iter().zip(sizes(&table)) {
        assert!(there.abs_diff(now) <= 20, "{said}: {now} KB, not {there}");
    }
    Ok(())
}

#[test]
fn no_plugin_is_larger_than_it_may_be() -> Result<()> {
    for (name, .., most) in PLUGINS {
        let size = fs::metadata(plugin(name))?.len();
        assert!(size <= most, "{name} has {size} bytes, and may have {most}");
    }
    Ok(())
}
