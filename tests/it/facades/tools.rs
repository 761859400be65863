//! `tools` over MCP: real facades, callers with few rights, and a client without other tools.

use std::fs;

use anyhow::{Context, Result, ensure};
use loggia_tests::{
    Client, ERAS, Era, Folder, HttpHost, Kind, Served, Token, accepted, binary, cache, heard, state,
    web::{Answer, Asked, Web},
};
use rmcp::model::{ElicitResult, ElicitationAction};
use serde_json::{Map, Value, json};
use tokio::process::Command;

use super::add;
use crate::clients::{python, run, script};

const ALL: &str = "[grants]\ninvoke = [\"*\"]\n";

/// `tools` beside two facades that it may call.
fn world(memories: &str) -> Result<Folder> {
    let folder = Folder::new();
    let notes = folder.beside("notes");
    fs::write(notes.join("trip.md"), "# Trip\n\n- see the volcano Etna\n")?;
    add(&folder, "tools", ALL);
    add(&folder, "memories", &format!("[grants]\nstore = true\n{memories}"));
    add(
        &folder,
        "files",
        &format!("[grants]\ndirs = [{{ path = {notes:?}, at = \"/notes\", access = \"read-write\" }}]\n"),
    );
    Ok(folder)
}

/// A client of a host that lists `tools` alone and has loaded all facades.
async fn ready(folder: &Folder) -> Result<Client> {
    let client =
        Client::stdio_with(folder.path(), Era::Stateful, |command| _ = command.args(["--list", "tools"]))
            .await?;
    ensure!(client.names().await? == ["tools"]);
    Ok(client)
}

async fn call(client: &Client, action: &str, call: &str, arguments: Value) -> Result<Value> {
    client.envelope("tools", json!({"action": action, "call": call, "arguments": arguments})).await
}

fn declined() -> ElicitResult {
    ElicitResult::new(ElicitationAction::Decline)
}

#[tokio::test]
async fn actions_are_found_checked_and_called() -> Result<()> {
    let folder = world("")?;
    let client = ready(&folder).await?;
    let ask = |arguments: Value| client.envelope("tools", arguments);
    let listed = ask(json!({"action": "list"})).await?;
    let facades = listed["data"].as_array().context("a list")?;
    let names: Vec<&str> = facades.iter().filter_map(|facade| facade["facade"].as_str()).collect();
    assert_eq!(names, ["files", "memories"], "{listed}");
    let counts: Vec<u64> = facades.iter().filter_map(|facade| facade["actions"].as_u64()).collect();
    assert_eq!(counts, [13, 12], "{listed}");
    // The default action.
    assert_eq!(ask(json!({})).await?["data"], listed["data"]);
    let first = ask(json!({"action": "list", "facade": "files", "limit": 10})).await?;
    assert_eq!((&first["count"], &first["total"]), (&json!(10), &json!(13)), "{first}");
    let second = ask(json!({"action": "list", "facade": "files", "cursor": first["cursor"]})).await?;
    assert_eq!((&second["count"], &second["cursor"]), (&json!(3), &Value::Null), "{second}");

    for (query, expected) in [
        ("rename a file", "files.move"),
        ("keep something for next time", "memories.add"),
        ("relation between memories", "memories.link"),
    ] {
        let found = ask(json!({"action": "search", "query": query})).await?;
        let calls = found["data"].as_array().into_iter().flatten().map(|found| found["call"].as_str());
        assert!(calls.take(3).any(|call| call == Some(expected)), "{query}: {found}");
    }

    let got = ask(json!({"action": "get", "call": "memories.add"})).await?;
    assert_eq!(
        (&got["data"]["call"], &got["data"]["effect"]),
        (&json!("memories.add"), &json!("write")),
        "{got}"
    );
    let direct =
        client.envelope("memories", json!({"action": "describe", "of": "add", "detail": "full"})).await?;
    for key in ["signature", "summary", "params"] {
        assert_eq!(got["data"][key], direct["data"][key], "{key}");
    }
    // The example is a call that works.
    let example = got["data"]["examples"][0].clone();
    assert_eq!(client.envelope("tools", example).await?["data"]["id"], "m_0001", "{got}");

    let valid = call(&client, "validate", "memories.add", json!({"title": "Tea"})).await?;
    assert_eq!(valid["data"], json!({"call": "memories.add", "valid": true, "effect": "write"}));
    assert_eq!(
        call(&client, "execute", "memories.add", json!({"title": "Tea"})).await?["data"]["id"],
        "m_0002"
    );
    let page = call(&client, "read", "memories.list", json!({"limit": 1})).await?;
    assert!(page["count"] == 1 && page["cursor"].is_string(), "{page}");
    let rest = call(&client, "read", "memories.list", json!({"limit": 1, "cursor": page["cursor"]})).await?;
    assert_ne!(rest["data"][0]["id"], page["data"][0]["id"], "{rest}");
    // Some clients can only send text.
    let put = json!({"path": "/notes/new.md", "content": "New."}).to_string();
    assert_eq!(call(&client, "execute", "files.put", json!(put)).await?["ok"], true);
    let text = call(&client, "read", "files.get", json!({"path": "/notes/new.md"})).await?;
    assert_eq!(text["data"]["text"], "New.", "{text}");
    client.end().await
}

#[tokio::test]
async fn refusals_equal_those_of_direct_calls() -> Result<()> {
    let folder = world("")?;
    let client = ready(&folder).await?;
    for (facade, action, arguments) in [
        ("memories", "add", json!({})),
        ("memories", "add", json!({"title": 7, "tags": "x"})),
        ("memories", "get", json!({"id": "m_0009"})),
        ("files", "get", json!({"path": "/etc/passwd"})),
        ("files", "list", json!({"depth": "deep"})),
    ] {
        let mut direct = arguments.clone();
        direct["action"] = action.into();
        let direct = client.envelope(facade, direct).await?;
        let name = format!("{facade}.{action}");
        let through = call(&client, "execute", &name, arguments.clone()).await?;
        for key in ["code", "error", "hint"] {
            assert_eq!(through[key], direct[key], "{name} {arguments} {key}");
        }
        let expected = direct["expected"].as_str().map(|signature| format!("{facade}.{signature}"));
        assert_eq!(through["expected"].as_str(), expected.as_deref(), "{name} {arguments}");
        if let Value::Object(mut example) = direct["example"].clone() {
            example.shift_remove("action");
            assert_eq!(through["example"]["call"], name, "{through}");
            assert_eq!(through["example"]["arguments"], Value::Object(example), "{through}");
        }
        if direct["code"] == "invalid_params" {
            let checked = call(&client, "validate", &name, arguments).await?;
            assert_eq!((&checked["error"], &checked["hint"]), (&through["error"], &through["hint"]));
        }
    }
    let transcript = [
        call(&client, "execute", "memorys.add", json!({})).await?,
        call(&client, "execute", "memories.ad", json!({})).await?,
        call(&client, "execute", "tools.list", json!({})).await?,
        call(&client, "read", "memories.add", json!({"title": "Tea"})).await?,
        call(&client, "execute", "memories.add", json!({"tilte": "Tea"})).await?,
    ];
    insta::assert_json_snapshot!(transcript);
    client.end().await
}

/// The client may see no other tool.
#[tokio::test]
async fn the_next_call_leads_through_tools() -> Result<()> {
    let folder = world("")?;
    add(&folder, "search", "[grants]\ninvoke = [\"files:search\"]\n");
    let client = ready(&folder).await?;
    let found = call(&client, "read", "search.hybrid", json!({"query": "Etna"})).await?;
    assert_eq!(found["next"]["tool"], "tools", "{found}");
    let next = found["next"]["arguments"].clone();
    assert_eq!((&next["action"], &next["call"]), (&json!("read"), &json!("files.get")), "{found}");
    let opened = client.envelope("tools", next).await?;
    assert!(opened["data"]["text"].as_str().unwrap_or_default().contains("Etna"), "{opened}");
    client.end().await
}

#[tokio::test]
async fn content_passes_through() -> Result<()> {
    let folder = world("")?;
    add(&folder, "conversations", "[grants]\nstore = true\n");
    let client = ready(&folder).await?;
    call(&client, "execute", "conversations.append", json!({"role": "user", "text": "Hello."})).await?;
    let arguments = json!({"conversation": "c_0001", "format": "markdown"});
    let direct = json!({"action": "export", "conversation": "c_0001", "format": "markdown"});
    let direct = client.call("conversations", direct).await?;
    let through = json!({"action": "read", "call": "conversations.export", "arguments": arguments});
    let through = client.call("tools", through).await?;
    assert!(direct.content.len() > 1, "{direct:?}");
    assert_eq!(through.content[1..], direct.content[1..]);
    client.end().await
}

#[tokio::test]
async fn callers_reach_only_what_their_scopes_allow() -> Result<()> {
    let folder = world("")?;
    let ada = Token::new("ada", &["tools:*", "memories:add", "memories:get"]).await?;
    let bob = Token::new("bob", &["tools:read", "tools:list", "files:*"]).await?;
    let served = Served::configured(&folder, "[publish]\nlist = [\"tools\"]", &[&ada, &bob]).await?;
    for era in ERAS {
        let client = Client::http_by(&served.host, era, Kind::default(), &ada).await?;
        assert_eq!(client.names().await?, ["tools"]);
        let listed = client.envelope("tools", json!({"action": "list"})).await?;
        assert_eq!(listed["data"].as_array().map(Vec::len), Some(1), "{listed}");
        assert_eq!(listed["data"][0]["actions"], 2, "{listed}");
        let found =
            client.envelope("tools", json!({"action": "search", "query": "delete a memory file"})).await?;
        assert!(!found.to_string().contains("delete(") && !found.to_string().contains("files"), "{found}");
        assert_eq!(call(&client, "execute", "memories.add", json!({"title": "Tea"})).await?["ok"], true);
        for action in ["execute", "validate", "get"] {
            let denied = call(&client, action, "memories.delete", json!({"id": "m_0001"})).await;
            let denied = match action {
                "get" => {
                    client.envelope("tools", json!({"action": "get", "call": "memories.delete"})).await?
                }
                _ => denied?,
            };
            assert_eq!(
                (&denied["code"], &denied["details"]["scope"]),
                (&json!("denied"), &json!("memories:delete")),
                "{denied}"
            );
        }
        // A facade outside the scopes answers like one that does not exist.
        let hidden = call(&client, "execute", "files.get", json!({"path": "/notes/trip.md"})).await?;
        let never = call(&client, "execute", "never.get", json!({"path": "/notes/trip.md"})).await?;
        assert_eq!(hidden["code"], "not_found", "{hidden}");
        assert_eq!(hidden.to_string().replace("files", "never"), never.to_string());
        client.end().await?;

        let client = Client::http_by(&served.host, era, Kind::default(), &bob).await?;
        let text = call(&client, "read", "files.get", json!({"path": "/notes/trip.md"})).await?;
        assert_eq!(text["ok"], true, "{text}");
        let put = json!({"path": "/notes/no.md", "content": "No."});
        let denied = call(&client, "execute", "files.put", put.clone()).await?;
        assert_eq!(denied["details"]["scope"], "tools:execute", "{denied}");
        let denied = call(&client, "read", "files.put", put).await?;
        assert_eq!(denied["details"]["effect"], "write", "{denied}");
        client.end().await?;
    }
    assert!(!folder.beside("notes").join("no.md").exists());
    Ok(())
}

#[tokio::test]
async fn a_policy_can_offer_less() -> Result<()> {
    let folder = world("")?;
    folder.write("tools.toml", "[grants]\ninvoke = [\"memories:get\", \"memories:add\"]\n");
    let client = ready(&folder).await?;
    let listed = client.envelope("tools", json!({"action": "list", "facade": "memories"})).await?;
    let calls: Vec<&str> = listed["data"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|action| action["call"].as_str())
        .collect();
    assert_eq!(calls, ["memories.add", "memories.get"]);
    assert_eq!(call(&client, "execute", "memories.add", json!({"title": "Tea"})).await?["ok"], true);
    for name in ["memories.delete", "files.get"] {
        let refused = call(&client, "execute", name, json!({"id": "m_0001"})).await?;
        assert_eq!(refused["code"], "not_found", "{refused}");
    }
    client.end().await?;
    folder.write("tools.toml", "");
    let client = ready(&folder).await?;
    let denied = client.envelope("tools", json!({"action": "list"})).await?;
    assert_eq!(denied["code"], "denied", "{denied}");
    client.end().await
}

#[tokio::test]
async fn a_confirmed_action_asks_the_person() -> Result<()> {
    let confirm = "[actions]\nconfirm = [\"delete\"]\n";
    let delete = json!({"id": "m_0001", "confirm": true});
    for era in ERAS {
        let folder = world(confirm)?;
        let kind = Kind::person([declined(), accepted(json!({"confirm": true}))]);
        let mut client = Client::stdio_as(folder.path(), era, kind).await?;
        client.names().await?;
        call(&client, "execute", "memories.add", json!({"title": "Tea"})).await?;
        let valid = call(&client, "validate", "memories.delete", json!({"id": "m_0001"})).await?;
        assert_eq!(valid["data"]["confirm"], true, "{valid}");
        let refused = call(&client, "execute", "memories.delete", delete.clone()).await?;
        assert_eq!(refused["code"], "denied", "{refused}");
        let question = heard("a question", &mut client.questions).await?;
        let message = question["message"].as_str().unwrap_or_default();
        assert!(message.contains("Run `delete` (destructive)"), "{question}");
        assert_eq!(call(&client, "execute", "memories.delete", delete.clone()).await?["ok"], true);
        client.end().await?;
    }
    // A client that cannot ask cannot consent through another facade.
    let folder = world(&format!("{confirm}confirm-by = \"model\"\n"))?;
    let client = ready(&folder).await?;
    call(&client, "execute", "memories.add", json!({"title": "Tea"})).await?;
    let refused = call(&client, "execute", "memories.delete", delete).await?;
    let hint = "ask the person; if they agree, call `delete` of the tool `memories` with \"confirm\": true";
    assert_eq!((&refused["code"], &refused["hint"]), (&json!("denied"), &json!(hint)), "{refused}");
    let direct = json!({"action": "delete", "id": "m_0001", "confirm": true});
    assert_eq!(client.envelope("memories", direct).await?["ok"], true);
    client.end().await
}

#[tokio::test]
async fn unserved_names_to_list_are_reported() -> Result<()> {
    let folder = world("")?;
    let served = Served::start(&folder, |command| _ = command.args(["--list", "tools,nothing"])).await?;
    // A handshake waits briefly for facades, and a busy machine may take longer to load them.
    served.readies(|status, _| status == 200).await;
    let client = Client::http(&served.host, Era::Stateful).await?;
    assert_eq!(client.names().await?, ["tools"]);
    let instructions =
        client.service.peer_info().and_then(|info| info.instructions.clone()).context("none")?;
    assert!(instructions.contains("\n- tools: ") && !instructions.contains("\n- memories"), "{instructions}");
    client.end().await?;
    let log = served.log.lock().expect("a log").join("\n");
    assert_eq!(log.matches("`nothing` is to be listed").count(), 1, "{log}");
    let output = loggia(&folder, &["check", "--list", "tools,nothing"]).await?;
    assert!(output.contains("nothing\tis to be listed"), "{output}");
    Ok(())
}

/// Runs a command over the folder and returns its output.
async fn loggia(folder: &Folder, arguments: &[&str]) -> Result<String> {
    let output = Command::new(binary())
        .args(arguments)
        .arg(folder.path())
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", state(folder.path()))
        .output()
        .await?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

#[tokio::test]
async fn tokens_count_only_listed_facades() -> Result<()> {
    let folder = world("")?;
    let settings = folder.beside("config").join("loggia.toml");
    fs::write(&settings, "[publish]\nlist = [\"tools\"]\n")?;
    let served = async |options: &[&str]| -> Result<(u64, Vec<String>)> {
        let figures: Value =
            serde_json::from_str(&loggia(&folder, &[&["tokens", "--json"], options].concat()).await?)?;
        let served = &figures["served"];
        let names = served["facades"].as_object().context("no facades")?.keys().cloned().collect();
        Ok((served["total"]["tokens"].as_u64().context("no total")?, names))
    };
    let (all, _) = served(&[]).await?;
    let (listed, names) = served(&["--list", "tools"]).await?;
    assert_eq!(names, ["tools"]);
    assert!(listed < 600 && listed * 4 < all, "{listed} of {all}");
    let config = settings.to_str().context("a path")?;
    assert_eq!(served(&["--config", config]).await?, (listed, names));
    Ok(())
}

/// Imports a facade of 1,200 actions, `shop`, whose server answers every request with its path.
async fn import_shop(folder: &Folder, web: &Web) -> Result<()> {
    let operation = |number: usize| {
        let text =
            json!({"type": "string", "description": format!("Words about {number}. {}", "long ".repeat(20))});
        let parameters =
            [json!({"name": "id", "in": "path", "required": true, "schema": {"type": "string"}})];
        let summary = format!("Return the {} of parcel {number}.", ["weight", "sender"][number % 2]);
        let body = json!({"content": {"application/json": {"schema": {"type": "object", "properties": {"text": text}}}}});
        json!({"post": {
            "operationId": format!("parcels-{number}"), "summary": summary, "tags": [format!("group {}", number % 30)],
            "parameters": parameters, "requestBody": body, "responses": {"200": {"description": "OK"}},
        }})
    };
    let paths: Map<String, Value> =
        (0..1200).map(|number| (format!("/parcels/{number}/{{id}}"), operation(number))).collect();
    let document = json!({
        "openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "servers": [{"url": web.url("")}], "paths": paths,
    });
    let file = folder.beside("documents").join("shop.json");
    fs::write(&file, document.to_string())?;
    folder.write("shop.toml", &format!("[grants]\nhttp = [{:?}]\n", web.url("")));
    let import = async |more: &[&str]| -> Result<(Option<i32>, String)> {
        let mut command = Command::new(binary());
        command
            .args(["import", "openapi", "--name", "shop", "--out"])
            .arg(folder.path())
            .arg(&file)
            .args(more);
        let output = command.output().await?;
        Ok((output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned()))
    };
    let (code, stderr) = import(&[]).await?;
    ensure!(code == Some(0), "{stderr}");
    let (code, stderr) = import(&[]).await?;
    ensure!(code == Some(1) && stderr.contains("already exists; --force replaces it"), "{stderr}");
    let (code, stderr) = import(&["--force", "--tag", "none"]).await?;
    ensure!(code == Some(1) && stderr.contains("none has the tag `none`"), "{stderr}");
    Ok(())
}

#[tokio::test]
async fn a_large_api_is_listed_found_and_called() -> Result<()> {
    let web = Web::start(|asked: &Asked| Answer::text(json!({"path": asked.path}).to_string())).await?;
    let folder = world("")?;
    import_shop(&folder, &web).await?;
    let client = ready(&folder).await?;
    let ask = |arguments: Value| client.envelope("tools", arguments);

    let listed = ask(json!({"action": "list"})).await?;
    assert!(listed.to_string().contains("\"facade\":\"shop\""), "{listed}");
    let (mut seen, mut cursor) = (0, Value::Null);
    loop {
        let page = ask(json!({"action": "list", "facade": "shop", "limit": 200, "cursor": cursor})).await?;
        assert!(page.to_string().len() < 60_000, "{}", page.to_string().len());
        seen += page["count"].as_u64().context("a count")?;
        cursor = page["cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, 1200);

    let found = ask(json!({"action": "search", "query": "sender of parcel 777", "limit": 50})).await?;
    let call_name = found["data"][0]["call"].as_str().context("a call")?.to_owned();
    assert!(call_name.starts_with("shop.") && call_name.contains("777"), "{found}");
    assert!(found.to_string().len() < 20_000, "{}", found.to_string().len());
    let got = ask(json!({"action": "get", "call": call_name})).await?;
    assert_eq!(got["data"]["call"], call_name, "{got}");
    assert_eq!(got["data"]["params"]["required"], json!(["id"]), "{got}");
    let wrong = call(&client, "validate", &call_name, json!({"idd": "x"})).await?;
    assert_eq!(wrong["code"], "invalid_params", "{wrong}");
    let valid = call(&client, "validate", &call_name, json!({"id": "x"})).await?;
    assert_eq!(valid["data"]["valid"], true, "{valid}");
    let reply = call(&client, "execute", &call_name, json!({"id": "x"})).await?;
    assert!(reply.to_string().contains("/parcels/777/x"), "{reply}");
    let unknown = call(&client, "execute", "shop.parcels_9999", json!({})).await?;
    assert!(unknown["code"] == "not_found" && unknown.to_string().len() < 2000, "{unknown}");
    let words = call(&client, "read", "shop.describe", json!({"query": "sender parcel 777"})).await?;
    assert!(words["data"]["actions"][0].to_string().contains("777"), "{words}");
    client.end().await?;

    // The list decides about APIs and plugins alike.
    let client = Client::stdio_with(folder.path(), Era::Stateless, |command| {
        command.args(["--list", "shop"]);
    })
    .await?;
    assert_eq!(client.names().await?, ["shop"]);
    assert_eq!(call(&client, "read", "memories.list", json!({})).await?["ok"], true);
    client.end().await
}

#[tokio::test]
async fn the_official_client_needs_no_other_tool() -> Result<()> {
    let python = python().await?;
    let folder = world("[actions]\nconfirm = [\"delete\"]\n")?;
    let host = HttpHost::start_with(folder.path(), |command| _ = command.args(["--list", "tools"])).await?;
    let output = run(Command::new(&python).arg(script("tools.py")).arg(&host.url)).await?;
    insta::assert_snapshot!(output);
    Ok(())
}
