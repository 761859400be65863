//! Workflow files that are added, changed, broken and removed, and facades that are added later.

use std::{fs, os::unix::fs::symlink};

use anyhow::Result;
use loggia_tests::{Client, Era, Kind, Served, accepted, eventually, fixture, heard};
use serde_json::{Value, json};

use super::stage::{self, Stage, run, text};

fn says(what: &str) -> String {
    format!(
        "name: says\ndescription: Says.\nsteps:\n  - id: say\n    tool: backend.tool\n    arguments:\n      arg1: {what}\n"
    )
}

async fn said(client: &Client) -> Result<String, String> {
    let told = client.envelope("says", json!({"action": "says"})).await.map_err(|error| error.to_string())?;
    told["data"]["asked"]["arg1"].as_str().map(str::to_owned).ok_or_else(|| told.to_string())
}

async fn becomes(client: &Client, expected: &str) {
    eventually(async || match said(client).await {
        Ok(found) if found == expected => Ok(()),
        other => Err(format!("expected {expected}, got {other:?}")),
    })
    .await;
}

/// Repeats a call until its envelope contains this text.
async fn tells(client: &Client, tool: &str, call: Value, expected: &str) -> Value {
    eventually(async || {
        let told = client.envelope(tool, call.clone()).await.map_err(|error| error.to_string())?;
        if told.to_string().contains(expected) { Ok(told) } else { Err(told.to_string()) }
    })
    .await
}

#[tokio::test]
async fn a_workflow_is_added_changed_and_removed() -> Result<()> {
    let stage = Stage::empty().await?;
    stage.server("backend", "");
    let mut client = stage.client().await?;
    client.names_become(&["backend"]).await;

    stage.write("says", &says("one"));
    becomes(&client, "one").await;
    client.names_become(&["backend", "says"]).await;
    heard("news", &mut client.changed).await?;
    stage.write("says", &says("two"));
    becomes(&client, "two").await;
    // Written in place, too.
    stage.plugins.write("says.workflow.yaml", &says("three"));
    becomes(&client, "three").await;

    stage.plugins.remove("says.workflow.yaml");
    client.names_become(&["backend"]).await;
    let gone = client.envelope("says", json!({"action": "says"})).await?;
    assert_eq!(gone["code"], "unavailable", "{gone}");
    client.end().await
}

#[tokio::test]
async fn a_broken_version_leaves_the_old_one_serving() -> Result<()> {
    let stage = Stage::of("says", &says("one")).await?;
    let served = Served::start(&stage.plugins, |_| {}).await?;
    let client = Client::http(&served.host, Era::Stateful).await?;
    becomes(&client, "one").await;
    for broken in [": no: yaml: [", "name: says\nsteps: []\n", &says("two").replace("tool:", "tolo:")] {
        stage.write("says", broken);
        served.readies(|_, told| told["stale"] == 1).await;
        assert_eq!(said(&client).await.as_deref(), Ok("one"), "{broken}");
        stage.write("says", &says("one"));
        served.readies(|_, told| told["stale"] == 0).await;
    }
    stage.write("says", &says("two"));
    becomes(&client, "two").await;
    client.end().await
}

#[tokio::test]
async fn invalid_files_answer_with_the_reason() -> Result<()> {
    let stage = Stage::of("says", &says("one").replace("arguments", "argumnets")).await?;
    let client = stage.client().await?;
    client.names_become(&["backend"]).await;
    let told = client.envelope("says", json!({"action": "says"})).await?;
    insta::assert_json_snapshot!("never_right", told);
    stage.write("says", &says("one"));
    becomes(&client, "one").await;
    client.end().await
}

#[tokio::test]
async fn a_missing_facade_activates_its_workflow() -> Result<()> {
    let stage = Stage::empty().await?;
    stage.write("says", &says("one"));
    let client = stage.client().await?;
    let call = json!({"action": "says"});
    let told = client.envelope("says", call.clone()).await?;
    insta::assert_json_snapshot!("facade_missing", told);
    stage.server("backend", "");
    becomes(&client, "one").await;
    // And vice versa.
    stage.plugins.remove("backend.wasm");
    let told = tells(&client, "says", call, "\"unavailable\"").await;
    assert!(told["error"].as_str().unwrap_or_default().contains("`backend`"), "{told}");
    client.end().await
}

/// Of a facade's actions, only those with available servers answer.
#[tokio::test]
async fn unavailable_workflows_do_not_affect_others() -> Result<()> {
    let both = format!(
        "compositeTools:\n  - name: here\n    description: Here.\n    steps:\n      - {{id: a, tool: backend.fetch}}\n  \
         - name: there\n    description: There.\n    steps:\n      - {{id: a, tool: {}.search_papers, arguments: {{query: x}}}}\n",
        "arxiv"
    );
    let stage = Stage::empty().await?;
    stage.server("backend", "");
    stage.write("both", &both);
    let client = stage.client().await?;
    let here = client.envelope("both", json!({"action": "here"})).await?;
    assert_eq!(here["ok"], true, "{here}");
    let there = client.envelope("both", json!({"action": "there"})).await?;
    assert_eq!(there["code"], "unavailable", "{there}");
    assert!(there["error"].as_str().unwrap_or_default().contains("`arxiv`"), "{there}");
    stage.server("arxiv", "");
    tells(&client, "both", json!({"action": "there"}), "2401.00001").await;
    client.end().await
}

#[tokio::test]
async fn references_follow_changes_of_their_file() -> Result<()> {
    let stage = Stage::with(&["refs", "reusable", "another"]).await?;
    let client = stage.client().await?;
    let call = json!({"action": "count_vulnerabilities", "package_name": "left-pad"});
    assert_eq!(client.envelope("refs", call.clone()).await?["data"], json!({"count": 2}));
    let more = "value: '{{len .steps.scan.output.vulns}}0'";
    stage.write("reusable", &text("reusable").replace("value: '{{len .steps.scan.output.vulns}}'", more));
    tells(&client, "refs", call.clone(), "\"count\":20").await;

    // It is removed: its referrer cannot be read any more and stays as it was. Then it is restored.
    stage.plugins.remove("reusable.workflow.yaml");
    client.names_become(&["another", "gitleaks", "osv", "refs"]).await;
    for call in [call.clone(), json!({"action": "count_leaks", "repo": "acme/shop"})] {
        let told = client.envelope("refs", call).await?;
        assert_eq!(told["ok"], true, "{told}");
    }
    stage.write("reusable", &text("reusable"));
    tells(&client, "refs", call, "\"count\":2}").await;
    client.end().await
}

#[tokio::test]
async fn a_run_finishes_on_its_version() -> Result<()> {
    let asks = "name: says\ndescription: Says.\nsteps:\n  - id: sure\n    type: elicitation\n    message: Sure?\n    \
        schema: {type: object, properties: {why: {type: string}}}\n  - id: say\n    tool: backend.tool\n    \
        dependsOn: [sure]\n    arguments: {arg1: one}\n";
    let stage = Stage::of("says", asks).await?;
    let client = stage.client_as(Era::Stateful, Kind::person([accepted(json!({}))])).await?;
    let (_, id) = run(&client.envelope("says", json!({"action": "says", "wait": false})).await?)?;
    stage::becomes(&client, "says", &id, "waiting").await;
    // The tool list shows when the second version serves. (The first one would ask the person.)
    stage.write("says", &says("two").replace("description: Says.", "description: Says something else."));
    eventually(async || {
        let tools = client.service.list_all_tools().await.map_err(|error| error.to_string())?;
        let tools = json!(tools).to_string();
        if tools.contains("Says something else.") { Ok(()) } else { Err(tools) }
    })
    .await;
    assert_eq!(said(&client).await.as_deref(), Ok("two"));
    let status = json!({"action": "run_status", "run_id": id, "wait": true});
    let (ended, _) = run(&client.envelope("says", status).await?)?;
    assert_eq!(ended["result"]["data"]["asked"]["arg1"], "one", "{ended}");
    client.end().await
}

/// A `.wasm` and a workflow claim one name: the first keeps it, the other is reported.
#[tokio::test]
async fn a_taken_name_stays_with_its_owner() -> Result<()> {
    let stage = Stage::of("says", &says("one")).await?;
    let served = Served::start(&stage.plugins, |_| {}).await?;
    let client = Client::http(&served.host, Era::Stateful).await?;
    becomes(&client, "one").await;
    stage.write("a", &format!("facade: backend\n{}", says("two")));
    stage.write("b", &format!("facade: says\n{}", says("three")));
    served.readies(|_, told| told["refused"] == 2).await;
    assert_eq!(said(&client).await.as_deref(), Ok("one"));
    let fetched = client.envelope("backend", json!({"action": "fetch"})).await?;
    assert_eq!(fetched["ok"], true, "{fetched}");
    client.end().await
}

/// Hostile files affect only themselves.
#[tokio::test]
async fn hostile_files_do_no_harm() -> Result<()> {
    let bomb = (0..40).fold("a0: &a0 [x, x]\n".to_owned(), |text, n| {
        format!("{text}a{}: &a{} [*a{n}, *a{n}, *a{n}]\n", n + 1, n + 1)
    });
    let files = [
        ("bomb", bomb),
        ("deep", format!("name: {}{}\n", "[".repeat(50_000), "]".repeat(50_000))),
        ("large", format!("name: large\ndescription: \"{}\"\n", "x".repeat(2 << 20))),
        ("nested", says(&format!("'{{{{{}1{}}}}}'", "(".repeat(5_000), ")".repeat(5_000)))),
        ("controls", says(&format!("'{}'", "{{if true}}".repeat(5_000)))),
        ("empty", String::new()),
        ("binary", "\u{0}\u{1}\u{2}".to_owned()),
        ("escape", says("one").replace("Says.", "\"\\u001b[31mred\"")),
        ("dots", says("one").replace("name: says", "name: ../../etc/passwd")),
    ];
    let stage = Stage::of("says", &says("one")).await?;
    for (name, text) in &files {
        stage.write(name, text);
    }
    let client = stage.client().await?;
    assert_eq!(said(&client).await.as_deref(), Ok("one"));
    for (name, _) in files.iter().filter(|(name, _)| *name != "escape") {
        let told = client.envelope(name, json!({"action": name})).await?;
        assert_eq!(told["code"], "unavailable", "{name}: {told}");
    }
    let listed = serde_json::to_string(&client.service.list_all_tools().await?)?;
    assert!(!listed.contains("u001b"), "a terminal's codes are shown to nobody");
    client.end().await
}

/// As Kubernetes mounts a ConfigMap: the files are links into `..data`, a link that is replaced.
#[tokio::test]
async fn changed_links_in_a_folder_are_followed() -> Result<()> {
    let stage = Stage::empty().await?;
    stage.server("backend", "");
    let mount = stage.plugins.path();
    for what in ["one", "two"] {
        let version = mount.join(format!("..{what}"));
        fs::create_dir(&version)?;
        fs::write(version.join("says.workflow.yaml"), says(what))?;
    }
    symlink("..one", mount.join("..data"))?;
    symlink("..data/says.workflow.yaml", mount.join("says.workflow.yaml"))?;
    let client = stage.client().await?;
    becomes(&client, "one").await;
    symlink("..two", mount.join("..data_tmp"))?;
    fs::rename(mount.join("..data_tmp"), mount.join("..data"))?;
    becomes(&client, "two").await;
    client.end().await
}

/// A server's surface changes under a workflow: the workflow's annotations follow.
#[tokio::test]
async fn a_workflows_effect_follows_its_servers() -> Result<()> {
    let stage = Stage::empty().await?;
    stage.write(
        "says",
        &says("one")
            .replace("tool: backend.tool", "tool: version.get")
            .replace("arguments:", "")
            .replace("arg1: one", ""),
    );
    let mut client = stage.client().await?;
    let annotations = async || {
        let tools = client.service.list_all_tools().await.map_err(|error| error.to_string())?;
        let tool = tools.iter().find(|tool| tool.name == "says").ok_or("not listed")?;
        Ok::<_, String>(serde_json::to_value(&tool.annotations).unwrap_or_default())
    };
    let before = annotations().await.map_err(anyhow::Error::msg)?;
    assert_eq!(before["readOnlyHint"], false, "nobody knows what it would do: {before}");
    stage.plugins.put("version", &fixture("version_one"));
    let hints = eventually(async || match annotations().await? {
        hints if hints["readOnlyHint"] == true => Ok(hints),
        other => Err(other.to_string()),
    })
    .await;
    assert_eq!(hints["readOnlyHint"], true);
    heard("news", &mut client.changed).await?;
    client.end().await
}
