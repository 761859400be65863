//! Secrets in responses: truncated echoes, ranges, and responses to requests without the secret.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use anyhow::Result;
use loggia_tests::{
    Client, Folder,
    web::{Answer, Asked, Authority, Web},
};
use serde_json::{Value, json};

/// Secret that no guest may see.
const CANARY: &str = "canary-9f8e7d6c5b4a";

/// Starts a host whose only plugin may call these servers and has the secret for the first.
async fn host(folder: &Folder, authority: &Authority, secure: &Web, plain: &Web) -> Result<Client> {
    let at = secure.at("https", "localhost", "");
    folder.write(
        "reaches.toml",
        &format!(
            "[grants]\nhttp = [{at:?}, {:?}, {:?}]\nsecrets = [{{ from-env = \"LIBRARY_TOKEN\", host = \"localhost:{}\", \
             header = \"Authorization\", format = \"Bearer {{}}\" }}]\n",
            secure.at("https", "127.0.0.1", ""),
            plain.url(""),
            secure.port
        ),
    );
    let trusted = folder.beside("trusted").join("authorities.pem");
    std::fs::write(&trusted, authority.pem())?;
    let (client, _) = Client::stdio_logged(folder.path(), |command| {
        command.env("SSL_CERT_FILE", Path::new(&trusted)).env("LIBRARY_TOKEN", CANARY);
    })
    .await?;
    Ok(client)
}

async fn fetch(client: &Client, url: &str, headers: Value) -> Result<Value> {
    client.envelope("reaches", json!({"action": "fetch", "url": url, "headers": headers})).await
}

/// Checks that nothing of the secret is visible, except a prefix that the issuer's other tokens share.
#[track_caller]
fn hides(told: &Value) {
    let text = told.to_string();
    assert!(told["ok"] == true && text.contains("***"), "{told}");
    for from in 0..=CANARY.len() - 6 {
        assert!(!text.contains(&CANARY[from..from + 6]), "{told}");
    }
}

/// H81.
#[tokio::test]
async fn a_truncated_echo_leaks_no_secret_part() -> Result<()> {
    let authority = Authority::new("trusted")?;
    let echo = |asked: &Asked| {
        let text = format!("you sent {}", asked.headers.get("authorization").cloned().unwrap_or_default());
        match (&*asked.path, asked.headers.get("range")) {
            // As a server with range support would.
            (_, Some(_)) => Answer::Plain(206, Vec::new(), text.as_bytes()[text.len() - 12..].to_vec()),
            ("/cut", _) => Answer::text(&text.as_bytes()[..text.len() - 1]),
            ("/half", _) => Answer::text(format!("{}… and so on", &text[..text.len() - 4])),
            ("/header", _) => {
                Answer::Plain(200, vec![("x-sent", text[..text.len() - 1].to_owned())], b"***".to_vec())
            }
            _ => Answer::text(text),
        }
    };
    let (secure, plain) = (Web::secure(&authority, "localhost", echo).await?, Web::trap().await?);
    let folder = Folder::with(&["reaches"]);
    let client = host(&folder, &authority, &secure, &plain).await?;
    for path in ["/", "/cut", "/half", "/header"] {
        hides(&fetch(&client, &secure.at("https", "localhost", path), json!({})).await?);
    }
    // The end of an echo could not be recognised, so ranges are not requested.
    let range = json!({"range": "bytes=-12", "if-range": "\"x\""});
    let told = fetch(&client, &secure.at("https", "localhost", "/"), range).await?;
    hides(&told);
    assert_eq!(told["data"]["status"], 200, "{told}");
    let asked = secure.last();
    assert!(
        asked.headers.contains_key("authorization") && !asked.headers.contains_key("if-range"),
        "{asked:?}"
    );
    client.end().await
}

/// H82: another server, which the first one gave the secret, and which is called without it.
#[tokio::test]
async fn a_secret_echoed_by_another_host_is_masked() -> Result<()> {
    let authority = Authority::new("trusted")?;
    let last: Arc<Mutex<String>> = Arc::default();
    let heard = Arc::clone(&last);
    let secure = Web::secure(&authority, "localhost", move |asked| {
        let sent = asked.headers.get("authorization").cloned().unwrap_or_default();
        *heard.lock().expect("no panic") = sent;
        Answer::text("***")
    })
    .await?;
    let plain = Web::start(move |asked| {
        let sent = last.lock().expect("no panic").clone();
        match &*asked.path {
            "/header" => Answer::Plain(200, vec![("x-last", sent)], Vec::new()),
            "/cut" => Answer::text(format!("last: {}", &sent[..sent.len() - 1])),
            "/json" => Answer::text(json!({"last": [sent]}).to_string()),
            _ => Answer::text(sent),
        }
    })
    .await?;
    let folder = Folder::with(&["reaches"]);
    let client = host(&folder, &authority, &secure, &plain).await?;
    hides(&fetch(&client, &secure.at("https", "localhost", "/"), json!({})).await?);
    for path in ["/", "/header", "/cut", "/json"] {
        hides(&fetch(&client, &plain.url(path), json!({})).await?);
    }
    let asked = plain.asked();
    assert!(asked.len() == 4 && asked.iter().all(|asked| !asked.headers.contains_key("authorization")));
    client.end().await
}
