//! Callers of several servers with one record: revoked tokens, and shared rates.

use anyhow::{Context, Result, ensure};
use loggia_postgres::testing::PrivateServer;
use loggia_tests::{Folder, Served, Token, binary, cache, eventually, state, wire};
use serde_json::{Value, json};
use tokio::process::Command;

/// Runs `loggia token` with the settings file of a server; its output.
async fn token(folder: &Folder, arguments: &[&str]) -> Result<(String, String)> {
    let output = Command::new(binary())
        .arg("token")
        .args(arguments)
        .arg("--config")
        .arg(folder.beside("config").join("loggia.toml"))
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", state(folder.path()))
        .kill_on_drop(true)
        .output()
        .await?;
    let notes = String::from_utf8(output.stderr)?;
    ensure!(output.status.success(), "{notes}");
    Ok((String::from_utf8(output.stdout)?, notes))
}

async fn status(served: &Served, token: &Token) -> Result<u16> {
    let add = json!({"action": "add", "a": 1, "b": 2});
    Ok(wire::answered(&served.host, &token.header(), "echo", &add).await?.status)
}

async fn status_becomes(served: &Served, token: &Token, expected: u16) {
    eventually(async || match status(served, token).await {
        Ok(status) if status == expected => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
}

/// Settings of a database with a schema of its own.
fn database(server: &PrivateServer) -> String {
    let options = server.options();
    format!("[state]\nurl = '{}'\nschema = '{}'\n", options.url, options.schema)
}

/// By the state folder, or by the database, from another machine.
#[tokio::test]
async fn a_revoked_token_is_refused_by_running_servers() -> Result<()> {
    let server = PrivateServer::shared();
    for settings in [String::new(), database(&server)] {
        let [ada, bob] = [Token::new("ada", &["*"]).await?, Token::new("bob", &["*"]).await?];
        let machine = async || {
            let folder = Folder::with(&["echo"]);
            let served = Served::configured(&folder, &settings, &[&ada, &bob]).await?;
            anyhow::Ok((folder, served))
        };
        let (folder, served) = machine().await?;
        let session = wire::session(&served.host, &ada.header(), wire::INITIALIZE).await?;
        let mut stream = wire::listened(&served.host, &session).await?;
        // With a database, the command is run on another machine than that of the server.
        let elsewhere = if settings.is_empty() { None } else { Some(machine().await?) };
        let operator = elsewhere.as_ref().map_or(&folder, |(folder, _)| folder);
        assert_eq!(token(operator, &["revoked"]).await?.1.trim(), "no token is revoked");
        let (_, notes) = token(operator, &["revoke", "ada"]).await?;
        ensure!(notes.contains("revoked: ada"), "{notes}");
        for served in [Some(&served), elsewhere.as_ref().map(|(_, served)| served)].into_iter().flatten() {
            status_becomes(served, &ada, 401).await;
            assert_eq!(status(served, &bob).await?, 200);
        }
        stream.until("\r\n0\r\n\r\n").await.context("her stream ends with her token")?;
        // Although the settings still have it, also after a restart.
        drop(served);
        let served = Served::configured(&folder, &settings, &[&ada, &bob]).await?;
        assert_eq!([status(&served, &ada).await?, status(&served, &bob).await?], [401, 200]);
        let (listed, _) = token(operator, &["revoked", "--json"]).await?;
        let listed: Value = serde_json::from_str(&listed)?;
        assert_eq!(listed["caller"], "ada");
        let hash = listed["hash"].as_str().context("no hash")?;
        assert!(ada.toml.contains(hash), "{listed}");
        // By its hash: without an entry in the settings.
        let hash = bob.toml.split('"').find(|part| part.starts_with("sha256:")).context("no hash")?;
        token(operator, &["revoke", hash]).await?;
        status_becomes(&served, &bob, 401).await;
        let log = served.log.lock().expect("a log").join("\n");
        assert!(!log.contains("sha256:"), "{log}");
    }
    Ok(())
}

/// A caller that has used its rate at one server finds it used at another.
#[tokio::test]
async fn rates_count_the_requests_of_all_servers() -> Result<()> {
    const BURST: usize = 300;
    let server = PrivateServer::shared();
    let options = server.options();
    let limits = format!("[http.per-caller]\nrate = 1\nburst = {BURST}\n");
    let settings = format!("[state]\nurl = '{}'\nschema = '{}'\n{limits}", options.url, options.schema);
    let [ada, bob] = [Token::new("ada", &["*"]).await?, Token::new("bob", &["*"]).await?];
    let machine = async || {
        let folder = Folder::with(&["echo"]);
        let served = Served::configured(&folder, &settings, &[&ada, &bob]).await?;
        anyhow::Ok((folder, served))
    };
    let (one, two) = (machine().await?, machine().await?);
    // The second server looks at the counts before the first request.
    assert_eq!(status(&two.1, &bob).await?, 200);
    let counted = format!("SELECT coalesce(sum(total), 0) FROM {}.admitted", options.schema);
    eventually(async || match server.ask(&counted).as_str() {
        "1" => Ok(()),
        other => Err(other.to_owned()),
    })
    .await;
    let mut admitted = 0;
    while status(&one.1, &ada).await? == 200 {
        admitted += 1;
    }
    assert!(admitted >= BURST, "{admitted}");
    let last = format!("{} requests of all", admitted + 1);
    eventually(async || match server.ask(&counted).parse::<usize>() {
        Ok(number) if number > admitted => Ok(()),
        other => Err(format!("{other:?}, not {last}")),
    })
    .await;
    let elsewhere = std::cell::Cell::new(0);
    eventually(async || match status(&two.1, &ada).await {
        Ok(429) => Ok(()),
        other => {
            elsewhere.set(elsewhere.get() + 1);
            Err(format!("{other:?}"))
        }
    })
    .await;
    // They were admitted before the second server had read the count. Alone, it would have admitted a burst.
    assert!(elsewhere.get() < BURST, "{}", elsewhere.get());
    assert_eq!(status(&two.1, &bob).await?, 200);
    let callers = format!("SELECT count(*) FROM {}.admitted WHERE octet_length(caller) = 16", options.schema);
    let rows: u32 = server.ask(&callers).parse()?;
    assert!(rows >= 2, "{rows}");
    Ok(())
}
