//! Publication of workflows: as a facade with actions, or each under its own name, as ToolHive does.

use anyhow::{Context, Result};
use loggia_tests::{ERAS, Kind};
use serde_json::json;

use super::stage::Stage;

#[tokio::test]
async fn composite_tools_can_have_their_own_names() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    stage.plugins.write("research_topic.toml", "[expose]\nschema = \"granular\"\n");
    for era in ERAS {
        let client = stage.client_as(era, Kind::default()).await?;
        let names = client.names().await?;
        assert!(names.contains(&"research_topic".to_owned()), "{era:?}: {names:?}");
        assert!(!names.iter().any(|name| name == "research_topic_research_topic"), "{era:?}: {names:?}");
        let told = client.envelope("research_topic", json!({"query": "tea"})).await?;
        assert_eq!(
            (&told["ok"], &told["action"]),
            (&json!(true), &json!("research_topic")),
            "{era:?}: {told}"
        );
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn separately_named_tools_can_be_runs() -> Result<()> {
    let stage = Stage::with(&["refs", "reusable", "another"]).await?;
    stage.plugins.write("refs.toml", "[expose]\nschema = \"granular\"\n");
    let client = stage.client().await?;
    let names = client.names().await?;
    let expected = ["count_leaks", "count_vulnerabilities", "refs_run_cancel", "refs_run_status"];
    assert!(expected.iter().all(|name| names.contains(&(*name).to_owned())), "{names:?}");
    let begun = client.envelope("count_vulnerabilities", json!({"package_name": "x", "wait": false})).await?;
    let next = begun["next"].clone();
    assert_eq!(next["tool"], "refs_run_status", "{begun}");
    let mut arguments = next["arguments"].clone();
    arguments["wait"] = json!(true);
    let told = client.envelope("refs_run_status", arguments).await?;
    assert_eq!(told["data"]["run"]["result"]["data"], json!({"count": 2}), "{told}");
    client.end().await
}

/// A composite tool with a facade's name is not published.
#[tokio::test]
async fn a_composite_tool_takes_no_facades_name() -> Result<()> {
    let stage = Stage::empty().await?;
    stage.server("backend", "");
    stage.plugins.write("any.toml", "[expose]\nschema = \"granular\"\n");
    stage.write("any", "name: backend\ndescription: Not that one.\nsteps: [{id: a, tool: backend.fetch}]\n");
    let client = stage.client().await?;
    let tools = client.service.list_all_tools().await?;
    let backend: Vec<_> = tools.iter().filter(|tool| tool.name == "backend").collect();
    assert_eq!(backend.len(), 1, "{tools:?}");
    assert!(!backend[0].description.as_deref().unwrap_or_default().contains("Not that one"), "{backend:?}");
    let fetched = client.envelope("backend", json!({"action": "fetch"})).await?;
    assert_eq!(fetched["ok"], true, "{fetched}");
    client.end().await
}

#[tokio::test]
async fn composite_tools_publish_parameters_and_effects() -> Result<()> {
    let stage = Stage::with(&["research_topic", "multi_source_data"]).await?;
    for name in ["research_topic", "multi_source_data"] {
        stage.plugins.write(&format!("{name}.toml"), "[expose]\nschema = \"granular\"\n");
    }
    let client = stage.client().await?;
    let tools = client.service.list_all_tools().await?;
    let tool = |name: &str| {
        let tool = tools.iter().find(|tool| tool.name == name);
        serde_json::to_value(tool.with_context(|| format!("no tool {name}"))?).context("JSON")
    };
    let research = tool("research_topic")?;
    let query = json!({"type": "string", "description": "Research topic to search for"});
    assert_eq!(research["inputSchema"]["properties"]["query"], query, "{research}");
    assert_eq!(research["inputSchema"]["required"], json!(["query"]), "{research}");
    let description = research["description"].as_str().unwrap_or_default();
    assert!(description.contains("Search arXiv for papers and read the top result"), "{research}");
    // `download_paper` writes, and accesses the network; `get_data` and `combine_data` only read.
    assert_eq!(research["annotations"]["readOnlyHint"], false, "{research}");
    assert_eq!(research["annotations"]["openWorldHint"], true, "{research}");
    assert_eq!(tool("multi_source_data")?["annotations"]["readOnlyHint"], true);
    client.end().await
}

#[tokio::test]
async fn composite_tools_are_actions_of_their_file() -> Result<()> {
    let tools = |name: &str| {
        format!(
            "  - name: {name}\n    description: Fetch by {name}.\n    steps:\n      - id: fetch\n        tool: backend.fetch\n"
        )
    };
    let list =
        format!("facade: fetchers\ntitle: Fetchers\ncompositeTools:\n{}{}", tools("first"), tools("second"));
    let stage = Stage::of("any", &list).await?;
    let client = stage.client().await?;
    client.names_become(&["backend", "fetchers"]).await;
    for action in ["first", "second"] {
        let told = client.envelope("fetchers", json!({"action": action})).await?;
        assert_eq!((&told["ok"], &told["data"]["value"]), (&json!(true), &json!(1_234_567)), "{told}");
    }
    let described = client.envelope("fetchers", json!({"action": "describe"})).await?;
    let described = described.to_string();
    assert!(described.contains("Fetch by first.") && described.contains("Fetch by second."), "{described}");
    let unknown = client.envelope("fetchers", json!({"action": "frist"})).await?;
    assert_eq!(unknown["code"], "invalid_params", "{unknown}");
    assert!(unknown.to_string().contains("first"), "{unknown}");
    client.end().await
}

#[tokio::test]
async fn a_workflow_is_described_like_any_action() -> Result<()> {
    let stage = Stage::with(&["deploy_with_approval"]).await?;
    let client = stage.client().await?;
    // Its effect is known once its servers are loaded: the list waits for them.
    client.names().await?;
    let told = client
        .envelope("deploy_with_approval", json!({"action": "describe", "of": "deploy_with_approval"}))
        .await?;
    insta::assert_json_snapshot!("described", told);
    client.end().await
}

/// A bare composite tool, a list, a definition and a server are equivalent.
#[tokio::test]
async fn every_form_of_a_file_serves_the_same() -> Result<()> {
    let bare = "name: fetch\ndescription: Fetch.\nsteps:\n  - id: one\n    tool: backend.fetch\n";
    let indented = |by: usize, first: &str| {
        let pad = " ".repeat(by);
        let lines = bare.lines().enumerate();
        let lines = lines.map(|(n, line)| format!("{}{line}\n", if n == 0 { first } else { &pad }));
        lines.collect::<String>()
    };
    let resource = "apiVersion: toolhive.stacklok.dev/v1alpha1\nkind: VirtualMCPCompositeToolDefinition\n\
                    metadata:\n  name: fetch\nspec:\n";
    let server = "kind: VirtualMCPServer\nmetadata: {name: fetch}\nspec:\n  config:\n    compositeTools:\n";
    for (form, text) in [
        ("bare", bare.to_owned()),
        ("list", format!("compositeTools:\n{}", indented(4, "  - "))),
        ("definition", format!("{resource}{}", indented(2, "  "))),
        ("server", format!("{server}{}", indented(8, "      - "))),
        ("config", format!("groupRef: g\ncompositeTools:\n{}", indented(4, "  - "))),
    ] {
        let stage = Stage::of("fetches", &text).await?;
        let client = stage.client().await?;
        let told = client.envelope("fetches", json!({"action": "fetch"})).await?;
        assert_eq!((&told["ok"], &told["data"]["approved"]), (&json!(true), &json!(true)), "{form}: {told}");
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn an_output_follows_the_file() -> Result<()> {
    let stage = Stage::with(&["reusable"]).await?;
    let client = stage.client().await?;
    let call = json!({"action": "count_vulnerabilities", "package_name": "left-pad"});
    let told = client.envelope("reusable", call).await?;
    assert_eq!(told["data"], json!({"count": 2}), "{told}");
    client.end().await
}

/// A result without required members fails; optional members have defaults.
#[tokio::test]
async fn an_invalid_output_is_a_failure() -> Result<()> {
    let workflow = |more: &str| {
        format!(
            "strict: false\nname: made\ndescription: Made.\nsteps:\n  - id: fetch\n    tool: backend.fetch\noutput:\n  \
             properties:\n    value: {{type: integer, description: V, value: '{{{{.steps.fetch.output.value}}}}'}}\n    \
             list: {{type: array, description: L, value: '{{{{json .steps.fetch.output.items}}}}'}}\n    \
             deep:\n      type: object\n      description: D\n      properties:\n        \
             yes: {{type: boolean, description: Y, value: '{{{{.steps.fetch.output.approved}}}}'}}\n    \
             no: {{type: integer, description: N, value: '{{{{.steps.fetch.output.nothing}}}}'{more}}}\n  required: [value, no]\n"
        )
    };
    let stage = Stage::of("made", &workflow(", default: 7")).await?;
    let told = stage.run("made", json!({})).await?;
    let expected = json!({"value": 1_234_567, "list": ["a", "b", "c"], "deep": {"yes": true}, "no": 7});
    assert_eq!(told["data"], expected, "{told}");
    let stage = Stage::of("made", &workflow("")).await?;
    let told = stage.run("made", json!({})).await?;
    assert_eq!((&told["ok"], &told["details"]["completed"]), (&json!(false), &json!(["fetch"])), "{told}");
    assert!(told["error"].as_str().unwrap_or_default().contains("\"no\""), "{told}");
    Ok(())
}

/// ToolHive's `server.tool`, this host's facade with an action as an argument, and the name of a granular tool.
#[tokio::test]
async fn every_tool_notation_is_accepted() -> Result<()> {
    for tool in [
        "tool: backend.tool, arguments: {arg1: x}",
        "tool: backend, arguments: {action: tool, arg1: x}",
        "tool: backend, arguments: {cmd: tool, arg1: x}",
        "tool: backend_tool, arguments: {arg1: x}",
    ] {
        let stage = Stage::empty().await?;
        stage.server("backend", "");
        stage.write("ways", &format!("name: ways\ndescription: Ways.\nsteps:\n  - {{id: a, {tool}}}\n"));
        let told = stage.run("ways", json!({})).await?;
        assert_eq!(told["data"], json!({"asked": {"arg1": "x", "key": null}}), "{tool}: {told}");
    }
    Ok(())
}

/// Clients approve by annotations, so these must not promise less than the steps do.
#[tokio::test]
async fn annotations_may_only_be_stricter() -> Result<()> {
    let workflow = |tool: &str, annotations: &str| {
        format!(
            "name: said\ndescription: Said.\nannotations: {{{annotations}}}\nsteps:\n  - {{id: a, tool: backend.{tool}}}\n"
        )
    };
    for (tool, annotations, ok, hints) in [
        ("fetch", "title: Fetches", true, (true, false)),
        ("fetch", "destructiveHint: true", true, (false, true)),
        ("once", "readOnlyHint: false", true, (false, false)),
        ("once", "readOnlyHint: true", false, (false, true)),
    ] {
        let stage = Stage::empty().await?;
        stage.server("backend", "");
        stage.write("said", &workflow(tool, annotations));
        stage.plugins.write("said.toml", "[expose]\nschema = \"granular\"\n");
        let client = stage.client().await?;
        let told = client.envelope("said", json!({})).await?;
        assert_eq!(told["ok"], ok, "{annotations}: {told}");
        let tools = client.service.list_all_tools().await?;
        let tool = tools.iter().find(|tool| tool.name == "said").context("listed")?;
        let shown = serde_json::to_value(tool)?;
        let said = &shown["annotations"];
        if ok {
            assert_eq!(
                (&said["readOnlyHint"], &said["destructiveHint"]),
                (&json!(hints.0), &json!(hints.1)),
                "{shown}"
            );
        }
        client.end().await?;
    }
    Ok(())
}

/// A step's argument keeps its type if the server's schema names one, as do literals in the file.
#[tokio::test]
async fn arguments_are_converted_to_the_servers_types() -> Result<()> {
    let workflow = "name: kinds\ndescription: All kinds.\nsteps:\n  - id: fetch\n    tool: backend.fetch\n  - id: take\n    \
        tool: backend.kinds\n    dependsOn: [fetch]\n    arguments:\n      whole: '{{.steps.fetch.output.value}}'\n      \
        real: '{{len .steps.fetch.output.items}}.5'\n      flag: '{{.steps.fetch.output.approved}}'\n      \
        list: '{{.steps.fetch.output.items}}'\n      object: {fixed: 1, made: '{{.steps.fetch.output.value}}'}\n      \
        text: '{{.steps.fetch.output.value}}'\n";
    let stage = Stage::of("kinds", workflow).await?;
    let told = stage.run("kinds", json!({})).await?;
    let expected = json!({
        "whole": 1_234_567,
        "real": 3.5,
        "flag": true,
        "list": ["a", "b", "c"],
        "object": {"fixed": 1, "made": 1_234_567},
        "text": "1234567",
    });
    assert_eq!(told["data"]["asked"], expected, "{told}");
    Ok(())
}
