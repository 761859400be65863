//! Versions that wait for approval, on the page.

use anyhow::Result;
use loggia_tests::{Client, Era, Folder, Served, Token, eventually, fixture};

use super::operator::{Operator, Page, settings};
use crate::reload::becomes;

/// Waits until the page shows this text.
pub(super) async fn shows(operator: &Operator, text: &str) -> Page {
    eventually(async || {
        let page = operator.get("/operator/versions").await.map_err(|error| error.to_string())?;
        if page.body.contains(text) { Ok(page) } else { Err(page.body) }
    })
    .await
}

/// H38: what is decided about is what the page showed.
#[tokio::test]
async fn operators_decide_about_versions_on_the_page() -> Result<()> {
    let admin = Token::new("operator", &["*"]).await?;
    let folder = Folder::new();
    folder.put("version", &fixture("version_one"));
    let served = Served::configured_with(&folder, &settings(&admin)?, &[], |command| {
        command.env("LOGGIA_PIN", "surface");
    })
    .await?;
    let client = Client::http(&served.host, Era::Stateful).await?;
    becomes(&client, "one").await;
    let mut operator = Operator::new(&served);
    assert_eq!(operator.get("/operator/versions").await?.status, 303, "without a login");
    operator.log_in(&admin.secret).await?;
    shows(&operator, "No version waits.").await;

    folder.put("version", &fixture("version_text"));
    let page = shows(&operator, "suspicious text").await;
    assert!(page.body.contains("! summary: the text overrides other instructions"), "{}", page.body);
    let (token, seen) = (page.field("form_token")?.to_owned(), page.field("version")?.to_owned());
    let form =
        |version: &str, decision: &str| format!("form_token={token}&version={version}&decision={decision}");
    for (form, status) in [
        (form(&seen, "maybe"), 400),
        (form("sha256:0", "approve"), 409),
        (format!("version={seen}&decision=approve"), 403),
        (form(&seen, "reject"), 303),
    ] {
        assert_eq!(operator.post("/operator/versions", &form).await?.status, status, "{form}");
    }
    shows(&operator, "by operator page: ada").await;
    // The version that was seen is replaced before the decision.
    folder.put("version", &fixture("version_effect"));
    let page = shows(&operator, "~ get.effect").await;
    assert_eq!(operator.post("/operator/versions", &form(&seen, "approve")).await?.status, 409);
    becomes(&client, "one").await;
    let shown = page.field("version")?.to_owned();
    let page = operator.post("/operator/versions", &form(&shown, "approve")).await?;
    assert_eq!((page.status, page.header("location")), (303, Some("/operator/versions?done=approved")));
    becomes(&client, "effect").await;
    shows(&operator, "No version waits.").await;
    client.end().await
}
