//! Sessions: logins, cookies, headers, streams.

use anyhow::{Context, Result, ensure};
use loggia_tests::{Folder, Served, Token, soon};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::operator::{Operator, folder, settings};

/// H111.
#[tokio::test]
async fn the_page_needs_the_token_of_operators() -> Result<()> {
    let (admin, caller) = (Token::new("operator", &["*"]).await?, Token::new("ada", &["*"]).await?);
    let folder = folder();
    let served = Served::configured(&folder, &settings(&admin)?, &[&caller]).await?;
    let mut operator = Operator::new(&served);
    let pages =
        ["", "approvals", "approvals/ap_x", "facades", "runs", "runs/x", "callers", "tokens", "events"];
    for path in pages {
        let page = operator.get(&format!("/operator/{path}")).await?;
        let to = match path {
            "" | "events" => String::new(),
            path => format!("?to=/operator/{path}"),
        };
        let login = format!("/operator/login{to}");
        assert_eq!((page.status, page.header("location")), (303, Some(login.as_str())), "{path}");
        assert!(page.body.is_empty(), "{path}");
    }
    for path in ["logout", "approvals/ap_x", "runs/x/cancel"] {
        let page = operator.post(&format!("/operator/{path}"), "").await?;
        assert_eq!((page.status, page.header("location")), (303, Some("/operator/login")), "{path}");
    }

    // The token of a caller is none of operators, and failures are limited.
    for attempt in 0..7 {
        let page = operator.log_in(&caller.secret).await?;
        assert_eq!(page.status, if attempt < 5 { 401 } else { 429 }, "{attempt}");
        assert!(page.header("set-cookie").is_none() && !page.body.contains(&caller.secret), "{}", page.body);
    }
    assert_eq!(operator.log_in(&admin.secret).await?.status, 429, "whoever it is");
    Ok(())
}

/// H112.
#[tokio::test]
async fn a_session_is_a_cookie_that_scripts_and_other_sites_do_not_get() -> Result<()> {
    let admin = Token::new("operator", &["*"]).await?;
    let caller = Token::new("ada", &["*"]).await?;
    let folder = folder();
    let served = Served::configured(&folder, &settings(&admin)?, &[&caller]).await?;
    let mut operator = Operator::new(&served);
    let page = operator.log_in(&admin.secret).await?;
    assert_eq!((page.status, page.header("location")), (303, Some("/operator/")));
    let port = served.admin.rsplit_once(':').context("a port")?.1;
    let cookie = page.header("set-cookie").context("a cookie")?;
    let (id, flags) = cookie.split_once("; ").context("flags")?;
    assert!(id.starts_with(&format!("loggia_operator_{port}=")) && id.len() > 60, "{cookie}");
    assert_eq!(flags, "Path=/operator; HttpOnly; SameSite=Strict");

    let pages = [
        "",
        "login",
        "approvals",
        "facades",
        "runs",
        "callers",
        "tokens",
        "assets/page.js",
        "nothing",
        "runs/x",
    ];
    for path in pages {
        let page = operator.get(&format!("/operator/{path}")).await?;
        let expected = if ["nothing", "runs/x"].contains(&path) { 404 } else { 200 };
        assert_eq!(page.status, expected, "{path}: {}", page.body);
        if path == "nothing" {
            continue;
        }
        for (name, value) in [
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            assert_eq!(page.header(name), Some(value), "{path}: {}", page.head);
        }
        let policy = page.header("content-security-policy").context("a policy")?;
        assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(!page.body.contains(" style=") && !page.body.contains(" onclick="), "{path}");
        // No secret of anybody, and no hash of one.
        for secret in [&admin.secret, &caller.secret] {
            assert!(!page.body.contains(secret.as_str()) && !page.body.contains("sha256:"), "{path}");
        }
    }

    // Behind TLS it is for TLS alone.
    let form = operator.get("/operator/login").await?;
    let form = format!("form_token={}&token={}", form.field("form_token")?, admin.secret);
    let headers = format!("{}X-Forwarded-Proto: https\r\n", operator.own);
    let page = operator.post_as("/operator/login", &headers, &form).await?;
    assert!(page.header("set-cookie").is_some_and(|cookie| cookie.ends_with("; Secure")), "{}", page.head);

    // Logging out ends the session, whatever the browser keeps.
    let form_token = operator.get("/operator/").await?.field("form_token")?.to_owned();
    let page = operator.post("/operator/logout", &format!("form_token={form_token}")).await?;
    assert!(page.header("set-cookie").is_some_and(|cookie| cookie.ends_with("Max-Age=0")), "{}", page.head);
    assert_eq!(operator.get("/operator/").await?.status, 303);
    Ok(())
}

#[tokio::test]
async fn a_link_to_an_approval_leads_there_after_the_login() -> Result<()> {
    let admin = Token::new("operator", &["*"]).await?;
    let folder = folder();
    let served = Served::configured(&folder, &settings(&admin)?, &[]).await?;
    let mut operator = Operator::new(&served);
    let path = "/operator/approvals/ap_x";
    // A browser that follows a link of another site keeps its cookie back. It comes again from this site.
    let link = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n";
    let page = operator.send(&format!("GET {path}"), link, "").await?;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("http-equiv=\"refresh\"") && !page.body.contains("ap_x"), "{}", page.body);
    let again = link.replace("cross-site", "same-origin");
    let page = operator.send(&format!("GET {path}"), &again, "").await?;
    let login = page.header("location").context("a login")?.to_owned();
    assert_eq!(login, format!("/operator/login?to={path}"));
    let page = operator.get(&login).await?;
    assert_eq!(page.field("to")?, path);
    for (to, expected) in
        [(path, path), ("https://evil.example/", "/operator/"), ("//evil.example", "/operator/")]
    {
        let form = operator.get(&format!("/operator/login?to={to}")).await?;
        let form = format!("form_token={}&token={}&to={to}", form.field("form_token")?, admin.secret);
        let page = operator.post("/operator/login", &form).await?;
        assert_eq!((page.status, page.header("location")), (303, Some(expected)), "{to}");
    }
    operator.log_in(&admin.secret).await?;
    assert_eq!(operator.get(path).await?.status, 404, "there is no such approval");
    Ok(())
}

#[tokio::test]
async fn streams_of_events_are_bounded_and_end_with_their_session() -> Result<()> {
    let admin = Token::new("operator", &["*"]).await?;
    let folder = folder();
    let served = Served::configured(&folder, &settings(&admin)?, &[]).await?;
    let mut operator = Operator::new(&served);
    operator.log_in(&admin.secret).await?;
    let request = format!(
        "GET /operator/events HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\nSec-Fetch-Mode: cors\r\n\r\n",
        served.admin, operator.cookie
    );
    let mut streams = Vec::new();
    for _ in 0..12 {
        let mut stream = TcpStream::connect(&served.admin).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut text = Vec::new();
        while !text.windows(13).any(|part| part == b"event: change") {
            let read = soon("an event", stream.read_buf(&mut text)).await??;
            ensure!(read > 0, "it ended: {}", String::from_utf8_lossy(&text));
        }
        assert!(text.starts_with(b"HTTP/1.1 200 OK"));
        streams.push(stream);
    }
    assert_eq!(operator.get("/operator/events").await?.status, 503);
    let form_token = operator.get("/operator/").await?.field("form_token")?.to_owned();
    operator.post("/operator/logout", &format!("form_token={form_token}")).await?;
    for mut stream in streams {
        soon("the stream's end", stream.read_to_end(&mut Vec::new())).await??;
    }
    Ok(())
}

#[tokio::test]
async fn without_a_token_of_operators_there_is_no_page() -> Result<()> {
    let folder = Folder::with(&[]);
    let served = Served::start(&folder, |_| {}).await?;
    let operator = Operator::new(&served);
    for path in ["/operator", "/operator/", "/operator/login"] {
        let page = operator.get(path).await?;
        assert_eq!((page.status, page.body.contains("admin.token")), (403, true), "{path}");
    }
    Ok(())
}
