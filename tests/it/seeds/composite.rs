//! Seed 000: many operations in one tool, and the five kinds of tests for such a tool.

use anyhow::{Context, Result};
use loggia_tests::ERAS;
use serde_json::{Value, json};

use super::stage::{Stage, check, result, text, tools};

fn projects() -> Stage {
    Stage::with(&["projects"])
}

#[tokio::test]
async fn one_tool_holds_and_describes_the_operations() -> Result<()> {
    let stage = projects();
    for era in ERAS {
        let client = stage.client_in(era).await?;
        let tools = tools(&client).await?;
        let [tool] = tools.as_slice() else { panic!("one tool, not {}", tools.len()) };
        // Each action with what it takes and requires.
        for line in [
            "create(name, description?): Create a project",
            "update(id, ",
            "complete(id",
            "delete(id): [destructive] Delete",
            "get(id): ",
            "list(",
        ] {
            assert!(text(tool, "description").contains(&format!("\n{line}")), "{era:?} {line}: {tool}");
        }
        let properties = tool["inputSchema"]["properties"].as_object().context("properties")?;
        let actions = properties["action"]["enum"].as_array().context("actions")?;
        for action in ["create", "create_all", "update", "complete", "delete", "get", "list", "describe"] {
            assert!(actions.contains(&action.into()), "{action}");
        }
        for (name, kind, says) in [
            ("name", "string", "create: What people call it"),
            ("description", "string", "create: What it is about"),
            // Its name says it.
            ("id", "string", ""),
            ("cursor", "string", ""),
        ] {
            let property = &properties[name];
            assert_eq!((text(property, "type"), text(property, "description")), (kind, says), "{name}");
        }
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn each_action_can_have_a_schema() -> Result<()> {
    let stage = projects();
    stage.policy("projects", "", "[expose]\nschema = \"union\"");
    let tools = stage.tools().await?;
    let of = |action: &str| {
        let all = tools[0]["inputSchema"]["properties"]["params"]["anyOf"].as_array().into_iter().flatten();
        let mut own = all.filter(|schema| schema["description"] == action);
        own.next().cloned().unwrap_or_default()
    };
    for (action, required, properties) in [
        ("create", json!(["name"]), vec!["name", "description"]),
        ("update", json!(["id"]), vec!["id", "name", "description"]),
        ("delete", json!(["id"]), vec!["id"]),
    ] {
        let schema = of(action);
        assert_eq!(schema["required"], required, "{action}");
        let named: Vec<&String> = schema["properties"].as_object().context("properties")?.keys().collect();
        assert_eq!(named, properties, "{action}");
    }
    Ok(())
}

#[tokio::test]
async fn each_action_works_alone() -> Result<()> {
    let stage = projects();
    let client = stage.client().await?;
    let longest = "n".repeat(80);
    let calls = [
        (json!({"action": "create", "name": "A"}), json!({"id": "p_1", "name": "A", "description": null})),
        (
            json!({"action": "create", "name": "B", "description": "b"}),
            json!({"id": "p_2", "description": "b"}),
        ),
        (json!({"action": "create", "name": longest}), json!({"id": "p_3", "name": longest})),
        (
            json!({"action": "create", "name": "n", "description": ""}),
            json!({"id": "p_4", "description": ""}),
        ),
        (json!({"action": "update", "id": "p_1", "name": "C"}), json!({"name": "C", "description": null})),
        (
            json!({"action": "update", "id": "p_1", "description": "c"}),
            json!({"name": "C", "description": "c"}),
        ),
        (json!({"action": "update", "id": "p_1"}), json!({"name": "C", "description": "c"})),
        (json!({"action": "get", "id": "p_2"}), json!({"name": "B"})),
        (json!({"action": "complete", "id": "p_2"}), json!({"done": true})),
    ];
    check(&client, "projects", calls.map(|(call, data)| (call, json!({"ok": true, "data": data})))).await?;
    let deleted = client.envelope("projects", json!({"action": "delete", "id": "p_4"})).await?;
    assert_eq!(deleted, json!({"ok": true, "action": "delete", "message": "The project was deleted."}));
    let listed = client.envelope("projects", json!({"action": "list"})).await?;
    assert_eq!((&listed["count"], &listed["total"]), (&json!(3), &json!(3)));
    client.end().await
}

#[tokio::test]
async fn unknown_actions_are_refused_with_the_available_ones() -> Result<()> {
    let stage = projects();
    for era in ERAS {
        let client = stage.client_in(era).await?;
        for call in [json!({"action": "invalid", "id": "x"}), json!({"action": "nonexistent", "name": "x"})] {
            let told = result(&client, "projects", call.clone()).await?;
            assert_eq!(told["isError"], true, "{era:?}");
            let said = text(&told["content"][0], "text");
            let known =
                "Available actions: create, create_all, update, complete, delete, get, list, sync, describe.";
            assert!(said.contains("Unknown action") && said.contains(known), "{said}");
            assert!(said.contains(text(&call, "action")), "{said}");
        }
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn each_action_checks_its_own_parameters() -> Result<()> {
    let stage = projects();
    let client = stage.client().await?;
    for (call, error) in [
        (json!({"action": "create"}), "`name` is required"),
        (json!({"action": "create", "description": "d"}), "`name` is required"),
        (json!({"action": "create", "name": 123}), "`name` must be a string (got 123)"),
        (json!({"action": "create", "name": ""}), "`name` must not be empty"),
        (json!({"action": "create", "name": "n".repeat(81)}), "`name` must have at most 80 characters"),
        (json!({"action": "create", "name": "n", "id": "p_1"}), "`id` is not a parameter of `create`"),
        (json!({"action": "update", "name": "n"}), "`id` is required"),
        (json!({"action": "update", "id": ["p_1"]}), "`id` must be a string (got [\"p_1\"])"),
        (json!({"action": "delete"}), "`id` is required"),
        (json!({"action": "delete", "id": "p_2", "name": "n"}), "`name` is not a parameter of `delete`"),
        (json!({"action": "list", "limit": 0}), "`limit` must be at least 1 (got 0)"),
        (json!({"action": "list", "limit": "many"}), "`limit` must be an integer (got \"many\")"),
        (json!({"action": "create_all", "drafts": [{"name": ""}]}), "`drafts[0].name` must not be empty"),
        (json!({}), "`action` is required"),
    ] {
        let told = client.envelope("projects", call.clone()).await?;
        assert_eq!(told["code"], "invalid_params", "{call}: {told}");
        assert!(text(&told, "error").starts_with(error), "{call}: {told}");
    }
    let listed = client.envelope("projects", json!({"action": "list"})).await?;
    assert_eq!(listed["total"], 0, "nothing that was refused was done");
    client.end().await
}

#[tokio::test]
async fn a_project_is_made_changed_and_deleted() -> Result<()> {
    let stage = projects();
    let host = stage.host().await?;
    for (which, client) in stage.clients(&host).await? {
        let call = async |arguments: Value| client.envelope("projects", arguments).await;
        let made = call(json!({"action": "create", "name": "Test"})).await?;
        let id = text(&made["data"], "id");
        let changed = call(json!({"action": "update", "id": id, "name": "Changed"})).await?;
        assert_eq!(changed["data"]["name"], "Changed", "{which}");
        assert_eq!(call(json!({"action": "get", "id": id})).await?["data"], changed["data"], "{which}");
        // The first one of all is protected.
        let deleted = call(json!({"action": "delete", "id": id})).await?;
        assert_eq!(deleted["ok"], id != "p_1", "{which}: {deleted}");
        let gone = call(json!({"action": "get", "id": id})).await?;
        assert_eq!(gone["ok"], id == "p_1", "{which}: {gone}");
        client.end().await?;
    }
    Ok(())
}
