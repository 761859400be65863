//! Messages and decisions of a webhook.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use anyhow::{Context, Result};
use loggia_tests::{
    Client, ERAS, eventually,
    web::{Answer, Web},
};
use serde_json::{Value, json};

use super::stage::{SECRET, ask, ended, folder, park, serve, signature, signed, work};

fn settings(web: &Web) -> String {
    format!("[approvals]\nwebhook = {:?}\nwebhook-secret = {SECRET:?}\n", web.url("/hook"))
}

#[tokio::test]
async fn a_signed_message_announces_and_a_signed_message_decides() -> Result<()> {
    let folder = folder();
    // The first attempt fails: it is sent again.
    let attempts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&attempts);
    let web = Web::start(move |_| match counted.fetch_add(1, Ordering::Relaxed) {
        0 => Answer::Plain(500, Vec::new(), Vec::new()),
        _ => Answer::Plain(204, Vec::new(), Vec::new()),
    })
    .await?;
    let (served, _) = serve(&folder, &settings(&web)).await?;
    for (era, (word, expected)) in ERAS.into_iter().zip([("approve", "succeeded"), ("deny", "failed")]) {
        let client = Client::http(&served.host, era).await?;
        let (run, id) = park(&client, "worker", work()).await?;
        let message = eventually(async || {
            let asked = web.asked();
            let own = asked.iter().rev().find(|asked| asked.headers["webhook-id"] == id);
            own.filter(|_| attempts.load(Ordering::Relaxed) > 1).cloned().ok_or_else(|| format!("{asked:?}"))
        })
        .await;
        let at: u64 = message.headers["webhook-timestamp"].parse()?;
        assert_eq!(message.headers["webhook-signature"], signature(&id, at, &message.body, SECRET));
        let announced: Value = serde_json::from_slice(&message.body)?;
        let approval = &announced["data"];
        assert_eq!((&announced["type"], &approval["id"]), (&json!("approval.opened"), &json!(id)));
        assert_eq!(
            (&approval["arguments"]["key"], &approval["action"]),
            (&json!("(redacted)"), &json!("work"))
        );
        let subject = approval["subject"].as_str().context("a subject")?;
        let body = json!({"id": id, "subject": subject, "decision": word, "by": "ada"}).to_string();
        let path = format!("/approvals/{id}");
        let (status, told) = ask(&served, "POST", &path, &signed("msg_1", &body, SECRET), &body).await?;
        assert_eq!(status, 204, "{told}");
        assert_eq!(ended(&client, "worker", &run).await?["status"], expected, "{era:?}");
        client.end().await?;
    }
    Ok(())
}
