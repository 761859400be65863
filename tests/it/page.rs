//! The operator's page, without a browser: sessions, headers, forged and stale forms. `tests/page` is the browser's part.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use loggia_tests::{
    Folder, Served, Token, eventually, fixture,
    wire::{self, Told},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::Command,
};

use crate::clients::install;

/// An answer as it came; `Told` has its head in lower case, and ids of sessions need their case.
struct Page {
    status: u16,
    head: String,
    body: String,
}

impl Page {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    /// The value of an input of a form.
    fn field(&self, name: &str) -> Result<&str> {
        let (_, rest) = self
            .body
            .split_once(&format!("name=\"{name}\" value=\""))
            .with_context(|| format!("no field {name}: {}", self.body))?;
        rest.split_once('"').map(|(value, _)| value).context("an end")
    }
}

/// What a browser knows of the page.
struct Operator {
    admin: String,
    /// Headers of a browser's own forms.
    own: String,
    cookie: String,
}

impl Operator {
    fn new(served: &Served) -> Self {
        let own = format!("Origin: http://{}\r\n", served.admin);
        Self { admin: served.admin.clone(), own, cookie: String::new() }
    }

    async fn send(&self, request: &str, headers: &str, body: &str) -> Result<Page> {
        let mut stream = TcpStream::connect(&self.admin).await?;
        let (admin, cookie) = (&self.admin, &self.cookie);
        let cookie = if cookie.is_empty() { String::new() } else { format!("Cookie: a=b; {cookie}\r\n") };
        let head = format!("{request} HTTP/1.1\r\nHost: {admin}\r\n{cookie}{headers}\r\n");
        stream.write_all(format!("{head}{body}").as_bytes()).await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await?;
        let (head, body) = text.split_once("\r\n\r\n").context("no head")?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).context("no status")?;
        Ok(Page { status, head: head.to_owned(), body: body.to_owned() })
    }

    async fn get(&self, path: &str) -> Result<Page> {
        self.send(&format!("GET {path}"), "", "").await
    }

    /// Posts a form with these headers.
    async fn post_as(&self, path: &str, headers: &str, form: &str) -> Result<Page> {
        let headers = format!(
            "{headers}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n",
            form.len()
        );
        self.send(&format!("POST {path}"), &headers, form).await
    }

    async fn post(&self, path: &str, form: &str) -> Result<Page> {
        self.post_as(path, &self.own, form).await
    }

    /// Logs in; the answer.
    async fn log_in(&mut self, token: &str) -> Result<Page> {
        let form = self.get("/operator/login").await?;
        let own = form.field("form_token")?.to_owned();
        let page = self.post("/operator/login", &format!("form_token={own}&token={token}&name=ada")).await?;
        if let Some(cookie) = page.header("set-cookie") {
            cookie.split(';').next().unwrap_or_default().clone_into(&mut self.cookie);
        }
        Ok(page)
    }
}

/// Settings whose admin token this is.
fn settings(token: &Token) -> Result<String> {
    let hash = token.toml.lines().find_map(|line| line.strip_prefix("hash = ")).context("a hash")?;
    Ok(format!("[admin]\nlisten = \"127.0.0.1:0\"\ntoken = {hash}\n[http.per-caller]\nrate = 0\n"))
}

/// A folder with a plugin whose `put` needs consent.
fn folder() -> Folder {
    let folder = Folder::with(&["shelf", "worker"]);
    folder.write("shelf.toml", "[grants]\nstore = true\nelicit = true\n[actions]\nconfirm = [\"put\"]\n");
    folder
}

/// Calls `shelf.put`, which waits for an approval; the handle of its run.
async fn put(served: &Served, caller: &Token, text: &str) -> Result<String> {
    let arguments = json!({"action": "put", "id": "n1", "title": "A title", "text": text});
    let told: Told = wire::answered(&served.host, &caller.header(), "shelf", &arguments).await?;
    let envelope = told.envelope()?;
    let run = envelope["data"]["run"]["id"].as_str().with_context(|| format!("no run: {envelope}"))?;
    Ok(run.to_owned())
}

/// Waits for the result of a run.
async fn result(served: &Served, caller: &Token, run: &str) -> Value {
    eventually(async || {
        let status = json!({"action": "run_status", "run_id": run});
        let told = wire::answered(&served.host, &caller.header(), "shelf", &status).await;
        let envelope = told.and_then(|told| told.envelope()).map_err(|error| error.to_string())?;
        let result = &envelope["data"]["run"]["result"];
        if result.is_null() { Err(envelope.to_string()) } else { Ok(result.clone()) }
    })
    .await
}

/// The id of the only open approval.
async fn open_approval(operator: &Operator) -> String {
    eventually(async || {
        let page = operator.get("/operator/approvals").await.map_err(|error| error.to_string())?;
        let id = page.body.split_once("id=\"card-").and_then(|(_, rest)| rest.split_once('"'));
        id.map(|(id, _)| id.to_owned()).ok_or(page.body)
    })
    .await
}

/// H140.
#[tokio::test]
async fn the_page_needs_the_token_of_operators() -> Result<()> {
    let (admin, caller) = (Token::new("operator", &["*"]).await?, Token::new("ada", &["*"]).await?);
    let served = Served::configured(&folder(), &settings(&admin)?, &[&caller]).await?;
    let mut operator = Operator::new(&served);
    let pages =
        ["", "approvals", "approvals/ap_x", "facades", "runs", "runs/x", "callers", "tokens", "events"];
    for path in pages {
        let page = operator.get(&format!("/operator/{path}")).await?;
        assert_eq!((page.status, page.header("location")), (303, Some("/operator/login")), "{path}");
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

/// H141.
#[tokio::test]
async fn a_session_is_a_cookie_that_scripts_and_other_sites_do_not_get() -> Result<()> {
    let admin = Token::new("operator", &["*"]).await?;
    let caller = Token::new("ada", &["*"]).await?;
    let served = Served::configured(&folder(), &settings(&admin)?, &[&caller]).await?;
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

/// H142.
#[tokio::test]
async fn forged_and_stale_forms_change_nothing() -> Result<()> {
    let (admin, caller) = (Token::new("operator", &["*"]).await?, Token::new("ada", &["*"]).await?);
    let served = Served::configured(&folder(), &settings(&admin)?, &[&caller]).await?;
    let mut operator = Operator::new(&served);

    // A login that another site sends.
    let form_token = operator.get("/operator/login").await?.field("form_token")?.to_owned();
    let login = format!("form_token={form_token}&token={}", admin.secret);
    let page = operator.post_as("/operator/login", "Origin: http://evil.com\r\n", &login).await?;
    assert_eq!((page.status, page.header("set-cookie")), (403, None));
    let page = operator.post("/operator/login", &format!("token={}", admin.secret)).await?;
    assert_eq!((page.status, page.header("set-cookie")), (403, None));
    ensure!(operator.log_in(&admin.secret).await?.status == 303);

    let run = put(&served, &caller, "<script>alert(1)</script>\u{202e}").await?;
    let id = open_approval(&operator).await;
    let path = format!("/operator/approvals/{id}");
    let card = operator.get(&path).await?;
    assert!(!card.body.contains("<script>alert") && card.body.contains("&lt;script&gt;alert(1)"), "escaped");
    assert!(card.body.contains("\\u202e") && !card.body.contains('\u{202e}'), "hidden characters are shown");
    let (form_token, subject) = (card.field("form_token")?.to_owned(), card.field("subject")?.to_owned());
    let approve = format!("form_token={form_token}&subject={subject}&decision=approve");
    for (headers, form, status) in [
        ("", approve.clone(), 403),
        ("Origin: null\r\n", approve.clone(), 403),
        ("Origin: http://evil.com\r\n", approve.clone(), 403),
        ("Sec-Fetch-Site: cross-site\r\n", approve.clone(), 403),
        ("Sec-Fetch-Site: same-site\r\n", approve.clone(), 403),
        (&*operator.own, approve.replace(&form_token, "x"), 403),
        (&*operator.own, format!("subject={subject}&decision=approve"), 403),
        (&*operator.own, format!("form_token={form_token}&subject={subject}&decision=maybe"), 400),
        // What the person saw was another call.
        (&*operator.own, format!("form_token={form_token}&subject=other&decision=approve"), 409),
        (&*operator.own, format!("form_token={form_token}&decision=approve"), 409),
    ] {
        let page = operator.post_as(&path, headers, &form).await?;
        assert_eq!(page.status, status, "{headers} {form}");
        assert!(operator.get(&path).await?.body.contains(">open</span>"), "{headers} {form}");
    }
    let json = operator
        .send(
            &format!("POST {path}"),
            &format!("{}Content-Type: application/json\r\nContent-Length: 2\r\n", operator.own),
            "{}",
        )
        .await?;
    assert_eq!(json.status, 415);

    // A browser's own form, without a referrer.
    let page = operator.post_as(&path, "Origin: null\r\nSec-Fetch-Site: same-origin\r\n", &approve).await?;
    assert_eq!((page.status, page.header("location")), (303, Some("/operator/approvals?done=approved")));
    assert_eq!(result(&served, &caller, &run).await["ok"], true);
    assert_eq!(operator.post(&path, &approve).await?.status, 409, "it is decided once");
    let decided = operator.get(&path).await?.body;
    assert!(decided.contains("operator page: ada") && !decided.contains("name=\"decision\""), "{decided}");
    Ok(())
}

#[tokio::test]
async fn runs_are_listed_shown_and_cancelled() -> Result<()> {
    let (admin, caller) = (Token::new("operator", &["*"]).await?, Token::new("ada", &["*"]).await?);
    let served = Served::configured(&folder(), &settings(&admin)?, &[&caller]).await?;
    let mut operator = Operator::new(&served);
    operator.log_in(&admin.secret).await?;
    let work = json!({"action": "work", "steps": 100_000, "ms": 100, "wait": false});
    let told = wire::answered(&served.host, &caller.header(), "worker", &work).await?.envelope()?;
    let run = told["data"]["run"]["id"].as_str().context("a run")?.to_owned();
    let listed = operator.get("/operator/runs").await?.body;
    assert!(listed.contains("worker.work") && listed.contains(">running</span>"), "{listed}");
    assert!(listed.contains(&format!("/operator/runs/{run}")) && listed.contains(">ada<"), "{listed}");
    let path = format!("/operator/runs/{run}");
    let shown = operator.get(&path).await?;
    assert!(shown.body.contains("work begins"), "its trace: {}", shown.body);
    let form = format!("form_token={}", shown.field("form_token")?);
    let page = operator.post(&format!("{path}/cancel"), &form).await?;
    assert_eq!(page.header("location"), Some(format!("{path}?done=cancelled").as_str()));
    eventually(async || {
        let body = operator.get(&path).await.map_err(|error| error.to_string())?.body;
        if body.contains(">cancelled</span>") { Ok(()) } else { Err(body) }
    })
    .await;
    let page = operator.post(&format!("{path}/cancel"), &form).await?;
    assert_eq!(page.header("location"), Some(format!("{path}?done=ended").as_str()));
    Ok(())
}

#[tokio::test]
async fn without_a_token_of_operators_there_is_no_page() -> Result<()> {
    let served = Served::start(&Folder::with(&[]), |_| {}).await?;
    let operator = Operator::new(&served);
    for path in ["/operator", "/operator/", "/operator/login"] {
        let page = operator.get(path).await?;
        assert_eq!((page.status, page.body.contains("admin.token")), (403, true), "{path}");
    }
    Ok(())
}

/// Needs Chromium and a package from npm: `tests/release/run page`.
#[tokio::test]
#[ignore = "needs a browser"]
async fn the_page_holds_in_a_browser() -> Result<()> {
    let home = install(&["apps"]).await?;
    let pictures = std::env::temp_dir().join("loggia-page");
    std::fs::create_dir_all(&pictures)?;
    let (admin, caller) = (Token::new("operator", &["*"]).await?, Token::new("ada", &["*"]).await?);
    let folder = folder();
    folder.put("echo", &fixture("echo"));
    folder.write("\"><img src=x onerror=alert(1)>.wasm", "not a component");
    let settings = format!("{}questions = 16\nruns = 64\n", settings(&admin)?);
    let served = Served::configured(&folder, &settings, &[&caller]).await?;
    let browser =
        std::env::var_os("LOGGIA_CHROMIUM").map_or_else(|| PathBuf::from("/usr/bin/chromium"), PathBuf::from);
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("page/run.mjs");
    let mut command = Command::new(home.join("node"));
    command.arg(script).arg(format!("http://{}", served.admin)).arg(&served.host.url);
    command.args([&admin.secret, &caller.secret]).arg(browser).arg(home.join("apps")).arg(&pictures);
    // It prints what it saw.
    let ended = command.kill_on_drop(true).status().await?;
    ensure!(ended.success(), "{ended}");
    Ok(())
}
