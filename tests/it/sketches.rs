//! `loggia new --from openapi`: a plugin from the description of an API, in every language.

use std::{fs, path::PathBuf};

use anyhow::Result;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

use crate::{
    author::command,
    builders::{outcome, root},
    clients::installed,
};

/// A sketch of the shop of pets: its folder, which is removed on drop, and the plugin's.
async fn sketch(lang: &str) -> Result<(TempDir, PathBuf)> {
    let folder = tempfile::tempdir()?;
    let mut new = command(&["new", "sketched", "--lang", lang, "--from", "openapi"]);
    new.arg(root().join("tests/fixtures/pets.openapi.yaml")).arg("--sdk").arg(root());
    let (code, text) = outcome(&new.current_dir(folder.path()).output().await?);
    assert_eq!(code, Some(0), "{text}");
    let own = folder.path().join("sketched");
    Ok((folder, own))
}

#[tokio::test]
async fn a_sketch_in_rust_builds_without_warnings() -> Result<()> {
    let (_folder, own) = sketch("rust").await?;
    fs::copy(root().join("Cargo.lock"), own.join("Cargo.lock"))?;
    let (code, text) = outcome(&command(&["build"]).current_dir(&own).output().await?);
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains("warning") && !text.contains("needs `http"), "{text}");
    let checked = command(&["check", "dist", "--json"]).current_dir(&own).output().await?;
    let report: Value = serde_json::from_slice(&checked.stdout)?;
    assert_eq!(report["plugins"][0]["actions"], json!(["list_notes", "add_pet", "remove_pet", "move"]));
    Ok(())
}

/// Prints the actions of `app.py` with their parameters and effects, and the requests of some calls.
const TRY_PYTHON: &str = r#"
import json
from app import plugin
from loggia_sdk import http
from loggia_sdk.testing import Host, describe

host = Host(http=lambda request: http.Response.of_json(200, {"ok": True}))
calls = [
    ("list_notes", {"pet_id": 7, "tags": ["a", "b"], "x_trace": "t"}),
    ("add_pet", {"name": "Rex", "type_value": "dog"}),
    ("remove_pet", {"pet_id": "a/b"}),
    ("move", {"pet_id": "7", "to": ["x"], "type_value": True, "body_value": 1.5}),
]
assert all(host.call(plugin, name, params).data == {"ok": True} for name, params in calls)
print(json.dumps({
    "actions": {one["name"]: [one["effect"], list(one["params"]["properties"])] for one in describe(plugin)["actions"]},
    "requests": [[one.method, one.url, one.body.decode(), dict(one.headers).get("X-Trace")] for one in host.requests],
}))
"#;

/// The same of `src/index.js` or `src/index.ts`.
const TRY_SCRIPT: &str = r#"
import { Response } from "loggia-sdk";
import { Host, describe } from "loggia-sdk/testing";
const { default: plugin } = await import(process.env.PROGRAM);

const host = new Host({ http: () => Response.json(200, { ok: true }) });
const calls = [
  ["list_notes", { pet_id: 7, tags: ["a", "b"], x_trace: "t" }],
  ["add_pet", { name: "Rex", type_value: "dog" }],
  ["remove_pet", { pet_id: "a/b" }],
  ["move", { pet_id: "7", to: ["x"], type_value: true, body_value: 1.5 }],
];
for (const [name, params] of calls) {
  if (!host.call(plugin, name, params).data.ok) throw new Error(name);
}
const text = (body) => new TextDecoder().decode(body);
console.log(JSON.stringify({
  actions: Object.fromEntries(describe(plugin).actions.map((one) => [one.name, [one.effect, Object.keys(one.params.properties)]])),
  requests: host.requests.map((one) => [one.method, one.url, text(one.body), one.headers.find(([name]) => name === "X-Trace")?.[1] ?? null]),
}));
"#;

/// What a program must print.
fn check_tried(tried: &str) -> Result<()> {
    let tried: Value = serde_json::from_str(tried)?;
    let expected = json!({
        "list_notes": ["read", ["pet_id", "limit", "tags", "x_trace"]],
        "add_pet": ["write", ["name", "type_value", "age"]],
        "remove_pet": ["destructive", ["pet_id"]],
        "move": ["write", ["pet_id", "to", "type_value", "text", "body_value"]],
    });
    assert_eq!(tried["actions"], expected, "those of the sketch in Rust");
    let server = "https://api.example.com/v1/pets";
    let expected = json!([
        ["GET", format!("{server}/7/notes?tags=a&tags=b"), "", "t"],
        ["POST", server, r#"{"name":"Rex","type":"dog"}"#, null],
        ["DELETE", format!("{server}/a%2Fb"), "", null],
        ["PUT", format!("{server}/7/move/%5B%22x%22%5D.json?type=true"), "body=1.5", null],
    ]);
    assert_eq!(tried["requests"], expected);
    Ok(())
}

#[tokio::test]
async fn a_sketch_in_python_sends_its_requests() -> Result<()> {
    let (_folder, own) = sketch("python").await?;
    let output = Command::new("python3")
        .args(["-c", TRY_PYTHON])
        .current_dir(own)
        .env("PYTHONPATH", root().join("sdk/python/src"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .await?;
    let (code, text) = outcome(&output);
    assert_eq!(code, Some(0), "{text}");
    check_tried(&text)
}

#[tokio::test]
async fn sketches_in_scripts_send_their_requests() -> Result<()> {
    let home = installed().await?;
    for lang in ["js", "ts"] {
        let (_folder, own) = sketch(lang).await?;
        let modules = own.join("node_modules");
        fs::create_dir(&modules)?;
        std::os::unix::fs::symlink(root().join("sdk/js"), modules.join("loggia-sdk"))?;
        fs::write(own.join("try.mjs"), TRY_SCRIPT)?;
        // Node takes TypeScript's annotations out.
        let mut node = Command::new(home.join("node"));
        node.arg("try.mjs").env("PROGRAM", format!("./src/index.{lang}"));
        let output = node.current_dir(&own).output().await?;
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{lang}: {text}");
        check_tried(&String::from_utf8_lossy(&output.stdout))?;
    }
    Ok(())
}
