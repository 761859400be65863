//! The operator's page: without a browser in the files here, and in Chromium by `tests/page`.
//!
//! | file | subject |
//! |---|---|
//! | `operator.rs` | what a browser knows of the page |
//! | `sessions.rs` | logins, cookies, headers, streams |
//! | `decisions.rs` | approvals, and forms that are forged or stale |

mod decisions;
mod operator;
mod sessions;
mod versions;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use loggia_tests::{Served, Token, eventually, fixture, plugin, wire};
use serde_json::json;
use tokio::process::Command;

use self::operator::{Operator, folder, settings};
use crate::clients::install;

#[tokio::test]
async fn runs_are_listed_shown_and_cancelled() -> Result<()> {
    let (admin, caller) = (Token::new("operator", &["*"]).await?, Token::new("ada", &["*"]).await?);
    let folder = folder();
    let served = Served::configured(&folder, &settings(&admin)?, &[&caller]).await?;
    let mut operator = Operator::new(&served);
    operator.log_in(&admin.secret).await?;
    let work = json!({"action": "work", "steps": 100_000, "ms": 100, "wait": false});
    let told = wire::answered(&served.host, &caller.header(), "worker", &work).await?.envelope()?;
    let run = told["data"]["run"]["id"].as_str().context("a run")?.to_owned();
    let listed = operator.get("/operator/runs").await?.body;
    assert!(listed.contains("worker.work") && listed.contains(">running</span>"), "{listed}");
    assert!(listed.contains(&format!("/operator/runs/{run}")) && listed.contains(">ada<"), "{listed}");
    let path = format!("/operator/runs/{run}");
    // Its trace, once the plugin has begun.
    let shown = eventually(async || {
        let shown = operator.get(&path).await.map_err(|error| error.to_string())?;
        if shown.body.contains("work begins") { Ok(shown) } else { Err(shown.body) }
    })
    .await;
    let form = format!("form_token={}", shown.field("form_token")?);
    let page = operator.post(&format!("{path}/cancel"), &form).await?;
    assert_eq!(page.header("location"), Some(format!("{path}?done=cancelled").as_str()));
    eventually(async || {
        let body = operator.get(&path).await.map_err(|error| error.to_string())?.body;
        if body.contains(">cancelled</span>") { Ok(()) } else { Err(body) }
    })
    .await;
    // It is recorded as cancelled a moment before the server forgets the call.
    let ended = format!("{path}?done=ended");
    eventually(async || {
        let page = operator.post(&format!("{path}/cancel"), &form).await;
        let page = page.map_err(|error| error.to_string())?;
        if page.header("location") == Some(&ended) {
            Ok(())
        } else {
            Err(format!("{:?}", page.header("location")))
        }
    })
    .await;
    Ok(())
}

#[tokio::test]
async fn the_audit_trail_is_searched() -> Result<()> {
    let (admin, caller) = (Token::new("operator", &["*"]).await?, Token::new("ada", &["*"]).await?);
    let folder = folder();
    let file = folder.beside("log").join("audit.jsonl");
    let settings = format!("[audit]\nfile = {file:?}\n{}", settings(&admin)?);
    let served = Served::configured(&folder, &settings, &[&caller]).await?;
    let mut operator = Operator::new(&served);
    operator.log_in(&admin.secret).await?;
    for action in ["<b>nothing</b>", "describe"] {
        wire::answered(&served.host, &caller.header(), "worker", &json!({"action": action})).await?;
    }
    let search = async |query: &str| {
        Ok::<_, anyhow::Error>(operator.get(&format!("/operator/audit{query}")).await?.body)
    };
    eventually(async || {
        let body = search("?caller=ada&event=answered").await.map_err(|error| error.to_string())?;
        if body.contains("worker.describe") { Ok(()) } else { Err(body) }
    })
    .await;
    let refused = search("?event=refused").await?;
    assert!(refused.contains("worker.&lt;b&gt;nothing") && !refused.contains("worker.describe"), "{refused}");
    assert!(search("?caller=bob%22%3E%3Cscript%3E").await?.contains("No line matches."));
    Ok(())
}

#[tokio::test]
async fn callers_and_tokens_are_listed() -> Result<()> {
    let (admin, caller) = (Token::new("operator", &["*"]).await?, Token::new("ada", &["*"]).await?);
    let mut expired = Token::new("bob", &["worker:read"]).await?;
    expired.toml.push_str("\nexpires = \"2020-02-01\"\n");
    let folder = folder();
    let served = Served::configured(&folder, &settings(&admin)?, &[&caller, &expired]).await?;
    let mut operator = Operator::new(&served);
    operator.log_in(&admin.secret).await?;
    let work = json!({"action": "work", "steps": 0, "ms": 0});
    let fails = json!({"action": "get", "id": "nothing"});
    for (tool, arguments, succeeds) in
        [("worker", &work, true), ("worker", &work, true), ("shelf", &fails, false)]
    {
        let answer = wire::answered(&served.host, &caller.header(), tool, arguments).await?;
        let envelope = answer.envelope()?;
        assert_eq!(envelope["ok"], json!(succeeds), "{envelope}");
    }
    // Name, calls of the last minute, which depend on the time of the samples, calls, failed ones.
    let rows = operator.rows("/operator/callers").await?;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!([&rows[0][0], &rows[0][2], &rows[0][3]], ["ada", "3", "1"]);
    assert_eq!(
        operator.rows("/operator/tokens").await?,
        [["ada", "valid", "*", "all", "never"], ["bob", "expired", "worker:read", "all", "2020-02-01"]]
    );
    Ok(())
}

/// Needs Chromium and a package from npm: `tests/release/run page`.
#[tokio::test]
#[ignore = "needs a browser"]
async fn the_page_holds_in_a_browser() -> Result<()> {
    let home = install(&["apps"]).await?;
    let pictures = std::env::temp_dir().join("loggia-page");
    std::fs::create_dir_all(&pictures)?;
    let (admin, caller) = (Token::new("operator", &["*"]).await?, Token::new("ada", &["*"]).await?);
    let folder = folder();
    folder.put("echo", &fixture("echo"));
    folder.put("version", &fixture("version_one"));
    folder.write("\"><img src=x onerror=alert(1)>.wasm", "not a component");
    let trail = folder.beside("log").join("audit.jsonl");
    let guard = folder.beside("guards").join("mask.wasm");
    std::fs::copy(plugin("mask_secrets"), &guard)?;
    let guards = format!("[guards.mask]\ncomponent = {guard:?}\nfacades = [\"echo\"]\nbefore = false\n");
    let settings =
        format!("[audit]\nfile = {trail:?}\n{guards}{}questions = 16\nruns = 64\n", settings(&admin)?);
    let served = Served::configured_with(&folder, &settings, &[&caller], |command| {
        command.env("LOGGIA_PIN", "surface");
    })
    .await?;
    // A version that waits, with a text that is flagged.
    folder.put("version", &fixture("version_text"));
    let brief_folder = self::folder();
    let brief_settings = format!("{}[approvals]\nexpires = \"8s\"\n", self::settings(&admin)?);
    let brief = Served::configured(&brief_folder, &brief_settings, &[&caller]).await?;
    let mut operator = Operator::new(&served);
    operator.log_in(&admin.secret).await?;
    versions::shows(&operator, "suspicious text").await;
    let browser =
        std::env::var_os("LOGGIA_CHROMIUM").map_or_else(|| PathBuf::from("/usr/bin/chromium"), PathBuf::from);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("page/run.mjs");
    let mut command = Command::new(home.join("node"));
    command.arg(script);
    for server in [&served, &brief] {
        command.arg(format!("http://{}", server.admin)).arg(&server.host.url);
    }
    command.args([&admin.secret, &caller.secret]).arg(browser).arg(home.join("apps")).arg(&pictures);
    // It prints what it saw.
    let ended = command.kill_on_drop(true).status().await?;
    ensure!(ended.success(), "{ended}");
    Ok(())
}
