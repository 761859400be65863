//! Pages of tools, for clients of MCP Apps.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use loggia_tests::{
    Client, ERAS, Folder, HttpHost, Kind, Served, Token, binary, eventually, fixture, guests, plugin, state,
    wire,
};
use rmcp::model::{CallToolResult, ReadResourceRequestParams};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::{
    approvals::stage::{CONFIRM, ended, operator, shown},
    clients::install,
    workflows::stage::Stage,
};

const PAGE: &str = "ui://loggia/shelf";

/// A folder with a plugin that has views, which may keep state, and one that has none.
fn folder() -> Folder {
    let folder = Folder::with(&["shelf", "echo"]);
    folder.write("shelf.toml", "[grants]\nstore = true\nelicit = true\n[expose]\nviews = true\n");
    folder
}

async fn tools(client: &Client) -> Result<Value> {
    Ok(serde_json::to_value(client.service.list_all_tools().await?)?)
}

async fn page(client: &Client, uri: &str) -> Result<Value, String> {
    let read = client.service.read_resource(ReadResourceRequestParams::new(uri)).await;
    let read = read.map_err(|error| error.to_string())?;
    serde_json::to_value(&read.contents[0]).map_err(|error| error.to_string())
}

/// What the shell of a page reads.
fn config(page: &Value) -> Value {
    let text = page["text"].as_str().unwrap_or_default();
    let config = text.split_once("id=\"config\">").and_then(|(_, rest)| rest.split_once("</script>"));
    config.and_then(|(config, _)| serde_json::from_str(config).ok()).unwrap_or_default()
}

#[tokio::test]
async fn tools_name_their_pages_to_clients_that_show_them() -> Result<()> {
    for era in ERAS {
        let folder = folder();
        let usual = Client::stdio(folder.path(), era).await?;
        usual.names_become(&["echo", "shelf"]).await;
        let client = Client::stdio_as(folder.path(), era, Kind::default().pages()).await?;
        client.names_become(&["echo", "shelf"]).await;

        let mut listed = tools(&client).await?;
        let meta = listed[1].as_object_mut().and_then(|tool| tool.remove("_meta"));
        assert_eq!(meta, Some(json!({"ui": {"resourceUri": PAGE}, "ui/resourceUri": PAGE})), "{era:?}");
        // Otherwise, it is the list of all clients.
        assert_eq!(listed, tools(&usual).await?, "{era:?}");

        let page = page(&client, PAGE).await.map_err(anyhow::Error::msg)?;
        assert_eq!((&page["uri"], &page["mimeType"]), (&json!(PAGE), &json!("text/html;profile=mcp-app")));
        let granted = json!({"ui": {"csp": {}, "permissions": {}, "prefersBorder": true}});
        assert_eq!(page["_meta"], granted);
        let config = config(&page);
        assert_eq!(config["tool"], "shelf");
        assert_eq!(config["actions"]["list"], json!({"reads": true, "meant": false, "view": "chart"}));
        assert_eq!(config["actions"]["put"], json!({"reads": false, "meant": false, "view": null}));
        assert!(config["views"]["chart"].as_str().context("a view")?.contains("loggia.onresult"));

        // It is named by its tool alone.
        let resources = client.service.list_all_resources().await?;
        assert!(resources.iter().all(|resource| !resource.uri.starts_with("ui:")), "{resources:?}");
        usual.end().await?;
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn pages_that_do_not_exist_are_as_other_resources() -> Result<()> {
    for era in ERAS {
        let folder = folder();
        let client = Client::stdio_as(folder.path(), era, Kind::default().pages()).await?;
        client.names_become(&["echo", "shelf"]).await;
        for uri in [
            "ui://loggia/echo",
            "ui://loggia/none",
            "ui://loggia/",
            "ui://other/shelf",
            "ui://loggia/shelf/x",
        ] {
            let error = self::page(&client, uri).await.expect_err(uri);
            let known = self::page(&client, "other://x").await.expect_err("no such scheme");
            assert_eq!(error, known.replace("other://x", uri), "{era:?}");
        }
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_page_comes_with_its_first_view() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let mut client = Client::stdio_as(folder.path(), ERAS[0], Kind::default().pages()).await?;
    client.names_become(&["echo"]).await;
    folder.write(
        "shelf.toml",
        "[grants]\nstore = true\n[expose]\nviews = true\n[actions]\ndeny = [\"list\", \"escape\"]\n",
    );
    folder.put("shelf", &fixture("shelf"));
    client.names_become(&["echo", "shelf"]).await;
    let shown = tools(&client).await?;
    assert_eq!(shown[1].get("_meta"), None, "no action with a view: {shown}");
    while client.changed.try_recv().is_ok() {}
    folder.write(
        "shelf.toml",
        "[grants]\nstore = true\n[expose]\nviews = true\n[actions]\ndeny = [\"escape\"]\n",
    );
    eventually(|| async {
        let shown = tools(&client).await.map_err(|error| error.to_string())?;
        let uri = &shown[1]["_meta"]["ui"]["resourceUri"];
        if uri == PAGE { Ok(()) } else { Err(shown.to_string()) }
    })
    .await;
    client.end().await
}

/// Sends a request without a session; the response.
async fn ask(host: &HttpHost, path: &str, token: &Token, method: &str, params: Value) -> Result<Value> {
    let name = params["uri"].as_str().or(params["name"].as_str()).unwrap_or_default().to_owned();
    let headers = format!("{}{}Connection: close\r\n", wire::named(method, &name), token.header());
    let declared =
        json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}});
    let request = wire::request(1, method, params).replacen(
        "\"io.modelcontextprotocol/clientCapabilities\":{}",
        &format!("\"io.modelcontextprotocol/clientCapabilities\":{declared}"),
        1,
    );
    ensure!(request.contains("mcp-app"), "{request}");
    let request = wire::post(host, &headers, &request).replacen("POST /mcp ", &format!("POST {path} "), 1);
    wire::send(host.authority(), request.as_bytes()).await?.message()
}

/// H103. The browser's part is in `pages_hold_in_a_browser`.
#[tokio::test]
async fn a_page_has_only_what_its_caller_may_call() -> Result<()> {
    let folder = folder();
    let all = Token::new("all", &["*"]).await?;
    let (lister, reader) =
        (Token::new("lister", &["shelf:list"]).await?, Token::new("reader", &["shelf:get"]).await?);
    let other = Token::new("other", &["echo:*"]).await?;
    let settings = "[profile.titles]\ntools = ['shelf:list']\n";
    let served = Served::configured(&folder, settings, &[&all, &lister, &reader, &other]).await?;
    for (path, token, expected) in [
        ("/mcp", &all, Some((&["chart", "hostile"][..], true))),
        ("/mcp", &lister, Some((&["chart"], false))),
        ("/mcp/titles", &all, Some((&["chart"], false))),
        ("/mcp", &reader, None),
        ("/mcp", &other, None),
    ] {
        let list = ask(&served.host, path, token, "tools/list", json!({})).await?;
        let tools = list["result"]["tools"].as_array().context("tools")?;
        let named = tools.iter().any(|tool| tool["_meta"]["ui"]["resourceUri"] == PAGE);
        assert_eq!(named, expected.is_some(), "{path}: {list}");
        assert_eq!(list["result"]["cacheScope"], "private");
        let read = ask(&served.host, path, token, "resources/read", json!({"uri": PAGE})).await?;
        let Some((views, writes)) = expected else {
            // As if there were no such tool.
            let none =
                ask(&served.host, path, token, "resources/read", json!({"uri": "ui://loggia/shelv"})).await?;
            assert_eq!(read.to_string().replace("shelf", "shelv"), none.to_string());
            continue;
        };
        let config = config(&read["result"]["contents"][0]);
        let shown: Vec<&String> = config["views"].as_object().context("views")?.keys().collect();
        assert_eq!(shown, views, "{path}");
        assert_eq!(config["actions"].get("put").is_some(), writes, "{path}");
        assert_eq!(read["result"]["cacheScope"], "private");
    }
    Ok(())
}

/// A folder with a plugin whose `work` needs consent, and one without views or consent.
fn confirming() -> Folder {
    let folder = Folder::with(&["worker", "echo"]);
    folder.write("worker.toml", CONFIRM);
    folder
}

/// What a result says of the approvals of its run.
fn approvals(result: &CallToolResult) -> Value {
    let meta = result.meta.as_ref().map(|meta| json!(meta)).unwrap_or_default();
    meta["loggia/approvals"].clone()
}

/// Makes the call that a page makes; the result.
async fn ask_page(client: &Client, call: &Value) -> Result<CallToolResult> {
    client.call(call["tool"].as_str().context("a tool")?, call["arguments"].clone()).await
}

const WORKER_PAGE: &str = "ui://loggia/worker";

#[tokio::test]
async fn a_waiting_call_has_a_page_where_its_client_cannot_ask() -> Result<()> {
    for era in ERAS {
        let folder = confirming();
        let usual = Client::stdio(folder.path(), era).await?;
        usual.names_become(&["echo", "worker"]).await;
        let client = Client::stdio_as(folder.path(), era, Kind::default().pages()).await?;
        client.names_become(&["echo", "worker"]).await;
        let asking = Client::stdio_as(folder.path(), era, Kind::person([]).pages()).await?;
        asking.names_become(&["echo", "worker"]).await;

        // A client that asks its user, or shows no pages, sees what it always saw.
        let mut listed = tools(&client).await?;
        assert_eq!(tools(&asking).await?, tools(&usual).await?, "{era:?}");
        assert_eq!(listed[0].get("_meta"), None, "nothing waits in `echo`");
        let meta = listed[1].as_object_mut().and_then(|tool| tool.remove("_meta"));
        assert_eq!(meta, Some(json!({"ui": {"resourceUri": WORKER_PAGE}, "ui/resourceUri": WORKER_PAGE})));
        assert_eq!(listed, tools(&usual).await?, "{era:?}");
        let page = page(&client, WORKER_PAGE).await.map_err(anyhow::Error::msg)?;
        assert_eq!((&config(&page)["views"], &config(&page)["folds"]), (&json!({}), &json!(true)));
        self::page(&usual, WORKER_PAGE).await.expect_err("no page");
        self::page(&asking, WORKER_PAGE).await.expect_err("no page");

        let arguments = json!({"action": "work", "steps": 2, "key": "hush"});
        let parked = client.call("worker", arguments.clone()).await?;
        let said = approvals(&parked);
        let open = &said["approvals"][0];
        let seen = ["facade", "action", "effect", "state", "question"].map(|name| open[name].clone());
        let question = "Run `work` (write) with {\"steps\":2,\"key\":\"(redacted)\",\"ms\":10}?";
        assert_eq!(seen, ["worker", "work", "write", "open", question].map(|text| json!(text)), "{said}");
        assert_eq!(open["arguments"], json!({"key": "(redacted)", "ms": 10, "steps": 2}));
        assert!(open["expires_ms"].as_u64() > open["opened_ms"].as_u64(), "{said}");
        assert_eq!(open.get("page"), None, "no address is set");
        assert!(!said.to_string().contains("hush"), "{said}");
        // The model of the client reads what it always did.
        let others = usual.call("worker", arguments).await?;
        assert_eq!(approvals(&others), Value::Null, "{era:?}");
        let envelope = |result: &CallToolResult| {
            let text = serde_json::to_string(&result.content).unwrap_or_default();
            let run = text.find("run_").map(|at| text[at..at + 26].to_owned()).unwrap_or_default();
            let id = text.find("ap_").map(|at| text[at..at + 19].to_owned()).unwrap_or_default();
            text.replace(&run, "RUN").replace(&id, "AP")
        };
        assert_eq!(envelope(&parked), envelope(&others), "{era:?}");
        let keys = |result: &CallToolResult| {
            let meta = result.meta.as_ref().map(|meta| json!(meta)).unwrap_or_default();
            meta.as_object().map(|meta| meta.keys().cloned().collect::<Vec<_>>()).unwrap_or_default()
        };
        let more: Vec<String> =
            keys(&parked).into_iter().filter(|key| !keys(&others).contains(key)).collect();
        assert_eq!(more, ["loggia/approvals"]);

        // The page asks for the state, with the rights of the caller.
        let status = said["status"].clone();
        assert_eq!(status["arguments"]["action"], "run_status");
        assert_eq!(approvals(&ask_page(&client, &status).await?)["approvals"][0]["state"], "open");
        let id = open["id"].as_str().context("an id")?;
        assert!(operator(folder.path(), &["approve", id]).await?.status.success());
        let run = said["run"].as_str().context("a run")?;
        assert_eq!(ended(&client, "worker", run).await?["status"], "succeeded");
        let done = approvals(&ask_page(&client, &status).await?);
        assert_eq!(done["approvals"][0]["state"], "approved");
        assert_eq!((done.get("cancel"), done["approvals"][0].get("arguments")), (None, None), "{done}");
        assert!(!done.to_string().contains("olga"), "who decided is not the caller's business");
        for client in [usual, client, asking] {
            client.end().await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_workflow_that_asks_shows_its_question() -> Result<()> {
    let stage = Stage::with(&["deploy_with_approval"]).await?;
    let host = stage.host().await?;
    for era in ERAS {
        let client = Client::http_as(&host, era, Kind::default().pages()).await?;
        let listed = client.service.list_all_tools().await?;
        let tool = listed.iter().find(|tool| tool.name == "deploy_with_approval").context("the workflow")?;
        let meta = tool.meta.as_ref().map(|meta| json!(meta)).unwrap_or_default();
        assert_eq!(meta["ui"]["resourceUri"], "ui://loggia/deploy_with_approval", "{era:?}");
        let deploy = json!({"action": "deploy_with_approval", "pr_number": "42"});
        let said = approvals(&client.call("deploy_with_approval", deploy).await?);
        let open = &said["approvals"][0];
        assert_eq!(
            (&open["state"], &open["question"]),
            (&json!("open"), &json!("Deploy PR #42 to production?"))
        );
        assert_eq!(open.get("arguments"), None, "{said}");
        ask_page(&client, &said["cancel"]).await?;
        let run = said["run"].as_str().context("a run")?;
        assert_eq!(ended(&client, "deploy_with_approval", run).await?["status"], "cancelled");
        let now = approvals(&ask_page(&client, &said["status"]).await?);
        assert_eq!(now["approvals"][0]["state"], "withdrawn", "{now}");
        client.end().await?;
    }
    Ok(())
}

/// H118. Whatever a page or its client sends, nothing is approved by it.
#[tokio::test]
async fn nothing_that_a_page_sends_approves_a_call() -> Result<()> {
    let folder = confirming();
    let client = Client::stdio_as(folder.path(), ERAS[1], Kind::default().pages()).await?;
    client.names_become(&["echo", "worker"]).await;
    let parked = client.call("worker", json!({"action": "work", "steps": 2})).await?;
    let said = approvals(&parked);
    let (run, id) = (said["run"].as_str().context("a run")?, said["approvals"][0]["id"].clone());
    for more in [
        json!({"confirm": true}),
        json!({"approve": true}),
        json!({"approval": id, "decision": "approve"}),
        json!({"params": {"confirm": true}}),
    ] {
        for action in ["run_status", "work"] {
            let mut arguments = json!({"action": action, "run_id": run});
            if action == "work" {
                arguments = json!({"action": action, "steps": 2});
            }
            for (name, value) in more.as_object().into_iter().flatten() {
                arguments[name] = value.clone();
            }
            client.call("worker", arguments).await?;
            let state = shown(folder.path(), id.as_str().context("an id")?).await?;
            assert_eq!(state["state"], "open", "{action} {more}");
        }
    }
    // A person can end the own call.
    ask_page(&client, &said["cancel"]).await?;
    assert_eq!(ended(&client, "worker", run).await?["status"], "cancelled");
    let now = approvals(&ask_page(&client, &said["status"]).await?);
    assert_eq!(now["approvals"][0]["state"], "withdrawn", "{now}");
    client.end().await
}

#[tokio::test]
async fn pages_of_approvals_lead_to_the_operators_page() -> Result<()> {
    let folder = confirming();
    let (ada, bob) = (Token::new("ada", &["*"]).await?, Token::new("bob", &["*"]).await?);
    let settings = "[approvals]\npage = \"https://ops.example.com/operator/\"\n[profile.reads]\ntools = ['worker:*']\nschema = 'granular'\n";
    let served = Served::configured(&folder, settings, &[&ada, &bob]).await?;
    for (path, tool, status_tool) in
        [("/mcp", "worker", "worker"), ("/mcp/reads", "worker_work", "worker_run_status")]
    {
        let work = match tool {
            "worker" => json!({"action": "work", "steps": 2}),
            _ => json!({"steps": 2}),
        };
        let parked =
            ask(&served.host, path, &ada, "tools/call", json!({"name": tool, "arguments": work})).await?;
        let said = &parked["result"]["_meta"]["loggia/approvals"];
        let id = said["approvals"][0]["id"].as_str().with_context(|| format!("{path}: {parked}"))?;
        assert_eq!(said["approvals"][0]["page"], format!("https://ops.example.com/operator/approvals/{id}"));
        assert_eq!(said["status"]["tool"], status_tool, "{said}");
        // Nobody else sees it.
        let status = json!({"name": said["status"]["tool"], "arguments": said["status"]["arguments"]});
        let other = ask(&served.host, path, &bob, "tools/call", status.clone()).await?;
        assert_eq!(other["result"]["isError"], true, "{other}");
        assert!(
            !other.to_string().contains("loggia/approvals") && !other.to_string().contains(id),
            "{other}"
        );
        let own = ask(&served.host, path, &ada, "tools/call", status).await?;
        assert_eq!(own["result"]["_meta"]["loggia/approvals"]["approvals"][0]["state"], "open", "{own}");
    }
    Ok(())
}

/// Needs Chromium and a package from npm: `tests/release/run apps`.
#[tokio::test]
#[ignore = "needs a browser"]
async fn pages_hold_in_a_browser() -> Result<()> {
    let home = install(&["apps"]).await?;
    let pictures = guests().parent().context("a target folder")?.join("apps");
    std::fs::create_dir_all(&pictures)?;
    let (data, folder) = (tempfile::tempdir()?, folder());
    for name in ["search", "files"] {
        folder.put(name, &plugin(name));
    }
    let dir = format!("{{ path = {:?}, at = \"/data\", access = \"read-write\" }}", data.path());
    folder.write("files.toml", &format!("[grants]\ndirs = [{dir}]\n"));
    folder.write(
        "search.toml",
        "[grants]\ninvoke = [\"files:search\"]\n[limits]\nanswer = 900\n[expose]\nviews = true\n",
    );
    folder.put("box", &fixture("shelf"));
    folder.write(
        "box.toml",
        "[grants]\nstore = true\n[actions]\nconfirm = [\"put\", \"remove\"]\n[expose]\nname = \"box\"\n",
    );
    let settings = "[approvals]\npage = \"https://ops.example.com/operator/\"\n[http.per-caller]\nrate = 0\n";
    let host = HttpHost::configured(&folder, settings).await?;
    let browser =
        std::env::var_os("LOGGIA_CHROMIUM").map_or_else(|| PathBuf::from("chromium"), PathBuf::from);
    let browser = which(&browser).context("there is no `chromium` in PATH: name it in LOGGIA_CHROMIUM")?;
    let mut script = Command::new(home.join("node"));
    script.arg(home.join("apps/run.mjs")).arg(&host.url).args([&browser, &pictures, &binary()]);
    script.env("LOGGIA_STATE", state(folder.path()));
    // It prints what it saw.
    let ended = script.kill_on_drop(true).status().await?;
    ensure!(ended.success(), "{ended}");
    Ok(())
}

#[tokio::test]
async fn no_page_is_published_unless_the_policy_says_so() -> Result<()> {
    let folder = folder();
    folder.write("shelf.toml", "[grants]\nstore = true\n");
    let client = Client::stdio_as(folder.path(), ERAS[1], Kind::default().pages()).await?;
    client.names_become(&["echo", "shelf"]).await;
    let shown = tools(&client).await?;
    assert_eq!(shown[1].get("_meta"), None, "{shown}");
    let error = page(&client, PAGE).await.expect_err("no page");
    assert!(error.contains("Resource not found"), "{error}");
    client.end().await
}

/// A program's path.
fn which(program: &std::path::Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}
