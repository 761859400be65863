//! Approvals in the audit trail.

use std::fs;

use anyhow::{Context, Result};
use loggia_tests::{Client, Era, eventually, state};
use serde_json::{Value, json};

use super::stage::{ended, folder, operator, park, serve, shown, work};

#[tokio::test]
async fn the_trail_tells_who_approved_what() -> Result<()> {
    let folder = folder();
    let file = state(folder.path()).join("audit.jsonl");
    let (served, _) = serve(&folder, &format!("[audit]\nfile = {file:?}\n")).await?;
    let client = Client::http(&served.host, Era::Stateless).await?;
    let lines = |id: &str| -> Result<Vec<Value>> {
        let text = fs::read_to_string(&file)?;
        let lines = text.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
        Ok(lines.into_iter().filter(|line| line["approval"] == id).collect())
    };
    for (word, outcome) in [("approve", "approved"), ("deny", "denied"), ("", "withdrawn")] {
        let (run, id) = park(&client, "worker", work()).await?;
        if word.is_empty() {
            client.envelope("worker", json!({"action": "run_cancel", "run_id": run})).await?;
        } else {
            let output = operator(folder.path(), &[word, &id]).await?;
            assert!(output.status.success(), "{output:?}");
            ended(&client, "worker", &run).await?;
        }
        let found = eventually(async || match lines(&id) {
            Ok(found) if found.len() == 2 => Ok(found),
            other => Err(format!("{word}: {other:?}")),
        })
        .await;
        let subject = shown(folder.path(), &id).await?["subject"].clone();
        for (line, outcome) in found.iter().zip(["opened", outcome]) {
            assert_eq!((&line["event"], &line["outcome"]), (&json!("approval"), &json!(outcome)), "{line}");
            assert_eq!((&line["facade"], &line["action"]), (&json!("worker"), &json!("work")), "{line}");
            assert_eq!((&line["subject"], &line["caller"]), (&subject, &json!("(anonymous)")), "{line}");
            assert_eq!(line["address"], "127.0.0.1", "{line}");
        }
        assert_eq!(found[0]["id"], found[1]["id"], "of one call");
        let by = (!word.is_empty()).then_some("command line: olga");
        assert_eq!(found[1]["by"].as_str(), by, "{word}");
        // No value of a parameter is in any line.
        assert!(!fs::read_to_string(&file).context("the trail")?.contains("hush"));
    }
    client.end().await
}
