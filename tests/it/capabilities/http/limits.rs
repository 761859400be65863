//! Limits of count, size and time, and their error messages.

use std::time::{Duration, Instant};

use anyhow::Result;
use loggia_tests::web::{Answer, Web};
use serde_json::json;
use tokio::net::TcpSocket;

use super::{answers, ask, fails, fetch, granting, host, page};

/// H29.
#[tokio::test]
async fn requests_per_call_and_in_parallel_are_limited() -> Result<()> {
    let web = Web::start(|asked| match &*asked.path {
        "/together" => Answer::Together(2),
        _ => Answer::text("fine"),
    })
    .await?;
    let grant = granting(&[web.url("")]);
    let many = json!({"n": 5});

    let (_folder, client) = host(&format!("{grant}[limits]\nhttp-requests = 3\n")).await?;
    // Each call has its own.
    for _ in 0..2 {
        let told = ask(&client, "fetch_many", &web.url("/"), many.clone()).await?;
        let all = told["data"].as_array().cloned().unwrap_or_default();
        let (fine, failed): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| one == 200);
        assert_eq!((fine.len(), failed.len()), (3, 2), "{told}");
        for one in failed {
            let message = one["message"].as_str().unwrap_or_default();
            assert!(one["code"] == "unavailable" && message.contains("`limits.http-requests`"), "{one}");
        }
    }
    assert_eq!(web.asked().len(), 6);
    client.end().await?;

    let (_folder, client) = host(&format!("{grant}[limits]\nhttp-at-once = 2\n")).await?;
    let told = ask(&client, "fetch_many", &web.url("/together"), many).await?;
    assert_eq!(told["data"], json!([200, 200, 200, 200, 200]), "{told}");
    assert_eq!(web.most_at_once(), 2);
    client.end().await
}

/// H28.
#[tokio::test]
async fn size_and_time_limits_name_their_key() -> Result<()> {
    let web = Web::start(|asked| match &*asked.path {
        "/big" => Answer::text(vec![b'x'; 4 << 10]),
        "/stalled" => Answer::Stalled,
        "/endless" => Answer::Endless,
        "/never" => Answer::Never,
        _ => Answer::text("fine"),
    })
    .await?;
    let body = |bytes: usize| json!({"method": "POST", "body": "x".repeat(bytes)});
    let key = |name: &str| Some(format!("the operator can raise `limits.{name}`"));
    let cases = [
        ("http-response = \"1KiB\"", "/big", json!({}), Some("unavailable"), key("http-response")),
        ("http-response = \"4KiB\"", "/big", json!({}), None, None),
        ("http-response = \"1KiB\"", "/endless", json!({}), Some("unavailable"), key("http-response")),
        ("", "/endless", json!({}), Some("unavailable"), key("http-response")),
        ("http-request = \"1KiB\"", "/", body((1 << 10) + 1), Some("unavailable"), key("http-request")),
        ("http-request = \"1KiB\"", "/", body(300 << 10), Some("unavailable"), key("http-request")),
        ("http-request = \"1KiB\"", "/", body(1 << 10), None, None),
        ("", "/", body(300 << 10), None, None),
        ("http-time = \"3s\"", "/never", json!({}), Some("timed_out"), key("http-time")),
        ("http-time = \"3s\"", "/stalled", json!({}), Some("timed_out"), key("http-time")),
        // The guest's own patience is nothing that an operator could change.
        ("", "/never", json!({"timeout_ms": 300}), Some("timed_out"), None),
        ("", "/stalled", json!({"timeout_ms": 300}), Some("timed_out"), None),
        ("", "/", json!({"timeout_ms": 10_000}), None, None),
    ];
    for (limit, path, more, code, hint) in cases {
        let (_folder, client) = host(&format!("{}[limits]\n{limit}\n", granting(&[web.url("")]))).await?;
        let begun = Instant::now();
        let told = ask(&client, "send", &web.url(path), more).await?;
        let what = format!("{limit} {path}: {:.500}", told.to_string());
        assert!(begun.elapsed() < Duration::from_secs(14), "{what}");
        assert_eq!(told["code"].as_str(), code, "{what}");
        match hint {
            Some(hint) => assert!(told["hint"].as_str().unwrap_or_default().contains(&hint), "{what}"),
            None => assert_eq!(told.get("hint"), None, "{what}"),
        }
        // A failed request does not affect the next one.
        answers(&fetch(&client, &web.url("/")).await?, 200);
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn large_bodies_do_not_hide_a_refusal() -> Result<()> {
    let (web, trap) = (Web::start(page).await?, Web::trap().await?);
    let (_folder, client) = host(&granting(&[web.url("")])).await?;
    for bytes in [0, 1, 64 << 10, 300 << 10, 900 << 10] {
        let more = || json!({"method": "POST", "body": "x".repeat(bytes)});
        let told = ask(&client, "send", &trap.url("/"), more()).await?;
        fails(&told, "denied", &format!("http = [\"{}\"]", trap.url("")));
        let told = ask(&client, "fetch", &web.url("/"), more()).await?;
        fails(&told, "denied", "the `reads` of that `http` entry");
    }
    assert_eq!((web.connections(), trap.connections()), (0, 0));
    client.end().await
}

#[tokio::test]
async fn unreachable_and_aborting_servers_are_unavailable() -> Result<()> {
    // A port without a listener, which no other process can take in the meantime.
    let taken = TcpSocket::new_v4()?;
    taken.bind(([127, 0, 0, 1], 0).into())?;
    let gone = format!("http://{}", taken.local_addr()?);
    let unknown = "http://no-such-host.invalid".to_owned();
    let (_folder, client) = host(&granting(&[gone.clone(), unknown.clone()])).await?;
    for (url, said) in [(gone, "refuses the connection"), (unknown, "its name is not known")] {
        let told = fetch(&client, &url).await?;
        fails(&told, "unavailable", "");
        assert!(told["error"].as_str().unwrap_or_default().contains(said), "{told}");
    }
    client.end().await
}
