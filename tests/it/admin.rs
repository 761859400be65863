//! The operator's view of a server: health, readiness, metrics, logs.

use std::io::{BufRead, BufReader};

use anyhow::{Context, Result, ensure};
use loggia_tests::{
    Client, Era, Folder, PATIENCE, Raw, Served, eventually, fixture,
    lingers::{go, lingers, runs, wait},
    signal, soon,
    web::{Answer, Web},
    wire,
};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

#[tokio::test]
async fn a_failed_plugin_is_reported_while_others_serve() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    folder.write("broken.wasm", "this is no component");
    let served = Served::start(&folder, |_| {}).await?;
    let (status, told) = served.readies(|_, told| told["loaded"] == true).await;
    assert_eq!(status, 200);
    insta::assert_json_snapshot!("ready", told);
    assert_eq!(served.get("/healthz").await?, (200, "ok\n".to_owned()));

    // A failed version keeps the old one serving; both are reported.
    folder.write("echo.wasm", "nor is this");
    let (status, told) = served.readies(|_, told| told["stale"] == 1).await;
    let why = told["plugins"][1]["why"].as_str().context("no reason")?;
    assert!(status == 200 && why.ends_with("the previous version keeps serving"), "{told}");

    // If nothing serves because something failed, the server is unready; an empty folder is ready.
    folder.remove("echo.wasm");
    let (status, told) = served.readies(|_, told| told["serving"] == 0 && told["stale"] == 0).await;
    assert_eq!((status, &told["why"]), (503, &json!("no plugin serves, and some failed")));
    folder.remove("broken.wasm");
    served.readies(|status, told| status == 200 && told["plugins"] == json!([])).await;
    folder.put("echo", &fixture("echo"));
    served.readies(|status, told| status == 200 && told["serving"] == 1).await;
    Ok(())
}

#[tokio::test]
async fn an_unreadable_folder_is_the_reported_reason() -> Result<()> {
    let folder = Folder::with(&[]);
    let served = Served::start(&folder, |_| {}).await?;
    served.readies(|status, _| status == 200).await;
    let aside = folder.beside("aside").join("plugins");
    std::fs::rename(folder.path(), &aside)?;
    std::fs::write(folder.path(), "a file")?;
    let said = |told: &Value| {
        told["why"].as_str().unwrap_or_default().starts_with("the plugin folder cannot be read: ")
    };
    served.readies(|status, told| status == 503 && said(told)).await;
    std::fs::remove_file(folder.path())?;
    std::fs::rename(&aside, folder.path())?;
    served.readies(|status, told| status == 200 && told.get("why").is_none()).await;
    Ok(())
}

#[tokio::test]
async fn a_draining_host_is_unready_while_calls_finish() -> Result<()> {
    let folder = Folder::with(&["lingers"]);
    let data = lingers(&folder, "lingers");
    let mut served = Served::start(&folder, |_| {}).await?;
    served.readies(|status, _| status == 200).await;
    let client = Client::http(&served.host, Era::Stateless).await?;
    let call = tokio::spawn(async move { client.envelope("lingers", wait("mark")).await });
    runs(&data, "mark").await;
    assert_eq!(served.figure("loggia_calls_in_flight{tool=\"lingers\"}").await?, Some(1.0));
    signal(&served.host.child, Signal::TERM)?;
    let (status, told) = served.readies(|_, told| told["draining"] == true).await;
    assert_eq!(
        (status, &told["ready"], &told["why"]),
        (503, &json!(false), &json!("the server is shutting down"))
    );
    assert!(!call.is_finished(), "it still runs");
    assert_eq!(served.get("/healthz").await?.0, 200, "it is alive all the same");
    assert!(served.get("/metrics").await?.1.contains("loggia_ready 0"));
    go(&data, "gone")?;
    assert_eq!(soon("the call's end", call).await???["data"], "gone");
    let status = tokio::time::timeout(PATIENCE, served.host.child.wait()).await??;
    assert_eq!(status.code(), Some(0));
    Ok(())
}

#[tokio::test]
async fn the_admin_listener_checks_host_names_and_methods() -> Result<()> {
    let folder = Folder::with(&[]);
    let served = Served::start(&folder, |_| {}).await?;
    let own = format!("Host: {}\r\n", served.admin);
    let port = served.admin.rsplit_once(':').context("no port")?.1;
    let cases = [
        ("GET /healthz HTTP/1.1", own.clone(), 200),
        ("HEAD /healthz HTTP/1.1", own.clone(), 200),
        ("HEAD /metrics HTTP/1.1", own.clone(), 200),
        ("GET /healthz HTTP/1.0", String::new(), 200),
        ("GET /healthz HTTP/1.1", format!("Host: localhost:{port}\r\n"), 200),
        ("GET /healthz HTTP/1.1", format!("Host: [::1]:{port}\r\n"), 200),
        ("GET /healthz HTTP/1.1", "Host: 10.0.0.7:9090\r\n".into(), 200),
        ("GET /metrics HTTP/1.1", "Host: evil.com\r\n".into(), 403),
        ("GET /metrics HTTP/1.1", format!("Host: 127.0.0.1.evil.com:{port}\r\n"), 403),
        ("GET /metrics HTTP/1.1", format!("{own}Host: evil.com\r\n"), 400),
        ("POST /healthz HTTP/1.1", format!("{own}Content-Length: 0\r\n"), 405),
        ("DELETE /metrics HTTP/1.1", own.clone(), 405),
        ("GET / HTTP/1.1", own.clone(), 404),
        ("GET /mcp HTTP/1.1", own.clone(), 404),
        ("GET /readyz/../metrics HTTP/1.1", own.clone(), 404),
    ];
    for (request, headers, expected) in cases {
        let (status, head, body) = served.ask(&format!("{request}\r\n{headers}\r\n")).await?;
        assert_eq!(status, expected, "{request} {headers}: {head} {body}");
        assert!(
            head.contains("connection: close") && head.contains("cache-control: no-store"),
            "{request}: {head}"
        );
        assert!(!request.starts_with("HEAD") || body.is_empty(), "{request}: {body}");
    }
    for (accept, kind, first, last) in [
        (
            OPEN_METRICS,
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
            "loggia_build info",
            "# EOF\n",
        ),
        (
            "Accept: text/plain\r\n",
            "text/plain; version=0.0.4; charset=utf-8",
            "loggia_build_info gauge",
            "\n",
        ),
        ("", "text/plain; version=0.0.4; charset=utf-8", "loggia_build_info gauge", "\n"),
    ] {
        let (_, head, page) = served.ask(&format!("GET /metrics HTTP/1.1\r\n{own}{accept}\r\n")).await?;
        assert!(head.contains(&format!("content-type: {kind}\r\n")), "{accept}: {head}");
        assert!(page.contains(&format!("# TYPE {first}\n")) && page.ends_with(last), "{accept}: {page}");
        assert_eq!(page.contains("# EOF"), last != "\n", "{accept}");
    }
    let (_, head, _) = served.ask(&format!("GET /readyz HTTP/1.1\r\n{own}\r\n")).await?;
    assert!(head.contains("content-type: application/json"), "{head}");
    Ok(())
}

/// The `Accept` header of Prometheus.
const OPEN_METRICS: &str =
    "Accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5\r\n";

/// Removes values that differ between runs.
fn alike(page: &str) -> String {
    let told = page.lines().map(|line| match line.rsplit_once(' ') {
        Some((name, value)) if !line.starts_with('#') => {
            let differs = ["_sum", "cpu_seconds", "loggia_tasks", "loggia_http_", "process_"];
            // A call's duration is unknown, but below five minutes.
            let bucket =
                name.contains("_bucket{") && !name.contains("le=\"300.0\"") && !name.contains("le=\"+Inf\"");
            match (bucket, differs.iter().any(|differs| name.contains(differs))) {
                (true, _) => String::new(),
                (_, true) => format!("{name} …\n"),
                _ => format!("{name} {value}\n"),
            }
        }
        _ => format!("{line}\n"),
    });
    told.collect()
}

#[tokio::test]
async fn every_figure_of_a_served_folder() -> Result<()> {
    let folder = Folder::with(&["echo", "misbehaves"]);
    folder.write("broken.wasm", "this is no component");
    let served = Served::start(&folder, |_| {}).await?;
    served.readies(|status, _| status == 200).await;
    let client = Client::http(&served.host, Era::Stateful).await?;
    client.names().await?;
    for (tool, arguments) in [
        ("echo", json!({"action": "add", "a": 1, "b": 2})),
        ("echo", json!({"action": "ADD", "a": 1, "b": 2})),
        ("echo", json!({"action": "add", "a": "x"})),
        ("echo", json!({"action": "made up by a stranger"})),
        ("echo", json!({"action": "describe"})),
        ("misbehaves", json!({"action": "panic"})),
        ("broken", json!({"action": "any"})),
    ] {
        client.call(tool, arguments).await?;
    }
    ensure!(client.call("nobody", json!({"action": "made up too"})).await.is_err());
    let ask = format!("GET /metrics HTTP/1.1\r\nHost: {}\r\n{OPEN_METRICS}\r\n", served.admin);
    let (status, _, page) = served.ask(&ask).await?;
    assert_eq!(status, 200);
    assert!(
        !page.contains("stranger") && !page.contains("\"nobody\"") && !page.contains("made up"),
        "{page}"
    );
    let page = alike(&page).replace(env!("CARGO_PKG_VERSION"), "0.0.0");
    insta::assert_snapshot!("figures", page);
    client.end().await
}

#[tokio::test]
async fn a_plugins_usage_is_counted() -> Result<()> {
    let folder = Folder::with(&["reaches"]);
    let web = Web::start(|_| Answer::text("hello")).await?;
    folder.write("reaches.toml", &format!("[grants]\nhttp = [\"{}\"]\n", web.url("")));
    let served = Served::start(&folder, |_| {}).await?;
    served.readies(|status, _| status == 200).await;
    let client = Client::http(&served.host, Era::Stateless).await?;
    for url in [web.url(""), web.url(""), "http://127.0.0.1:9".to_owned()] {
        client.call("reaches", json!({"action": "fetch", "url": url})).await?;
    }
    let (_, page) = served.get("/metrics").await?;
    let figure =
        |name: &str| page.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
    let sent =
        |outcome| figure(&format!("loggia_egress_requests_total{{tool=\"reaches\",outcome=\"{outcome}\"}}"));
    assert_eq!((sent("answered"), sent("denied"), sent("failed")), (Some(2.0), Some(1.0), None), "{page}");
    assert!(figure("loggia_cpu_seconds_total{tool=\"reaches\"}").is_some_and(|cpu| cpu > 0.0), "{page}");
    client.end().await
}

#[tokio::test]
async fn a_stdio_host_has_an_admin_listener() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let (client, log) = Client::stdio_logged(folder.path(), |command| {
        command.args(["--admin", "127.0.0.1:0", "--log-format", "json"]);
    })
    .await?;
    client.names().await?;
    client.end().await?;
    let log = log.await??;
    assert!(log.contains("\"message\":\"admin on http://127.0.0.1:"), "{log}");
    log.lines().try_for_each(is_json)
}

/// A line of the log in JSON.
fn is_json(line: &str) -> Result<()> {
    let told: Value = serde_json::from_str(line).with_context(|| line.to_owned())?;
    let has = |key: &str| told[key].as_str().is_some_and(|text| !text.is_empty());
    ensure!(["timestamp", "level", "target", "message"].into_iter().all(has), "{line}");
    Ok(())
}

#[tokio::test]
async fn json_logging_makes_every_line_json() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    // Even with only errors logged, the address is printed.
    let mut served = Served::start(&folder, |command| {
        command.args(["--log-format", "json"]).env("LOGGIA_LOG", "error");
    })
    .await?;
    signal(&served.host.child, Signal::TERM)?;
    tokio::time::timeout(PATIENCE, served.host.child.wait()).await??;
    let log = served.log.lock().expect("a log").clone();
    assert!(log.iter().any(|line| line.contains("\"message\":\"listening on http://127.0.0.1:")), "{log:?}");
    log.iter().try_for_each(|line| is_json(line))?;
    // Startup errors are JSON too, including those about the settings file that requests JSON.
    let config = folder.beside("config").join("loggia.toml");
    std::fs::write(&config, "wrong = 1\n[http]\nlisten = 'x'\n[log]\nformat = 'json'\n")?;
    let there = folder.path().to_string_lossy().into_owned();
    let config = config.to_string_lossy().into_owned();
    for (arguments, code, said) in [
        (
            vec!["serve", "--log-format", "json", &there, "--http", "203.0.113.1:1", "--allow-anonymous"],
            1,
            "failed to listen",
        ),
        (vec!["serve", "--log-format", "json", &config], 1, "is a file"),
        (vec!["serve", "--config", &config, &there], 1, "unknown key `wrong`"),
        (vec!["serve", "--log-format", "json"], 2, "no plugin folder: pass one"),
    ] {
        let mut command = tokio::process::Command::new(loggia_tests::binary());
        command
            .args(&arguments)
            .env("LOGGIA_CACHE", loggia_tests::cache())
            .env("LOGGIA_STATE", loggia_tests::scratch());
        let output = command.output().await?;
        let stderr = String::from_utf8(output.stderr)?;
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.contains(said), "{arguments:?}: {stderr}");
        stderr.lines().try_for_each(is_json).with_context(|| format!("{arguments:?}"))?;
    }
    Ok(())
}

/// One call over HTTP without a session, with these headers and this trace.
async fn call(served: &Served, headers: &str, trace: Option<&str>) -> Result<String> {
    let mut meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    if let Some(trace) = trace {
        meta["traceparent"] = trace.into();
    }
    let arguments = json!({"action": "add", "a": 1, "b": 2});
    let params = json!({"_meta": meta, "name": "echo", "arguments": arguments});
    let body = json!({"jsonrpc": "2.0", "id": "seven", "method": "tools/call", "params": params}).to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\nConnection: close\r\n\
         Content-Length: {}\r\n{headers}\r\n{body}",
        served.host.authority(),
        body.len()
    );
    let mut stream = TcpStream::connect(served.host.authority()).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer)).await??;
    Ok(answer)
}

#[tokio::test]
async fn a_call_is_logged_with_caller_and_outcome() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let served = Served::start(&folder, |command| {
        command.args(["--log-format", "json"]).env("LOGGIA_LOG", "info,loggia::audit=debug");
    })
    .await?;
    let [one, other] = ["4bf92f3577b34da6a3ce929d0e0e4736", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"];
    let parent = |trace: &str| format!("00-{trace}-00f067aa0ba902b7-01");
    let header = format!("X-Request-Id: r-1\r\nTraceparent: {}\r\n", parent(other));
    let cases = [
        ("", None, Value::Null),
        (header.as_str(), None, json!(other)),
        (header.as_str(), Some(parent(one)), json!(one)),
        ("X-Request-Id: not a name\r\nTraceparent: zz\r\n", None, Value::Null),
    ];
    for (seen, (headers, trace, expected)) in cases.into_iter().enumerate() {
        let answer = call(&served, headers, trace.as_deref()).await?;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let is_call = |line: &&String| line.contains("\"event\":\"call\"");
        let line = eventually(async || {
            let log = served.log.lock().expect("a log");
            log.iter().filter(is_call).nth(seen).cloned().ok_or_else(|| log.join("\n"))
        })
        .await;
        let told: Value = serde_json::from_str(&line)?;
        // Under the name that its answer has, whatever its sender called it.
        let request =
            answer.lines().find_map(|line| line.strip_prefix("x-request-id: ")).context("a name")?;
        assert_eq!((&told["request"], &told["trace"]), (&json!(request), &expected), "{line}");
        let rest = ["caller", "facade", "action", "outcome", "level"]
            .map(|key| told[key].as_str().unwrap_or_default());
        assert_eq!(rest, ["(anonymous)", "echo", "add", "ok", "DEBUG"], "{line}");
        assert!(told["ms"].as_f64().is_some_and(|ms| ms > 0.0) && told["id"].is_string(), "{line}");
    }
    Ok(())
}

/// H48, H50: whatever the level, no credential is logged, and no line is long.
#[tokio::test]
async fn trace_logs_are_short_and_free_of_credentials() -> Result<()> {
    const LONGEST: usize = 8 << 10;
    for format in ["human", "json"] {
        let folder = Folder::with(&["echo", "misbehaves"]);
        folder.write("misbehaves.toml", "[limits]\nresult = \"4MiB\"\n");
        let served = Served::start(&folder, |command| {
            command
                .args(["--log-format", format])
                .env("LOGGIA_LOG", "trace,rmcp=trace,hyper=trace,plugin=trace");
        })
        .await?;
        served.readies(|status, _| status == 200).await;
        let jwt = "eyJhbGciOiJSUzI1NiJ9.eyJjYW5hcnkiOjF9.canary";
        for header in [
            format!("Authorization: Bearer {jwt}"),
            "Authorization: Basic canary".into(),
            "Cookie: a=canary".into(),
        ] {
            let answer = call(&served, &format!("{header}\r\n"), None).await?;
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        }
        let text = format!("Bearer {jwt} loggia_{}", "canary".repeat(8));
        for (tool, arguments) in
            [("misbehaves", json!({"action": "flood"})), ("echo", json!({"action": "say", "text": text}))]
        {
            let request = wire::call(&served.host, "Connection: close\r\n", 1, tool, &arguments);
            let response = wire::send(served.host.authority(), wire::weighted(&request).as_bytes()).await?;
            assert_eq!(response.status, 200, "{response:?}");
        }
        // rmcp logs the result at this level, at least without a session; otherwise the test would prove nothing.
        served.logs(|line| line.contains("xxxxxxxx")).await;
        served.logs(|line| line.contains("Bearer [redacted]")).await;
        let log = served.log.lock().expect("a log").clone();
        for line in &log {
            assert!(line.len() < LONGEST, "{} bytes: {line:.200}", line.len());
            assert!(!line.contains("canary") && !line.contains("eyJjYW5hcnkiOjF9"), "{line}");
            assert!(!line.contains(|c: char| c.is_control()), "{line:?}");
        }
        let cut = |line: &str| line.contains("xxxxxxxx") && line.contains('…');
        assert!(log.iter().any(|line| cut(line)), "what rmcp tells of a large result is cut");
    }
    Ok(())
}

#[tokio::test]
async fn dropped_lines_are_counted() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let (unread, stderr) = std::io::pipe()?;
    let mut host = Raw::start_with(folder.path(), |command| {
        command.env("LOGGIA_LOG", "info,rmcp=trace,loggia::audit=debug").stderr(stderr);
    })
    .await?;
    // More lines than a pipe and the writer hold together.
    let list = |id: u64| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#).into_bytes();
    for id in 1..=3000 {
        host.ask(&list(id)).await?;
    }
    // Once stderr is read again, the next line reports the number of dropped lines.
    let (lines, mut told) = tokio::sync::mpsc::unbounded_channel();
    let reading = tokio::task::spawn_blocking(move || {
        for line in BufReader::new(unread).lines() {
            let _ = lines.send(line?);
        }
        std::io::Result::Ok(())
    });
    let mut id = 3000;
    let noticed = async {
        loop {
            while let Ok(line) = told.try_recv() {
                let missing = line.split_once(" lines of the log were dropped");
                let missing = missing.and_then(|(before, _)| before.rsplit(' ').next()?.parse::<u64>().ok());
                if missing.is_some_and(|missing| missing > 0) {
                    return anyhow::Ok(());
                }
            }
            id += 1;
            host.ask(&list(id)).await?;
        }
    };
    soon("how many lines were dropped", noticed).await??;
    host.finish().await?;
    soon("the end of the log", reading).await???;
    Ok(())
}
