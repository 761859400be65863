//! Server cards: documents about the server that everyone may read.

use std::process::Output;

use anyhow::{Context, Result};
use loggia_tests::{
    Folder, HttpHost, Served, Token, binary,
    wire::{self, Told},
};
use serde_json::{Value, json};
use tokio::process::Command;

const CARD: &str = "/mcp/server-card";
const RESEARCH: &str = "/mcp/research/server-card";
const CATALOG: &str = "/.well-known/ai-catalog.json";
const SETTINGS: &str = "
    [profile.research]
    tools = ['echo:add']
    instructions = 'Only for insiders.'

    [profile.internal]
    tools = ['*']

    [card]
    name = 'com.example/tools'
    url = 'https://tools.example.com/mcp'
    description = 'Sums of Example Ltd.'

    [card.profile.research]
    description = 'Small sums.'
";

async fn ask(authority: &str, method: &str, path: &str, headers: &str) -> Result<Told> {
    let request = format!("{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
    wire::send(authority, request.as_bytes()).await
}

/// The host's own header.
fn own(authority: &str) -> String {
    format!("Host: {authority}\r\n")
}

/// H101: a card is public, and shows what the settings say of it.
#[tokio::test]
async fn cards_show_nothing_but_the_settings() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let token = Token::new("ada", &["echo:*"]).await?;
    let served = Served::configured(&folder, SETTINGS, &[&token]).await?;
    let at = served.host.authority();
    let forwarded = format!("{}X-Forwarded-Host: evil.example\r\nForwarded: host=evil.example\r\n", own(at));
    for (path, media_type) in [
        (CARD, "application/mcp-server-card+json"),
        (RESEARCH, "application/mcp-server-card+json"),
        (CATALOG, "application/ai-catalog+json"),
    ] {
        let told = ask(at, "GET", path, &own(at)).await?;
        assert_eq!((told.status, told.header("content-type")), (200, Some(media_type)), "{told:?}");
        let body = told.message()?.to_string();
        for hidden in ["echo", "add", "insiders", "internal", "ada", &token.secret, "evil", at] {
            assert!(!body.contains(hidden), "{path} shows {hidden}: {body}");
        }
        for headers in [
            format!("{forwarded}Accept: text/html\r\n"),
            format!("{}Authorization: Bearer garbage\r\n", own(at)),
            format!("{}{}", own(at), token.header()),
        ] {
            let other = ask(at, "GET", path, &headers).await?;
            assert_eq!((other.status, &other.body), (200, &told.body), "{path} {headers}");
        }
        let refused = ask(at, "GET", path, "Host: evil.example\r\n").await?;
        assert_eq!((refused.status, refused.header("access-control-allow-origin")), (403, None), "{path}");
    }
    // Profiles without a card are as unknown as others, and calls need the token as before.
    for path in ["/mcp/internal/server-card", "/mcp/other/server-card", "/mcp/research", "/mcp"] {
        assert_eq!(ask(at, "GET", path, &own(at)).await?.status, 401, "{path}");
    }
    let add = json!({"action": "add", "a": 1, "b": 2});
    let called = wire::answered(&served.host, &token.header(), "echo", &add).await?;
    assert_eq!(called.envelope()?["data"], 3.0);
    assert_eq!(wire::answered(&served.host, "", "echo", &add).await?.status, 401);
    Ok(())
}

#[tokio::test]
async fn cards_agree_with_the_server() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let token = Token::new("ada", &["*"]).await?;
    let settings = format!("max-protocol-version = '2025-11-25'\n{SETTINGS}");
    for settings in [settings.as_str(), SETTINGS] {
        let served = Served::configured(&folder, settings, &[&token]).await?;
        let at = served.host.authority();
        let card = ask(at, "GET", CARD, &own(at)).await?.message()?;
        let remote = &card["remotes"][0];
        assert_eq!(
            (&remote["type"], &remote["url"]),
            (&json!("streamable-http"), &json!("https://tools.example.com/mcp"))
        );
        let headers = remote["headers"].as_array().context("headers")?;
        assert_eq!((&headers[0]["value"], &headers[0]["isSecret"]), (&json!("Bearer {token}"), &json!(true)));
        let revisions = remote["supportedProtocolVersions"].as_array().context("revisions")?;
        let newest = revisions.last().and_then(Value::as_str).context("a revision")?;
        let initialize = wire::INITIALIZE.replace("2025-06-18", "1999-01-01");
        let offered = wire::ask(&served.host, &token.header(), &initialize).await?.message()?;
        // Without sessions there is no handshake, so it offers the newest revision that has one.
        assert_eq!(offered["result"]["protocolVersion"], "2025-11-25");
        for member in ["name", "version"] {
            assert_eq!(offered["result"]["serverInfo"][member], card[member]);
        }
        let is_limited = settings.contains("max-protocol-version");
        assert_eq!(newest, if is_limited { "2025-11-25" } else { "2026-07-28" });
        if !is_limited {
            let request = wire::request(1, "server/discover", json!({}));
            let headers = format!("{}{}", token.header(), wire::named("server/discover", ""));
            let discovered = wire::ask(&served.host, &headers, &request).await?.message()?;
            assert_eq!(discovered["result"]["supportedVersions"], json!(revisions), "{discovered}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn browsers_and_caches_read_cards() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    // The CORS layer of `origins` does not apply to cards.
    let settings = format!("[http]\norigins = ['https://chat.example.com']\n{SETTINGS}");
    let host = HttpHost::configured(&folder, &settings).await?;
    let at = host.authority();
    for page in ["https://chat.example.com", "https://any.example", "null"] {
        let headers = format!("{}Origin: {page}\r\n", own(at));
        for path in [CARD, RESEARCH, CATALOG] {
            let told = ask(at, "GET", path, &headers).await?;
            assert_eq!(
                (told.status, told.header("access-control-allow-origin")),
                (200, Some("*")),
                "{told:?}"
            );
            assert_eq!(told.header("access-control-expose-headers"), Some("etag"));
            assert_eq!(told.header("access-control-allow-credentials"), None);
            assert_eq!(told.header("cache-control"), Some("public, max-age=3600"));
            let tag = told.header("etag").context("a tag")?;
            let known = ask(at, "GET", path, &format!("{headers}If-None-Match: W/{tag}\r\n")).await?;
            assert_eq!((known.status, &*known.body, known.header("etag")), (304, "", Some(tag)), "{known:?}");
            assert_eq!(known.header("access-control-allow-origin"), Some("*"));
            let head = ask(at, "HEAD", path, &headers).await?;
            assert_eq!((head.status, &*head.body, head.header("etag")), (200, "", Some(tag)), "{head:?}");
            let asked = format!(
                "{headers}Access-Control-Request-Method: GET\r\nAccess-Control-Request-Headers: if-none-match\r\n"
            );
            let preflight = ask(at, "OPTIONS", path, &asked).await?;
            assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, Some("*")));
            let allowed = preflight.header("access-control-allow-headers").context("headers")?;
            assert!(allowed.contains("if-none-match"), "{allowed}");
            for method in ["POST", "PUT", "DELETE"] {
                let told = ask(at, method, path, &headers).await?;
                assert_eq!(
                    (told.status, told.header("allow")),
                    (405, Some("get, head, options")),
                    "{told:?}"
                );
            }
        }
    }
    // Without authentication, no header is asked for.
    let card = ask(at, "GET", CARD, &own(at)).await?.message()?;
    assert_eq!(card["remotes"][0].get("headers"), None);
    let catalog = ask(at, "GET", CATALOG, &own(at)).await?.message()?;
    let urls: Vec<&Value> =
        catalog["entries"].as_array().context("entries")?.iter().map(|entry| &entry["url"]).collect();
    assert_eq!(
        urls,
        [&format!("https://tools.example.com{CARD}"), &format!("https://tools.example.com{RESEARCH}")]
    );
    Ok(())
}

#[tokio::test]
async fn without_the_table_there_are_no_cards() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let host = HttpHost::start(folder.path()).await?;
    for path in [CARD, RESEARCH, CATALOG] {
        let told = ask(host.authority(), "GET", path, &own(host.authority())).await?;
        assert_eq!((told.status, told.header("access-control-allow-origin")), (404, None), "{told:?}");
    }
    Ok(())
}

#[tokio::test]
async fn readers_of_cards_have_a_rate() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let settings = format!("[http.per-caller]\nrate = 1\nburst = 2\n{SETTINGS}");
    let host = HttpHost::configured(&folder, &settings).await?;
    let at = host.authority();
    let refused = loggia_tests::eventually(async || match ask(at, "GET", CARD, &own(at)).await {
        Ok(told) if told.status == 429 => Ok(told),
        other => Err(format!("{other:?}")),
    })
    .await;
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    assert_eq!(refused.header("access-control-allow-origin"), Some("*"));
    Ok(())
}

#[tokio::test]
async fn the_command_prints_what_is_served() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let host = HttpHost::configured(&folder, SETTINGS).await?;
    let file = Served::settings(&folder, SETTINGS, &[])?;
    let at = host.authority();
    for (path, words) in [(CARD, &[][..]), (RESEARCH, &["--profile", "research"])] {
        let Output { status, stdout, stderr } =
            Command::new(binary()).arg("card").args(words).arg("--config").arg(&file).output().await?;
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
        let printed: Value = serde_json::from_slice(&stdout)?;
        assert_eq!(printed, ask(at, "GET", path, &own(at)).await?.message()?, "{path}");
    }
    Ok(())
}
