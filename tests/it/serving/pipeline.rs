//! The order of the HTTP steps, as documented in `host/server/src/http/mod.rs`.

use anyhow::{Context, Result};
use futures_util::future::join_all;
use loggia_tests::{
    Folder, HttpHost, Served, Token, eventually,
    lingers::{lingers, runs, wait},
    wire::{self, Line},
};
use serde_json::json;

use super::oauth;

/// Faults of a request, in the order in which they are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    TooLarge,
    TwoHosts,
    WrongHost,
    ForeignOrigin,
    NoToken,
    NoScope,
    RateUsedUp,
    SlowBody,
    KeyTwice,
    TooManyAtOnce,
    NoSuchTool,
    None,
}

const PLAIN: &str = "text/plain; charset=utf-8";
const PAGE: &str = "https://chat.example.com";

/// Callers: one with all scopes, one of the authorization server without scopes, one above its rate, and one whose only
/// allowed call is running.
struct Callers {
    calm: Token,
    nobody: Token,
    greedy: Token,
    busy: Token,
}

/// A request with this fault and with all that are looked at later.
fn request(own: &str, from: Fault, callers: &Callers) -> String {
    let has = |fault: Fault| from <= fault;
    let tool = if has(Fault::NoSuchTool) { "nobody" } else { "echo" };
    let params = json!({"name": tool, "arguments": {"action": "add", "a": 1, "b": 2}});
    let mut body = wire::request(7, "tools/call", params);
    if has(Fault::KeyTwice) {
        body.insert_str(1, "\"id\":6,");
    }
    let mut head = format!("X-Request-Id: mine\r\nConnection: close\r\n{}", wire::named("tools/call", tool));
    if has(Fault::WrongHost) {
        head.push_str("Host: evil.example.com\r\n");
    }
    if !has(Fault::WrongHost) || has(Fault::TwoHosts) {
        head.push_str(&format!("Host: {own}\r\n"));
    }
    let page = if has(Fault::ForeignOrigin) { "https://evil.example.com" } else { PAGE };
    head.push_str(&format!("Origin: {page}\r\n"));
    let caller = match from {
        _ if has(Fault::NoToken) => None,
        Fault::NoScope => Some(&callers.nobody),
        Fault::RateUsedUp => Some(&callers.greedy),
        _ if has(Fault::TooManyAtOnce) => Some(&callers.busy),
        _ => Some(&callers.calm),
    };
    head.push_str(&caller.map(Token::header).unwrap_or_default());
    let length = match from {
        _ if has(Fault::TooLarge) => 5000,
        // One byte never arrives.
        _ if has(Fault::SlowBody) => body.len() + 1,
        _ => body.len(),
    };
    let said = format!("Content-Length: {}\r\n", body.len());
    wire::message(&head, &body).replace(&said, &format!("Content-Length: {length}\r\n"))
}

fn settings(more: &str) -> String {
    format!("[http]\nbody = '1KiB'\norigins = ['{PAGE}']\n{more}")
}

#[tokio::test]
async fn the_outermost_problem_is_reported_first() -> Result<()> {
    let folder = Folder::with(&["echo", "lingers"]);
    let data = lingers(&folder, "lingers");
    let key = oauth::Key::new()?;
    std::fs::write(folder.beside("config").join("keys.json"), key.set())?;
    let callers = Callers {
        calm: Token::new("calm", &["*"]).await?,
        nobody: Token {
            secret: key.token(json!({}), json!({"scope": "openid profile"})),
            toml: oauth::settings("keys.json"),
        },
        greedy: Token::new("greedy", &["*"]).await?,
        busy: Token::new("busy", &["*"]).await?,
    };
    let Callers { calm, nobody, greedy, busy } = &callers;
    let settings = settings("body-time = '3s'\n[http.per-caller]\nrate = 1\nburst = 4\nconcurrency = 1\n");
    let served = Served::configured(&folder, &settings, &[nobody, calm, greedy, busy]).await?;
    let own = served.host.authority();
    let mut held = Line::open(own).await?;
    held.write(wire::call(&served.host, &busy.header(), 1, "lingers", &wait("held"))).await?;
    runs(&data, "held").await;
    let told = async |from: Fault| wire::send(own, request(own, from, &callers).as_bytes()).await;
    let mut ids = Vec::new();
    for (from, status, said) in [
        (Fault::TooLarge, 413, "larger than 1KiB"),
        (Fault::TwoHosts, 400, "exactly one host"),
        (Fault::WrongHost, 403, "this host is not allowed"),
        (Fault::ForeignOrigin, 403, "this origin is not allowed"),
        (Fault::NoToken, 401, "send a token in the header"),
        (Fault::NoScope, 403, "scope"),
        (Fault::RateUsedUp, 429, "too many requests"),
        (Fault::SlowBody, 408, "did not arrive within 3 s"),
        (Fault::KeyTwice, 400, "given twice"),
        (Fault::TooManyAtOnce, 429, "too many calls at once"),
        (Fault::NoSuchTool, 0, "-32602"),
        (Fault::None, 200, "\"data\":3"),
    ] {
        let told = match from {
            // The first few pass to inner, slower layers; so more of them are sent at once.
            Fault::RateUsedUp => {
                eventually(async || {
                    let told = join_all((0..8).map(|_| told(from))).await;
                    let mut told = told.into_iter().flatten();
                    told.find(|told| told.status == status).ok_or_else(|| "none is refused".to_owned())
                })
                .await
            }
            _ => told(from).await?,
        };
        assert!(status == 0 || told.status == status, "{from:?}: {told:?}");
        assert!(told.body.contains(said), "{from:?}: {told:?}");
        assert_eq!(told.header("retry-after").is_some(), status == 429, "{from:?}: {told:?}");
        let challenged = matches!(from, Fault::NoToken | Fault::NoScope);
        assert_eq!(told.header("www-authenticate").is_some(), challenged, "{from:?}: {told:?}");
        let id = told.header("x-request-id").with_context(|| format!("{from:?}: {told:?}"))?.to_owned();
        assert!(id.len() == 16 && id.chars().all(|c| c.is_ascii_hexdigit()), "{from:?}: {id}");
        ids.push(id);
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 12, "each has a name of its own");
    Ok(())
}

/// H54, over HTTP: every refusal has a reason and a content type.
#[tokio::test]
async fn malformed_messages_get_protocol_errors() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let host = HttpHost::start(folder.path()).await?;
    let batch = format!("[{}]", wire::INITIALIZE);
    let wrong = wire::INITIALIZE.replace("\"params\":{", "\"params\":5,\"x\":{");
    for (body, id, code, said) in [
        ("", json!(null), -32700, "Parse error"),
        ("{", json!(null), -32700, "Parse error"),
        (&"[".repeat(5_000), json!(null), -32700, "Parse error"),
        (&batch, json!(null), -32600, "batches are not supported"),
        ("{}", json!(null), -32600, "Invalid request"),
        (&wrong, json!(1), -32602, "Invalid params"),
    ] {
        let told = wire::ask(&host, "", body).await?;
        assert_eq!((told.status, told.header("content-type")), (400, Some("application/json")), "{told:?}");
        let message = told.message()?;
        assert_eq!((&message["id"], &message["error"]["code"]), (&id, &json!(code)), "{message}");
        assert!(message["error"]["message"].as_str().is_some_and(|text| text.contains(said)), "{message}");
    }
    let own = host.authority();
    let head = format!("Host: {own}\r\nConnection: close\r\n");
    let chunked = wire::message(&format!("{head}Transfer-Encoding: chunked\r\n"), "ZZ\r\n")
        .replace("Content-Length: 4\r\n", "");
    let too_large = "x".repeat(5 << 20);
    let too_large = format!("{:x}\r\n{too_large}\r\n0\r\n\r\n", too_large.len());
    let plain =
        wire::message(&head, "x").replace("Content-Type: application/json", "Content-Type: text/plain");
    for (asked, status, said) in [
        (chunked.clone(), 400, "its chunks are malformed"),
        (chunked.replace("ZZ\r\n", &too_large), 413, "larger than 4MiB"),
        (plain, 415, "Content-Type must be application/json"),
        (wire::message(&head, wire::INITIALIZE).replace("application/json, ", ""), 406, "must accept both"),
        (wire::message(&head, wire::INITIALIZED), 400, "Session ID is required"),
        (format!("PUT /mcp HTTP/1.1\r\n{head}\r\n"), 405, "Method Not Allowed"),
    ] {
        let told = wire::send(own, asked.as_bytes()).await?;
        assert_eq!((told.status, told.header("content-type")), (status, Some(PLAIN)), "{told:?}");
        assert!(told.body.contains(said), "{told:?}");
    }
    Ok(())
}

#[tokio::test]
async fn cors_preflights_need_no_token() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let token = Token::new("ada", &["*"]).await?;
    let served = Served::configured(&folder, &settings(""), &[&token]).await?;
    let own = served.host.authority();
    let preflight = |page: &str| {
        format!(
            "OPTIONS /mcp HTTP/1.1\r\nHost: {own}\r\nOrigin: {page}\r\nAccess-Control-Request-Method: POST\r\n\
             Access-Control-Request-Headers: authorization,content-type,mcp-method\r\nConnection: close\r\n\r\n"
        )
    };
    let told = wire::send(own, preflight(PAGE).as_bytes()).await?;
    assert_eq!(told.status, 200, "{told:?}");
    assert_eq!(told.header("access-control-allow-origin"), Some(PAGE));
    let methods = told.header("access-control-allow-methods").context("methods")?;
    assert!(["get", "post", "delete"].iter().all(|method| methods.contains(method)), "{methods}");
    let headers = told.header("access-control-allow-headers").context("headers")?;
    assert_eq!(headers, "authorization,content-type,mcp-method");
    assert_eq!(told.header("access-control-allow-credentials"), None, "no cookies");
    for page in ["https://evil.example.com", "null", "http://chat.example.com"] {
        let told = wire::send(own, preflight(page).as_bytes()).await?;
        assert_eq!(
            (told.status, told.header("access-control-allow-origin")),
            (403, None),
            "{page}: {told:?}"
        );
    }
    // A page can read the reason for a refusal and the session's id.
    let origin = format!("Origin: {PAGE}\r\n");
    for (headers, status) in [(origin.clone(), 401), (format!("{origin}{}", token.header()), 200)] {
        let told = wire::ask(&served.host, &headers, wire::INITIALIZE).await?;
        assert_eq!((told.status, told.header("access-control-allow-origin")), (status, Some(PAGE)));
        let exposed = told.header("access-control-expose-headers").context("exposed")?;
        for name in ["mcp-session-id", "mcp-protocol-version", "www-authenticate", "retry-after"] {
            assert!(exposed.contains(name), "{name}: {exposed}");
        }
    }
    // Without configured origins, browsers get no CORS headers.
    let plain = Served::configured(&folder, "", &[&token]).await?;
    let own = plain.host.authority();
    let page = format!("http://{own}");
    let asked = preflight(&page).replace(served.host.authority(), own);
    let told = wire::send(own, asked.as_bytes()).await?;
    assert_eq!((told.status, told.header("access-control-allow-origin")), (401, None), "{told:?}");
    Ok(())
}

#[tokio::test]
async fn unauthenticated_requests_cause_no_work() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let token = Token::new("ada", &["*"]).await?;
    let served = Served::configured(&folder, "", &[&token]).await?;
    let host = &served.host;
    let add = json!({"action": "add", "a": 1, "b": 2});
    for headers in ["", "Authorization: Bearer garbage\r\n", "Authorization: Basic YWRhOng=\r\n"] {
        // Three announced mebibytes that never arrive: the server does not wait for them.
        let mut line = Line::open(host.authority()).await?;
        let head = wire::post(host, headers, "").replace("Content-Length: 0", "Content-Length: 3145728");
        line.write(head).await?;
        assert_eq!(line.head().await?.status, 401, "{headers}");
        assert_eq!(wire::ask(host, headers, wire::INITIALIZE).await?.status, 401, "{headers}");
        assert_eq!(wire::answered(host, headers, "echo", &add).await?.status, 401, "{headers}");
        for method in ["GET", "DELETE", "PUT"] {
            let asked = format!(
                "{method} /mcp HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\nMcp-Session-Id: x\r\n{headers}\
                 Connection: close\r\n\r\n",
                host.authority()
            );
            let told = wire::send(host.authority(), asked.as_bytes()).await?;
            assert_eq!(told.status, 401, "{method} {headers}: {told:?}");
        }
    }
    let (_, page) = served.get("/metrics").await?;
    for none in ["loggia_calls_total{", "mcp_server_operation_duration_seconds_count{", "status=\"200\""] {
        assert!(!page.contains(none), "{none}: {page}");
    }
    assert_eq!(served.figure("loggia_sessions").await?, Some(0.0));
    assert_eq!(served.figure("loggia_auth_failures_total{reason=\"invalid_token\"}").await?, Some(6.0));
    assert_eq!(served.figure("loggia_auth_failures_total{reason=\"missing\"}").await?, Some(12.0));
    // The rate limit is not the cause.
    assert_eq!(wire::ask(host, &token.header(), wire::INITIALIZE).await?.status, 200);
    assert_eq!(wire::answered(host, &token.header(), "echo", &add).await?.envelope()?["data"], 3.0);
    assert_eq!(served.figure("loggia_sessions").await?, Some(1.0));
    let calls = "loggia_calls_total{tool=\"echo\",action=\"add\",outcome=\"ok\"}";
    assert_eq!(served.figure(calls).await?, Some(1.0));
    Ok(())
}
