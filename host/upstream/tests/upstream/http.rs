//! Upstreams over streamable HTTP.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
};

use loggia_facade::{Answer, code};
use loggia_upstream::{HttpSpec, TransportSpec, UpstreamSpec};
use serde_json::json;

use crate::support::{FakePort, FakeUpstream, assert_sound, call, call_with, data, failure, until};

/// A fake server, ended with its handle.
struct HttpServer {
    child: Child,
    url: String,
}

impl HttpServer {
    fn start(mode: &str) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/upstream/fake_http_server.py");
        let mut child = Command::new("python3")
            .args(["-u".as_ref(), script.as_os_str(), mode.as_ref()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python");
        let mut port = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut port).expect("a port");
        Self { child, url: format!("http://127.0.0.1:{}/mcp", port.trim()) }
    }

    fn spec(&self) -> UpstreamSpec {
        let http = HttpSpec {
            url: self.url.clone(),
            headers: [("x-own".to_owned(), "operator".to_owned())].into(),
            ..HttpSpec::default()
        };
        UpstreamSpec::new("fake", TransportSpec::Http(http))
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn both_lifecycles_are_spoken_over_http() {
    for mode in ["normal", "stateless"] {
        let server = HttpServer::start(mode);
        let mut upstream = FakeUpstream::of(server.spec());
        let facade = upstream.facade().await;
        assert_sound(&facade).await;
        let headers = data(&facade, "headers", json!({})).await;
        assert_eq!(
            (&headers["x-own"], &headers["authorization"]),
            (&json!("operator"), &json!(null)),
            "{mode}"
        );
        let port = Arc::new(FakePort::default());
        let reply = call_with(&facade, port.clone(), "stream", json!({})).await.expect("a reply");
        assert_eq!(reply.data, json!("streamed"), "{mode}");
        until("progress", async || !port.progress.lock().unwrap().is_empty()).await;
    }
}

#[tokio::test]
async fn questions_reach_their_own_call() {
    let server = HttpServer::start("normal");
    let mut upstream = FakeUpstream::of(server.spec());
    let facade = upstream.facade().await;
    // Several calls are in flight; the stream says which one asks.
    let calls = (0..4).map(|number| {
        let facade = facade.clone();
        let answer = json!({"n": number.to_string()});
        tokio::spawn(async move {
            let port =
                Arc::new(FakePort { answer: Some(Answer::Accepted(answer.clone())), ..FakePort::default() });
            let reply = call_with(&facade, port, "ask", json!({})).await.expect("a reply");
            assert_eq!(reply.data, json!({"action": "accept", "content": answer}));
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.expect("an answer");
    }
}

#[tokio::test]
async fn bad_answers_fail_one_call() {
    let server = HttpServer::start("normal");
    let mut upstream = FakeUpstream::of(server.spec());
    let facade = upstream.facade().await;
    for (action, text) in [
        ("large", "it sent more than 16777216 bytes in one message"),
        ("values", "more than 100000 values"),
        ("values_event", "more than 100000 values"),
        ("large_event", "it sent more than 16777216 bytes in one message"),
        ("cut", "the stream ended without an answer"),
        ("busy", "it answered with HTTP 503"),
    ] {
        let failed = failure(&facade, action, json!({})).await;
        assert!(failed.message.contains(text), "{action}: {failed}");
        assert_sound(&facade).await;
    }
}

#[tokio::test]
async fn dropped_calls_are_cancelled_over_http() {
    let server = HttpServer::start("normal");
    let mut upstream = FakeUpstream::of(server.spec());
    let facade = upstream.facade().await;
    let silent = tokio::spawn({
        let facade = facade.clone();
        async move { call(&facade, "silent", json!({})).await }
    });
    assert_sound(&facade).await;
    silent.abort();
    until("it is cancelled", async || data(&facade, "state", json!({})).await["cancelled"] == 1).await;
}

#[tokio::test]
async fn unusable_servers_give_their_reason() {
    for (mode, expected) in [
        ("needs-token", "it refused the credentials with HTTP 401"),
        ("redirects", "it redirects to another address; the settings have to name that one"),
        ("broken", "it answered with HTTP 500"),
        ("html", "its answer is neither JSON nor a stream of events"),
    ] {
        let server = HttpServer::start(mode);
        assert_eq!(FakeUpstream::of(server.spec()).outage().await, expected, "{mode}");
    }
    let gone = HttpServer::start("normal").spec();
    let reason = FakeUpstream::of(gone).outage().await;
    assert!(reason.starts_with("it cannot be reached: Connection refused"), "{reason}");
}

#[tokio::test]
async fn credentials_of_the_settings_are_sent() {
    let server = HttpServer::start("needs-token");
    let mut spec = server.spec();
    if let TransportSpec::Http(http) = &mut spec.transport {
        http.headers.insert("Authorization".into(), "Bearer good-token".into());
    }
    assert_sound(&FakeUpstream::of(spec).facade().await).await;
}

#[tokio::test]
async fn a_lost_server_is_unavailable() {
    let server = HttpServer::start("normal");
    let mut upstream = FakeUpstream::of(server.spec());
    let facade = upstream.facade().await;
    drop(server);
    let failed = failure(&facade, "echo", json!({})).await;
    assert_eq!(failed.code, code::UNAVAILABLE);
    assert!(failed.message.contains("it cannot be reached"), "{failed}");
}
