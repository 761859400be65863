//! Tests of actions, against the contract.

use std::sync::Arc;

use loggia_facade::Effect;
use loggia_schema::{Contract, HOST_ACTIONS};
use serde_json::{Value, json};

use super::{
    reserved::{HOST_ARGUMENTS, is_allowed},
    *,
};
use crate::description::{ApiDescription, ApiMethod};

/// A description with these operations: method, path, parameters and body, as they stand in a file.
fn description(operations: &[(&str, &str, &str, &str)]) -> Arc<ApiDescription> {
    let mut text = String::from(
        "format = 1\nname = \"api\"\nsummary = \"An API.\"\nserver = \"https://api.example.com\"\n",
    );
    for (index, (method, path, parameters, body)) in operations.iter().enumerate() {
        text.push_str(&format!(
            "[[operation]]\naction = \"a{index}\"\nid = \"A{index}\"\nmethod = \"{method}\"\npath = \"{path}\"\nsummary = \"Does it.\"\n\
             accept = \"application/json\"\npaging = \"page\"\nparameters = [{parameters}]\n{body}\n"
        ));
    }
    Arc::new(ApiDescription::parse(&text).unwrap())
}

fn adapted(operations: &[(&str, &str, &str, &str)]) -> AdaptedApi {
    let api = adapt_api(description(operations));
    Contract::new(api.surface.clone()).expect("a surface that the contract accepts");
    api
}

#[test]
fn methods_become_effects() {
    for (_, method) in ApiMethod::ALL {
        let api = adapted(&[(method.as_str(), "/", "", "")]);
        let action = &api.surface.actions[0];
        let (effect, idempotent) = match method {
            ApiMethod::Get | ApiMethod::Head => (Effect::Read, true),
            ApiMethod::Put => (Effect::Write, true),
            ApiMethod::Post | ApiMethod::Patch => (Effect::Write, false),
            ApiMethod::Delete => (Effect::Destructive, true),
        };
        assert_eq!((action.effect, action.idempotent), (effect, idempotent), "{method}");
    }
}

#[test]
fn parameters_of_all_places_are_flat() {
    let api = adapted(&[(
        "PUT",
        "/a/{id}",
        r#"{ in = "query", name = "id", schema = '{"type":"integer"}' }, { in = "path", name = "id", schema = '{"type":"string"}' },
        { in = "query", name = "action", required = true, schema = '{}' }, { in = "query", name = "filter[a]", schema = '{}' }"#
            .replace('\n', " ")
            .as_str(),
        r#"body = { form = "json", media = "application/json", required = true,
          schema = '{"type":"object","properties":{"id":{"type":"string","description":"Own."},"params":{"type":"integer"}},"required":["id"]}' }"#
            .replace('\n', " ")
            .as_str(),
    )]);
    let params = Value::Object((*api.surface.actions[0].params).clone());
    assert_eq!(params["required"], json!(["id", "id_body", "arguments"]));
    let properties = &params["properties"];
    let names: Vec<_> = properties.as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["id", "id_query", "id_body", "arguments", "cursor"]);
    assert_eq!(properties["id_query"]["description"], "(`id` of the query)");
    assert_eq!(properties["id_body"]["description"], "Own. (`id` of the body)");
    assert_eq!(properties["arguments"]["required"], json!(["action"]));
    let inner: Vec<_> = properties["arguments"]["properties"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(inner, ["action", "filter[a]", "params"]);

    let sent = json!({"id": "p", "id_query": 1, "id_body": "b", "arguments": {"action": "x", "params": 2}, "cursor": "c"});
    let parts = api.routes["a0"].parts(sent.as_object().unwrap().clone());
    assert_eq!(parts.parameters, [(1, json!("p")), (0, json!(1)), (2, json!("x"))]);
    assert_eq!(parts.body, Some(json!({"id": "b", "params": 2})));
    assert_eq!(parts.cursor.as_deref(), Some("c"));
}

#[test]
fn bodies_that_are_not_flat_stay_whole() {
    let whole = |schema: &str, form: &str| {
        let body =
            format!("body = {{ form = \"{form}\", media = \"x/y\", required = true, schema = '{schema}' }}");
        let api = adapted(&[("POST", "/", "", &body)]);
        api.surface.actions[0].params["properties"].as_object().unwrap().contains_key("body")
    };
    let properties = r#""properties":{"a":{"type":"string"},"b":{"type":"string"}}"#;
    for (schema, form, expected) in [
        (format!(r#"{{"type":"object",{properties}}}"#), "json", false),
        (format!(r#"{{"type":"object",{properties}}}"#), "form", false),
        (format!(r#"{{{properties},"anyOf":[{{"required":["a"]}},{{"required":["b"]}}]}}"#), "json", false),
        (format!(r#"{{{properties},"anyOf":[{{"properties":{{"a":{{}}}}}}]}}"#), "json", true),
        (format!(r#"{{{properties},"additionalProperties":true}}"#), "json", true),
        (r#"{"type":"array","items":{}}"#.into(), "json", true),
        (r#"{"type":"object"}"#.into(), "json", true),
        (r#"{"type":"string"}"#.into(), "text", true),
        (r#"{"oneOf":[{"type":"string"},{"type":"object"}]}"#.into(), "json", true),
    ] {
        assert_eq!(whole(&schema, form), expected, "{schema}");
    }
}

#[test]
fn required_bodies_are_sent_even_if_empty() {
    for (required, expected) in [(true, Some(json!({}))), (false, None)] {
        let body = format!(
            "body = {{ form = \"json\", media = \"application/json\", required = {required}, schema = '{{\"properties\":{{\"a\":{{}}}}}}' }}"
        );
        let api = adapted(&[("POST", "/", "", &body)]);
        assert_eq!(api.routes["a0"].parts(Default::default()).body, expected);
    }
}

#[test]
fn texts_and_wants_are_complete() {
    let api = adapted(&[(
        "GET",
        "/a/{id}",
        "{ in = \"path\", name = \"id\", schema = '{}' }",
        "deprecated = true\ndescription = \"All.\"\ngroup = \"g\"",
    )]);
    let action = &api.surface.actions[0];
    assert_eq!(action.summary, "(deprecated) Does it.");
    assert_eq!(action.params["description"], "GET /a/{id}\n\nAll.");
    assert_eq!(action.aliases, [""; 0], "an id that differs in case only");
    assert_eq!(action.group.as_deref(), Some("g"));
    assert_eq!(api.surface.wants[0].grant, "http: https://api.example.com");
}

/// The contract refuses these names too, or the lists here would be too long.
#[test]
fn host_names_are_known() {
    let check = |name: &str, parameter: &str| {
        let mut surface = (*adapted(&[("GET", "/", "", "")]).surface).clone();
        surface.actions[0].name = name.into();
        let properties = json!({"type": "object", "properties": {parameter: {}}});
        surface.actions[0].params = Arc::new(properties.as_object().unwrap().clone());
        Contract::new(surface.into()).is_ok()
    };
    assert!(check("fine", "fine"));
    for name in HOST_ACTIONS {
        assert!(!check(name, "fine"), "{name}");
    }
    for name in HOST_ARGUMENTS {
        assert!(!check("fine", name) && !is_allowed(name), "{name}");
    }
    for name in ["a", "_a", "a.b-c", "A9", "$a", "a b", "9a", "", "a[b]", "ä"] {
        assert_eq!(check("fine", name), is_allowed(name), "{name}");
    }
}
