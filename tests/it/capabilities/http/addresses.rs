//! No notation, name, header or redirect bypasses the rules.

use anyhow::Result;
use loggia_tests::web::{Answer, Web};
use serde_json::json;

use super::{answers, ask, fails, fetch, granting, host, page};

/// H25.
#[tokio::test]
async fn no_name_or_notation_bypasses_address_grants() -> Result<()> {
    let trap = Web::trap().await?;
    let port = trap.port;
    let granted = [
        "http://*.google.internal".to_owned(),
        "http://metadata.google.internal".to_owned(),
        format!("http://*.x.internal:{port}"),
        trap.at("http", "localhost", ""),
    ];
    let (_folder, client) = host(&granting(&granted)).await?;
    let urls = [
        "http://169.254.169.254/".to_owned(),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://[::ffff:169.254.169.254]/".to_owned(),
        "http://2852039166/".to_owned(),
        "http://0xa9fea9fe/".to_owned(),
        "http://0251.0376.0251.0376/".to_owned(),
        "http://metadata.google.internal/".to_owned(),
        "http://[fd00:ec2::254]/".to_owned(),
        "http://100.100.100.200/".to_owned(),
        "http://192.0.0.192/".to_owned(),
        "http://[::ffff:10.0.0.1]/".to_owned(),
        "http://[64:ff9b::a00:1]/".to_owned(),
        "http://[64:ff9b::a9fe:a9fe]/".to_owned(),
        "http://0xa9.254.0251.254/".to_owned(),
        format!("http://127.0.0.1:{port}/"),
        format!("http://127.1:{port}/"),
        format!("http://0x7f.1:{port}/"),
        format!("http://0177.0.0.1:{port}/"),
        format!("http://127.0.0.1.:{port}/"),
        format!("http://[::127.0.0.1]:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://0x7f000001:{port}/"),
        format!("http://0:{port}/"),
        format!("http://0.0.0.0:{port}/"),
        format!("http://[::]:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://[::ffff:7f00:1]:{port}/"),
        format!("http://[64:ff9b::7f00:1]:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://localhost.:{port}/"),
        format!("http://x.internal@127.0.0.1:{port}/"),
        format!("http://127.0.0.1:{port}#.x.internal/"),
        format!("http://127.0.0.1:{port}\\.x.internal/"),
        format!("http://127.0.0.1%00.x.internal:{port}/"),
        format!("http://127。0。0。1:{port}/"),
    ];
    for url in urls {
        for action in ["fetch", "send"] {
            let told = ask(&client, action, &url, json!({})).await?;
            let code = told["code"].as_str().unwrap_or_default();
            // Only granted names are resolved; this machine may or may not resolve this one.
            let codes: &[&str] = match url.contains("metadata.google.internal") {
                true => &["denied", "unavailable", "timed_out"],
                false => &["denied", "invalid_params"],
            };
            assert!(codes.contains(&code), "{action} {url}: {told}");
            assert_eq!(trap.connections(), 0, "{action} {url}: {told}");
        }
    }
    client.end().await
}

/// H24.
#[tokio::test]
async fn a_host_header_cannot_name_another_host() -> Result<()> {
    let web = Web::start(page).await?;
    let (_folder, client) = host(&granting(&[web.url("")])).await?;
    let told = ask(&client, "send", &web.url("/"), json!({"headers": {"host": "other.example"}})).await?;
    assert!(matches!(told["code"].as_str(), Some("denied" | "invalid_params")), "{told}");
    assert_eq!(web.connections(), 0);
    client.end().await
}

/// H27.
#[tokio::test]
async fn redirects_are_checked_like_requests() -> Result<()> {
    let trap = Web::trap().await?;
    let away = trap.url("/caught");
    let web = Web::start(move |asked| match &*asked.path {
        "/away" => Answer::redirect(&away),
        "/round" => Answer::redirect("/round"),
        "/moved" => Answer::redirect("here"),
        _ => Answer::text("here"),
    })
    .await?;
    let grant = granting(&[web.url("")]);
    let three = format!("{grant}[limits]\nhttp-redirects = 3\n");
    let cases = [
        (&grant, "/away", Ok((302, ""))),
        (&grant, "/moved", Ok((302, ""))),
        (&three, "/moved", Ok((200, "here"))),
        // After so many the guest sees the last one.
        (&three, "/round", Ok((302, ""))),
        (&three, "/away", Err(format!("the answer redirects, and {} is not granted", trap.url("")))),
    ];
    for (policy, path, expected) in cases {
        let (_folder, client) = host(policy).await?;
        let told = fetch(&client, &web.url(path)).await?;
        match expected {
            Ok((status, body)) => {
                answers(&told, status);
                assert_eq!(told["data"]["body"], body, "{path}: {told}");
            }
            Err(hint) => fails(&told, "denied", &hint),
        }
        client.end().await?;
    }
    assert_eq!(trap.connections(), 0);
    assert_eq!(web.asked().iter().filter(|asked| asked.path == "/round").count(), 4);
    Ok(())
}
