//! Prompts in both lifecycles.

use std::{collections::BTreeMap, sync::Arc};

use loggia_facade::{Action, Call, Reply, Surface};
use loggia_gate::{
    access::CallOrigin,
    call::Gate,
    catalog::{Catalog, CatalogSlot, FacadeExposure, ToolPublisher},
    schedule::{Executor, InlinePolicy},
    testing::{PuppetFacade, entry, lanes, puppet},
};
use loggia_policy::model::{Exposed, FacadeRules};
use loggia_schema::SchemaForm;
use serde_json::{Value, json};

use super::{ERAS, Server, holder};

/// Facade `ops` with the action `release`, which takes these parameters.
fn server(form: SchemaForm, params: &Value) -> Server {
    let works = puppet("ops", async |call: Call| Ok(Reply::data(call.action)));
    let mut surface = Surface { title: "Operations".to_owned(), ..(*works.surface).clone() };
    let first = surface.actions.remove(0);
    let params = Arc::new(params.as_object().unwrap().clone());
    surface.actions[0] =
        Action { name: "release".to_owned(), summary: "Ships a version.".to_owned(), params, ..first };
    let works = PuppetFacade { surface: Arc::new(surface), ..works };
    let exposure = FacadeExposure::new(&Exposed::default()).with_own_names().with_prompts();
    let mut works = entry(works, FacadeRules::default());
    works.exposure = exposure;
    let catalog = Arc::new(Catalog::new(ToolPublisher { form, ..ToolPublisher::default() }));
    catalog.swap(BTreeMap::from([("ops".to_owned(), CatalogSlot::Serving(Arc::new(works)))]));
    catalog.mark_admitted();
    Server::new(Gate::new(catalog, Executor::new(lanes(), InlinePolicy::Slots(1))), None)
}

fn params() -> Value {
    json!({"type": "object", "required": ["version"], "properties": {
        "version": {"type": "string", "description": "The tag."},
        "canary": {"type": "integer", "maximum": 100, "default": 5},
        "where": {"enum": ["test", "live", "lab"]},
        "notify": {"type": "array", "items": {"type": "string"}}}})
}

#[tokio::test]
async fn a_prompt_has_the_scalar_parameters_of_its_action() {
    let server = server(SchemaForm::Flat, &params());
    for era in ERAS {
        let list = server.ask(era, &holder("ops:release"), "prompts/list", json!({})).await;
        let expected = json!([{"name": "release", "title": "Operations: release", "description": "Ships a version.",
            "arguments": [{"name": "version", "description": "The tag.", "required": true},
                {"name": "canary", "required": false}, {"name": "where", "required": false}]}]);
        assert_eq!(list["result"]["prompts"], expected, "{era:?}");
        let none = server.ask(era, &holder("other:*"), "prompts/list", json!({})).await;
        assert_eq!(none["result"]["prompts"], json!([]), "{era:?}");
    }
    let list = server.stateless(&CallOrigin::anonymous(), "prompts/list", json!({})).await;
    assert_eq!((&list["result"]["cacheScope"], &list["result"]["ttlMs"]), (&json!("public"), &json!(10_000)));
    let list = server.stateless(&holder("*"), "prompts/list", json!({})).await;
    assert_eq!(list["result"]["cacheScope"], "private");
    assert_eq!(list["result"]["prompts"].as_array().map(Vec::len), Some(3), "one for each action: {list}");
    let bad = server.stateless(&holder("*"), "prompts/list", json!({"cursor": "x"})).await;
    assert_eq!(bad["error"]["code"], -32602, "{bad}");
}

async fn text(server: &Server, arguments: Value) -> String {
    let params = json!({"name": "release", "arguments": arguments});
    let prompt = server.stateless(&holder("ops:*"), "prompts/get", params).await;
    let message = &prompt["result"]["messages"][0];
    assert_eq!(
        (&message["role"], &prompt["result"]["messages"][1]),
        (&json!("user"), &Value::Null),
        "{prompt}"
    );
    message["content"]["text"].as_str().unwrap_or_else(|| panic!("{prompt}")).to_owned()
}

#[tokio::test]
async fn a_prompt_writes_the_call_as_its_client_makes_it() {
    let given = json!({"version": "v2", "canary": "10", "where": ""});
    for (form, call) in [
        (
            SchemaForm::Flat,
            "of the tool `ops`, with these arguments:\n\n{\"action\":\"release\",\"version\":\"v2\",\"canary\":10}\n",
        ),
        (
            SchemaForm::Granular,
            "of the tool `release`, with these arguments:\n\n{\"version\":\"v2\",\"canary\":10}\n",
        ),
    ] {
        let text = text(&server(form, &params()), given.clone()).await;
        assert!(text.contains(call), "{form:?}: {text}");
        assert!(
            text.contains("- `notify`, optional\n") && text.contains("release(version: string"),
            "{text}"
        );
    }
    // What it says is a call that is answered.
    let server = server(SchemaForm::Flat, &params());
    let text = text(&server, given).await;
    let arguments: Value = text.lines().find(|line| line.starts_with('{')).unwrap().parse().unwrap();
    let call = json!({"name": "ops", "arguments": arguments});
    let reply = server.stateless(&holder("ops:*"), "tools/call", call).await;
    assert_eq!(reply["result"]["structuredContent"]["data"], "release", "{reply}");
}

#[tokio::test]
async fn wrong_arguments_are_explained() {
    let mut needs_more = params();
    needs_more["required"] = json!(["version", "notify"]);
    let more = server(SchemaForm::Flat, &needs_more);
    let server = server(SchemaForm::Flat, &params());
    let refused = async |server: &Server, params: Value| {
        let answer = server.stateless(&holder("ops:release"), "prompts/get", params).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        answer["error"]["message"].as_str().unwrap().to_owned()
    };
    let with = |arguments: Value| json!({"name": "release", "arguments": arguments});
    for (params, expected) in [
        (json!({"name": "releas"}), "Unknown prompt: \"releas\": did you mean \"release\"?"),
        // It exists for other callers.
        (json!({"name": "touch"}), "Unknown prompt: \"touch\""),
        (json!({"name": "release"}), "The prompt \"release\" requires the arguments: version"),
        (with(json!({"version": ""})), "The prompt \"release\" requires the arguments: version"),
        (
            with(json!({"version": "1", "to": "x"})),
            "The prompt \"release\" has no argument \"to\"; it has: version, canary, where",
        ),
        (
            with(json!({"version": "1", "notify": "[]"})),
            "The prompt \"release\" has no argument \"notify\"; it has: version, canary, where",
        ),
        (
            with(json!({"version": "1", "canary": "200"})),
            "Invalid arguments of the prompt \"release\": `canary` must be at most 100 (got 200)",
        ),
    ] {
        assert_eq!(refused(&server, params).await, expected);
    }
    assert!(refused(&server, with(json!({"version": "1", "where": "moon"}))).await.contains("`where`"));
    // The rest of the call is the model's, so its arguments are checked with the call.
    assert!(text(&more, json!({"version": "1"})).await.contains("- `notify`, required\n"));
}

#[tokio::test]
async fn values_that_a_schema_names_are_completed() {
    let server = server(SchemaForm::Flat, &params());
    let complete = async |reference: Value, argument: &str, value: &str| {
        let params = json!({"ref": reference, "argument": {"name": argument, "value": value}});
        server.stateless(&holder("ops:*"), "completion/complete", params).await
    };
    let prompt = |name: &str| json!({"type": "ref/prompt", "name": name});
    let completed = complete(prompt("release"), "where", "L").await;
    let expected = json!({"values": ["live", "lab"], "total": 2, "hasMore": false});
    assert_eq!(completed["result"]["completion"], expected, "{completed}");
    let free = complete(prompt("release"), "version", "v").await;
    assert_eq!(free["result"]["completion"]["values"], json!([]), "{free}");
    for (reference, argument) in [
        (prompt("nothing"), "where"),
        (prompt("release"), "notify"),
        (json!({"type": "ref/resource", "uri": "a://b"}), "where"),
    ] {
        let refused = complete(reference, argument, "").await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
}

#[tokio::test]
async fn malformed_requests_are_invalid_params() {
    let server = server(SchemaForm::Flat, &params());
    for era in ERAS {
        for (method, params) in [
            ("prompts/get", json!({"name": "release", "arguments": []})),
            ("prompts/get", json!({"name": "release", "arguments": "v2"})),
            ("completion/complete", json!({"ref": "release", "argument": {"name": "where", "value": ""}})),
        ] {
            let response = server.ask(era, &holder("*"), method, params).await;
            assert_eq!(response["error"]["code"], -32602, "{era:?}: {response}");
        }
    }
}

#[tokio::test]
async fn prompts_are_declared() {
    let server = server(SchemaForm::Flat, &params());
    let (_, response) = server.session(&holder("*")).await;
    let stateless = server.stateless(&holder("*"), "server/discover", json!({})).await;
    for response in [response, stateless] {
        let capabilities = &response["result"]["capabilities"];
        assert_eq!(capabilities["prompts"], json!({"listChanged": true}), "{response}");
        assert_eq!(capabilities["completions"], json!({}), "{response}");
    }
}
