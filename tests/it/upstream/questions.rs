//! What an upstream asks of its client: forms and links reach the person, everything else is refused.

use anyhow::Result;
use loggia_tests::{Client, ERAS, Era, Kind, accepted, heard, opened};
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

/// A link of an upstream reaches clients that open links; others get it in a failure.
#[tokio::test]
async fn links_of_an_upstream_reach_the_person() -> Result<()> {
    let (_folder, served) = served(&[MAY_ASK]).await?;
    for era in ERAS {
        // Asked in the middle of a call, and required before one.
        for (action, links, data) in [
            ("ask_url", &["https://x.example/connect"][..], json!({"action": "accept"})),
            ("connect", &["https://x.example/connect", "https://y.example/"], json!({"calls": 2})),
        ] {
            let kind = Kind::person([opened(), opened()]).links();
            let mut client = Client::http_as(&served.host, era, kind).await?;
            let envelope = client.envelope("fake", json!({"action": action})).await?;
            assert_eq!(envelope["data"], data, "{era:?}");
            for link in links {
                let question = heard("the link", &mut client.questions).await?;
                let host = link.split('/').nth(2).unwrap_or_default();
                let expected = json!(["url", link, format!("[fake, link to {host}] Sign in.")]);
                assert_eq!(
                    json!([question["mode"], question["url"], question["message"]]),
                    expected,
                    "{era:?}"
                );
            }
            client.end().await?;

            let mut client = Client::http_as(&served.host, era, Kind::person([])).await?;
            let envelope = client.envelope("fake", json!({"action": action})).await?;
            assert_eq!(
                (&envelope["code"], &envelope["details"]["link"]),
                (&json!("denied"), &json!(links[0]))
            );
            assert!(envelope["error"].as_str().is_some_and(|text| text.contains(links[0])), "{envelope}");
            assert!(client.questions.try_recv().is_err(), "{era:?}");
            if action == "connect" {
                // The same call again, as the hint says.
                assert_eq!(client.envelope("fake", json!({"action": action})).await?["data"], data);
            }
            client.end().await?;
        }
    }
    end(served).await
}

#[tokio::test]
async fn other_requests_of_an_upstream_are_refused() -> Result<()> {
    let (_folder, served) = served(&[MAY_ASK]).await?;
    let client = Client::http_as(&served.host, Era::Stateful, Kind::person([])).await?;
    let envelope = client.envelope("fake", json!({"action": "sample"})).await?;
    assert_eq!(envelope["data"], json!({"error": "sampling/createMessage"}));
    client.end().await?;
    end(served).await
}
