//! Calls and roots of a client whose messages the tests write themselves.

use std::{sync::Arc, time::Duration};

use loggia_facade::{Call, Input, Object, Reply, Request};
use loggia_gate::{
    access::CallOrigin,
    call::Gate,
    catalog::{Catalog, CatalogSlot},
    schedule::{Executor, InlinePolicy},
    testing::{broken_entry, entry, lanes, puppet},
};
use loggia_policy::model::{FacadeRules, InvokeRule};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex, split,
};
use tokio_util::sync::CancellationToken;

use super::{direct::DirectCalls, server::serve, streams::StdioStreams};
use crate::{
    jsonrpc::tool_call::PlainToolCall,
    mcp::{DirectOutcome, McpHandler},
};

/// A gate with four facades: `a` replies with its client's roots, `nested` with what `a` replies to it, `plain` needs none, and
/// `large` replies with more than the client's pipe holds.
fn gate() -> Gate {
    let roots = puppet("a", |call: Call| async move {
        let roots = call.session.client_roots().await;
        let named = roots.roots.iter().map(|root| format!("{} {:?}", root.path.display(), root.name));
        let refused = roots.refused.iter().map(ToString::to_string);
        let all: Vec<String> = named.chain(refused).chain(roots.absence).collect();
        Ok(Reply::data(all.join(", ")))
    });
    let nested = puppet("nested", |call: Call| async move {
        let input = Input::Action { action: "look".into(), params: Object::new(), detail: call.detail };
        let request = Request::new("a", input);
        call.session.invoke(request).await
    });
    let plain = puppet("plain", |_| async { Ok(Reply::data("done")) });
    let large = puppet("large", |_| async { Ok(Reply::data("x".repeat(PIPE))) });
    let rules = || FacadeRules::default();
    let invokes = FacadeRules { invoke: vec![InvokeRule::parse("a:*").unwrap()], ..rules() };
    let catalog = Arc::new(Catalog::default());
    let slots = [(roots, rules()), (nested, invokes), (plain, rules()), (large, rules())];
    let slots = slots.map(|(puppet, rules)| {
        (puppet.surface.name.clone(), CatalogSlot::Serving(Arc::new(entry(puppet, rules))))
    });
    catalog.swap(slots.into());
    catalog.mark_admitted();
    Gate::new(catalog, Executor::new(lanes(), InlinePolicy::Slots(4)))
}

fn handler() -> McpHandler {
    McpHandler::new(gate(), CallOrigin::local(), CancellationToken::new())
}

/// Bytes that wait between client and server at most.
const PIPE: usize = 1 << 20;

/// A client that writes its messages by hand.
struct Script {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    last_id: u64,
    /// Number of times that the server asked for roots.
    asked: usize,
    /// What it responds to `roots/list`: `None` for nothing.
    response: Option<Value>,
}

impl Script {
    /// Connects as a client with these capabilities that responds to `roots/list` with this result.
    async fn connect(capabilities: Value, result: Value) -> Self {
        let mut script = Self::over(Some(json!({"result": result})));
        script.initialize(capabilities).await;
        script
    }

    async fn initialize(&mut self, capabilities: Value) {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "script", "version": "0"}});
        self.request("initialize", params).await;
        self.send(json!({"method": "notifications/initialized"})).await;
    }

    fn over(response: Option<Value>) -> Self {
        Self::of(handler(), response)
    }

    fn of(handler: McpHandler, response: Option<Value>) -> Self {
        let (ours, theirs) = duplex(PIPE);
        let (read, write) = split(ours);
        let streams = StdioStreams { read: Box::pin(read), write: Box::pin(write) };
        tokio::spawn(serve(handler, streams, Duration::ZERO, CancellationToken::new()));
        let (output, input) = split(theirs);
        Self { input, output: BufReader::new(output).lines(), last_id: 0, asked: 0, response }
    }

    async fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        serde_json::from_str(&self.output.next_line().await.unwrap().unwrap()).unwrap()
    }

    /// Sends a request; returns its response, and responds to the server's requests meanwhile.
    async fn request(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(json!({"id": id, "method": method, "params": params})).await;
        loop {
            let message = self.receive().await;
            if message["method"] == "roots/list" {
                self.asked += 1;
                if let Some(mut response) = self.response.clone() {
                    response["id"] = message["id"].clone();
                    self.send(response).await;
                }
            } else if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Calls an action of a facade; returns its data.
    async fn call(&mut self, facade: &str) -> String {
        let params = json!({"name": facade, "arguments": {"action": "look"}});
        let response = self.request("tools/call", params).await;
        response["result"]["structuredContent"]["data"]
            .as_str()
            .unwrap_or_else(|| panic!("{response}"))
            .to_owned()
    }
}

fn roots(uris: &[&str]) -> Value {
    json!({"roots": uris.iter().map(|uri| json!({"uri": uri})).collect::<Vec<_>>()})
}

#[tokio::test]
async fn roots_are_asked_once_when_needed() {
    let mut client =
        Script::connect(json!({"roots": {"listChanged": true}}), roots(&["file:///srv/a"])).await;
    assert_eq!((client.call("plain").await.as_str(), client.asked), ("done", 0));
    for facade in ["a", "a", "nested"] {
        assert_eq!(client.call(facade).await, "/srv/a None", "{facade}");
    }
    assert_eq!(client.asked, 1);
    for uris in [&["file:///srv/b", "https://example.com", "file:///srv/c"][..], &[]] {
        client.response = Some(json!({"result": roots(uris)}));
        client.send(json!({"method": "notifications/roots/list_changed"})).await;
        let expected = match uris {
            [] => "its list is empty; open a folder in the client",
            _ => "/srv/b None, /srv/c None, `example.com` is not a `file://` URI",
        };
        assert_eq!(client.call("nested").await, expected);
        assert_eq!(client.call("a").await, expected);
    }
    assert_eq!(client.asked, 3);
}

#[tokio::test]
async fn names_of_roots_reach_facades() {
    let named = json!({"roots": [{"uri": "file:///srv/a", "name": "Work"}], "_meta": {"x": 1}});
    let mut client = Script::connect(json!({"roots": {}}), named).await;
    assert_eq!(client.call("a").await, "/srv/a Some(\"Work\")");
}

#[tokio::test]
async fn unusable_answers_are_no_roots() {
    for (response, expected) in [
        (json!({"result": {}}), "its response to `roots/list` has no list of roots"),
        (json!({"result": {"roots": "file:///srv"}}), "its response to `roots/list` has no list of roots"),
        (json!({"result": {"roots": [{"name": "x"}]}}), "its response to `roots/list` has no list of roots"),
        (json!({"result": {"roots": [5]}}), "its response to `roots/list` has no list of roots"),
        (
            json!({"error": {"code": -32601, "message": "Method not\u{1b} found"}}),
            "it answered `roots/list` with an error",
        ),
    ] {
        let mut client = Script::connect(json!({"roots": {}}), Value::Null).await;
        client.response = Some(response.clone());
        assert_eq!(client.call("a").await, expected, "{response}");
        // The calls after it do not wait for the client again.
        assert_eq!(client.call("a").await, expected, "{response}");
        assert_eq!(client.asked, 1, "{response}");
        // A change is a reason to ask again.
        client.response = Some(json!({"result": roots(&["file:///srv/a"])}));
        client.send(json!({"method": "notifications/roots/list_changed"})).await;
        assert_eq!(client.call("a").await, "/srv/a None", "{response}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_answers_is_not_waited_for() {
    let mut client = Script::connect(json!({"roots": {}}), Value::Null).await;
    client.response = None;
    let began = tokio::time::Instant::now();
    let silent = "it did not answer `roots/list` within 5 seconds";
    for _ in 0..3 {
        assert_eq!(client.call("a").await, silent);
    }
    assert_eq!(client.asked, 1);
    let waited = began.elapsed();
    assert!((5..7).contains(&waited.as_secs()), "{waited:?}");
    // Later it is asked again.
    tokio::time::advance(Duration::from_secs(31)).await;
    client.response = Some(json!({"result": roots(&["file:///srv/a"])}));
    assert_eq!(client.call("a").await, "/srv/a None");
    assert_eq!(client.asked, 2);
}

#[tokio::test]
async fn clients_without_roots_are_not_asked() {
    for capabilities in [json!({}), json!({"sampling": {}})] {
        let mut client = Script::connect(capabilities, roots(&["file:///srv/a"])).await;
        assert_eq!(client.call("a").await, "it does not support roots");
        assert_eq!(client.asked, 0);
    }
    // A client of 2026-07-28 answers no requests of the server.
    let mut client = Script::over(None);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "script", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}}});
    let params = json!({"name": "a", "arguments": {"action": "look"}, "_meta": meta});
    let response = client.request("tools/call", params).await;
    assert_eq!(
        response["result"]["structuredContent"]["data"],
        "the host asks for roots only up to revision 2025-11-25 of MCP, and the client speaks a newer one"
    );
    assert_eq!(client.asked, 0);
}

/// Calls that wait alone begin where they are read, the others in rmcp's service.
#[tokio::test]
async fn calls_are_answered_alone_and_together() {
    let mut client = Script::connect(json!({"roots": {}}), roots(&["file:///srv/a"])).await;
    let call = |id: u64, tool: &str| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": tool, "arguments": {"action": "look"}}})
    };
    for _ in 0..3 {
        assert_eq!(client.call("plain").await, "done");
        assert_eq!(client.call("a").await, "/srv/a None");
        let together: String = (10..20).map(|id| format!("{}\n", call(id, "plain"))).collect();
        client.input.write_all(together.as_bytes()).await.unwrap();
        let mut answered = Vec::new();
        for _ in 10..20 {
            let response = client.receive().await;
            assert_eq!(response["result"]["structuredContent"]["data"], "done", "{response}");
            answered.push(response["id"].as_u64().unwrap());
        }
        answered.sort_unstable();
        assert!(answered.into_iter().eq(10..20));
    }
    client.send(call(20, "nobody")).await;
    let refused = client.receive().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(20), &json!(-32602)), "{refused}");
}

#[tokio::test]
async fn a_panic_ends_its_request_and_not_the_connection() {
    let plain = puppet("plain", |_| async { Ok(Reply::data("done")) });
    let entries = [("broken", broken_entry("broken")), ("plain", entry(plain, FacadeRules::default()))];
    let slots = entries.map(|(name, entry)| (name.to_owned(), CatalogSlot::Serving(Arc::new(entry))));
    let catalog = Arc::new(Catalog::default());
    catalog.swap(slots.into());
    catalog.mark_admitted();
    let gate = Gate::new(catalog, Executor::new(lanes(), InlinePolicy::Slots(0)));
    let handler = McpHandler::new(gate, CallOrigin::local(), CancellationToken::new());
    let mut client = Script::of(handler, None);
    client.initialize(json!({})).await;
    let call = |id: u64| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "broken", "arguments": {"action": "look"}}})
    };
    for id in [7, 8] {
        client.send(call(id)).await;
        let refused = client.receive().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(id), &json!(-32603)), "{refused}");
    }
    // Together, they are served by rmcp.
    client.input.write_all(format!("{}\n{}\n", call(9), call(10)).as_bytes()).await.unwrap();
    for _ in 9..=10 {
        let refused = client.receive().await;
        assert_eq!(refused["error"]["message"], "internal server error; see the server's log", "{refused}");
    }
    assert_eq!(client.call("plain").await, "done");
}

/// Otherwise, the client and the server would wait for each other.
#[tokio::test]
async fn a_client_may_send_calls_before_it_reads_responses() {
    let mut client = Script::connect(json!({}), Value::Null).await;
    // Two of them do not fit into the pipe either.
    let meta = json!({"pad": "x".repeat(PIPE * 2 / 3)});
    let params = json!({"name": "large", "arguments": {"action": "look"}, "_meta": meta});
    for id in [100, 101, 102] {
        client.send(json!({"id": id, "method": "tools/call", "params": params})).await;
        // Each alone, so that it begins where it is read.
        tokio::task::yield_now().await;
    }
    assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn calls_begin_once_the_client_has_chosen_its_lifecycle() {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "script", "version": "0"}});
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let meta = |version: &str| {
        json!({"io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {}})
    };
    let list =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta("2026-07-28")}});
    // Whether a client has chosen when these messages have been passed on, and which of its calls begin then: one without metadata, one
    // of 2026-07-28, one of an unknown revision.
    for (messages, has_lifecycle, begins) in [
        (&[][..], false, [false, false, false]),
        (&[&list], false, [false, false, false]),
        (&[&list], true, [false, true, false]),
        (&[&initialize], true, [false, false, false]),
        (&[&initialize, &initialized], true, [true, false, false]),
        (&[&initialize, &list, &initialized], true, [true, false, false]),
        (&[&list, &initialize], true, [false, false, false]),
        (&[&initialize, &initialized, &initialize], true, [false, false, false]),
    ] {
        let mut calls = DirectCalls::new(handler());
        for message in messages {
            calls.observe(&serde_json::from_value((*message).clone()).unwrap(), has_lifecycle);
        }
        let metas = [None, Some(meta("2026-07-28")), Some(meta("2031-01-01"))];
        for (meta, begins) in metas.into_iter().zip(begins) {
            let mut params = json!({"name": "plain", "arguments": {"action": "look"}});
            if let Some(meta) = meta {
                params["_meta"] = meta;
            }
            let tree = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
            let mut call = PlainToolCall::from_tree(tree.clone()).unwrap();
            let outcome = calls.begin(&mut call).await;
            let is_begun = match outcome {
                DirectOutcome::Answered(text, _) => text.contains("done"),
                DirectOutcome::Started(_) | DirectOutcome::Declined => false,
            };
            assert_eq!(is_begun, begins, "{messages:?} {tree}");
        }
    }
}
