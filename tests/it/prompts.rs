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

const READS: &str = "
facade: reading
compositeTools:
  - name: review
    description: Reviews a document.
    parameters: {type: object, properties: {id: {type: string}, with: {type: string}}, required: [id]}
    attach: ['shelf://document/{id}', 'shelf://document/{with}', 'shelf://picture']
    steps:
      - {id: text, tool: shelf.get, arguments: {id: '{{.params.id}}'}}
";

#[tokio::test]
async fn a_prompt_brings_its_resources_with_it() -> Result<()> {
    let folder = Folder::with(&["shelf"]);
    folder.write("shelf.toml", "[grants]\nstore = true\n");
    folder.write("reading.workflow.yaml", READS);
    let (all, reviewer) = (Token::new("all", &["*"]).await?, Token::new("reviewer", &["reading:*"]).await?);
    let served = Served::configured(&folder, "", &[&all, &reviewer]).await?;
    let put = json!({"action": "put", "id": "a/b", "title": "One", "text": "# One"});
    let told = wire::answered(&served.host, &all.header(), "shelf", &put).await?;
    assert_eq!(told.envelope()?["ok"], true);
    let get = async |token: &Token, arguments: Value| {
        let params = json!({"name": "review", "arguments": arguments});
        ask(&served.host, "/mcp", &token.header(), "prompts/get", params).await
    };
    let prompt = get(&all, json!({"id": "a/b"})).await?;
    let blocks: Vec<&Value> = prompt["result"]["messages"]
        .as_array()
        .context("messages")?
        .iter()
        .map(|own| &own["content"])
        .collect();
    let document = json!({"uri": "shelf://document/a%2Fb", "mimeType": "text/markdown", "text": "# One"});
    assert_eq!(blocks[0], &json!({"type": "resource", "resource": document}), "{prompt}");
    // `with` was not given, so its document is not there.
    assert_eq!((&blocks[1]["type"], &blocks[1]["mimeType"]), (&json!("image"), &json!("image/png")));
    assert_eq!((blocks.len(), &blocks[2]["type"]), (3, &json!("text")), "{prompt}");
    // What cannot be read is an error, whether it does not exist or is not the caller's.
    let missing = get(&all, json!({"id": "none"})).await?;
    assert!(
        missing["error"]["message"].as_str().is_some_and(|text| text.contains("no document `none`")),
        "{missing}"
    );
    let foreign = get(&reviewer, json!({"id": "a/b"})).await?;
    assert!(foreign["error"]["message"].is_string() && !foreign.to_string().contains("# One"), "{foreign}");
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

#[tokio::test]
async fn a_prompt_asks_for_the_arguments_that_it_lacks() -> Result<()> {
    let folder = folder();
    let host = HttpHost::start(folder.path()).await?;
    let asks = async |elicits: bool, more: Value| {
        let mut params = json!({"name": "total", "arguments": {"a": "1.5"}});
        for (name, value) in more.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        let headers = format!("{}Connection: close\r\n", wire::named("prompts/get", "total"));
        let mut request = wire::request(1, "prompts/get", params);
        if elicits {
            request = request.replacen(
                "\"io.modelcontextprotocol/clientCapabilities\":{}",
                "\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{}}",
                1,
            );
            assert!(request.contains("elicitation"), "{request}");
        }
        wire::send(host.authority(), wire::post(&host, &headers, &request).as_bytes()).await?.message()
    };
    let asked = asks(true, json!({})).await?;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let form = &asked["result"]["inputRequests"]["arguments"]["params"]["requestedSchema"];
    assert_eq!((&form["properties"], &form["required"]), (&json!({"b": {"type": "number"}}), &json!(["b"])));
    let answer = |action: &str| json!({"inputResponses": {"arguments": {"action": action, "content": {"b": 2, "a": 9}}}});
    let given = asks(true, answer("accept")).await?;
    let text = given["result"]["messages"][0]["content"]["text"].as_str().context("text")?;
    assert!(text.contains(r#"{"action":"total","a":1.5,"b":2}"#), "{text}");
    for refused in [asks(true, answer("decline")).await?, asks(false, json!({})).await?] {
        let message = refused["error"]["message"].as_str().context("an error")?;
        assert!(message.contains("requires the arguments: b"), "{message}");
    }
    Ok(())
}
