//! Pages of tools, for clients of MCP Apps.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use loggia_tests::{
    Client, ERAS, Folder, HttpHost, Kind, Served, Token, eventually, fixture, guests, plugin, wire,
};
use rmcp::model::ReadResourceRequestParams;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::clients::install;

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
    let name = params["uri"].as_str().unwrap_or_default().to_owned();
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
    let host = HttpHost::start(folder.path()).await?;
    let browser =
        std::env::var_os("LOGGIA_CHROMIUM").map_or_else(|| PathBuf::from("chromium"), PathBuf::from);
    let browser = which(&browser).context("there is no `chromium` in PATH: name it in LOGGIA_CHROMIUM")?;
    let mut script = Command::new(home.join("node"));
    script.arg(home.join("apps/run.mjs")).arg(&host.url).args([&browser, &pictures]);
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
