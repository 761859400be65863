//! What the reference servers cost a model: their own lists of tools, and one facade each.

use std::path::Path;

use anyhow::Result;
use loggia_tests::{Client, Era, Folder};
use rmcp::{
    ServiceExt,
    model::{
        ClientCapabilities, ClientConfig, ElicitationCapability, FormElicitationCapability, Implementation,
        Tool, UrlElicitationCapability,
    },
    transport::{ConfigureCommandExt, TokioChildProcess},
};
use serde_json::{Map, Value};
use tokio::process::Command;

use crate::clients::run;

use super::servers::{SERVERS, ServerCommand, write_settings};

/// Tokens of a list, counted as `loggia tokens` counts: names, descriptions, input schemas and annotations.
fn count(tools: &[Tool]) -> Result<usize> {
    let mut tokens = 0;
    for tool in tools {
        let Value::Object(mut tool) = serde_json::to_value(tool)? else { continue };
        let keys = ["name", "description", "inputSchema", "annotations"];
        let counted: Map<String, Value> =
            keys.into_iter().filter_map(|key| Some((key.to_owned(), tool.remove(key)?))).collect();
        tokens += bpe_openai::o200k_base().count(&Value::Object(counted).to_string());
    }
    Ok(tokens)
}

/// The tools that a server lists to a client that answers forms and opens links, as Loggia does.
async fn listed_directly(server: &ServerCommand) -> Result<Vec<Tool>> {
    let mut capabilities = ClientCapabilities::default();
    let forms = ElicitationCapability::new().with_form(FormElicitationCapability::new());
    capabilities.elicitation = Some(forms.with_url(UrlElicitationCapability::new()));
    let client = ClientConfig::new(capabilities, Implementation::new("loggia-tests", "0"));
    let command =
        Command::new(&server.command[0]).configure(|command| _ = command.args(&server.command[1..]));
    let (transport, _) = TokioChildProcess::builder(command).stderr(std::process::Stdio::null()).spawn()?;
    let service = client.serve(transport).await?;
    let tools = service.list_all_tools().await?;
    service.cancel().await?;
    Ok(tools)
}

/// The tools of a Loggia that serves these servers in one form.
async fn listed_by_loggia(servers: &[ServerCommand], form: &str) -> Result<Vec<Tool>> {
    let folder = Folder::new();
    let settings: String = servers.iter().map(ServerCommand::settings).collect();
    let file = write_settings(&folder, &settings)?;
    let client = Client::stdio_with(folder.path(), Era::Stateless, |command| {
        command.arg("--config").arg(file).args(["--schema", form]);
    })
    .await?;
    let mut names = SERVERS;
    names.sort_unstable();
    client.names_become(&names).await;
    let tools = client.service.list_all_tools().await?;
    client.end().await?;
    Ok(tools)
}

#[tokio::test]
async fn facades_of_servers_cost_as_the_readme_says() -> Result<()> {
    let folder = Folder::new();
    let work = folder.beside("work");
    let mut servers = Vec::new();
    for name in SERVERS {
        servers.push(ServerCommand::reference(name, &work).await?);
    }
    run(Command::new("git").args(["init", "--quiet"]).current_dir(&work)).await?;
    let (mut tools, mut direct) = (0, 0);
    for server in &servers {
        let listed = listed_directly(server).await?;
        tools += listed.len();
        direct += count(&listed)?;
    }
    let cell = async |form: &str| {
        let listed = listed_by_loggia(&servers, form).await?;
        let cost = count(&listed)?;
        let saved = 100.0 - 100.0 * cost as f64 / direct as f64;
        anyhow::Ok(format!("{cost} (-{:.0} %)", saved.floor()))
    };
    let row = format!(
        "| [{} MCP servers](docs/operators/upstreams.md) | {tools} | {direct} | {} | {} | {} |",
        servers.len(),
        cell("flat").await?,
        cell("signatures").await?,
        cell("names").await?
    );
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md"))?;
    assert!(readme.contains(&row), "the README should say: {row}");
    Ok(())
}
