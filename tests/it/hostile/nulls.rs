//! Nulls of clients that have to send every parameter of a tool.

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS, Folder, binary, cache, scratch};
use serde_json::{Map, Value, json};
use tokio::process::Command;

/// H90.
#[tokio::test]
async fn null_for_an_unknown_parameter_is_ignored() -> Result<()> {
    for form in ["flat", "signatures", "names", "union", "granular", "raw"] {
        let folder = Folder::with(&["echo"]);
        folder.write("echo.toml", &format!("[expose]\nschema = \"{form}\"\n"));
        for era in ERAS {
            let client = Client::stdio(folder.path(), era).await?;
            let tools = client.service.list_all_tools().await?;
            let tool = if form == "granular" { "echo_add" } else { "echo" };
            let tool = tools.iter().find(|known| known.name == tool).context("the tool")?;
            // As in OpenAI's strict mode: every published parameter, null where it is unused.
            let published = tool.input_schema["properties"].as_object().context("properties")?;
            let mut all: Map<String, Value> =
                published.keys().map(|name| (name.clone(), Value::Null)).collect();
            for name in
                ["text", "volume", "times", "of", "run_id", "include_trace", "wait", "detail", "confirm"]
            {
                all.insert(name.into(), Value::Null);
            }
            let with = |more: &Value| {
                let mut all = all.clone();
                all.extend(more.as_object().cloned().unwrap_or_default());
                Value::Object(all)
            };
            let flat = with(&json!({"action": "add", "a": 1, "b": 2}));
            let nested = with(
                &json!({"action": "add", "params": with(&json!({"action": null, "params": null, "a": 1, "b": 2}))}),
            );
            for call in [flat, nested] {
                let told = client.envelope(&tool.name, call.clone()).await?;
                assert_eq!(told["data"], 3.0, "{form} {era:?} {call}: {told}");
            }
            for (call, said) in [
                (json!({"action": "add", "a": null, "b": 2}), "`a` is required (got null)"),
                (
                    json!({"action": "add", "a": 1, "b": 2, "nobodys": null}),
                    "`nobodys` is not a parameter of `add`",
                ),
            ] {
                let told = client.envelope(&tool.name, call).await?;
                assert!(
                    told["error"].as_str().is_some_and(|error| error.starts_with(said)),
                    "{form}: {told}"
                );
            }
            client.end().await?;
        }
    }
    let folder = Folder::with(&["echo"]);
    let mut command = Command::new(binary());
    command
        .args(["call", "echo", "say", r#"{"text":"hello","a":null,"of":null}"#, "--plugins"])
        .arg(folder.path());
    let output = command.env("LOGGIA_CACHE", cache()).env("LOGGIA_STATE", scratch()).output().await?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("hello"));
    Ok(())
}
