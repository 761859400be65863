//! Settings without required protection: the host refuses to start.

use std::fs;

use anyhow::Result;
use loggia_tests::{Folder, Served, Token, binary, cache, eventually, state, wire};
use serde_json::json;
use tokio::process::Command;

/// Settings for a server behind a proxy whose last token was removed.
const T10: &str = "[http]\nlisten = \"127.0.0.1:0\"\nhosts = [\"tools.example.com\"]\n\n[auth]\n\
                   resource = \"https://tools.example.com/mcp\"\n";

/// Exit code and words of a command over a settings file.
async fn loggia(folder: &Folder, words: &[&str], settings: &str) -> Result<(Option<i32>, String)> {
    let file = Served::settings(folder, settings, &[])?;
    let mut command = Command::new(binary());
    command.args(words).arg(file).env("LOGGIA_CACHE", cache()).env("LOGGIA_STATE", state(folder.path()));
    let output = tokio::time::timeout(loggia_tests::PATIENCE, command.kill_on_drop(true).output()).await??;
    let said = [output.stdout, output.stderr].concat();
    Ok((output.status.code(), String::from_utf8(said)?))
}

/// H74.
#[tokio::test]
async fn settings_without_callers_need_an_explicit_opt_in() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let plugins = folder.path().display().to_string();
    let listen = "[http]\nlisten = \"127.0.0.1:0\"\n";
    for (settings, line, why) in [
        (T10.to_owned(), 5, "`auth` has no credential"),
        (format!("{listen}[auth]\n"), 3, "`auth` has no credential"),
        (format!("{listen}[auth]\ntokens = []\n"), 3, "`auth` has no credential"),
        (
            format!("{listen}hosts = [\"localhost\", \"tools.example.com\"]\n"),
            3,
            "`http.hosts` has \"tools.example.com\"",
        ),
        (format!("{listen}hosts = [\"10.0.0.1:8080\"]\n"), 3, "`http.hosts` has \"10.0.0.1:8080\""),
        ("[http]\nlisten = \"0.0.0.0:0\"\n".to_owned(), 2, "can be reached from other machines"),
    ] {
        let (code, said) = loggia(&folder, &["config", "check"], &settings).await?;
        assert_eq!(code, Some(10), "{settings}: {said}");
        assert!(said.contains(&format!("line {line}: ")) && said.contains(why), "{settings}: {said}");
        assert!(said.contains("loggia token new") && said.contains("allow-anonymous"), "what to do: {said}");
        let (code, said) = loggia(&folder, &["serve", &plugins, "--config"], &settings).await?;
        assert!(code == Some(1) && said.contains(why), "{settings}: {code:?} {said}");
        // An explicit opt-in is honoured.
        let open = settings.replacen("[http]\n", "[http]\nallow-anonymous = true\n", 1);
        let (code, said) = loggia(&folder, &["config", "check"], &open).await?;
        assert_eq!(code, Some(0), "{open}: {said}");
    }
    for fine in
        [listen.to_owned(), format!("{listen}hosts = [\"localhost:8080\", \"[::1]\"]\n"), String::new()]
    {
        let (code, said) = loggia(&folder, &["config", "check"], &fine).await?;
        assert_eq!(code, Some(0), "{fine}: {said}");
    }
    Ok(())
}

/// H74: an edit that makes a running server reject everyone does not open it at the next start.
#[tokio::test]
async fn a_server_without_tokens_rejects_everyone() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let token = Token::new("ada", &["*"]).await?;
    let served = Served::configured(&folder, T10, &[&token]).await?;
    let add = json!({"action": "add", "a": 1, "b": 2});
    let told = wire::answered(&served.host, &token.header(), "echo", &add).await?;
    assert_eq!(told.status, 200, "{told:?}");
    let file = Served::settings(&folder, T10, &[])?;
    eventually(async || match wire::answered(&served.host, &token.header(), "echo", &add).await {
        Ok(told) if told.status == 401 => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    assert_eq!(wire::answered(&served.host, "", "echo", &add).await?.status, 401);
    served.logs(|line| line.contains("no tokens any more") && line.contains("all callers are refused")).await;
    let plugins = folder.path().display().to_string();
    let (code, said) = loggia(&folder, &["serve", &plugins, "--config"], &fs::read_to_string(file)?).await?;
    assert!(code == Some(1) && said.contains("`auth` has no credential"), "{said}");
    Ok(())
}
