//! Questions of workflows, which operators answer where the client cannot ask.

use anyhow::Result;
use loggia_tests::{Client, ERAS, Era, HttpHost};
use serde_json::{Value, json};

use super::stage::{becomes, ended, operator, park, shown};
use crate::workflows::stage::Stage;

fn deploy() -> Value {
    json!({"action": "deploy_with_approval", "pr_number": "42"})
}

#[tokio::test]
async fn an_operator_answers_the_form_of_a_workflow() -> Result<()> {
    let stage = Stage::with(&["deploy_with_approval"]).await?;
    let folder = stage.plugins.path();
    let host = stage.host().await?;
    for era in ERAS {
        let client = Client::http(&host, era).await?;
        let before = stage.times("trigger_deployment");
        let (run, id) = park(&client, "deploy_with_approval", deploy()).await?;
        let approval = shown(folder, &id).await?;
        assert_eq!(approval["question"], "Deploy PR #42 to production?");
        assert_eq!(approval["form"]["properties"], json!({"approved": {"type": "boolean"}}), "{approval}");
        let unfit = operator(folder, &["approve", &id, "--answer", r#"{"approved": "yes"}"#]).await?;
        assert_eq!(unfit.status.code(), Some(2), "{unfit:?}");
        let given = operator(folder, &["approve", &id, "--answer", r#"{"approved": true}"#]).await?;
        assert!(given.status.success(), "{given:?}");
        let run = ended(&client, "deploy_with_approval", &run).await?;
        assert_eq!(run["result"]["data"]["deployment"], "dep-1", "{era:?}: {run}");
        assert_eq!(stage.times("trigger_deployment"), before + 1);

        let (run, id) = park(&client, "deploy_with_approval", deploy()).await?;
        assert!(operator(folder, &["deny", &id]).await?.status.success());
        let run = ended(&client, "deploy_with_approval", &run).await?;
        assert_eq!(
            (&run["status"], stage.times("trigger_deployment")),
            (&json!("cancelled"), before + 1),
            "{run}"
        );
        client.end().await?;
    }
    Ok(())
}

/// The run goes on behind another host, and finds the approval that was opened before.
#[tokio::test]
async fn an_approval_survives_its_host() -> Result<()> {
    let stage = Stage::with(&["deploy_with_approval"]).await?;
    let folder = stage.plugins.path();
    for decided_while_down in [true, false] {
        let mut host: HttpHost = stage.host().await?;
        let client = Client::http(&host, Era::Stateless).await?;
        let before = stage.times("trigger_deployment");
        let (run, id) = park(&client, "deploy_with_approval", deploy()).await?;
        host.child.kill().await?;
        drop(client);
        let approve = async || operator(folder, &["approve", &id, "--answer", r#"{"approved": true}"#]).await;
        if decided_while_down {
            assert!(approve().await?.status.success());
        }
        let host = stage.host().await?;
        let client = Client::http(&host, Era::Stateless).await?;
        if !decided_while_down {
            crate::workflows::stage::becomes(&client, "deploy_with_approval", &run, "waiting").await;
            assert!(approve().await?.status.success());
        }
        let run = ended(&client, "deploy_with_approval", &run).await?;
        assert_eq!(run["result"]["data"]["deployment"], "dep-1", "{run}");
        assert_eq!(stage.times("trigger_deployment"), before + 1);
        becomes(folder, &id, "approved").await;
        client.end().await?;
    }
    Ok(())
}
