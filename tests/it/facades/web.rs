//! `web` over MCP, with a loopback server.

use std::io::Write;

use anyhow::Result;
use flate2::{Compression, write::GzEncoder};
use loggia_tests::{
    Client, Era,
    web::{Answer, Asked, Web},
};
use serde_json::{Value, json};

/// A response of SearXNG; the plugin's own tests use the same file.
const ETNA: &str = include_str!("../../../plugins/web/src/tests/etna.json");

const ARTICLE: &str = include_str!("../../../plugins/web/src/tests/pages/article.html");

const PDF: &[u8] = include_bytes!("../../../plugins/web/src/tests/pages/standard.pdf");

/// Policy that grants the server.
fn policy(web: &Web, more: &str) -> String {
    let origin = web.url("");
    format!("[grants]\nhttp = [{origin:?}]\n{more}\n[limits]\nhttp-response = \"8MiB\"\n")
}

fn typed(content_type: &str, body: impl Into<Vec<u8>>) -> Answer {
    Answer::Plain(200, vec![("content-type", content_type.into())], body.into())
}

/// A site with a robots.txt.
fn site(asked: &Asked) -> Answer {
    match asked.path.as_str() {
        "/robots.txt" => Answer::text("User-agent: *\nDisallow: /private\n"),
        "/guide" => typed("text/html", ARTICLE),
        "/old" => Answer::redirect("/guide"),
        "/away" => Answer::redirect("http://other.example/"),
        "/pdf" => typed("application/octet-stream", PDF),
        "/api" => typed("application/json", r#"{"routes": 2}"#),
        "/zip" => typed("application/zip", *b"PK\x03\x04"),
        "/slow" => Answer::Never,
        _ => Answer::Plain(404, Vec::new(), Vec::new()),
    }
}

/// A value without the server's port.
fn portless(web: &Web, value: &Value) -> Result<Value> {
    Ok(serde_json::from_str(&value.to_string().replace(&format!(":{}", web.port), ""))?)
}

#[tokio::test]
async fn pages_are_read_by_their_kind() -> Result<()> {
    let web = Web::start(site).await?;
    let folder = super::folder("web", &policy(&web, ""));
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let calls = [
        json!({"action": "fetch", "url": web.url("/old")}),
        json!({"action": "fetch", "url": web.url("/pdf")}),
        json!({"action": "fetch", "url": web.url("/api")}),
        json!({"action": "fetch", "url": web.url("/zip")}),
        json!({"action": "fetch", "url": web.url("/nothing")}),
        json!({"action": "fetch", "url": web.url("/private/diary")}),
        json!({"action": "fetch", "url": web.url("/away")}),
        json!({"action": "fetch", "url": "https://elsewhere.example/"}),
        json!({"action": "head", "url": web.url("/guide")}),
        json!({"action": "links", "url": web.url("/guide"), "same_host": true}),
    ];
    let mut answers = Vec::new();
    for call in calls {
        let mut answer = client.envelope("web", call).await?;
        // It depends on the text of the host, which has tests of its own.
        if answer["code"] == "denied"
            && answer["error"].as_str().is_some_and(|error| error.contains("policy"))
        {
            answer = json!({"code": "denied", "redirected": answer["error"].to_string().contains("redirected from")});
        }
        answers.push(portless(&web, &answer)?);
    }
    insta::assert_json_snapshot!(answers);
    assert!(!web.asked().iter().any(|asked| asked.path.starts_with("/private")));
    client.end().await
}

#[tokio::test]
async fn the_configured_server_searches_the_web() -> Result<()> {
    let web = Web::start(|asked| match asked.path.contains("q=etna") {
        true => typed("application/json", ETNA),
        false => Answer::Plain(403, vec![("content-type", "text/html".into())], "<h1>Forbidden</h1>".into()),
    })
    .await?;
    let folder = super::folder("web", "");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let unconfigured = client.envelope("web", json!({"action": "search", "query": "etna"})).await?;
    client.end().await?;

    let url = web.url("/search");
    folder.write("web.toml", &policy(&web, &format!("config.search = {{ url = {url:?} }}")));
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let asked = json!({"action": "search", "query": "etna", "time_range": "month"});
    let found = client.envelope("web", asked).await?;
    assert_eq!(web.last().path, "/search?q=etna&format=json&pageno=1&time_range=month");
    assert_eq!(web.last().method, "GET");
    let refused = client.envelope("web", json!({"action": "search", "query": "other"})).await?;
    insta::assert_json_snapshot!(portless(&web, &json!([unconfigured, found, refused]))?);
    client.end().await
}

/// Pages of several MiB that a parser must not be slow on, or decompress whole.
#[tokio::test]
async fn hostile_pages_end_within_the_limits() -> Result<()> {
    let web = Web::start(|asked| match asked.path.as_str() {
        "/deep" => typed("text/html", ["<div>".repeat(100_000), "<p>bottom".into()].concat()),
        "/quotations" => typed("text/html", ["<blockquote>".repeat(100_000), "<p>bottom".into()].concat()),
        "/table" => typed("text/html", ["<p>bottom<table>", &"<tr><td>x<td>y".repeat(300_000)].concat()),
        "/formatting" => {
            let tags: String = (0..200_000).map(|number| format!("<b id={number}><p>")).collect();
            typed("text/html", ["bottom", &tags].concat())
        }
        "/entities" => typed("text/html", ["bottom", &"&#x&#99999999999;&amp&".repeat(200_000)].concat()),
        "/bomb" => {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
            for _ in 0..256 {
                gzip.write_all(&[b'x'; 1 << 20]).unwrap_or_default();
            }
            let headers = vec![("content-type", "text/html".into()), ("content-encoding", "gzip".into())];
            Answer::Plain(200, headers, gzip.finish().unwrap_or_default())
        }
        _ => Answer::Plain(404, Vec::new(), Vec::new()),
    })
    .await?;
    let folder = super::folder("web", &policy(&web, ""));
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    for path in ["/deep", "/quotations", "/table", "/formatting", "/entities"] {
        let answer = client.envelope("web", json!({"url": web.url(path), "limit": 100_000})).await?;
        let text = answer["data"]["text"].as_str().unwrap_or_default();
        assert!(
            text.contains("bottom"),
            "{path} {}",
            answer.to_string().chars().take(500).collect::<String>()
        );
    }
    let bomb = client.envelope("web", json!({"url": web.url("/bomb")})).await?;
    assert_eq!(bomb["code"], "unavailable", "{bomb}");
    assert!(bomb["error"].as_str().is_some_and(|error| error.starts_with("too large")), "{bomb}");
    client.end().await
}
