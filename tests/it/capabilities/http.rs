//! Requests that a guest sends: by its policy alone, whatever it asks for.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::Result;
use loggia_tests::{
    Client, Era, Folder, eventually,
    web::{Answer, Asked, Authority, Web},
};
use serde_json::{Value, json};

/// The secret that no guest may see.
const CANARY: &str = "canary-9f8e7d6c5b4a";

/// A host whose one plugin reaches out, with this policy.
async fn host(policy: &str) -> Result<(Folder, Client)> {
    let folder = folder(policy);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    // A policy that cannot be used would refuse everything.
    let told = client.envelope("reaches", json!({"action": "whoami"})).await?;
    anyhow::ensure!(told["ok"] == true, "{told}");
    Ok((folder, client))
}

fn folder(policy: &str) -> Folder {
    let folder = Folder::with(&["reaches"]);
    folder.write("reaches.toml", policy);
    folder
}

fn granting(http: &[impl std::fmt::Debug]) -> String {
    format!("[grants]\nhttp = {http:?}\n")
}

/// One request by an action; `more` are its further arguments.
async fn ask(client: &Client, action: &str, url: &str, more: Value) -> Result<Value> {
    let Value::Object(mut arguments) = more else { unreachable!("arguments are an object") };
    arguments.extend([("action".to_owned(), json!(action)), ("url".to_owned(), json!(url))]);
    client.envelope("reaches", arguments.into()).await
}

async fn fetch(client: &Client, url: &str) -> Result<Value> {
    ask(client, "fetch", url, json!({})).await
}

/// It failed with this code, and its hint holds this.
#[track_caller]
fn fails(told: &Value, code: &str, hint: &str) {
    assert_eq!((&told["ok"], &told["code"]), (&json!(false), &json!(code)), "{told}");
    let found = told["hint"].as_str().unwrap_or_default();
    assert!(found.contains(hint), "the hint does not hold {hint:?}: {told}");
}

#[track_caller]
fn answers(told: &Value, status: u16) {
    assert_eq!(told["data"]["status"], status, "{told}");
}

fn page(_: &Asked) -> Answer {
    Answer::Plain(200, vec![("x-shelf", "top".into())], b"a page".to_vec())
}

#[tokio::test]
async fn nothing_is_sent_without_a_grant_and_the_hint_is_the_line_that_makes_it_work() -> Result<()> {
    for policy in ["", "[grants]\nhttp = [\"https://example.com\"]\n"] {
        let web = Web::start(page).await?;
        let url = web.url("/books?n=1");
        let (folder, client) = host(policy).await?;
        let line = format!("http = [\"{}\"]", web.url(""));
        fails(&fetch(&client, &url).await?, "denied", &format!("`{line}`"));
        assert_eq!(web.connections(), 0);

        // Written while it serves, it holds for the next call.
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
async fn a_grant_taken_away_holds_for_the_next_call() -> Result<()> {
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
async fn a_grant_is_for_its_scheme_host_port_and_methods() -> Result<()> {
    let (web, trap) = (Web::start(page).await?, Web::trap().await?);
    let (number, name) = (web.url(""), web.at("http", "localhost", ""));
    let only_get = format!("[grants]\nhttp = [{{ url = \"{number}\", methods = [\"GET\"] }}]\n");
    let post = || json!({"method": "POST", "body": "x"});
    let cases = [
        (granting(&[&number]), web.url("/"), json!({}), Ok(())),
        (granting(&[&number]), trap.url("/"), json!({}), Err(format!("({number} is)"))),
        (granting(&[&number]), web.at("https", "127.0.0.1", "/"), json!({}), Err(format!("({number} is)"))),
        // A name is no address, whatever it leads to; and a name that leads to this machine is not enough.
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
            Err("a loopback address, and such an address must be granted itself, by its number".into()),
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
async fn what_only_reads_sends_what_only_reads() -> Result<()> {
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

#[tokio::test]
async fn no_notation_and_no_name_leads_to_what_was_not_granted_by_its_number() -> Result<()> {
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
        format!("http://127.0.0.1:{port}/"),
        format!("http://127.1:{port}/"),
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
            // Only a granted name is looked up at all, and this machine may or may not know it.
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

#[tokio::test]
async fn a_host_header_cannot_name_another_host() -> Result<()> {
    let web = Web::start(page).await?;
    let (_folder, client) = host(&granting(&[web.url("")])).await?;
    let told = ask(&client, "send", &web.url("/"), json!({"headers": {"host": "other.example"}})).await?;
    assert!(matches!(told["code"].as_str(), Some("denied" | "invalid_params")), "{told}");
    assert_eq!(web.connections(), 0);
    client.end().await
}

#[tokio::test]
async fn a_redirect_is_the_guests_to_see_or_is_checked_like_a_request() -> Result<()> {
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

#[tokio::test]
async fn a_call_sends_so_many_requests_and_so_many_at_once() -> Result<()> {
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

#[tokio::test]
async fn what_is_too_large_or_too_slow_names_the_key_that_changes_it() -> Result<()> {
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
        ("http-time = \"300ms\"", "/never", json!({}), Some("timed_out"), key("http-time")),
        ("http-time = \"300ms\"", "/stalled", json!({}), Some("timed_out"), key("http-time")),
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
        // A failed request leaves the next one alone.
        answers(&fetch(&client, &web.url("/")).await?, 200);
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_refusal_is_told_as_one_however_much_the_guest_wanted_to_send() -> Result<()> {
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
async fn who_cannot_be_reached_or_breaks_off_is_unavailable() -> Result<()> {
    // A port that was free a moment ago.
    let gone = Web::start(page).await?.port;
    let gone = format!("http://127.0.0.1:{gone}");
    let unknown = "http://no-such-host.invalid".to_owned();
    let (_folder, client) = host(&granting(&[gone.clone(), unknown.clone()])).await?;
    for (url, said) in [(gone, "refuses the connection"), (unknown, "its name is not known")] {
        let told = fetch(&client, &url).await?;
        fails(&told, "unavailable", "");
        assert!(told["error"].as_str().unwrap_or_default().contains(said), "{told}");
    }
    client.end().await
}

/// Where a host finds whom to trust.
fn trusting(authority: &Authority, folder: &Folder) -> PathBuf {
    let path = folder.beside("trusted").join("authorities.pem");
    std::fs::write(&path, authority.pem()).expect("written");
    path
}

/// Whether stars stand in a secret's place, as many as it has bytes.
fn hides(shown: &str, secret: &str) -> bool {
    shown.contains(&"*".repeat(secret.len())) && !shown.contains(secret)
}

fn secrets(web: &Web, source: &str, value: &Path, more: &[String]) -> String {
    let mut http = vec![web.at("https", "localhost", ""), web.at("https", "127.0.0.1", "")];
    http.extend_from_slice(more);
    let port = web.port;
    format!(
        "{}secrets = [{{ {source} = {value:?}, host = \"localhost:{port}\", header = \"Authorization\", \
         format = \"Bearer {{}}\" }}]\n[limits]\nhttp-time = \"2s\"\nhttp-response = \"64KiB\"\n",
        granting(&http)
    )
}

#[tokio::test]
async fn a_secret_reaches_its_one_host_and_neither_the_guest_nor_the_log() -> Result<()> {
    let authority = Authority::new("trusted")?;
    let routes = |asked: &Asked| match &*asked.path {
        "/stalled" => Answer::Stalled,
        "/endless" => Answer::Endless,
        "/never" => Answer::Never,
        "/missing" => Answer::Plain(404, Vec::new(), format!("{:?}", asked.headers).into()),
        _ => Answer::echo(asked),
    };
    for source in ["from-env", "from-file"] {
        let web = Web::secure(&authority, "localhost", routes).await?;
        let other = Web::secure(&authority, "localhost", routes).await?;
        let plain = Web::start(routes).await?;
        let folder = Folder::with(&["reaches"]);
        let file = folder.beside("secrets").join("token");
        std::fs::write(&file, format!("{CANARY}\n"))?;
        let value = if source == "from-env" { Path::new("LIBRARY_TOKEN") } else { &file };
        let more = [
            other.at("https", "localhost", ""),
            other.at("https", "127.0.0.1", ""),
            plain.at("http", "localhost", ""),
            plain.url(""),
        ];
        folder.write("reaches.toml", &secrets(&web, source, value, &more));
        let trusted = trusting(&authority, &folder);
        let (client, log) = Client::stdio_logged(folder.path(), |command| {
            command.env("SSL_CERT_FILE", trusted).env("LIBRARY_TOKEN", CANARY).env("LOGGIA_LOG", "trace");
        })
        .await?;
        let mut all = Vec::new();

        let told = fetch(&client, &web.at("https", "localhost", "/")).await?;
        answers(&told, 200);
        let sent = format!("Bearer {CANARY}");
        assert_eq!(web.last().headers.get("authorization"), Some(&sent), "{source}");
        for shown in [&told["data"]["body"], &told["data"]["headers"]["x-echo"]] {
            assert!(hides(shown.as_str().unwrap_or_default(), CANARY), "{source}: {told}");
        }
        assert_eq!(told["data"]["headers"]["x-echo"].as_str().map(str::len), Some(sent.len()), "{told}");
        all.push(told);

        // Nobody else is given it, not even the same machine.
        let elsewhere = [
            (&other, other.at("https", "localhost", "/")),
            (&plain, plain.at("http", "localhost", "/")),
            (&plain, plain.url("/")),
        ];
        for (server, url) in elsewhere {
            answers(&fetch(&client, &url).await?, 200);
            assert_eq!(server.last().headers.get("authorization"), None, "{source} {url}");
        }

        // The guest has no say in it.
        for name in ["authorization", "AUTHORIZATION"] {
            let asked = web.asked().len();
            let more = json!({"headers": {name: "Bearer mine"}});
            let told = ask(&client, "fetch", &web.at("https", "localhost", "/"), more).await?;
            fails(&told, "denied", "the header `authorization` is added by the host; send none");
            assert_eq!(web.asked().len(), asked);
            all.push(told);
        }

        let failing = [
            ("fetch", "/stalled", "timed_out"),
            ("fetch", "/endless", "unavailable"),
            ("fetch", "/never", "timed_out"),
            ("fetch_ok", "/missing", "not_found"),
        ];
        for (action, path, code) in failing {
            let told = ask(&client, action, &web.at("https", "localhost", path), json!({})).await?;
            assert_eq!(told["code"], code, "{action} {path}: {told}");
            assert_eq!(web.last().headers.get("authorization"), Some(&sent), "{path}");
            all.push(told);
        }

        if source == "from-file" {
            let next = "another-canary-4b5a6c7d";
            std::fs::write(&file, next)?;
            let told = fetch(&client, &web.at("https", "localhost", "/")).await?;
            answers(&told, 200);
            assert_eq!(web.last().headers["authorization"], format!("Bearer {next}"));
            assert!(hides(told["data"]["body"].as_str().unwrap_or_default(), next), "{told}");

            // What cannot be used is not sent, nor is the request without it.
            let asked = web.asked().len();
            for unusable in ["", "short"] {
                std::fs::write(&file, unusable)?;
                let told = fetch(&client, &web.at("https", "localhost", "/")).await?;
                assert_eq!(told["code"], "unavailable", "{told}");
                assert!(
                    told["error"].as_str().unwrap_or_default().contains("the operator's secret for"),
                    "{told}"
                );
            }
            assert_eq!(web.asked().len(), asked);
        }

        client.end().await?;
        let log = log.await??;
        let all = json!(all).to_string();
        assert!(!log.is_empty() && log.contains("is added by the host"), "{log}");
        for (place, text) in [("an envelope", &all), ("the log", &log)] {
            for secret in [CANARY, "another-canary"] {
                assert!(!text.contains(secret), "{source}: it is in {place}: {text}");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_server_that_cannot_prove_its_name_is_unavailable_and_given_nothing() -> Result<()> {
    let (trusted, stranger) = (Authority::new("trusted")?, Authority::new("stranger")?);
    let cases = [
        (&trusted, "localhost", None),
        (&trusted, "library.example", Some("its certificate is for another name")),
        (&stranger, "localhost", Some("its certificate is not from a trusted authority")),
    ];
    for (authority, name, expected) in cases {
        let web = Web::secure(authority, name, page).await?;
        let folder = Folder::with(&["reaches"]);
        folder.write("reaches.toml", &secrets(&web, "from-env", Path::new("LIBRARY_TOKEN"), &[]));
        let trusted = trusting(&trusted, &folder);
        let client = Client::stdio_with(folder.path(), Era::Stateful, |command| {
            command.env("SSL_CERT_FILE", trusted).env("LIBRARY_TOKEN", CANARY);
        })
        .await?;
        let told = fetch(&client, &web.at("https", "localhost", "/")).await?;
        match expected {
            None => answers(&told, 200),
            Some(why) => {
                fails(&told, "unavailable", why);
                assert!(web.asked().is_empty(), "{:?}", web.asked());
            }
        }
        client.end().await?;
    }

    // No TLS at all.
    let web = Web::start(page).await?;
    let (_folder, client) = host(&granting(&[web.at("https", "127.0.0.1", "")])).await?;
    fails(
        &fetch(&client, &web.at("https", "127.0.0.1", "/")).await?,
        "unavailable",
        "the TLS handshake failed",
    );
    client.end().await
}
