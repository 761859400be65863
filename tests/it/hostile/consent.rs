//! Attacks on consent: nothing but a person's decision about this very call lets it run.

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS, Era, eventually, fixture, state};
use serde_json::{Value, json};

use crate::approvals::stage::{
    CONFIRM, SECRET, ask, becomes, ended, folder, operator, park, serve, shown, signed, work,
};

/// H104.
#[tokio::test]
async fn the_word_of_a_model_is_no_consent() -> Result<()> {
    let folder = folder();
    for era in ERAS {
        let client = Client::stdio(folder.path(), era).await?;
        for arguments in [
            work(),
            json!({"action": "work", "params": {"steps": 2, "confirm": true}}),
            json!({"action": "work", "steps": 2, "confirm": true, "wait": true}),
        ] {
            let told = client.envelope("worker", arguments).await?;
            let is_begun = told["ok"] == true && told["data"]["run"]["status"] != "waiting";
            assert!(!is_begun, "{era:?}: {told}");
        }
        client.end().await?;
    }
    Ok(())
}

/// H105.
#[tokio::test]
async fn a_decision_is_for_one_call_with_its_arguments_and_once() -> Result<()> {
    let folder = folder();
    let (served, token) = serve(&folder, "").await?;
    let client = Client::http(&served.host, Era::Stateless).await?;
    let (first, approved) = park(&client, "worker", work()).await?;
    let (_, same) = park(&client, "worker", work()).await?;
    let (_, other) = park(&client, "worker", json!({"action": "work", "steps": 3})).await?;
    let subject = |shown: Value| shown["subject"].as_str().unwrap_or_default().to_owned();
    let own = subject(shown(folder.path(), &approved).await?);
    let decision = json!({"id": approved, "subject": own, "decision": "approve"}).to_string();
    let decide = async |id: &str, body: &str| {
        ask(&served, "POST", &format!("/approvals/{id}"), &token.header(), body).await
    };
    assert_eq!(decide(&approved, &decision).await?.0, 204);
    assert_eq!(ended(&client, "worker", &first).await?["status"], "succeeded");
    // The decision, sent again: to its own approval, and to those of other calls.
    assert_eq!(decide(&approved, &decision).await?.0, 409);
    for id in [&same, &other] {
        assert_eq!(decide(id, &decision).await?.0, 400);
        let replayed = json!({"id": id, "subject": own, "decision": "approve"}).to_string();
        assert_eq!(decide(id, &replayed).await?.0, 409);
        assert_eq!(shown(folder.path(), id).await?["state"], "open");
    }
    // The same call needs an approval of its own.
    let (_, again) = park(&client, "worker", work()).await?;
    assert_ne!(again, approved);
    client.end().await
}

/// H106.
#[tokio::test]
async fn a_reload_between_question_and_answer_voids_the_decision() -> Result<()> {
    for change in ["artifact", "policy"] {
        let folder = folder();
        let (served, _) = serve(&folder, "").await?;
        let client = Client::http(&served.host, Era::Stateless).await?;
        let (run, id) = park(&client, "worker", work()).await?;
        match change {
            "artifact" => {
                // The same plugin with other bytes: a custom section with an empty name and content.
                let mut bytes = std::fs::read(fixture("worker"))?;
                bytes.extend([0, 2, 1, b'x']);
                std::fs::write(folder.path().join("new"), &bytes)?;
                std::fs::rename(folder.path().join("new"), folder.path().join("worker.wasm"))?;
            }
            _ => folder.write("worker.toml", &format!("{CONFIRM}[limits]\nwall = \"20s\"\n")),
        }
        eventually(async || {
            let log = served.log.lock().expect("a log").join("\n");
            if log.matches("file=\"worker.wasm\"").count() > 1 { Ok(()) } else { Err(log) }
        })
        .await;
        assert!(operator(folder.path(), &["approve", &id]).await?.status.success());
        let run = ended(&client, "worker", &run).await?;
        assert_eq!(run["result"]["code"], "unavailable", "{change}: {run}");
        let error = run["result"]["error"].as_str().context("an error")?;
        assert!(error.contains("was changed while `work` waited for approval"), "{error}");
        client.end().await?;
    }
    Ok(())
}

/// H107.
#[tokio::test]
async fn a_forged_message_decides_nothing() -> Result<()> {
    let folder = folder();
    let settings = format!("[approvals]\nwebhook-secret = {SECRET:?}\n");
    let (served, _) = serve(&folder, &settings).await?;
    let client = Client::http(&served.host, Era::Stateless).await?;
    let (_, id) = park(&client, "worker", work()).await?;
    let (_, other) = park(&client, "worker", work()).await?;
    let subject = shown(folder.path(), &id).await?["subject"].clone();
    let body = json!({"id": id, "subject": subject, "decision": "approve"}).to_string();
    let denied = body.replace("approve", "deny");
    let now = signed("m", &body, SECRET);
    let line = |name: &str| {
        let line = now.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        format!("{line}\r\n")
    };
    let path = format!("/approvals/{id}");
    for (what, path, headers, sent) in [
        ("no signature", &path, String::new(), &body),
        ("another secret", &path, signed("m", &body, "another secret of 24 characters"), &body),
        ("an empty secret", &path, signed("m", &body, ""), &body),
        ("another body", &path, now.clone(), &denied),
        ("another id", &path, now.replace("webhook-id: m", "webhook-id: n"), &body),
        ("an old time", &path, signed_at(&body, 600), &body),
        ("no time", &path, [line("webhook-id"), line("webhook-signature")].concat(), &body),
        ("another approval", &format!("/approvals/{other}"), now.clone(), &body),
    ] {
        let (status, told) = ask(&served, "POST", path, &headers, sent).await?;
        assert!(status == 401 || (what == "another approval" && status == 400), "{what}: {status} {told}");
    }
    // Lists are not for the holders of the webhook's secret.
    assert_eq!(ask(&served, "GET", &path, &signed("m", "", SECRET), "").await?.0, 401);
    for id in [&id, &other] {
        assert_eq!(shown(folder.path(), id).await?["state"], "open");
    }
    client.end().await
}

/// Headers of a message that was signed some seconds ago.
fn signed_at(body: &str, ago: u64) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock").as_secs();
    let signature = crate::approvals::stage::signature("m", now - ago, body.as_bytes(), SECRET);
    format!("webhook-id: m\r\nwebhook-timestamp: {}\r\nwebhook-signature: {signature}\r\n", now - ago)
}

/// H108.
#[tokio::test]
async fn an_edited_store_approves_nothing_else() -> Result<()> {
    let folder = folder();
    let client = Client::stdio(folder.path(), Era::Stateless).await?;
    let (run, id) = park(&client, "worker", json!({"action": "work", "steps": 2})).await?;
    // Whoever can write the file changes what the operator sees.
    let database = rusqlite::Connection::open(state(folder.path()).join("journal.db"))?;
    let record: Vec<u8> =
        database.query_row("SELECT record FROM approvals WHERE id = ?1", [&id], |row| row.get(0))?;
    let edited = String::from_utf8(record)?.replace("\"steps\":2", "\"steps\":1");
    database.execute("UPDATE approvals SET record = ?2 WHERE id = ?1", (&id, edited.into_bytes()))?;
    assert_eq!(shown(folder.path(), &id).await?["arguments"]["steps"], 1);
    let run = ended(&client, "worker", &run).await?;
    assert_eq!(run["result"]["code"], "denied", "{run}");
    let late = operator(folder.path(), &["approve", &id]).await?;
    assert_eq!(late.status.code(), Some(1), "{late:?}");
    client.end().await
}

/// H109.
#[tokio::test]
async fn two_operators_at_once_decide_once() -> Result<()> {
    let folder = folder();
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    for _ in 0..3 {
        let (run, id) = park(&client, "worker", work()).await?;
        let (approve, deny) = (["approve", id.as_str()], ["deny", id.as_str()]);
        let (one, two) = tokio::join!(operator(folder.path(), &approve), operator(folder.path(), &deny));
        let decided = [one?.status.success(), two?.status.success()];
        assert!(decided[0] != decided[1], "one of them: {decided:?}");
        let run = ended(&client, "worker", &run).await?;
        assert_eq!(run["status"], if decided[0] { "succeeded" } else { "failed" }, "{run}");
        let expected = if decided[0] { "approved" } else { "denied" };
        becomes(folder.path(), &id, expected).await;
    }
    client.end().await
}

/// H110.
#[tokio::test]
async fn many_parked_calls_do_not_flood_operators() -> Result<()> {
    let folder = folder();
    let (served, token) = serve(&folder, "").await?;
    let mut clients = Vec::new();
    let mut refused = None;
    for _ in 0..60 {
        let client = Client::http(&served.host, Era::Stateless).await?;
        let told = client.envelope("worker", work()).await?;
        clients.push(client);
        if told["ok"] != true {
            refused = Some(told);
            break;
        }
    }
    let refused = refused.context("calls that wait are bounded")?;
    assert!(
        ["rate_limited", "unavailable", "busy"].contains(&refused["code"].as_str().unwrap_or_default()),
        "{refused}"
    );
    let listed = eventually(async || {
        let told = ask(&served, "GET", "/approvals", &token.header(), "")
            .await
            .map_err(|error| error.to_string())?;
        told.1.as_array().map(Vec::len).ok_or_else(|| told.1.to_string())
    })
    .await;
    assert!(listed < 40, "{listed}");
    Ok(())
}
