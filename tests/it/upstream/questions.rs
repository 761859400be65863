//! What an upstream asks of its client: forms reach the person, everything else is refused.

use anyhow::Result;
use loggia_tests::{Client, ERAS, Era, Kind, accepted, heard};
use serde_json::json;

use super::fake::{end, served};

const MAY_ASK: (&str, &str) = ("fake.toml", "[grants]\nelicit = true\n");

#[tokio::test]
async fn forms_of_an_upstream_reach_the_person() -> Result<()> {
    let (_folder, served) = served(&[MAY_ASK]).await?;
    for era in ERAS {
        let kind = Kind::person([accepted(json!({"colour": "red"}))]);
        let mut client = Client::http_as(&served.host, era, kind).await?;
        let envelope = client.envelope("fake", json!({"action": "ask"})).await?;
        assert_eq!(envelope["data"], json!({"action": "accept", "content": {"colour": "red"}}), "{era:?}");
        let question = heard("the form", &mut client.questions).await?;
        assert_eq!(question["message"], "[fake] Which colour?", "{era:?}");
        client.end().await?;
    }
    end(served).await
}

#[tokio::test]
async fn other_requests_of_an_upstream_are_refused() -> Result<()> {
    let (_folder, served) = served(&[MAY_ASK]).await?;
    let client = Client::http_as(&served.host, Era::Stateful, Kind::person([])).await?;
    for (action, reason) in
        [("sample", "sampling/createMessage"), ("ask_url", "this client supports forms only, no URLs")]
    {
        let envelope = client.envelope("fake", json!({"action": action})).await?;
        assert_eq!(envelope["data"], json!({"error": reason}));
    }
    client.end().await?;
    end(served).await
}
