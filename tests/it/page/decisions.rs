//! Approvals, and forms that are forged or stale.

use anyhow::{Context, Result, ensure};
use loggia_tests::{Served, Token, wire};
use serde_json::json;

use super::operator::{Operator, folder, open_approval, put, result, result_of, settings};

/// H113.
#[tokio::test]
async fn forged_and_stale_forms_change_nothing() -> Result<()> {
    let (admin, caller) = (Token::new("operator", &["*"]).await?, Token::new("ada", &["*"]).await?);
    let folder = folder();
    let served = Served::configured(&folder, &settings(&admin)?, &[&caller]).await?;
    let mut operator = Operator::new(&served);

    // A login that another site sends.
    let form_token = operator.get("/operator/login").await?.field("form_token")?.to_owned();
    let login = format!("form_token={form_token}&token={}", admin.secret);
    let page = operator.post_as("/operator/login", "Origin: http://evil.com\r\n", &login).await?;
    assert_eq!((page.status, page.header("set-cookie")), (403, None));
    let page = operator.post("/operator/login", &format!("token={}", admin.secret)).await?;
    assert_eq!((page.status, page.header("set-cookie")), (403, None));
    ensure!(operator.log_in(&admin.secret).await?.status == 303);

    let run = put(&served, &caller, "<script>alert(1)</script>\u{202e}").await?;
    let id = open_approval(&operator).await;
    let path = format!("/operator/approvals/{id}");
    let card = operator.get(&path).await?;
    assert!(!card.body.contains("<script>alert") && card.body.contains("&lt;script&gt;alert(1)"), "escaped");
    assert!(card.body.contains("\\u202e") && !card.body.contains('\u{202e}'), "hidden characters are shown");
    let (form_token, subject) = (card.field("form_token")?.to_owned(), card.field("subject")?.to_owned());
    let mut other = Operator::new(&served);
    other.log_in(&admin.secret).await?;
    let foreign = other.get("/operator/").await?.field("form_token")?.to_owned();
    let approve = format!("form_token={form_token}&subject={subject}&decision=approve");
    for (headers, form, status) in [
        ("", approve.clone(), 403),
        ("Origin: null\r\n", approve.clone(), 403),
        ("Origin: http://evil.com\r\n", approve.clone(), 403),
        ("Sec-Fetch-Site: cross-site\r\n", approve.clone(), 403),
        ("Sec-Fetch-Site: same-site\r\n", approve.clone(), 403),
        (&*operator.own, approve.replace(&form_token, "x"), 403),
        (&*operator.own, approve.replace(&form_token, &foreign), 403),
        (&*operator.own, format!("subject={subject}&decision=approve"), 403),
        (&*operator.own, format!("form_token={form_token}&subject={subject}&decision=maybe"), 400),
        // What the person saw was another call.
        (&*operator.own, format!("form_token={form_token}&subject=other&decision=approve"), 409),
        (&*operator.own, format!("form_token={form_token}&decision=approve"), 409),
    ] {
        let page = operator.post_as(&path, headers, &form).await?;
        assert_eq!(page.status, status, "{headers} {form}");
        assert!(operator.get(&path).await?.body.contains(">open</span>"), "{headers} {form}");
    }
    let json = operator
        .send(
            &format!("POST {path}"),
            &format!("{}Content-Type: application/json\r\nContent-Length: 2\r\n", operator.own),
            "{}",
        )
        .await?;
    assert_eq!(json.status, 415);

    // A browser's own form, without a referrer.
    let page = operator.post_as(&path, "Origin: null\r\nSec-Fetch-Site: same-origin\r\n", &approve).await?;
    assert_eq!((page.status, page.header("location")), (303, Some("/operator/approvals?done=approved")));
    assert_eq!(result(&served, &caller, &run).await["ok"], true);
    assert_eq!(operator.post(&path, &approve).await?.status, 409, "it is decided once");
    let decided = operator.get(&path).await?.body;
    assert!(decided.contains("operator page: ada") && !decided.contains("name=\"decision\""), "{decided}");
    Ok(())
}

/// A workflow that asks for a form.
const ORDER: &str = r#"
compositeTools:
  - name: order
    description: Order a shelf
    parameters: { type: object, properties: {} }
    steps:
      - id: ask
        type: elicitation
        message: Which shelf?
        timeout: TIMEOUT
        schema:
          type: object
          properties:
            size: { type: string, title: Size <b>, enum: [small, large] }
            count: { type: integer, minimum: 1, description: How many? }
            gift: { type: boolean }
          required: [size, count]
"#;

/// Starts the workflow; the handle of its run.
async fn order(served: &Served, caller: &Token) -> Result<String> {
    let arguments = json!({"action": "order", "wait": false});
    let told = wire::answered(&served.host, &caller.header(), "order", &arguments).await?.envelope()?;
    let run = told["data"]["run"]["id"].as_str().with_context(|| format!("no run: {told}"))?;
    Ok(run.to_owned())
}

#[tokio::test]
async fn an_approval_that_comes_too_late_is_refused() -> Result<()> {
    let (admin, caller) = (Token::new("operator", &["*"]).await?, Token::new("ada", &["*"]).await?);
    let folder = folder();
    folder.write("order.workflow.yaml", &ORDER.replace("TIMEOUT", "2s"));
    let served = Served::configured(&folder, &settings(&admin)?, &[&caller]).await?;
    let mut operator = Operator::new(&served);
    operator.log_in(&admin.secret).await?;
    let run = order(&served, &caller).await?;
    let id = open_approval(&operator).await;
    let path = format!("/operator/approvals/{id}");
    let card = operator.get(&path).await?;
    let (form_token, subject) = (card.field("form_token")?, card.field("subject")?);
    let answer = "answer.size=small&answer.count=2";
    let approve = format!("form_token={form_token}&subject={subject}&decision=approve&{answer}");
    assert_eq!(result_of(&served, &caller, "order", &run).await["ok"], false);
    assert_eq!(operator.post(&path, &approve).await?.status, 409);
    let card = operator.get(&path).await?.body;
    // The question ends a moment before its approval does.
    let is_closed = [">expired</span>", ">withdrawn</span>"].iter().any(|state| card.contains(state));
    assert!(is_closed && !card.contains("name=\"decision\""), "{card}");
    Ok(())
}

#[tokio::test]
async fn a_form_of_a_workflow_is_filled_on_the_page() -> Result<()> {
    let (admin, caller) = (Token::new("operator", &["*"]).await?, Token::new("ada", &["*"]).await?);
    let folder = folder();
    folder.write("order.workflow.yaml", &ORDER.replace("TIMEOUT", "10m"));
    let served = Served::configured(&folder, &settings(&admin)?, &[&caller]).await?;
    let mut operator = Operator::new(&served);
    operator.log_in(&admin.secret).await?;
    let run = order(&served, &caller).await?;
    let path = format!("/operator/approvals/{}", open_approval(&operator).await);
    let card = operator.get(&path).await?;
    assert!(card.body.contains("Size &lt;b&gt; (required)"), "{}", card.body);
    let (form_token, subject) = (card.field("form_token")?, card.field("subject")?);
    let form = |answer: &str| format!("form_token={form_token}&subject={subject}&decision=approve&{answer}");
    for answer in ["", "answer.size=small&answer.count=0", "answer.size=medium&answer.count=1"] {
        let page = operator.post(&path, &form(answer)).await?;
        assert!(page.status == 400 && page.body.contains("It was not decided: "), "{answer}: {}", page.body);
    }
    let page = operator.post(&path, &form("answer.size=small&answer.count=2&answer.gift=on")).await?;
    assert_eq!(page.status, 303, "{}", page.body);
    let ended = result_of(&served, &caller, "order", &run).await;
    assert_eq!(ended["data"]["content"], json!({"size": "small", "count": 2, "gift": true}), "{ended}");
    // Its steps.
    let shown = operator.get(&format!("/operator/runs/{run}")).await?.body;
    assert!(shown.contains(">completed</span>") && shown.contains("Steps"), "{shown}");
    Ok(())
}
