//! The handler as clients of several callers see it, over HTTP without a socket and over pipes.

mod links;
mod prompts;
mod roots;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use axum::body::{Body, to_bytes};
use loggia_facade::Reply;
use loggia_gate::{
    access::{CallOrigin, CallerRights},
    call::Gate,
    catalog::{Catalog, CatalogSlot, ToolPublisher},
    schedule::{Executor, InlinePolicy},
    testing::{entry, lanes, puppet},
};
use loggia_policy::{model::FacadeRules, settings::Revision};
use loggia_schema::SchemaForm;
use rmcp::{
    ServiceExt,
    model::PaginatedRequestParams,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{handler::McpHandler, list::ToolListCache, view::ClientView};

fn slots(names: &[&str]) -> BTreeMap<String, CatalogSlot> {
    let slot = |name: &str| {
        let works = puppet(name, async |call: loggia_facade::Call| Ok(Reply::data(call.action)));
        CatalogSlot::Serving(Arc::new(entry(works, FacadeRules::default())))
    };
    names.iter().map(|name| ((*name).to_owned(), slot(name))).collect()
}

fn gate(names: &[&str], form: SchemaForm) -> Gate {
    gate_publishing(ToolPublisher { form, ..ToolPublisher::default() }, names)
}

fn gate_publishing(publisher: ToolPublisher, names: &[&str]) -> Gate {
    let catalog = Arc::new(Catalog::new(publisher));
    catalog.swap(slots(names));
    catalog.mark_admitted();
    Gate::new(catalog, Executor::new(lanes(), InlinePolicy::Slots(4)))
}

fn rights(scopes: &str) -> CallerRights {
    CallerRights::from_scopes(scopes.split_whitespace().map(|scope| scope.parse().unwrap()))
}

/// An origin, as the authentication layer makes it of a token.
fn holder(scopes: &str) -> CallOrigin {
    CallOrigin::named(&format!("who holds {scopes}"), rights(scopes))
}

/// A server whose requests have no rights unless they carry an origin.
struct Server {
    service: StreamableHttpService<McpHandler, LocalSessionManager>,
}

/// Lifecycle of a client.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Era {
    Session,
    Stateless,
}

const ERAS: [Era; 2] = [Era::Session, Era::Stateless];

impl Server {
    fn new(gate: Gate, newest: Option<Revision>) -> Self {
        let origin = CallOrigin::named("nobody", rights(""));
        let handler = McpHandler::new(gate, origin, CancellationToken::new()).with_newest_revision(newest);
        let config = StreamableHttpServerConfig::default().with_json_response(true);
        Self { service: StreamableHttpService::new(move || Ok(handler.clone()), Arc::default(), config) }
    }

    /// Sends a request; returns the status, the new session and the response.
    async fn post(
        &self,
        who: &CallOrigin,
        headers: &[(&str, &str)],
        body: Value,
    ) -> (u16, Option<String>, Value) {
        let mut request = http::Request::post("http://localhost/mcp")
            .header("Host", "localhost")
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Body::from(body.to_string())).unwrap();
        request.extensions_mut().insert(who.clone());
        let answer = self.service.handle(request).await;
        let status = answer.status().as_u16();
        let session = answer.headers().get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
        let bytes = to_bytes(Body::new(answer.into_body()), 1 << 20).await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let lines = text.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
        let response = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let response = response.rev().find(|response| response.get("id").is_some());
        (status, session, response.unwrap_or(Value::String(text)))
    }

    /// Starts a session.
    async fn session(&self, who: &CallOrigin) -> (String, Value) {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"}});
        let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        let (_, session, response) = self.post(who, &[], initialize).await;
        let session = session.unwrap_or_else(|| panic!("{response}"));
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let (status, ..) = self.post(who, &[("Mcp-Session-Id", &session)], initialized).await;
        assert_eq!(status, 202);
        (session, response)
    }

    /// Sends a stateless request.
    async fn stateless(&self, who: &CallOrigin, method: &str, params: Value) -> Value {
        let mut params = params;
        params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
            "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}});
        let name = params["name"].as_str().or(params["taskId"].as_str()).unwrap_or_default().to_owned();
        let mut headers = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
        if !name.is_empty() {
            headers.push(("Mcp-Name", &name));
        }
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        self.post(who, &headers, body).await.2
    }

    async fn ask(&self, era: Era, who: &CallOrigin, method: &str, params: Value) -> Value {
        match era {
            Era::Stateless => self.stateless(who, method, params).await,
            Era::Session => {
                let (session, _) = self.session(who).await;
                let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
                self.post(who, &[("Mcp-Session-Id", &session)], body).await.2
            }
        }
    }
}

fn names(list: &Value) -> Vec<&str> {
    let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("{list}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn scopes_limit_lists_and_calls_in_both_lifecycles() {
    let server = Server::new(gate(&["a", "b", "hidden"], SchemaForm::Flat), None);
    for era in ERAS {
        let some = holder("a:look b:*");
        let list = server.ask(era, &some, "tools/list", json!({})).await;
        assert_eq!(names(&list), ["a", "b"], "{era:?}");
        let [a, b] = [&list["result"]["tools"][0], &list["result"]["tools"][1]];
        assert_eq!(a["inputSchema"]["properties"]["action"]["enum"], json!(["look", "describe"]));
        assert_eq!(
            (&a["annotations"]["readOnlyHint"], &b["annotations"]["readOnlyHint"]),
            (&json!(true), &json!(false))
        );
        assert!(!a.to_string().contains("smash") && b.to_string().contains("smash"), "{list}");
        assert_eq!(
            names(&server.ask(era, &holder("*"), "tools/list", json!({})).await),
            ["a", "b", "hidden"]
        );
        assert_eq!(names(&server.ask(era, &holder(""), "tools/list", json!({})).await), [""; 0]);

        let call = async |tool: &str, action: &str| {
            let params = json!({"name": tool, "arguments": {"action": action}});
            server.ask(era, &some, "tools/call", params).await
        };
        assert_eq!(call("a", "look").await["result"]["structuredContent"]["data"], "look");
        let denied = call("a", "smash").await;
        assert_eq!(denied["result"]["structuredContent"]["hint"], "the token needs the scope `a:smash`");
        let (hidden, never) = (call("hidden", "look").await, call("secret", "look").await);
        assert_eq!(hidden["error"]["code"], -32602, "{hidden}");
        assert_eq!(hidden["error"]["message"], "Unknown tool: \"hidden\". Available tools: a, b.");
        assert_eq!(hidden.to_string().replace("hidden", "secret"), never.to_string());
        // A tool that the caller does not see is not suggested either.
        let near = call("hiden", "look").await;
        assert_eq!(near["error"]["message"], "Unknown tool: \"hiden\". Available tools: a, b.");
        let near = server.ask(era, &holder("*"), "tools/call", json!({"name": "hiden"})).await;
        let message = "Unknown tool: \"hiden\". Did you mean `hidden`? Available tools: a, b, hidden.";
        assert_eq!(near["error"]["message"], message);
    }
}

#[tokio::test]
async fn instructions_name_only_reachable_facades() {
    let server = Server::new(gate(&["a", "hidden"], SchemaForm::Flat), None);
    let response = [
        server.session(&holder("a:look")).await.1,
        server.stateless(&holder("a:look"), "server/discover", json!({})).await,
    ];
    for response in response {
        let text = response["result"]["instructions"].as_str().unwrap_or_else(|| panic!("{response}"));
        assert!(text.contains("\n- a: ") && !text.contains("hidden"), "{text}");
        assert!(!text.contains("run_status"), "what it may call makes no runs: {text}");
    }
    let all = server.stateless(&holder("*"), "server/discover", json!({})).await.to_string();
    assert!(all.contains("hidden") && all.contains("run_status"), "{all}");
}

#[tokio::test]
async fn unlisted_facades_are_only_callable() {
    let publisher =
        ToolPublisher { listed: Some(Arc::new(["a".to_owned()].into())), ..ToolPublisher::default() };
    let server = Server::new(gate_publishing(publisher, &["a", "unlisted"]), None);
    for (era, scopes) in ERAS.into_iter().flat_map(|era| [(era, "*"), (era, "a:* unlisted:*")]) {
        let caller = holder(scopes);
        assert_eq!(
            names(&server.ask(era, &caller, "tools/list", json!({})).await),
            ["a"],
            "{era:?} {scopes}"
        );
        let params = json!({"name": "unlisted", "arguments": {"action": "smash"}});
        let reply = server.ask(era, &caller, "tools/call", params).await;
        assert_eq!(reply["result"]["structuredContent"]["data"], "smash", "{era:?} {scopes}: {reply}");
    }
    let reply = server.stateless(&holder("*"), "server/discover", json!({})).await.to_string();
    assert!(reply.contains("- a: ") && !reply.contains("unlisted"), "{reply}");
}

/// The token may have been replaced, or the session id leaked to another caller.
#[tokio::test]
async fn a_session_gives_no_rights() {
    let server = Server::new(gate(&["a", "b"], SchemaForm::Flat), None);
    let (session, _) = server.session(&holder("*")).await;
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let headers = [("Mcp-Session-Id", session.as_str())];
    assert_eq!(names(&server.post(&holder("b:look"), &headers, list.clone()).await.2), ["b"]);
    assert_eq!(names(&server.post(&holder("*"), &headers, list).await.2), ["a", "b"]);
}

#[tokio::test]
async fn tasks_belong_to_caller_and_scopes() {
    let server = Server::new(gate(&["a"], SchemaForm::Flat), None);
    let call = json!({"name": "a", "arguments": {"action": "dig"}});
    let mine = CallOrigin::named("ada", rights("a:*"));
    let begun = server.stateless(&mine, "tools/call", call).await;
    let id = begun["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
    for (who, there) in [
        (mine, true),
        (CallOrigin::named("ada", rights("a:dig")), true),
        (CallOrigin::named("ada", rights("a:look")), false),
        (CallOrigin::named("eve", rights("a:*")), false),
        (CallOrigin::local(), false),
    ] {
        for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
            let params = json!({"taskId": id, "inputResponses": {}});
            let response = server.stateless(&who, method, params).await;
            let found = response.get("result").is_some();
            assert_eq!(found, there, "{who:?} {method}: {response}");
            assert!(found || response["error"]["code"] == -32602, "{response}");
        }
    }
}

/// Clients that do not subscribe to `list_changed` list the tools again after the TTL.
#[tokio::test]
async fn lists_of_named_callers_are_cached_privately() {
    let server = Server::new(gate(&["a"], SchemaForm::Flat), None);
    for (who, scope) in
        [(holder("a:look"), "private"), (holder("*"), "private"), (CallOrigin::anonymous(), "public")]
    {
        for method in ["tools/list", "server/discover"] {
            let response = server.stateless(&who, method, json!({})).await;
            let response = &response["result"];
            assert_eq!(
                (&response["cacheScope"], &response["ttlMs"]),
                (&json!(scope), &json!(10_000)),
                "{response}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_incomplete_list_is_not_cached() {
    let gate = Gate::new(Arc::default(), Executor::new(lanes(), InlinePolicy::Slots(1)));
    let response = Server::new(gate, None).stateless(&CallOrigin::anonymous(), "tools/list", json!({})).await;
    assert_eq!(response["result"]["ttlMs"], 0, "{response}");
}

#[tokio::test]
async fn non_object_arguments_are_invalid_params() {
    let server = Server::new(gate(&["a"], SchemaForm::Flat), None);
    for era in ERAS {
        for arguments in [json!([]), json!("look"), json!(5), json!(true), json!([{"action": "look"}])] {
            let params = json!({"name": "a", "arguments": arguments});
            let response = server.ask(era, &holder("*"), "tools/call", params).await;
            assert_eq!(response["error"]["code"], -32602, "{era:?} {arguments}: {response}");
        }
    }
}

#[tokio::test]
async fn newer_revisions_than_configured_are_not_offered() {
    let initialize = async |newest: Revision, asked: &str| {
        let server = Server::new(gate(&["a"], SchemaForm::Flat), Some(newest));
        let params = json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        let (_, _, response) = server.post(&holder("*"), &[], body).await;
        response["result"]["protocolVersion"]
            .as_str()
            .map(str::to_owned)
            .unwrap_or_else(|| panic!("{response}"))
    };
    for (newest, asked, expected) in [
        (Revision::June2025, "2025-11-25", "2025-06-18"),
        (Revision::June2025, "2025-06-18", "2025-06-18"),
        (Revision::June2025, "2025-03-26", "2025-03-26"),
        (Revision::November2025, "2025-11-25", "2025-11-25"),
        (Revision::July2026, "2025-11-25", "2025-11-25"),
    ] {
        assert_eq!(initialize(newest, asked).await, expected, "{newest:?} {asked}");
    }
    let server = Server::new(gate(&["a"], SchemaForm::Flat), Some(Revision::November2025));
    for method in ["server/discover", "tools/list"] {
        let response = server.stateless(&holder("*"), method, json!({})).await;
        assert_eq!(response["error"]["code"], -32022, "{method}: {response}");
        assert!(!response["error"]["data"]["supported"].to_string().contains("2026"), "{response}");
    }
    let server = Server::new(gate(&["a"], SchemaForm::Flat), Some(Revision::July2026));
    let response = server.stateless(&holder("*"), "server/discover", json!({})).await;
    assert!(response["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{response}");
}

#[tokio::test]
async fn stdio_clients_negotiate_an_older_revision() {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let handler =
        McpHandler::new(gate(&["a"], SchemaForm::Flat), CallOrigin::local(), CancellationToken::new());
    let handler = handler.with_newest_revision(Some(Revision::June2025));
    let serving = tokio::spawn(async move { handler.serve(ours).await.unwrap().waiting().await });
    let client = ().serve(theirs).await.unwrap();
    assert_eq!(client.peer_info().unwrap().protocol_version.as_str(), "2025-06-18");
    assert_eq!(client.list_all_tools().await.unwrap().len(), 1);
    client.cancel().await.unwrap();
    let _ = serving.await;
}

#[tokio::test]
async fn long_lists_are_paginated() {
    let facades: Vec<String> = (0..50).map(|number| format!("f{number}")).collect();
    let facades: Vec<&str> = facades.iter().map(String::as_str).collect();
    let gate = gate(&facades, SchemaForm::Granular);
    let catalog = Arc::clone(gate.catalog());
    let handler = McpHandler::new(gate, CallOrigin::local(), CancellationToken::new());
    let connect = async || {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let handler = handler.clone();
        tokio::spawn(async move { handler.serve(ours).await.unwrap().waiting().await });
        ().serve(theirs).await.unwrap()
    };
    let whole = connect().await;
    let all = whole.list_all_tools().await.unwrap();
    let all: Vec<String> = all.iter().map(|tool| tool.name.to_string()).collect();
    let published: Vec<String> = catalog.snapshot().default_list().tools.keys().cloned().collect();
    assert_eq!((all.len(), &all), (300, &published));
    whole.cancel().await.unwrap();

    // Another client, since clients cache the list.
    let client = connect().await;
    let page = async |cursor: Option<String>| {
        client.list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor))).await
    };
    let first = page(None).await.unwrap();
    assert_eq!(first.tools.len(), 200);
    // In between, all tools are replaced.
    catalog.swap(slots(&["zeta"]));
    let rest = page(first.next_cursor).await.unwrap();
    assert_eq!(rest.tools.iter().filter(|tool| tool.name.starts_with("zeta_")).count(), 6);
    assert!(rest.next_cursor.is_none());
    let refused = page(Some("nonsense".into())).await.unwrap_err().to_string();
    assert!(refused.contains("-32602") && refused.contains("Invalid cursor"), "{refused}");
    client.cancel().await.unwrap();
}

#[test]
fn callers_of_equal_rights_share_a_list() {
    let catalog = Catalog::default();
    catalog.swap(slots(&["a", "b"]));
    let listed = ToolListCache::default();
    let made = Mutex::new(Vec::new());
    let list = |scopes: &str| {
        let list = listed.tools(&catalog, ClientView::default(), &rights(scopes));
        let mut made = made.lock().unwrap();
        let is_new = !made.iter().any(|known| Arc::ptr_eq(known, &list));
        // Kept, so that no other list reuses its address.
        made.push(Arc::clone(&list));
        (list.1.len(), is_new)
    };
    assert_eq!([list("*"), list("*")], [(2, true), (2, false)]);
    assert_eq!([list("a:look b:*"), list("b:* a:look")], [(2, true), (2, false)]);
    assert_eq!([list("a:look"), list("a:look"), list("")], [(1, true), (1, false), (0, true)]);
    // Above capacity, the most recently used lists stay cached.
    for number in 0..63 {
        assert!(list(&format!("a:look a:x{number}")).1);
    }
    assert_eq!([list(""), list("a:look")], [(0, false), (1, true)]);
    catalog.swap(slots(&["a"]));
    assert_eq!([list("a:look b:*"), list("*")], [(1, true), (1, true)]);
}
