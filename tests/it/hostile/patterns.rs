//! Regular expressions of schemas: their cost to compile, store and match.

use std::{fs, process::Stdio, time::Instant};

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS, Era, Folder, HttpHost, binary, memory, scratch};
use serde_json::{Value, json};
use tokio::process::Command;

use super::stage::{many, pretends, text, told};

/// Texts of this length against such a pattern take half a minute unless the search can be interrupted.
const COSTLY: &str = "a[ab]{0,5000}c|d$";

fn costly() -> Value {
    json!({"params": text(&json!({"type": "object", "properties": {"p": {"type": "string", "pattern": COSTLY}}}).to_string())})
}

/// 150 KB of it.
fn long() -> String {
    "ab".repeat(75_000)
}

/// The maximum number of patterns of a schema, each just below the size limit.
fn hoard(keyword: &str) -> Value {
    let count = if keyword == "propertyNames" { 450 } else { 900 };
    let patterns = (0..count).map(|n| format!("a[ab]{{{}}}", 12_000 - n));
    let schema = match keyword {
        "pattern" => {
            json!({"allOf": patterns.map(|pattern| json!({ "pattern": pattern })).collect::<Vec<_>>()})
        }
        "propertyNames" => {
            let all = patterns.map(|pattern| json!({"propertyNames": { "pattern": pattern }}));
            json!({"allOf": all.collect::<Vec<_>>()})
        }
        _ => {
            json!({"patternProperties": patterns.map(|p| (p, json!(true))).collect::<serde_json::Map<_, _>>()})
        }
    };
    json!({"type": "object", "properties": {"p": schema}})
}

/// H57.
#[tokio::test]
async fn memory_heavy_patterns_are_refused() -> Result<()> {
    for keyword in ["pattern", "propertyNames", "patternProperties"] {
        let folder = Folder::new();
        let spoilt = json!({"params": text(&hoard(keyword).to_string())});
        fs::write(folder.path().join("pretends.wasm"), pretends(&spoilt)?)?;
        let mut command = Command::new(binary());
        command.arg("check").arg(folder.path()).env("LOGGIA_CACHE", loggia_tests::cache());
        command.env("LOGGIA_STATE", scratch()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let process = child.id().context("it ended")?;
        let mut highest = 0;
        while child.try_wait()?.is_none() {
            highest = highest.max(memory(process, "VmHWM").unwrap_or(0));
            tokio::task::yield_now().await;
        }
        let said = String::from_utf8(child.wait_with_output().await?.stdout)?;
        let expected = "is one pattern too many: compiled, all patterns of a facade may take 8 MiB together";
        assert!(said.contains(expected), "{keyword}: {said:.1000}");
        assert!(highest > 0 && highest < 256 << 20, "{keyword}: {highest} bytes");
    }
    // Several actions share the budget.
    let patterns: Vec<Value> = (0..9).map(|n| json!({"pattern": format!("a[ab]{{{}}}", 900 - n)})).collect();
    let params = json!({"type": "object", "properties": {"p": {"allOf": patterns}}}).to_string();
    let actions: Vec<Value> = (0..64).map(|n| text(&format!("a{n}"))).collect();
    let line = told(
        Folder::new().path(),
        "pretends",
        &pretends(&json!({"params": text(&params), "actions": actions}))?,
    )
    .await?;
    assert!(line.contains("is one pattern too many"), "{line:.1000}");
    Ok(())
}

/// H58.
#[tokio::test]
async fn a_neighbour_answers_while_costly_patterns_are_matched() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    fs::write(folder.path().join("pretends.wasm"), pretends(&costly())?)?;
    let host = HttpHost::start(folder.path()).await?;
    for era in ERAS {
        let (client, neighbour) = (Client::http(&host, era).await?, Client::http(&host, era).await?);
        neighbour.names_become(&["echo", "pretends"]).await;
        let matched = client.envelope("pretends", json!({"action": "go", "p": "abc"})).await?;
        assert_eq!(matched["ok"], true, "{matched}");
        let begun = Instant::now();
        let costly = async {
            let call = || client.envelope("pretends", json!({"action": "go", "p": long()}));
            let (a, b, c, d) = tokio::try_join!(call(), call(), call(), call())?;
            anyhow::Ok([a, b, c, d])
        };
        let beside = async {
            for n in 0..20 {
                let added = neighbour.envelope("echo", json!({"action": "add", "a": n, "b": 1})).await?;
                assert_eq!(added["data"], json!(f64::from(n + 1)));
            }
            anyhow::Ok(begun.elapsed())
        };
        let (refused, took) = tokio::try_join!(costly, beside)?;
        for told in refused {
            let error = told["error"].as_str().context("refused")?;
            assert!(error.starts_with("`p` takes too much work to match against a[ab]"), "{told}");
            assert_eq!(told["code"], "invalid_params");
        }
        // Unoptimised and on a busy machine; without a bound on their work the calls take minutes.
        assert!(took.as_secs() < 20 && begun.elapsed().as_secs() < 40, "{era:?}: {took:?}");
        client.end().await?;
        neighbour.end().await?;
    }
    Ok(())
}

/// H58.
#[tokio::test]
async fn costly_patterns_are_refused_in_nested_calls() -> Result<()> {
    let folder = Folder::with(&["inquires", "echo"]);
    fs::write(folder.path().join("pretends.wasm"), pretends(&costly())?)?;
    folder.write("inquires.toml", "[grants]\ninvoke = [\"pretends:*\"]\n");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    client.names_become(&["echo", "inquires", "pretends"]).await;
    let with = json!({ "p": long() }).to_string();
    let call = json!({"action": "call", "facade": "pretends", "target": "go", "with": with});
    let told = client.envelope("inquires", call).await?;
    let error = told["data"]["error"].as_str().context("refused")?;
    assert!(error.starts_with("`p` takes too much work to match against a[ab]"), "{told}");
    client.end().await
}

/// H59.
#[tokio::test]
async fn examples_that_take_long_to_check_are_refused() -> Result<()> {
    let patterns: Vec<Value> =
        (0..4).map(|n| json!({"pattern": format!("a[ab]{{0,{}}}c|d$", 5000 - n)})).collect();
    let params = json!({"type": "object", "properties": {"p": {"allOf": patterns}}});
    let example = many(&[(r#"{"p":""#, 1), ("ab", 12_500), (r#"d"}"#, 1)]);
    let spoilt = json!({"params": text(&params.to_string()), "examples": [example]});
    let begun = Instant::now();
    let line = told(Folder::new().path(), "pretends", &pretends(&spoilt)?).await?;
    assert!(line.contains("action `go`: its example 1 takes too much work to check"), "{line:.1000}");
    // Unoptimised, and including the compilation of the plugin.
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    Ok(())
}
