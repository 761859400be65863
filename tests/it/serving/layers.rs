//! The order of the layers of HTTP, as `host/src/serve/http/mod.rs` tells it.

use anyhow::{Context, Result};
use loggia_tests::{
    Folder, Served, Token, eventually,
    wire::{self, Line},
};
use serde_json::json;

/// What can be wrong with a request, from what is looked at first to what is looked at last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    TooLarge,
    TwoHosts,
    WrongHost,
    ForeignOrigin,
    NoToken,
    RateUsedUp,
    KeyTwice,
    NoSuchTool,
    None,
}

const PAGE: &str = "https://chat.example.com";

/// A request with this fault and with all that are looked at later.
fn request(own: &str, from: Fault, tokens: &[Token; 2]) -> String {
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
    let [calm, greedy] = tokens;
    if !has(Fault::NoToken) {
        head.push_str(&if has(Fault::RateUsedUp) { greedy.header() } else { calm.header() });
    }
    let message = wire::message(&head, &body);
    match has(Fault::TooLarge) {
        true => message.replace(&format!("Content-Length: {}\r\n", body.len()), "Content-Length: 5000\r\n"),
        false => message,
    }
}

fn settings(more: &str) -> String {
    format!("[http]\nbody = '1KiB'\norigins = ['{PAGE}']\n{more}")
}

#[tokio::test]
async fn of_all_that_is_wrong_with_a_request_the_outermost_is_told() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let tokens = [Token::new("calm", &["*"]).await?, Token::new("greedy", &["*"]).await?];
    let settings = settings("[http.per-caller]\nrate = 1\nburst = 4\n");
    let served = Served::configured(&folder, &settings, &[&tokens[0], &tokens[1]]).await?;
    let own = served.host.authority();
    let told = async |from: Fault| wire::send(own, request(own, from, &tokens).as_bytes()).await;
    let mut ids = Vec::new();
    for (from, status, said) in [
        (Fault::TooLarge, 413, "larger than 1KiB"),
        (Fault::TwoHosts, 400, "must each be named once"),
        (Fault::WrongHost, 403, "not known by that host"),
        (Fault::ForeignOrigin, 403, "pages of that origin"),
        (Fault::NoToken, 401, "send a token in the header"),
        (Fault::RateUsedUp, 429, "too many requests"),
        (Fault::KeyTwice, 400, "given twice"),
        (Fault::NoSuchTool, 0, "-32602"),
        (Fault::None, 200, "\"data\":3"),
    ] {
        let told = match from {
            // The first few are answered by what lies further in; then, or a little later, none is.
            Fault::RateUsedUp => {
                eventually(async || match told(from).await {
                    Ok(told) if told.status == status => Ok(told),
                    other => Err(format!("{other:?}")),
                })
                .await
            }
            _ => told(from).await?,
        };
        assert!(status == 0 || told.status == status, "{from:?}: {told:?}");
        assert!(told.body.contains(said), "{from:?}: {told:?}");
        assert_eq!(told.header("retry-after").is_some(), status == 429, "{from:?}: {told:?}");
        assert_eq!(told.header("www-authenticate").is_some(), status == 401, "{from:?}: {told:?}");
        let id = told.header("x-request-id").with_context(|| format!("{from:?}: {told:?}"))?.to_owned();
        assert!(id.len() == 16 && id.chars().all(|c| c.is_ascii_hexdigit()), "{from:?}: {id}");
        ids.push(id);
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 9, "each has a name of its own");
    Ok(())
}

#[tokio::test]
async fn a_browser_is_told_which_pages_may_call_before_it_has_a_token() -> Result<()> {
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
    // A page can read why it was refused, and the name of its session.
    let origin = format!("Origin: {PAGE}\r\n");
    for (headers, status) in [(origin.clone(), 401), (format!("{origin}{}", token.header()), 200)] {
        let told = wire::ask(&served.host, &headers, wire::INITIALIZE).await?;
        assert_eq!((told.status, told.header("access-control-allow-origin")), (status, Some(PAGE)));
        let exposed = told.header("access-control-expose-headers").context("exposed")?;
        for name in ["mcp-session-id", "mcp-protocol-version", "www-authenticate", "retry-after"] {
            assert!(exposed.contains(name), "{name}: {exposed}");
        }
    }
    // Where no page is named, browsers are told nothing.
    let plain = Served::configured(&folder, "", &[&token]).await?;
    let own = plain.host.authority();
    let page = format!("http://{own}");
    let asked = preflight(&page).replace(served.host.authority(), own);
    let told = wire::send(own, asked.as_bytes()).await?;
    assert_eq!((told.status, told.header("access-control-allow-origin")), (401, None), "{told:?}");
    Ok(())
}

#[tokio::test]
async fn who_is_not_known_causes_no_work() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let token = Token::new("ada", &["*"]).await?;
    let served = Served::configured(&folder, "", &[&token]).await?;
    let host = &served.host;
    let add = json!({"action": "add", "a": 1, "b": 2});
    for headers in ["", "Authorization: Bearer garbage\r\n", "Authorization: Basic YWRhOng=\r\n"] {
        // Three mebibytes that are announced, and of which none comes: nobody waits for them.
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
    // It is not the counting that fails.
    assert_eq!(wire::ask(host, &token.header(), wire::INITIALIZE).await?.status, 200);
    assert_eq!(wire::answered(host, &token.header(), "echo", &add).await?.envelope()?["data"], 3.0);
    assert_eq!(served.figure("loggia_sessions").await?, Some(1.0));
    let calls = "loggia_calls_total{tool=\"echo\",action=\"add\",outcome=\"ok\"}";
    assert_eq!(served.figure(calls).await?, Some(1.0));
    Ok(())
}
