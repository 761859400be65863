//! Workflows as prompts, over HTTP and on stdio.

use anyhow::{Context, Result};
use loggia_tests::{Client, Era, Folder, HttpHost, Served, Token, wire};
use rmcp::model::GetPromptRequestParams;
use serde_json::{Value, json};

const ADDS: &str = "
facade: orders
title: Orders
compositeTools:
  - name: total
    description: Adds two prices.
    parameters:
      type: object
      properties: {a: {type: number, description: A price.}, b: {type: number}, in: {enum: [euro, yen]}}
      required: [a, b]
    steps:
      - {id: sum, tool: echo.add, arguments: {a: '{{.params.a}}', b: '{{.params.b}}'}}
  - name: double
    description: Doubles a price.
    parameters: {type: object, properties: {a: {type: number}}, required: [a]}
    steps:
      - {id: sum, tool: echo.add, arguments: {a: '{{.params.a}}', b: '{{.params.a}}'}}
";

fn folder() -> Folder {
    let folder = Folder::with(&["echo"]);
    folder.write("orders.workflow.yaml", ADDS);
    folder
}

/// Sends a request without a session; the response.
async fn ask(host: &HttpHost, path: &str, headers: &str, method: &str, params: Value) -> Result<Value> {
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let headers = format!("{}{headers}Connection: close\r\n", wire::named(method, &name));
    let request = wire::post(host, &headers, &wire::request(1, method, params));
    let request = request.replacen("POST /mcp ", &format!("POST {path} "), 1);
    wire::send(host.authority(), request.as_bytes()).await?.message()
}

fn names(list: &Value) -> Vec<&str> {
    let prompts = list["result"]["prompts"].as_array().into_iter().flatten();
    prompts.filter_map(|prompt| prompt["name"].as_str()).collect()
}

#[tokio::test]
async fn a_model_that_follows_a_prompt_runs_the_workflow() -> Result<()> {
    let folder = folder();
    for era in [Era::Stateful, Era::Stateless] {
        let client = Client::stdio(folder.path(), era).await?;
        client.names_become(&["echo", "orders"]).await;
        let prompts = client.service.list_all_prompts().await?;
        let names: Vec<&str> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
        assert_eq!(names, ["double", "total"]);
        assert_eq!(prompts[1].title.as_deref(), Some("Orders: total"));
        let arguments = json!({"a": "1.5", "b": "2"}).as_object().cloned().unwrap_or_default();
        let request = GetPromptRequestParams::new("total").with_arguments(arguments);
        let prompt = serde_json::to_value(client.service.get_prompt(request).await?)?;
        let text = prompt["messages"][0]["content"]["text"].as_str().context("text")?;
        assert!(text.contains("one call of the tool `orders`"), "{text}");
        let arguments = text.lines().find(|line| line.starts_with('{')).context("the call")?.parse()?;
        let told = client.envelope("orders", arguments).await?;
        assert_eq!(told["data"]["data"], 3.5, "{told}");
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn callers_see_the_prompts_of_what_they_may_call() -> Result<()> {
    let folder = folder();
    let (one, other) =
        (Token::new("one", &["orders:double"]).await?, Token::new("other", &["echo:*"]).await?);
    let served =
        Served::configured(&folder, "[profile.sums]\ntools = ['orders:total']\n", &[&one, &other]).await?;
    let host = &served.host;
    for (path, token, expected) in
        [("/mcp", &one, &["double"][..]), ("/mcp", &other, &[]), ("/mcp/sums", &one, &[])]
    {
        let list = ask(host, path, &token.header(), "prompts/list", json!({})).await?;
        assert_eq!(names(&list), expected, "{path}: {list}");
        assert_eq!(list["result"]["cacheScope"], "private");
    }
    let get = |name: &str| json!({"name": name, "arguments": {"a": "1", "b": "1"}});
    let hidden = ask(host, "/mcp", &one.header(), "prompts/get", get("total")).await?;
    let never = ask(host, "/mcp", &one.header(), "prompts/get", get("never")).await?;
    assert_eq!(hidden["error"]["code"], -32602, "{hidden}");
    assert_eq!(hidden.to_string().replace("total", "never"), never.to_string());
    Ok(())
}

#[tokio::test]
async fn changed_workflows_are_announced_as_prompts() -> Result<()> {
    const CHANGED: &str = "notifications/prompts/list_changed";
    let folder = folder();
    let host = HttpHost::start(folder.path()).await?;
    let list = async || ask(&host, "/mcp", "", "prompts/list", json!({})).await;
    assert_eq!(names(&list().await?), ["double", "total"]);
    let session = wire::session(&host, "", wire::INITIALIZE).await?;
    let mut old = wire::listened(&host, &session).await?;
    let filter = json!({"notifications": {"promptsListChanged": true}});
    let headers = wire::named("subscriptions/listen", "");
    let mut new = wire::Line::open(host.authority()).await?;
    new.write(wire::post(&host, &headers, &wire::request(1, "subscriptions/listen", filter))).await?;
    new.until("notifications/subscriptions/acknowledged").await?;
    // The tool's description does not show the text of a parameter, the prompt does.
    folder.write("orders.workflow.yaml", &ADDS.replace("A price.", "The first price."));
    for stream in [&mut old, &mut new] {
        stream.until(CHANGED).await?;
    }
    let told = list().await?;
    assert_eq!(told["result"]["prompts"][1]["arguments"][0]["description"], "The first price.", "{told}");
    folder.remove("orders.workflow.yaml");
    for stream in [&mut old, &mut new] {
        stream.until(CHANGED).await?;
    }
    assert_eq!(names(&list().await?), [""; 0]);
    Ok(())
}
