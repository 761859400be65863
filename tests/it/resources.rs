//! Results of actions as resources, over HTTP and on stdio.

use anyhow::{Context, Result, ensure};
use loggia_tests::{Client, ERAS, Era, Folder, HttpHost, Served, Token, fixture, heard, soon, wire};
use rmcp::model::{
    ArgumentInfo, CompleteRequestParams, ReadResourceRequestParams, Reference, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use serde_json::{Value, json};

const TEMPLATE: &str = "shelf://document/{id}";

/// A folder with the plugin, which may keep state.
fn shelf() -> Folder {
    let folder = Folder::with(&["shelf"]);
    folder.write("shelf.toml", "[grants]\nstore = true\nelicit = true\n");
    folder
}

async fn put(client: &Client, id: &str, text: &str) -> Result<()> {
    let told = client
        .envelope("shelf", json!({"action": "put", "id": id, "title": id.to_uppercase(), "text": text}))
        .await?;
    ensure!(told["ok"] == true, "{told}");
    Ok(())
}

async fn read(client: &Client, uri: &str) -> Result<Value, String> {
    let read = client.service.read_resource(ReadResourceRequestParams::new(uri)).await;
    let read = read.map_err(|error| error.to_string())?;
    serde_json::to_value(read.contents).map_err(|error| error.to_string())
}

#[tokio::test]
async fn results_are_listed_and_read_by_uri() -> Result<()> {
    for era in ERAS {
        let folder = shelf();
        let client = Client::stdio(folder.path(), era).await?;
        client.names_become(&["shelf"]).await;
        put(&client, "b one", "# One").await?;
        put(&client, "a", "# Two").await?;

        let templates = client.service.list_all_resource_templates().await?;
        let templates = serde_json::to_value(templates)?;
        let expected = json!([{"uriTemplate": TEMPLATE, "name": "shelf: get", "mimeType": "text/markdown",
            "description": "Read the text of a document."}]);
        assert_eq!(templates, expected, "{era:?}");
        let listed = client.service.list_all_resources().await?;
        let uris: Vec<_> = listed.iter().map(|resource| (&*resource.uri, &*resource.name)).collect();
        let expected = [
            ("shelf://asked", "shelf: asked"),
            ("shelf://document/a", "A"),
            ("shelf://document/b%20one", "B ONE"),
            ("shelf://documents", "shelf: list"),
            ("shelf://picture", "shelf: picture"),
        ];
        assert_eq!(uris, expected, "{era:?}");

        let one = json!([{"uri": "shelf://document/b%20one", "mimeType": "text/markdown", "text": "# One"}]);
        assert_eq!(read(&client, "shelf://document/b%20one").await, Ok(one));
        let all = read(&client, "shelf://documents").await;
        let text = all.as_ref().ok().and_then(|all| all[0]["text"].as_str()).context("a text")?;
        let all: Value = serde_json::from_str(text)?;
        assert_eq!(all[0], json!({"id": "a", "title": "A", "text": "# Two"}));
        let picture = json!([{"uri": "shelf://picture", "mimeType": "image/png", "blob": "iVBORw0KGgo="}]);
        assert_eq!(read(&client, "shelf://picture").await, Ok(picture));

        let mut errors = String::new();
        for uri in [
            "shelf://document/zz",
            "shelf://document/",
            "other://x",
            "shelf://asked",
            &format!("shelf://document/{}", "x".repeat(40)),
        ] {
            let error = read(&client, uri).await.expect_err(uri);
            errors.push_str(&format!("{error}\n"));
        }
        insta::assert_snapshot!(format!("resource_errors_{era:?}"), errors);

        let argument = ArgumentInfo::new("id", "B");
        let complete = CompleteRequestParams::new(Reference::for_resource(TEMPLATE), argument);
        let completed = client.service.complete(complete).await?;
        assert_eq!(completed.completion.values, ["b one"], "{era:?}");
        client.end().await?;
    }
    Ok(())
}

/// Sends a request without a session; the response.
async fn ask(host: &HttpHost, path: &str, token: &Token, method: &str, params: Value) -> Result<Value> {
    let name = params["uri"].as_str().unwrap_or_default().to_owned();
    let headers = format!("{}{}Connection: close\r\n", wire::named(method, &name), token.header());
    let request = wire::post(host, &headers, &wire::request(1, method, params));
    let request = request.replacen("POST /mcp ", &format!("POST {path} "), 1);
    wire::send(host.authority(), request.as_bytes()).await?.message()
}

/// H102.
#[tokio::test]
async fn resources_need_the_rights_of_their_actions() -> Result<()> {
    let folder = shelf();
    let all = Token::new("all", &["*"]).await?;
    let (reader, other) =
        (Token::new("reader", &["shelf:get"]).await?, Token::new("other", &["echo:*"]).await?);
    let settings = "[profile.titles]\ntools = ['shelf:list']\n";
    let served = Served::configured(&folder, settings, &[&all, &reader, &other]).await?;
    let host = &served.host;
    let put =
        json!({"name": "shelf", "arguments": {"action": "put", "id": "a", "title": "A", "text": "secret"}});
    let headers = format!("{}{}Connection: close\r\n", wire::named("tools/call", "shelf"), all.header());
    let told = wire::send(
        host.authority(),
        wire::post(host, &headers, &wire::request(1, "tools/call", put)).as_bytes(),
    )
    .await?;
    ensure!(told.message()?["result"]["isError"] == false, "{}", told.body);

    let document = "shelf://document/a";
    for (path, token, listed, templates) in [
        ("/mcp", &all, &[document, "shelf://asked", "shelf://documents", "shelf://picture"][..], 1),
        ("/mcp", &reader, &[], 1),
        ("/mcp", &other, &[], 0),
        ("/mcp/titles", &all, &["shelf://documents"], 0),
    ] {
        let list = ask(host, path, token, "resources/list", json!({})).await?;
        let mut uris: Vec<_> = list["result"]["resources"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|own| own["uri"].as_str())
            .collect();
        uris.sort_by_key(|uri| (*uri != document, *uri));
        assert_eq!(uris, listed, "{path}: {list}");
        assert_eq!(list["result"]["cacheScope"], "private");
        let list = ask(host, path, token, "resources/templates/list", json!({})).await?;
        assert_eq!(
            list["result"]["resourceTemplates"].as_array().map(Vec::len),
            Some(templates),
            "{path}: {list}"
        );
        let read = ask(host, path, token, "resources/read", json!({"uri": document})).await?;
        let never = ask(host, path, token, "resources/read", json!({"uri": "shelf://document-a"})).await?;
        if templates == 1 {
            assert_eq!(read["result"]["contents"][0]["text"], "secret", "{path}: {read}");
        } else {
            // As if there were none.
            assert_eq!(read["error"]["code"], -32602, "{path}: {read}");
            assert_eq!(read.to_string().replace("document/a", "document-a"), never.to_string());
        }
    }
    Ok(())
}

#[tokio::test]
async fn sessions_hear_of_changed_resources() -> Result<()> {
    let folder = shelf();
    let host = HttpHost::start(folder.path()).await?;
    let mut clients =
        [Client::stdio(folder.path(), Era::Stateful).await?, Client::http(&host, Era::Stateful).await?];
    for client in &mut clients {
        client.names_become(&["shelf"]).await;
        put(client, "a", "one").await?;
        for uri in ["shelf://document/a", "shelf://documents"] {
            subscribe(client, uri).await?;
        }
        put(client, "b", "not subscribed").await?;
        assert_eq!(heard("of the list", &mut client.updated).await?, "shelf://documents");
        put(client, "a", "two").await?;
        let mut both = vec![
            heard("of one", &mut client.updated).await?,
            heard("of the other", &mut client.updated).await?,
        ];
        both.sort();
        assert_eq!(both, ["shelf://document/a", "shelf://documents"]);
        unsubscribe(client, "shelf://documents").await?;
        let gone = client.envelope("shelf", json!({"action": "remove", "id": "a"})).await?;
        ensure!(gone["data"] == true, "{gone}");
        assert_eq!(heard("of the removal", &mut client.updated).await?, "shelf://document/a");
        assert!(client.updated.try_recv().is_err());
        let missing = subscribe(client, "other://x").await.expect_err("no such resource").to_string();
        assert!(missing.contains("Resource not found: \"other://x\""), "{missing}");
    }
    Ok(())
}

#[expect(deprecated, reason = "clients of older revisions have it")]
async fn subscribe(client: &Client, uri: &str) -> Result<()> {
    Ok(soon("the subscription", client.service.subscribe(SubscribeRequestParams::new(uri))).await??)
}

#[expect(deprecated, reason = "clients of older revisions have it")]
async fn unsubscribe(client: &Client, uri: &str) -> Result<()> {
    Ok(soon("its end", client.service.unsubscribe(UnsubscribeRequestParams::new(uri))).await??)
}

#[tokio::test]
async fn streams_hear_of_changed_resources() -> Result<()> {
    let folder = shelf();
    let host = HttpHost::start(folder.path()).await?;
    for client in
        [Client::stdio(folder.path(), Era::Stateless).await?, Client::http(&host, Era::Stateless).await?]
    {
        client.names_become(&["shelf"]).await;
        put(&client, "a", "one").await?;
        let filter = SubscriptionFilter::builder()
            .resource_subscriptions(["shelf://document/a", "shelf://document/b", "other://x"])
            .resources_list_changed();
        let mut stream = client.service.peer().listen(filter.build()).await?;
        let mut next = async || -> Result<Value> {
            let event = soon("a notification", stream.next()).await??.context("the stream goes on")?;
            Ok(serde_json::to_value(event)?)
        };
        // The client may have read them before the subscription began.
        for uri in ["shelf://document/a", "shelf://document/b"] {
            let event = next().await?;
            assert_eq!(
                (&event["method"], &event["params"]["uri"]),
                (&json!("notifications/resources/updated"), &json!(uri))
            );
        }
        put(&client, "b", "new").await?;
        assert_eq!(next().await?["params"]["uri"], "shelf://document/b");
        folder.put("echo", &fixture("echo"));
        assert_eq!(next().await?["method"], "notifications/resources/list_changed");
        folder.remove("echo.wasm");
        assert_eq!(next().await?["method"], "notifications/resources/list_changed");
        client.end().await?;
    }
    Ok(())
}
