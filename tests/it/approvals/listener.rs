//! Approvals on the admin listener.

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS, Era};
use serde_json::{Value, json};

use super::stage::{ask, ended, folder, park, serve, work};

#[tokio::test]
async fn decisions_need_the_token_of_operators() -> Result<()> {
    let folder = folder();
    let (served, token) = serve(&folder, "").await?;
    let header = token.header();
    for era in ERAS {
        let client = Client::http(&served.host, era).await?;
        let (run, id) = park(&client, "worker", work()).await?;
        // The state folder is not the platform's.
        served.logs(|line| line.contains(&format!("`loggia approvals show {id} --state "))).await;
        let (status, listed) = ask(&served, "GET", "/approvals", &header, "").await?;
        assert_eq!(status, 200);
        let approval = listed[0].clone();
        assert_eq!((&approval["id"], &approval["state"]), (&json!(id), &json!("open")), "{listed}");
        let path = format!("/approvals/{id}");
        assert_eq!(ask(&served, "GET", &path, &header, "").await?, (200, approval.clone()));
        for (method, path) in [("GET", "/approvals"), ("GET", path.as_str()), ("POST", path.as_str())] {
            for headers in ["", "Authorization: Bearer lgt_wrong\r\n", "Authorization: Basic eDp5\r\n"] {
                let (status, body) = ask(&served, method, path, headers, "{}").await?;
                assert_eq!(status, 401, "{method} {path}: {body}");
            }
        }
        let subject = approval["subject"].as_str().context("a subject")?;
        let decision = json!({"id": id, "subject": subject, "decision": "approve", "by": "ada"});
        let with = |name: &str, value: Value| {
            let mut other = decision.clone();
            other[name] = value;
            other.to_string()
        };
        for (body, status, part) in [
            ("{".to_owned(), 400, "the body must be"),
            (with("decision", json!("yes")), 400, "unknown variant"),
            (with("extra", json!(1)), 400, "unknown field"),
            (with("answer", json!({})), 400, "takes no answer"),
            (with("id", json!("ap_other")), 400, "another approval"),
            (with("subject", json!("5ab1ec7")), 409, "look at it again"),
        ] {
            let (given, told) = ask(&served, "POST", &path, &header, &body).await?;
            let error = told["error"].as_str().unwrap_or_default();
            assert!(given == status && error.contains(part), "{body}: {given} {told}");
        }
        let unknown = with("id", json!("ap_none"));
        assert_eq!(ask(&served, "POST", "/approvals/ap_none", &header, &unknown).await?.0, 404);
        assert_eq!(ask(&served, "POST", &path, &header, &decision.to_string()).await?.0, 204);
        assert_eq!(ended(&client, "worker", &run).await?["status"], "succeeded", "{era:?}");
        let (status, told) = ask(&served, "POST", &path, &header, &decision.to_string()).await?;
        assert_eq!(status, 409, "{told}");
        assert_eq!(
            told["error"],
            "the approval cannot be decided any more: it is approved by admin token: ada"
        );
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn without_a_token_nothing_is_decided() -> Result<()> {
    let folder = folder();
    let served = loggia_tests::Served::start(&folder, |_| {}).await?;
    let client = Client::http(&served.host, Era::Stateless).await?;
    let (_, id) = park(&client, "worker", work()).await?;
    for method in ["GET", "POST"] {
        let (status, body) = ask(&served, method, &format!("/approvals/{id}"), "", "{}").await?;
        assert_eq!(status, 401, "{body}");
    }
    client.end().await
}
