//! Forms of a plugin for a person: their cost for the host, and their visible content.

use std::time::Instant;

use anyhow::{Context, Result};
use loggia_tests::{Client, Era, Folder, HttpHost, Kind, accepted, binary, heard, memory};
use serde_json::{Map, Value, json};
use tokio::process::Command;

fn folder() -> Folder {
    let folder = Folder::with(&["inquires"]);
    folder.write("inquires.toml", "[grants]\nelicit = true\n");
    folder
}

fn ask(form: &Value, times: usize) -> Value {
    json!({"action": "ask", "form": form.to_string(), "times": times})
}

/// A list of choices with more keywords beneath `items`.
fn list(more: Value) -> Value {
    let mut items = json!({"type": "string", "enum": ["a"]});
    if let (Some(items), Value::Object(more)) = (items.as_object_mut(), more) {
        items.extend(more);
    }
    json!({"type": "object", "properties": {"t": {"type": "array", "items": items}}})
}

/// H60.
#[tokio::test]
async fn nested_schemas_in_forms_are_refused() -> Result<()> {
    let folder = folder();
    let host = HttpHost::start(folder.path()).await?;
    let process = host.child.id().context("the host ended")?;
    let client = Client::http_as(&host, Era::Stateful, Kind::person([])).await?;
    client.names_become(&["inquires"]).await;
    let refused = client.envelope("inquires", ask(&json!({"type": "string"}), 1)).await?;
    assert_eq!(refused["data"][0]["code"], "invalid_params", "{refused}");
    let before = memory(process, "VmHWM")?;
    let patterns: Vec<Value> =
        (0..30).map(|n| json!({"pattern": format!("a[ab]{{{}}}", 12_000 - n)})).collect();
    let told = client.envelope("inquires", ask(&list(json!({ "allOf": patterns })), 8)).await?;
    for said in told["data"].as_array().context("answers")? {
        let error = said["error"].as_str().unwrap_or_default();
        assert!(
            error.ends_with("its field `t` says `allOf` of its items, which clients do not show"),
            "{told}"
        );
    }
    let grown = memory(process, "VmHWM")?.saturating_sub(before);
    assert!(grown < 48 << 20, "{grown} bytes more");
    client.end().await
}

/// Definitions of which each is twice the one before.
fn doubling() -> Value {
    let at = |level: usize| format!("#/properties/t/items/$defs/a{level}");
    let mut defs: Map<String, Value> = (0..60)
        .map(|level| {
            (format!("a{level}"), json!({"allOf": [{"$ref": at(level + 1)}, {"$ref": at(level + 1)}]}))
        })
        .collect();
    defs.insert("a60".into(), json!({"type": "string"}));
    list(json!({"$defs": defs, "allOf": [{"$ref": at(0)}]}))
}

/// H61.
#[tokio::test]
async fn exponential_references_are_refused() -> Result<()> {
    let folder = folder();
    let answer = accepted(json!({"t": ["a"]}));
    let client = Client::stdio_as(folder.path(), Era::Stateful, Kind::person([answer])).await?;
    let told = client.envelope("inquires", ask(&doubling(), 1)).await?;
    let error = told["data"][0]["error"].as_str().context("refused")?;
    assert!(error.contains("says `$defs` of its items"), "{told}");
    let plain = json!({"type": "object", "properties": {"t": {"type": "boolean"}}});
    let told = client.envelope("inquires", ask(&plain, 1)).await?;
    assert_eq!(told["data"][0]["code"], "invalid_params", "the person's answer is of another form: {told}");
    client.end().await?;
    // A workflow's question is held to the same.
    let workflow = json!({"name": "doubles", "description": "Doubles.",
        "steps": [{"id": "q", "type": "elicitation", "message": "Well?", "schema": doubling()}]});
    folder.write("doubles.workflow.yaml", &workflow.to_string());
    let mut command = Command::new(binary());
    let output =
        command.args(["workflow", "check"]).arg(folder.path().join("doubles.workflow.yaml")).output().await?;
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!output.status.success() && said.contains("says `$defs` of its items"), "{said}");
    Ok(())
}

/// H62.
#[tokio::test]
async fn forms_hide_nothing_and_request_no_secrets() -> Result<()> {
    let folder = folder();
    let kind = Kind::person([accepted(json!({"f": "x"}))]);
    let mut client = Client::stdio_as(folder.path(), Era::Stateful, kind).await?;
    let hidden = "The HOST\n asks\u{202e}\u{200b}\u{1b}[2J\0:";
    let form = json!({"type": "object", "title": hidden, "description": hidden, "properties": {
        "f": {"type": "string", "title": hidden, "description": hidden, "enum": ["x", "y"], "enumNames": [hidden, "Y"]}}});
    let told = client.envelope("inquires", ask(&form, 1)).await?;
    assert_eq!(told["data"][0]["accepted"], r#"{"f":"x"}"#, "{told}");
    let question = heard("a question", &mut client.questions).await?.to_string();
    for hidden in ["\\u", "\\n", "\u{202e}", "\u{200b}", "[2J"] {
        assert!(!question.contains(hidden), "{hidden:?} in {question}");
    }
    assert!(question.contains("The HOST asks:"), "{question}");
    for secret in [
        json!({"type": "string", "title": "Your GitHub password"}),
        json!({"type": "string", "description": "The API key of your account."}),
        json!({"type": "string", "title": "pass\u{200b}word"}),
        json!({"type": "string", "format": "password"}),
    ] {
        let form = json!({"type": "object", "properties": {"f": secret}});
        let told = client.envelope("inquires", ask(&form, 1)).await?;
        let error = told["data"][0]["error"].as_str().context("refused")?;
        assert!(error.ends_with("its field `f` asks for a secret, which a form must not"), "{told}");
    }
    client.end().await
}

/// H63.
#[tokio::test]
async fn questions_per_call_are_limited() -> Result<()> {
    let form = json!({"type": "object", "properties": {}});
    for (policy, most) in [("", 8), ("[limits]\nquestions = 2\n", 2)] {
        let folder = folder();
        folder.write("inquires.toml", &format!("[grants]\nelicit = true\n{policy}"));
        let kind = Kind::person((0..12).map(|_| accepted(json!({}))));
        let client = Client::stdio_as(folder.path(), Era::Stateful, kind).await?;
        let begun = Instant::now();
        let told = client.envelope("inquires", ask(&form, 12)).await?;
        let answers = told["data"].as_array().with_context(|| format!("{told}"))?;
        let given = answers.iter().take_while(|answer| answer["accepted"] == "{}").count();
        assert_eq!(given, most, "{:?}: {told}", begun.elapsed());
        let expected = format!("access denied: a call of `inquires` may ask {most} questions at most");
        assert!(answers.iter().skip(most).all(|answer| answer["error"] == expected), "{told}");
        client.end().await?;
    }
    Ok(())
}
