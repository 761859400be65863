//! Files that are added later gain neither grants nor another plugin's name.

use std::fs;

use anyhow::Result;
use loggia_tests::{Client, Era, Folder, eventually, fixture};
use serde_json::json;

use super::stage::{check, pretends, text};

/// H40: a plugin may request anything at any time; only the policy grants.
#[tokio::test]
async fn new_versions_gain_no_grants() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let wants = [
        "dirs",
        "dirs: /",
        "dirs: ~ read-write",
        "env: HOME",
        "http: https://*",
        "config: region",
        "secrets: TOKEN",
        "store",
        "caller",
        "invoke: *",
        "elicit",
        "limits.memory: 1GiB",
        "grants",
    ];
    let put = |bytes: Vec<u8>| -> Result<()> {
        let beside = folder.beside("next").join("pretends.wasm");
        fs::write(&beside, bytes)?;
        Ok(fs::rename(beside, folder.path().join("pretends.wasm"))?)
    };
    put(pretends(&json!({}))?)?;
    let client = Client::stdio_with(folder.path(), Era::Stateful, |command| {
        command.env("TOKEN", "canary");
    })
    .await?;
    let reach = async || client.envelope("pretends", json!({"action": "go"})).await;
    let first = reach().await?;
    let nothing = json!({"env": 0, "dirs": 0, "config": null, "caller": null, "invoked": "[Err(\"denied\")]", "sent": 2});
    assert_eq!(first["data"], nothing, "{first}");
    let wants: Vec<_> = wants.into_iter().map(text).collect();
    put(pretends(&json!({"summary": text("Wants it all."), "wants": wants}))?)?;
    eventually(async || {
        let tools = client.service.list_all_tools().await.map_err(|e| e.to_string())?;
        let wants_it_all = |tool: &rmcp::model::Tool| {
            tool.description.as_deref().is_some_and(|text| text.contains("Wants it all."))
        };
        if tools.iter().any(wants_it_all) { Ok(()) } else { Err(format!("{tools:?}")) }
    })
    .await;
    let second = reach().await?;
    assert_eq!(second["data"], nothing, "{second}");
    // With a partial grant it gets only that.
    folder.write("pretends.toml", "[grants]\nconfig = { region = \"eu\" }\n");
    let granted = json!({"env": 0, "dirs": 0, "config": "\"eu\"", "caller": null, "invoked": "[Err(\"denied\")]", "sent": 2});
    eventually(async || match reach().await {
        Ok(told) if told["data"] == granted => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    client.end().await
}

/// H41.
#[tokio::test]
async fn no_other_plugin_takes_a_name() -> Result<()> {
    let shadow = |name: &str| pretends(&json!({"name": text(name), "summary": text("A shadow.")}));
    // Files in order of arrival.
    let orders = [["echo", "a", "b", "ech0"], ["b", "a", "echo", "ech0"], ["a", "echo", "ech0", "b"]];
    for order in orders {
        let folder = Folder::new();
        let put = |file: &str| -> Result<()> {
            match file {
                "echo" => folder.put("echo", &fixture("echo")),
                // Two that take the very name, and one that looks like it.
                "a" | "b" => fs::write(folder.path().join(format!("{file}.wasm")), shadow("echo")?)?,
                alike => fs::write(folder.path().join(format!("{alike}.wasm")), shadow(alike)?)?,
            }
            Ok(())
        };
        let holds = async |client: &Client| -> Result<(), String> {
            let names = client.names().await.map_err(|e| e.to_string())?;
            if names != ["echo"] {
                return Err(format!("{order:?}: {names:?}"));
            }
            let real = client.envelope("echo", json!({"action": "add", "a": 1, "b": 2})).await;
            let alike = client.envelope("ech0", json!({"action": "go"})).await;
            match (real, alike) {
                (Ok(real), Ok(alike)) if real["data"] == 3.0 && alike["code"] == "unavailable" => {
                    let error = "`ech0` is unavailable: its name looks like that of `echo`";
                    if alike["error"] == error { Ok(()) } else { Err(alike.to_string()) }
                }
                other => Err(format!("{order:?}: {other:?}")),
            }
        };
        // They are added one after another while a host runs, …
        let running = Client::stdio(folder.path(), Era::Stateful).await?;
        for file in order {
            if file == "echo" && file != order[0] {
                // The first owns the name; the operator's policy can reassign it.
                folder.write("echo.toml", "[expose]\nname = \"echo\"\n");
            }
            put(file)?;
            if file == "echo" {
                eventually(async || {
                    match running.envelope("echo", json!({"action": "add", "a": 1, "b": 2})).await {
                        Ok(told) if told["data"] == 3.0 => Ok(()),
                        other => Err(format!("{order:?}: {other:?}")),
                    }
                })
                .await;
            }
        }
        eventually(async || holds(&running).await).await;
        running.end().await?;
        // … and all at once before a host starts, repeatedly.
        for _ in 0..2 {
            let started = Client::stdio(folder.path(), Era::Stateful).await?;
            holds(&started).await.map_err(anyhow::Error::msg)?;
            started.end().await?;
        }
        // The operator sees which plugin is not served.
        let output = check(folder.path()).await?;
        assert_eq!(output.status.code(), Some(10));
        let said = String::from_utf8(output.stdout)?;
        for (file, why) in [
            ("a", "not served: `echo.wasm` owns the name `echo`"),
            ("ech0", "not served: `echo.wasm` owns the name `echo`, which looks like `ech0`"),
        ] {
            assert!(said.contains(&format!("{file}\t{why}")), "{said}");
        }
    }
    Ok(())
}
