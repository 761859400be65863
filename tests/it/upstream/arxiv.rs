//! Seed 003's first example, against a real MCP server with the tools that it calls.

use anyhow::Result;
use loggia_tests::{Client, ERAS, Folder, Served};
use serde_json::json;

use super::{
    fake::{end, serve},
    servers::{ServerCommand, text},
};
use crate::clients::{python, script};

#[tokio::test]
async fn the_arxiv_example_reads_a_paper() -> Result<()> {
    let folder = Folder::new();
    let example = "fixtures/workflows/research_topic.workflow.yaml";
    let example = std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(example))?;
    folder.write("research_topic.workflow.yaml", &example);
    let command = [text(&python().await?), text(&script("upstreams/arxiv.py"))];
    let server = ServerCommand { name: "arxiv".into(), command: command.into() };
    let served = Served::configured(&folder, &server.settings(), &[]).await?;
    serve(&served, &["arxiv"]).await;
    for era in ERAS {
        let client = Client::http(&served.host, era).await?;
        client.names_become(&["arxiv", "research_topic"]).await;
        let research = json!({"action": "research_topic", "query": "tides"});
        let envelope = client.envelope("research_topic", research).await?;
        assert_eq!(envelope["ok"], true, "{envelope}");
        let read = envelope["data"].to_string();
        assert!(read.contains("The sea rises twice a day."), "{era:?}: {envelope}");
        client.end().await?;
    }
    end(served).await
}
