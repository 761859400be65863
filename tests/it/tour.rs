//! The tour of the documentation: one session through all facades, written down in `tests/tour/tour.txt` as text with calls,
//! and in `docs/tour.md` with what the real host answers.
//!
//! A block `call` holds lines of `facade {arguments}`. A line `person {content}` before a call is the person's answer to
//! its question.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result, ensure};
use loggia_tests::{
    Client, Era, Folder, Kind, accepted, heard, plugin,
    web::{Answer, Asked, Web},
};
use serde_json::Value;

const BEGIN: &str = "```call\n";
const END: &str = "```\n";
/// Where the pages of the tour are, in place of an address with a port of its own.
const SITE: &str = "http://127.0.0.1:8080";

fn tour(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tour").join(file)
}

/// A line of a block.
enum TourLine {
    Call { facade: String, arguments: Value },
    Person(Value),
}

fn parse_line(line: &str) -> Result<TourLine> {
    let (word, json) = line.split_once(' ').with_context(|| format!("no arguments: {line}"))?;
    let json = serde_json::from_str(json).with_context(|| line.to_owned())?;
    Ok(match word {
        "person" => TourLine::Person(json),
        facade => TourLine::Call { facade: facade.to_owned(), arguments: json },
    })
}

/// A block of calls, with the text before it.
struct TourBlock<'a> {
    text: &'a str,
    lines: Vec<TourLine>,
}

/// The blocks, and the text after the last.
fn parse(script: &str) -> Result<(Vec<TourBlock<'_>>, &str)> {
    let (mut blocks, mut rest) = (Vec::new(), script);
    while let Some((text, behind)) = rest.split_once(BEGIN) {
        let (block, after) = behind.split_once(END).context("a block without an end")?;
        blocks.push(TourBlock { text, lines: block.lines().map(parse_line).collect::<Result<_>>()? });
        rest = after;
    }
    Ok((blocks, rest))
}

/// Every plugin with its policy of the tour, and the files that they are granted.
fn folder(web: &Web) -> Result<Folder> {
    let folder = Folder::new();
    let notes = folder.beside("notes");
    for file in fs::read_dir(tour("notes"))? {
        let file = file?.path();
        fs::copy(&file, notes.join(file.file_name().context("a name")?))?;
    }
    let mut count = 0;
    for file in fs::read_dir(tour("policies"))? {
        let file = file?.path();
        let name = file.file_stem().and_then(|stem| stem.to_str()).context("a name")?;
        let policy = fs::read_to_string(&file)?;
        let policy = policy.replace(SITE, &web.url("")).replace("\"notes\"", &format!("{notes:?}"));
        folder.write(&format!("{name}.toml"), &policy);
        folder.put(name, &plugin(name));
        count += 1;
    }
    ensure!(count > 9, "{count} plugins");
    folder.write("brief.workflow.yaml", &fs::read_to_string(tour("../../plugins/brief.workflow.yaml"))?);
    Ok(folder)
}

/// The site of the tour: its pages are files.
async fn site() -> Result<Web> {
    let page = fs::read_to_string(tour("page.html"))?;
    Web::start(move |asked: &Asked| match asked.path.as_str() {
        "/release-notes.html" => {
            Answer::Plain(200, vec![("content-type", "text/html; charset=utf-8".into())], page.clone().into())
        }
        _ => Answer::Plain(404, Vec::new(), b"there is no such page".to_vec()),
    })
    .await
}

/// Replaces what differs from run to run: times, and the port of the site.
fn steady(value: &mut Value, site: &str) {
    match value {
        Value::String(text) if is_time(text) => *text = "2026-11-23T09:00:00Z".to_owned(),
        Value::String(text) => *text = text.replace(site, SITE),
        Value::Array(items) => items.iter_mut().for_each(|item| steady(item, site)),
        Value::Object(members) => members.values_mut().for_each(|member| steady(member, site)),
        _ => {}
    }
}

/// Whether a text is a point in time of RFC 3339.
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 20 && bytes[4] == b'-' && bytes[10] == b'T' && bytes.ends_with(b"Z")
}

async fn record() -> Result<String> {
    let script = fs::read_to_string(tour("tour.txt"))?;
    let (blocks, end) = parse(&script)?;
    let answers = blocks.iter().flat_map(|block| &block.lines).filter_map(|line| match line {
        TourLine::Person(content) => Some(accepted(content.clone())),
        TourLine::Call { .. } => None,
    });
    let web = site().await?;
    let folder = folder(&web)?;
    let mut client = Client::stdio_as(folder.path(), Era::Stateful, Kind::person(answers)).await?;
    let mut names: Vec<String> = fs::read_dir(folder.path())?
        .filter_map(|file| file.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".wasm")?.to_owned()))
        .chain(["brief".to_owned()])
        .collect();
    names.sort();
    client.names_become(&names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut out = String::new();
    // The last version that a result had: `$version` in arguments.
    let mut known = String::new();
    for TourBlock { text, lines } in &blocks {
        // Each answer ends with an empty line.
        out.push_str(text.strip_prefix('\n').unwrap_or(text));
        let mut questions = 0;
        for line in lines {
            match line {
                TourLine::Person(_) => questions += 1,
                TourLine::Call { facade, arguments } => {
                    let shown = arguments.to_string().replace("$version", &known);
                    let sent = serde_json::from_str(&shown.replace(SITE, &web.url("")))?;
                    let mut envelope = client.envelope(facade, sent).await?;
                    steady(&mut envelope, &web.url(""));
                    out.push_str(&format!("```text\n{facade} {shown}\n```\n\n"));
                    for _ in 0..std::mem::take(&mut questions) {
                        let question = heard("a question", &mut client.questions).await?;
                        let message = question["message"].as_str().unwrap_or_default();
                        out.push_str(&format!("The person is asked: *{message}*\n\n"));
                    }
                    if let Some(version) = envelope["data"]["version"].as_str() {
                        version.clone_into(&mut known);
                    }
                    out.push_str(&format!("```json\n{}\n```\n\n", serde_json::to_string_pretty(&envelope)?));
                }
            }
        }
    }
    out.push_str(end.trim_start());
    let out = format!("{}\n", out.trim_end());
    client.end().await?;
    Ok(out)
}

#[tokio::test]
async fn the_tour_answers_as_its_page_shows() -> Result<()> {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/tour.md");
    let now = record().await?;
    if std::env::var_os("LOGGIA_WRITE").is_some() {
        fs::write(&page, &now)?;
    }
    let there = fs::read_to_string(&page)?;
    let differs = there.lines().zip(now.lines()).position(|(there, now)| there != now);
    assert!(
        there == now,
        "docs/tour.md differs from line {differs:?} on; LOGGIA_WRITE=1 writes it anew:\n{now}"
    );
    Ok(())
}
