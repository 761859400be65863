//! Secrets and TLS.

use std::path::{Path, PathBuf};

use anyhow::Result;
use futures_util::future::join_all;
use loggia_tests::{
    Client, Era, Folder,
    web::{Answer, Asked, Authority, Web},
};
use serde_json::json;

use super::{answers, ask, fails, fetch, granting, host, page};

/// Secret that no guest may see.
const CANARY: &str = "canary-9f8e7d6c5b4a";

/// Writes the file of certificate authorities that a host trusts.
fn trusting(authority: &Authority, folder: &Folder) -> PathBuf {
    let path = folder.beside("trusted").join("authorities.pem");
    std::fs::write(&path, authority.pem()).expect("written");
    path
}

/// Checks that asterisks replace the secret, one per byte.
fn hides(shown: &str, secret: &str) -> bool {
    shown.contains(&"*".repeat(secret.len())) && !shown.contains(secret)
}

fn secrets(web: &Web, source: &str, value: &Path, more: &[String]) -> String {
    let mut http = vec![web.at("https", "localhost", ""), web.at("https", "127.0.0.1", "")];
    http.extend_from_slice(more);
    let port = web.port;
    format!(
        "{}secrets = [{{ {source} = {value:?}, host = \"localhost:{port}\", header = \"Authorization\", \
         format = \"Bearer {{}}\" }}]\n[limits]\nhttp-time = \"5s\"\nhttp-response = \"64KiB\"\n",
        granting(&http)
    )
}

/// H50.
#[tokio::test]
async fn a_secret_reaches_only_its_host() -> Result<()> {
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

        // No other destination gets it, not even on the same machine.
        let elsewhere = [
            (&other, other.at("https", "localhost", "/")),
            (&plain, plain.at("http", "localhost", "/")),
            (&plain, plain.url("/")),
        ];
        for (server, url) in elsewhere {
            answers(&fetch(&client, &url).await?, 200);
            assert_eq!(server.last().headers.get("authorization"), None, "{source} {url}");
        }

        // The guest cannot override it.
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
        let asked = failing.map(async |(action, path, _)| {
            ask(&client, action, &web.at("https", "localhost", path), json!({})).await
        });
        for ((action, path, code), told) in failing.into_iter().zip(join_all(asked).await) {
            let told = told?;
            assert_eq!(told["code"], code, "{action} {path}: {told}");
            let seen = web.asked().into_iter().find(|asked| asked.path == path);
            let seen = seen.and_then(|asked| asked.headers.get("authorization").cloned());
            assert_eq!(seen.as_ref(), Some(&sent), "{path}");
            all.push(told);
        }

        if source == "from-file" {
            let next = "another-canary-4b5a6c7d";
            std::fs::write(&file, next)?;
            let told = fetch(&client, &web.at("https", "localhost", "/")).await?;
            answers(&told, 200);
            assert_eq!(web.last().headers["authorization"], format!("Bearer {next}"));
            assert!(hides(told["data"]["body"].as_str().unwrap_or_default(), next), "{told}");

            // An unusable secret is not sent, and neither is the request.
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
async fn servers_with_invalid_certificates_receive_nothing() -> Result<()> {
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

    // Without TLS.
    let web = Web::start(page).await?;
    let (_folder, client) = host(&granting(&[web.at("https", "127.0.0.1", "")])).await?;
    fails(
        &fetch(&client, &web.at("https", "127.0.0.1", "/")).await?,
        "unavailable",
        "the TLS handshake failed",
    );
    client.end().await
}
