//! Only granted requests are sent.

use anyhow::Result;
use loggia_tests::{
    eventually,
    web::{Answer, Web},
};
use serde_json::{Value, json};

use super::{answers, ask, fails, fetch, granting, host, page};

#[tokio::test]
async fn requests_need_the_grant_that_the_hint_names() -> Result<()> {
    for policy in ["", "[grants]\nhttp = [\"https://example.com\"]\n"] {
        let web = Web::start(page).await?;
        let url = web.url("/books?n=1");
        let (folder, client) = host(policy).await?;
        let line = format!("http = [\"{}\"]", web.url(""));
        fails(&fetch(&client, &url).await?, "denied", &format!("`{line}`"));
        assert_eq!(web.connections(), 0);

        // A policy written while the server runs applies to the next call.
        folder.write("reaches.toml", &format!("[grants]\n{line}\n"));
        let told = eventually(async || {
            let told = fetch(&client, &url).await.map_err(|error| error.to_string())?;
            if told["ok"] == true { Ok(told) } else { Err(told.to_string()) }
        })
        .await;
        answers(&told, 200);
        assert_eq!(told["data"]["body"], "a page");
        assert_eq!(told["data"]["headers"]["x-shelf"], "top");
        assert_eq!(web.last().path, "/books?n=1");
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_revoked_grant_fails_the_next_call() -> Result<()> {
    let web = Web::start(page).await?;
    let (folder, client) = host(&granting(&[web.url("")])).await?;
    answers(&fetch(&client, &web.url("/")).await?, 200);
    folder.write("reaches.toml", "");
    let told = eventually(async || {
        let told = fetch(&client, &web.url("/")).await.map_err(|error| error.to_string())?;
        if told["ok"] == false { Ok(told) } else { Err(told.to_string()) }
    })
    .await;
    fails(&told, "denied", &web.url(""));
    client.end().await
}

#[tokio::test]
async fn a_grant_covers_scheme_host_port_and_methods() -> Result<()> {
    let (web, trap) = (Web::start(page).await?, Web::trap().await?);
    let (number, name) = (web.url(""), web.at("http", "localhost", ""));
    let only_get = format!("[grants]\nhttp = [{{ url = \"{number}\", methods = [\"GET\"] }}]\n");
    let post = || json!({"method": "POST", "body": "x"});
    let cases = [
        (granting(&[&number]), web.url("/"), json!({}), Ok(())),
        (granting(&[&number]), trap.url("/"), json!({}), Err(format!("({number} is)"))),
        (granting(&[&number]), web.at("https", "127.0.0.1", "/"), json!({}), Err(format!("({number} is)"))),
        // A name does not cover an address, whatever it resolves to; and a name that resolves to this machine is not
        // enough.
        (
            granting(&[&number]),
            web.at("http", "localhost", "/"),
            json!({}),
            Err(format!("http = [\"{name}\"]")),
        ),
        (
            granting(&[&name]),
            web.at("http", "localhost", "/"),
            json!({}),
            Err("an address that is not public, or is this machine's own; such an address must be granted by number".into()),
        ),
        (granting(&[&name]), web.url("/"), json!({}), Err(format!("http = [\"{number}\"]"))),
        (granting(&[name.clone(), number.clone()]), web.at("http", "localhost", "/"), json!({}), Ok(())),
        (granting(&[name, number.clone()]), web.at("http", "LOCALHOST.", "/"), json!({}), Ok(())),
        (only_get.clone(), web.url("/"), json!({}), Ok(())),
        (only_get.clone(), web.url("/"), post(), Err("the `methods` of that `http` entry".into())),
        (only_get, web.url("/"), json!({"method": "HEAD"}), Err("the `methods` of that `http` entry".into())),
        (granting(&[&number]), web.url("/"), json!({"method": "TRACE"}), Err("TRACE is never sent".into())),
        (
            granting(&[&number]),
            web.url("/"),
            json!({"method": "CONNECT"}),
            Err("CONNECT is never sent".into()),
        ),
        (granting(&[&number]), web.url("/"), json!({"headers": {"x-odd": "fine"}}), Ok(())),
    ];
    for (policy, url, more, expected) in cases {
        let (_folder, client) = host(&policy).await?;
        let before = web.connections();
        let told = ask(&client, "send", &url, more).await?;
        match expected {
            Ok(()) => answers(&told, 200),
            Err(hint) => {
                fails(&told, "denied", &hint);
                assert_eq!(web.connections(), before, "{policy} {url}");
            }
        }
        client.end().await?;
    }
    assert_eq!(trap.connections(), 0);
    Ok(())
}

#[tokio::test]
async fn read_actions_send_only_safe_methods() -> Result<()> {
    let web = Web::start(|asked| Answer::text(format!("{} {}", asked.method, asked.body.len()))).await?;
    let (plain, url) = (granting(&[web.url("")]), web.url("/search"));
    let searches = format!("[grants]\nhttp = [{{ url = \"{}\", reads = [\"POST\"] }}]\n", web.url(""));
    let cases = [
        (&plain, "fetch", "GET", Ok("GET 0")),
        (&plain, "fetch", "HEAD", Ok("")),
        (&plain, "fetch", "POST", Err("may send GET and HEAD, not POST")),
        (&plain, "fetch", "DELETE", Err("may send GET and HEAD, not DELETE")),
        (&plain, "send", "POST", Ok("POST 4")),
        (&plain, "send", "PUT", Ok("PUT 4")),
        (&plain, "send", "HEAD", Ok("")),
        (&searches, "fetch", "POST", Ok("POST 4")),
        (&searches, "fetch", "PUT", Err("may send GET and HEAD, not PUT")),
    ];
    for (policy, action, method, expected) in cases {
        let (_folder, client) = host(policy).await?;
        let body = if matches!(method, "GET" | "HEAD") { Value::Null } else { json!("text") };
        let told = ask(&client, action, &url, json!({"method": method, "body": body})).await?;
        match expected {
            Ok(body) => assert_eq!(told["data"]["body"], body, "{method} by {action}: {told}"),
            Err(hint) => fails(&told, "denied", hint),
        }
        client.end().await?;
    }
    Ok(())
}
