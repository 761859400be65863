//! Requests that no honest plugin sends, and responses that no honest server gives. `host/egress/tests` and
//! `capabilities/http` test connection targets.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use loggia_tests::{
    Client, Era, Folder,
    web::{Answer, Web},
};
use serde_json::{Value, json};

/// Starts a host with a fixture that may send requests to a server.
async fn host(fixture: &str, web: &Web, more: &str) -> Result<(Folder, Client)> {
    let folder = Folder::with(&[fixture]);
    folder.write(&format!("{fixture}.toml"), &format!("[grants]\nhttp = [\"{}\"]\n{more}", web.url("")));
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    Ok((folder, client))
}

/// H24.
#[tokio::test]
async fn header_count_and_size_are_limited() -> Result<()> {
    let (_folder, client) = host("floods", &Web::trap().await?, "[limits]\nbreaker-faults = 1000\n").await?;
    let fields = |n: usize, same: bool, bytes: usize| json!({"action": "fields", "n": n, "same": same, "bytes": bytes});
    let list = |n: usize| json!({"action": "list", "n": n});
    let cases = [
        (fields(100, false, 10), Some(json!([100, null]))),
        (fields(40_000, false, 0), None),
        (fields(40_000, true, 0), None),
        (fields(40_000, true, 100), None),
        (fields(1, true, 60_000), Some(json!([1, null]))),
        (fields(1, true, 1 << 20), None),
        (list(100), Some(json!(true))),
        (list(40_000), None),
    ];
    for (arguments, expected) in cases {
        let told = client.envelope("floods", arguments.clone()).await?;
        match expected {
            Some(data) => assert_eq!(told["data"], data, "{arguments}: {told}"),
            // WASI cannot express it, so it ends the call.
            None => assert_eq!(
                (&told["code"], &told["error"]),
                (&json!("internal"), &json!("the plugin `floods` failed inside the sandbox")),
                "{arguments}"
            ),
        }
    }
    client.end().await
}

/// H24.
#[tokio::test]
async fn headers_cannot_inject_lines_or_impersonate() -> Result<()> {
    let web = Web::start(|asked| Answer::text(format!("{:?}", asked.headers))).await?;
    let (_folder, client) = host("floods", &web, "").await?;
    let authority = web.url("").replace("http://", "");
    let refused = [
        ("x", "a\r\nhost: evil.example"),
        ("x", "a\nhost: evil.example"),
        ("x", "a\r\n\r\nGET /admin HTTP/1.1\r\n"),
        ("x", "a\u{0}b"),
        ("x\r\nhost", "evil.example"),
        ("x: y\r\nz", "a"),
        ("x y", "a"),
        ("", "a"),
        ("host", "evil.example"),
        ("Host", "evil.example"),
        ("connection", "x-mine"),
        ("keep-alive", "timeout=9999"),
        ("proxy-connection", "keep-alive"),
        ("transfer-encoding", "chunked"),
        ("upgrade", "h2c"),
        ("http2-settings", "AAMAAABkAAQAAP__"),
        ("expect", "100-continue"),
        ("content-length", "5, 6"),
        ("content-length", "-1"),
    ];
    for (name, value) in refused {
        let before = web.asked().len();
        let arguments = json!({"action": "header", "authority": authority, "name": name, "value": value});
        let told = client.envelope("floods", arguments).await?;
        let said = told["data"].as_str().with_context(|| told.to_string())?;
        let asked = web.asked();
        // Connection headers may be dropped instead of refused.
        let clean = asked[before..].iter().all(|asked| {
            asked.headers["host"] == authority
                && asked.path == "/"
                && asked.headers.keys().all(|name| matches!(name.as_str(), "host" | "user-agent"))
        });
        assert!(clean && (said == "200") == (asked.len() > before), "{name:?}: {value:?}: {said}: {asked:?}");
        if value.contains(['\r', '\n', '\0']) || name.contains(['\r', ' ']) || name.is_empty() {
            assert!(
                said.contains("invalid-syntax") || said.contains("InvalidSyntax"),
                "{name:?}: {value:?}: {said}"
            );
        }
    }
    let fine = json!({"action": "header", "authority": authority, "name": "x-mine", "value": "a b"});
    assert_eq!(client.envelope("floods", fine).await?["data"], "200");
    assert_eq!(web.last().headers["x-mine"], "a b");
    client.end().await
}

/// Some ten megabytes of zeros, packed by gzip into a hundredth of that.
fn bomb() -> Vec<u8> {
    let mut bits = vec![true, true, false];
    // A literal zero; then, repeatedly, 258 bytes from distance one.
    bits.extend([false, false, true, true, false, false, false, false]);
    for _ in 0..40_000 {
        bits.extend([true, true, false, false, false, true, false, true]);
        bits.extend([false; 5]);
    }
    bits.extend([false; 7]);
    let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    packed.extend(bits.chunks(8).map(byte));
    packed.extend([0; 8]);
    packed
}

/// H28.
#[tokio::test]
async fn a_packed_answer_stays_packed() -> Result<()> {
    let packed = bomb();
    let length = packed.len();
    let web =
        Web::start(move |_| Answer::Plain(200, vec![("content-encoding", "gzip".into())], packed.clone()))
            .await?;
    let (_folder, client) = host("reaches", &web, "[limits]\nhttp-response = \"128KiB\"\n").await?;
    let told = client.envelope("reaches", json!({"action": "fetch", "url": web.url("/")})).await?;
    assert_eq!(
        (&told["data"]["status"], &told["data"]["headers"]["content-encoding"]),
        (&json!(200), &json!("gzip"))
    );
    let body = told["data"]["body"].as_str().unwrap_or_default();
    assert!(
        body.starts_with('\u{1f}') && body.chars().count() <= length,
        "{} characters",
        body.chars().count()
    );
    client.end().await
}

/// H29.
#[tokio::test]
async fn a_call_sends_at_most_32_requests() -> Result<()> {
    let web = Web::start(|_| Answer::Together(6)).await?;
    let (_folder, client) = host("floods", &web, "[limits]\nbreaker-faults = 1000\n").await?;
    let authority = web.url("").replace("http://", "");
    let flood = |held: usize| json!({"action": "requests", "authority": authority, "n": 1000, "held": held});

    let told = client.envelope("floods", flood(32)).await?;
    let said: BTreeMap<String, usize> =
        serde_json::from_value(told["data"].clone()).with_context(|| told.to_string())?;
    assert_eq!((said.get("200"), said.values().sum::<usize>()), (Some(&32), 1000), "{said:?}");
    assert_eq!((web.asked().len(), web.most_at_once()), (32, 6), "{said:?}");

    // All of them in progress at once: more handles than the limit, and no more requests for that.
    let told = client.envelope("floods", flood(1000)).await?;
    let error = told["error"].as_str().unwrap_or_default();
    assert!(error.contains("handles at once"), "{told}");
    assert!(web.asked().len() <= 64 && web.most_at_once() == 6, "{} requests", web.asked().len());
    let fine: Value = client.envelope("floods", json!({"action": "list", "n": 1})).await?;
    assert_eq!(fine["ok"], true, "{fine}");
    client.end().await
}
