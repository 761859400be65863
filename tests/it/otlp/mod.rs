//! Traces and metrics for a collector.

mod receiver;

use std::{path::Path, time::Duration};

use anyhow::{Context, Result};
use futures_util::future::join_all;
use loggia_tests::{
    Client, Era, Folder, HttpHost, PATIENCE, Raw, Served, Token, binary, cache, scratch,
    web::{Answer, Web},
    wire,
};
use serde_json::{Value, json};
use tokio::process::Command;

use self::receiver::{Receiver, count, render, roots, to_texts};

/// Begins every secret, parameter, result and invented name. None of it may be exported.
const CANARY: &str = "canary";

const FLOW: &str = "
facade: flow
compositeTools:
  - name: order
    description: Counts twice.
    parameters: {type: object, properties: {id: {type: string}}, required: [id]}
    steps:
      - {id: look, tool: keeps.get, arguments: {key: '{{.params.id}}'}}
      - {id: pay, tool: keeps.increment, arguments: {key: '{{.params.id}}'}, dependsOn: [look]}
      - {id: gone, tool: reaches.read_file, arguments: {path: '{{.params.id}}'}, dependsOn: [pay]}
";

/// A folder with a plugin of each kind, which may send requests to a server.
fn folder(web: &Web) -> Folder {
    let folder = Folder::with(&["echo", "keeps", "reaches", "relays", "worker"]);
    folder.write("keeps.toml", "[grants]\nstore = true\n");
    folder.write("relays.toml", "[grants]\ninvoke = [\"worker:*\"]\n");
    let host = web.url("");
    folder.write("reaches.toml", &format!("[grants]\nhttp = [{host:?}]\n"));
    folder.write("flow.workflow.yaml", FLOW);
    folder
}

/// Starts a host on stdio with these settings.
async fn stdio(folder: &Folder, settings: &str) -> Result<Raw> {
    let file = Served::settings(folder, settings, &[])?;
    Raw::start_with(folder.path(), |command| _ = command.arg("--config").arg(file)).await
}

#[tokio::test]
async fn calls_over_stdio_become_trees_of_spans() -> Result<()> {
    let (web, receiver) = (Web::start(|_| Answer::text("canary-result")).await?, Receiver::start().await?);
    let folder = folder(&web);
    let headers = "headers = { authorization = \"Bearer ${COLLECTOR:-canary-key}\" }\nmetrics = false";
    let mut host = stdio(&folder, &receiver.settings(headers)).await?;
    let canary = |name: &str| format!("{CANARY}-{name}");
    let calls = [
        ("echo", json!({"action": "add", "a": 1, "b": 2})),
        ("echo", json!({"action": canary("action")})),
        ("echo", json!({"action": "add", "a": canary("param")})),
        (&*canary("tool"), json!({})),
        ("relays", json!({"action": "read", "facade": "worker", "what": "tell"})),
        ("relays", json!({"action": "read", "facade": canary("facade"), "what": "tell"})),
        ("reaches", json!({"action": "fetch", "url": web.url("/canary-path?q=canary-query")})),
        ("reaches", json!({"action": "fetch", "url": "http://canary-host.example.com/"})),
        ("keeps", json!({"action": "increment", "key": canary("key")})),
        ("flow", json!({"action": "order", "id": canary("id")})),
    ];
    for (id, (tool, arguments)) in calls.iter().enumerate() {
        host.call(id as u64 + 10, tool, arguments).await?;
        host.answer().await?;
    }
    host.ask(br#"{"jsonrpc":"2.0","id":"list","method":"tools/list"}"#).await?;
    host.finish().await?;
    // All of it was sent before the process ended.
    let spans: Vec<_> = receiver.spans().into_iter().map(|(_, span)| span).collect();
    let roots = roots(&spans);
    assert!(roots.iter().all(|root| root.parent_span_id.is_empty()), "{roots:?}");
    let trees: Vec<_> = roots.iter().map(|root| render(root, &spans)).collect();
    insta::assert_snapshot!(trees.join("\n\n"));
    for request in receiver.requests() {
        assert_eq!(request.headers["authorization"], "Bearer canary-key");
        let text = String::from_utf8_lossy(&request.body);
        assert!(!text.contains(CANARY), "{text}");
    }
    Ok(())
}

/// Parent of a trace of another program.
fn traceparent(first: char, flags: &str) -> String {
    format!("00-{}-00f067aa0ba902b7-{flags}", first.to_string().repeat(32))
}

#[tokio::test]
async fn calls_over_http_continue_the_trace_of_their_client() -> Result<()> {
    let receiver = Receiver::start().await?;
    let folder = Folder::with(&["echo"]);
    let token = Token::new("ci", &["echo:*"]).await?;
    let served =
        Served::configured(&folder, &receiver.settings("service-name = \"tools\""), &[&token]).await?;
    let (a, b, c, d) = ('a', 'b', 'c', 'd');
    let header = |parent: &str| format!("Traceparent: {parent}\r\nTracestate: vendor=1\r\n");
    let cases = [
        (header(&traceparent(a, "01")), None, Some(a)),
        (header(&traceparent(a, "01")), Some(traceparent(b, "01")), Some(b)),
        (header(&traceparent(c, "00")), None, None),
        (header("00-zz"), Some("canary-trace".to_owned()), Some('-')),
        (header(&traceparent(d, "01")), Some(traceparent('0', "01")), Some(d)),
    ];
    for (headers, meta, _) in &cases {
        let headers = format!("{}{headers}Connection: close\r\n", token.header());
        let arguments = json!({"action": "add", "a": 1, "b": 2});
        let mut body: Value = serde_json::from_str(&wire::request(
            7,
            "tools/call",
            json!({"name": "echo", "arguments": arguments}),
        ))?;
        if let Some(parent) = meta {
            body["params"]["_meta"]["traceparent"] = json!(parent);
        }
        let headers = format!("{}{headers}", wire::named("tools/call", "echo"));
        let told = wire::send(
            served.host.authority(),
            wire::post(&served.host, &headers, &body.to_string()).as_bytes(),
        )
        .await?;
        assert_eq!(told.envelope()?["ok"], true, "{told:?}");
    }
    let expected: Vec<_> = cases.iter().filter_map(|(.., trace)| *trace).collect();
    let is_call = |span: &opentelemetry_proto::tonic::trace::v1::Span| span.name == "tools/call echo";
    let spans =
        receiver.spans_become(|spans| spans.iter().filter(|span| is_call(span)).count() == expected.len());
    let spans = spans.await;
    let mut calls: Vec<_> = spans.iter().filter(|span| is_call(span)).collect();
    calls.sort_by_key(|span| span.start_time_unix_nano);
    for (span, first) in calls.iter().zip(expected) {
        let trace: String = span.trace_id.iter().map(|byte| format!("{byte:02x}")).collect();
        if first == '-' {
            assert!(span.parent_span_id.is_empty() && span.trace_state.is_empty(), "{span:?}");
        } else {
            assert_eq!(trace, first.to_string().repeat(32));
            assert_eq!(span.parent_span_id, [0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7]);
        }
        let texts = to_texts(&span.attributes);
        assert_eq!((&*texts["network.transport"], &*texts["mcp.protocol.version"]), ("tcp", "2026-07-28"));
    }
    insta::assert_snapshot!(render(calls[0], &spans));
    let (resource, _) = receiver.spans().into_iter().next().context("a span")?;
    assert_eq!(resource["service.name"], "tools");
    let secret = token.header();
    let secret = secret.trim().rsplit(' ').next().context("a token")?;
    for request in receiver.requests() {
        let text = String::from_utf8_lossy(&request.body);
        assert!(!text.contains(secret) && !text.contains(CANARY), "{text}");
    }
    Ok(())
}

#[tokio::test]
async fn upstreams_continue_the_trace_of_a_call() -> Result<()> {
    let receiver = Receiver::start().await?;
    let (behind, folder) = (Folder::with(&["echo"]), Folder::with(&["worker"]));
    let settings = |name: &str| receiver.settings(&format!("metrics = false\nservice-name = \"{name}\""));
    // Each action is a tool, so that the tool's parameters are the action's.
    let inner = format!("{}[publish]\nschema = \"granular\"\n", settings("inner"));
    let inner = Served::settings(&behind, &inner, &[])?;
    let upstream = format!(
        "{}[upstream.far]\ncommand = {:?}\nargs = [\"serve\", {:?}, \"--config\", {inner:?}]\n\
         env = {{ LOGGIA_CACHE = {:?}, LOGGIA_STATE = {:?} }}\n",
        settings("outer"),
        binary(),
        behind.path(),
        cache(),
        scratch()
    );
    let mut host = stdio(&folder, &upstream).await?;
    host.call(7, "far", &json!({"action": "echo_add", "a": 1, "b": 2})).await?;
    assert_eq!(host.answer().await?["result"]["isError"], false);
    host.finish().await?;
    receiver
        .spans_become(|spans| spans.iter().filter(|span| span.name == "tools/call echo_add").count() == 2)
        .await;
    let spans = receiver.spans();
    let named = |service: &str, name: &str| {
        let mut found =
            spans.iter().filter(|(resource, span)| resource["service.name"] == service && span.name == name);
        found.next().map(|(_, span)| span).with_context(|| format!("{service} {name}"))
    };
    let (request, sent, taken) = (
        named("outer", "tools/call far")?,
        named("outer", "tools/call echo_add")?,
        named("inner", "tools/call echo_add")?,
    );
    assert_eq!((&request.trace_id, &sent.trace_id), (&taken.trace_id, &taken.trace_id));
    assert_eq!(taken.parent_span_id, sent.span_id);
    Ok(())
}

#[tokio::test]
async fn a_collector_that_fails_delays_no_call() -> Result<()> {
    let closed = {
        // Nothing listens at this port once the server has gone.
        Web::trap().await?.url("")
    };
    let [slow, endless, garbage, refuses] = [
        Web::start(|_| Answer::Never).await?,
        Web::start(|_| Answer::Endless).await?,
        Web::start(|_| Answer::Plain(200, Vec::new(), b"\xff\xff not protobuf".to_vec())).await?,
        Web::start(|_| Answer::Plain(400, Vec::new(), b"no".to_vec())).await?,
    ];
    let collectors = [
        (closed, false),
        (slow.url(""), false),
        (endless.url(""), false),
        (garbage.url(""), false),
        (refuses.url(""), true),
    ];
    let folder = Folder::with(&["echo"]);
    let tried = collectors.map(async |(url, drops): (String, bool)| {
        let settings = format!(
            "[telemetry]\nendpoint = \"{url}\"\ninterval = \"1s\"\n[http]\nlisten = \"127.0.0.1:0\"\n"
        );
        let served = Served::configured(&folder, &settings, &[]).await?;
        let client = Client::http(&served.host, Era::Stateless).await?;
        for _ in 0..50 {
            let told = client.envelope("echo", json!({"action": "add", "a": 1, "b": 2})).await?;
            assert_eq!(told["ok"], true, "{url}: {told}");
        }
        if drops {
            served.figures("loggia_telemetry_spans_dropped_total", |dropped| dropped > 100.0).await;
        }
        client.end().await?;
        let mut child = served.host.child;
        loggia_tests::signal(&child, rustix::process::Signal::TERM)?;
        let status = tokio::time::timeout(PATIENCE, child.wait()).await??;
        anyhow::ensure!(status.success(), "{url}: {status}");
        Ok(())
    });
    join_all(tried).await.into_iter().collect()
}

#[tokio::test]
async fn metrics_have_the_names_of_the_conventions() -> Result<()> {
    let receiver = Receiver::start().await?;
    let folder = Folder::with(&["echo"]);
    let settings = format!(
        "{}[http]\nlisten = \"127.0.0.1:0\"\n",
        receiver.settings("traces = false\ninterval = \"1s\"")
    );
    let host = HttpHost::configured(&folder, &settings).await?;
    let client = Client::http(&host, Era::Stateless).await?;
    for action in ["add", "unknown"] {
        client.envelope("echo", json!({"action": action, "a": 1, "b": 2})).await?;
    }
    let labels = |error: Option<&'static str>| {
        let mut labels = vec![("mcp.method.name", "tools/call"), ("gen_ai.tool.name", "echo")];
        labels.extend(error.map(|error| ("error.type", error)));
        labels
    };
    let (resource, metrics) = loggia_tests::eventually(async || {
        let (resource, metrics) = receiver.metrics().ok_or("none")?;
        let counted = count(&metrics, "mcp.server.operation.duration", &labels(Some("tool_error")));
        if counted == Some(1) { Ok((resource, metrics)) } else { Err(format!("{metrics:?}")) }
    })
    .await;
    assert_eq!(resource["service.name"], "loggia");
    assert_eq!(count(&metrics, "loggia.call.duration", &[("loggia.facade", "echo")]), Some(1));
    let found = metrics.iter().find(|metric| metric.name == "mcp.server.operation.duration");
    assert_eq!(found.map(|metric| metric.unit.as_str()), Some("s"));
    assert!(receiver.spans().is_empty());
    client.end().await
}

/// A host without the table, whose environment names a collector.
async fn unsent(folder: &Path, collector: &Web) -> Result<Raw> {
    Raw::start_with(folder, |command: &mut Command| {
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url(""));
    })
    .await
}

#[tokio::test]
async fn nothing_is_sent_without_the_table() -> Result<()> {
    let collector = Web::trap().await?;
    let folder = Folder::with(&["echo"]);
    let mut host = unsent(folder.path(), &collector).await?;
    host.call(7, "echo", &json!({"action": "add", "a": 1, "b": 2})).await?;
    host.answer().await?;
    host.finish().await?;
    assert_eq!(collector.connections(), 0);
    // The same variable is used once the table is there.
    let file = Served::settings(&folder, "[telemetry]\nmetrics = false\n", &[])?;
    let mut host = Raw::start_with(folder.path(), |command| {
        command.arg("--config").arg(file).env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url("/base/"));
    })
    .await?;
    host.call(7, "echo", &json!({"action": "add", "a": 1, "b": 2})).await?;
    host.answer().await?;
    host.finish().await?;
    assert_eq!(collector.last().path, "/base/v1/traces");
    Ok(())
}

#[tokio::test]
async fn wrong_variables_are_told_at_the_start() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let file = Served::settings(&folder, "[telemetry]\n", &[])?;
    let cases = [
        (
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "collector",
            "OTEL_EXPORTER_OTLP_ENDPOINT must be an http:// or https:// URL",
        ),
        ("OTEL_TRACES_SAMPLER", "jaeger", "OTEL_TRACES_SAMPLER must be always_on"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "canary-key", "OTEL_EXPORTER_OTLP_HEADERS is not a list"),
    ];
    for (name, value, said) in cases {
        let mut command = Command::new(binary());
        command.arg("serve").arg(folder.path()).arg("--config").arg(&file).env(name, value);
        command.env("LOGGIA_CACHE", cache()).env("LOGGIA_STATE", scratch());
        let output = tokio::time::timeout(Duration::from_secs(60), command.output()).await??;
        let stderr = String::from_utf8(output.stderr)?;
        assert_eq!(output.status.code(), Some(2), "{name}: {stderr}");
        assert!(stderr.contains(said) && !stderr.contains("canary"), "{name}: {stderr}");
    }
    Ok(())
}
