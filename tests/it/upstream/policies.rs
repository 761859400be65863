//! The policy of an upstream, as that of any other facade.

use anyhow::Result;
use loggia_tests::{Client, ERAS, Era, Folder, HttpHost, Kind, Served, Token, accepted, eventually, wire};
use serde_json::{Value, json};

use super::fake::{end, fake, serve, served};

fn echo(n: u64) -> Value {
    json!({"action": "echo", "n": n})
}

async fn call(host: &HttpHost, tool: &str, arguments: Value) -> Result<Value> {
    let client = Client::http(host, Era::Stateless).await?;
    let envelope = client.envelope(tool, arguments).await;
    client.end().await?;
    envelope
}

#[tokio::test]
async fn denied_actions_of_upstreams_do_not_exist() -> Result<()> {
    let (_folder, served) = served(&[("fake.toml", "[actions]\ndeny = [\"echo\"]\n")]).await?;
    let denied = call(&served.host, "fake", echo(1)).await?;
    assert_eq!(denied["code"], "denied", "{denied}");
    assert_eq!(call(&served.host, "fake", json!({"action": "pid"})).await?["ok"], true);
    end(served).await
}

#[tokio::test]
async fn actions_of_upstreams_are_confirmed() -> Result<()> {
    let (_folder, served) = served(&[("fake.toml", "[actions]\nconfirm = [\"echo\"]\n")]).await?;
    for era in ERAS {
        let kind = Kind::person([false, true].map(|agrees| accepted(json!({"confirm": agrees}))));
        let client = Client::http_as(&served.host, era, kind).await?;
        assert_eq!(client.envelope("fake", echo(1)).await?["ok"], false, "{era:?}");
        assert_eq!(client.envelope("fake", echo(2)).await?["data"], json!({"echo": {"n": 2}}), "{era:?}");
        client.end().await?;
    }
    end(served).await
}

#[tokio::test]
async fn upstreams_are_renamed() -> Result<()> {
    let (_folder, served) = served(&[("fake.toml", "[expose]\nname = \"other\"\n")]).await?;
    let client = Client::http(&served.host, Era::Stateless).await?;
    assert_eq!(client.names().await?, ["echo", "other"]);
    assert_eq!(client.envelope("other", echo(3)).await?["data"], json!({"echo": {"n": 3}}));
    client.end().await?;
    end(served).await
}

#[tokio::test]
async fn scopes_hold_for_upstreams() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let ada = Token::new("ada", &["fake:echo"]).await?;
    let served = Served::configured(&folder, &fake("fake", "constant"), &[&ada]).await?;
    serve(&served, &["fake"]).await;
    let called = async |arguments: Value| {
        wire::answered(&served.host, &ada.header(), "fake", &arguments).await?.envelope()
    };
    assert_eq!(called(echo(4)).await?["data"], json!({"echo": {"n": 4}}));
    let denied = called(json!({"action": "pid"})).await?;
    assert_eq!(
        (&denied["code"], &denied["details"]["scope"]),
        (&json!("denied"), &json!("fake:pid")),
        "{denied}"
    );
    end(served).await
}

#[tokio::test]
async fn upstreams_are_called_in_batches() -> Result<()> {
    let (_folder, served) = served(&[("fake.toml", "[actions]\nbatch = true\n")]).await?;
    let batch =
        json!({"action": "batch", "items": [echo(1), {"action": "fail"}, echo(2)], "mode": "continue"});
    let envelope = call(&served.host, "fake", batch).await?;
    let items = envelope["details"].to_string();
    assert!(items.contains(r#"{"n":2}"#) && items.contains("it went wrong"), "{envelope}");
    end(served).await
}

#[tokio::test]
async fn workflows_call_upstreams_by_tool_names() -> Result<()> {
    let flow = "name: echo_twice\ndescription: Echoes twice.\nsteps:\n\
        \x20 - {id: first, tool: fake.fake_echo, arguments: {n: 1}}\n\
        \x20 - {id: second, tool: fake.echo, arguments: {n: '{{.steps.first.output.echo.n}}'}, dependsOn: [first]}\n";
    let (_folder, served) = served(&[("flow.workflow.yaml", flow)]).await?;
    serve(&served, &["fake"]).await;
    let called = async || call(&served.host, "flow", json!({"action": "echo_twice"})).await;
    let envelope = eventually(async || match called().await {
        Ok(envelope) if envelope["ok"] == true => Ok(envelope),
        other => Err(format!("{other:?}")),
    })
    .await;
    assert!(envelope["data"].to_string().contains("\"echo\""), "{envelope}");
    end(served).await
}

#[tokio::test]
async fn changed_policies_of_upstreams_take_effect() -> Result<()> {
    let (folder, served) = served(&[]).await?;
    let client = Client::http(&served.host, Era::Stateful).await?;
    assert_eq!(client.envelope("fake", echo(5)).await?["ok"], true);
    let process = client.envelope("fake", json!({"action": "pid"})).await?["data"].clone();
    let becomes = async |code: &Value| {
        eventually(async || match client.envelope("fake", echo(6)).await {
            Ok(envelope) if envelope["code"] == *code => Ok(()),
            other => Err(format!("{other:?}")),
        })
        .await;
    };
    folder.write("fake.toml", "[actions]\ndeny = [\"echo\"]\n");
    becomes(&json!("denied")).await;
    // What the sandbox grants does not apply: the policy is refused, and the previous one stays.
    folder.write("fake.toml", "[grants]\nstore = true\n");
    let refused = |ready: &Value| super::fake::state_of(ready, "upstream.fake")["state"] == "stale";
    served.readies(|_, ready| refused(ready)).await;
    becomes(&json!("denied")).await;
    folder.remove("fake.toml");
    becomes(&Value::Null).await;
    // The server runs on.
    assert_eq!(client.envelope("fake", json!({"action": "pid"})).await?["data"], process);
    client.end().await?;
    end(served).await
}

#[tokio::test]
async fn time_limits_hold_for_upstreams() -> Result<()> {
    let (_folder, served) = served(&[("fake.toml", "[limits]\nwall = \"1s\"\n")]).await?;
    let late = call(&served.host, "fake", json!({"action": "silent"})).await?;
    assert_eq!(late["code"], "timed_out", "{late}");
    // The upstream hears that nobody waits any more.
    let counts = call(&served.host, "fake", json!({"action": "cancelled"})).await?;
    assert_eq!(counts["data"]["cancelled"], 1, "{counts}");
    end(served).await
}
