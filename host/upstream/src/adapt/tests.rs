//! Tests of the whole adaptation, against the contract.

use loggia_facade::Effect;
use loggia_schema::{Contract, HOST_ACTIONS, SurfaceLimits};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    pattern::NamePattern,
    spec::{StdioSpec, ToolOverride, TransportSpec, UpstreamSpec},
};

fn spec() -> UpstreamSpec {
    UpstreamSpec::new("up", TransportSpec::Stdio(StdioSpec::default()))
}

fn profile() -> ServerProfile {
    ServerProfile { title: "Server".into(), version: "1".into(), ..ServerProfile::default() }
}

fn adapt(spec: &UpstreamSpec, tools: Value) -> AdaptedTools {
    let adapted = adapt_tools(spec, &profile(), tools.as_array().expect("a list")).expect("some tools");
    Contract::within(adapted.surface.clone(), &SurfaceLimits::HOSTED)
        .expect("a surface that the contract accepts");
    adapted
}

/// Adapts one tool with this input schema, and shows the parameters with the problems.
fn one(schema: Value) -> (Value, Vec<String>) {
    let adapted = adapt(&spec(), json!([{"name": "t", "inputSchema": schema}]));
    (Value::Object((*adapted.surface.actions[0].params).clone()), adapted.problems)
}

#[test]
fn hints_become_effects() {
    for (hints, effect, idempotent, open_world) in [
        (json!(null), Effect::Write, false, true),
        (json!({"readOnlyHint": true}), Effect::Read, true, true),
        (json!({"readOnlyHint": false}), Effect::Destructive, false, true),
        (json!({"destructiveHint": false, "openWorldHint": false}), Effect::Write, false, false),
        (
            json!({"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true}),
            Effect::Write,
            true,
            true,
        ),
        (json!({"readOnlyHint": true, "destructiveHint": true}), Effect::Destructive, false, true),
        (json!({"readOnlyHint": "yes"}), Effect::Write, false, true),
    ] {
        let adapted = adapt(&spec(), json!([{"name": "t", "annotations": hints}]));
        let action = &adapted.surface.actions[0];
        assert_eq!(
            (action.effect, action.idempotent, action.open_world),
            (effect, idempotent, open_world),
            "{hints}"
        );
    }
}

#[test]
fn plain_schemas_are_kept() {
    let schema =
        json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}, "required": ["a"]});
    assert_eq!(one(schema.clone()), (schema, vec![]));
    assert_eq!(one(json!({"type": "object"})).0, json!({"type": "object", "additionalProperties": true}));
    assert_eq!(one(json!({"properties": {}})).0, json!({"type": "object", "properties": {}}));
    let (params, problems) = one(json!({"properties": {"t": {"$ref": "#/$defs/n"}},
        "$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}}}}));
    assert_eq!(params["properties"]["t"], json!({"type": "object", "properties": {"n": {"type": "object"}}}));
    assert_eq!(problems, [""; 0]);
}

#[test]
fn refused_parameters_alone_are_loosened() {
    let bad = json!({"type": "string", "pattern": "(?<=x)(", "description": "why\u{200b}"});
    let (params, problems) = one(json!({"properties": {"good": {"type": "integer"}, "bad": bad}}));
    assert_eq!(
        params["properties"],
        json!({"good": {"type": "integer"}, "bad": {"type": "string", "description": "why"}})
    );
    assert_eq!(
        problems,
        ["the tool `t` is served without the schema of its parameter `bad`, which cannot be used here"]
    );

    let (params, problems) = one(json!({"properties": {"a": {"type": "integer"}}, "anyOf": "rubbish"}));
    assert_eq!(params["properties"], json!({"a": {"type": "integer"}}));
    assert!(problems[0].contains("the conditions between"), "{problems:?}");

    let many: serde_json::Map<_, _> = (0..200).map(|n| (format!("p{n}"), json!({}))).collect();
    assert_eq!(one(json!({"properties": many})).0, json!({"type": "object", "additionalProperties": true}));
    let mut deep = json!({"type": "string"});
    for _ in 0..100 {
        deep = json!({"type": "object", "properties": {"x": deep}});
    }
    assert_eq!(
        one(json!({"properties": {"deep": deep}})).0["properties"],
        json!({"deep": {"type": "object"}})
    );
}

#[test]
fn reserved_parameters_move_and_return() {
    let tool = json!({"name": "t", "inputSchema": {"properties": {
        "action": {"type": "string"}, "a b": {"type": "integer"}, "owner": {"type": "string"}}, "required": ["owner", "action"]}});
    let adapted = adapt(&spec(), json!([tool]));
    let params = Value::Object((*adapted.surface.actions[0].params).clone());
    assert_eq!(params["required"], json!(["owner", "arguments"]));
    assert_eq!(params["properties"]["arguments"]["required"], json!(["action"]));
    assert_eq!(
        params["properties"]["arguments"]["properties"],
        json!({"action": {"type": "string"}, "a b": {"type": "integer"}})
    );

    let route = &adapted.routes["t"];
    let sent = json!({"owner": "o", "arguments": {"action": "x", "a b": 1}});
    let arguments = json!({"owner": "o", "action": "x", "a b": 1});
    assert_eq!(Value::Object(route.arguments(sent.as_object().unwrap().clone())), arguments);
    let back = route.params(arguments.as_object().unwrap().clone(), |name| name == "owner");
    assert_eq!(Value::Object(back), sent);
}

#[test]
fn the_operator_chooses_and_renames_tools() {
    let tools = json!([{"name": "gh_list", "description": "Lists."}, {"name": "gh_get"}, {"name": "gh_delete"}, {"name": "gh_old"}]);
    let mut spec = spec();
    spec.include = vec![NamePattern::new("gh_*"), NamePattern::new("nothing")];
    spec.exclude = vec![NamePattern::new("*delete*")];
    let rename = ToolOverride { name: Some("archive".into()), description: Some("Archived ones.".into()) };
    spec.overrides = [("gh_old".to_owned(), rename), ("gone".to_owned(), ToolOverride::default())].into();
    let adapted = adapt(&spec, tools);
    let names: Vec<_> = adapted
        .surface
        .actions
        .iter()
        .map(|a| (a.name.as_str(), a.summary.as_str(), a.aliases.join(",")))
        .collect();
    assert_eq!(
        names,
        [
            ("list", "Lists.", "gh_list".into()),
            ("get", "Calls the tool gh_get.", "gh_get".into()),
            ("archive", "Archived ones.", "gh_old".into()),
        ]
    );
    assert_eq!(
        adapted.problems,
        [
            "`include` names `nothing`, but the server has no such tool",
            "`overrides` names `gone`, but the server has no such tool"
        ]
    );
}

#[test]
fn bad_tools_leave_the_others() {
    let adapted = adapt(
        &spec(),
        json!([5, {"name": ""}, {"name": "x".repeat(300)}, {"name": "a", "inputSchema": 1}, {"name": "日本"},
            {"name": "task", "execution": {"taskSupport": "required"}}, {"name": "good", "execution": {"taskSupport": "optional"}}, {"name": "good", "description": "twice"}]),
    );
    assert_eq!(adapted.routes.keys().collect::<Vec<_>>(), ["good", "task"]);
    assert!(adapted.surface.actions.iter().all(|action| action.long_running), "both can be tasks");
    assert_eq!(["good", "task"].map(|name| adapted.routes[name].as_task), [false, true]);
    assert_eq!(adapted.problems.len(), 6, "{:#?}", adapted.problems);
    assert!(adapt_tools(&spec(), &profile(), &[json!({"name": "日本"})]).is_err());
    assert_eq!(adapt_tools(&spec(), &profile(), &[]), Err("the upstream has no tools to serve".into()));
}

#[test]
fn long_texts_are_cut_and_kept_whole() {
    let text = "word ".repeat(600);
    let adapted =
        adapt(&spec(), json!([{"name": "t", "description": text, "inputSchema": {"properties": {}}}]));
    let action = &adapted.surface.actions[0];
    assert!(action.summary.len() <= 1024 && action.summary.ends_with('…'));
    assert_eq!(action.params["description"], text.trim());
}

#[test]
fn too_many_and_too_large_tools_are_reduced() {
    let tools: Vec<Value> =
        (0..2_100).map(|n| json!({"name": format!("t{n}"), "description": "x".repeat(500)})).collect();
    let adapted = adapt(&spec(), Value::Array(tools));
    assert_eq!(adapted.surface.actions.len(), 2_048);
    assert!(adapted.problems[0].starts_with("52 of 2100 tools are left out"), "{:?}", adapted.problems);

    let fields: serde_json::Map<_, _> =
        (0..60).map(|n| (format!("p{n}"), json!({"description": "d".repeat(300)}))).collect();
    let tools: Vec<Value> =
        (0..40).map(|n| json!({"name": format!("t{n}"), "inputSchema": {"properties": fields}})).collect();
    let adapted = adapt(&spec(), Value::Array(tools));
    assert_eq!(adapted.surface.actions.len(), 40);
}

#[test]
fn host_actions_are_known() {
    for name in HOST_ACTIONS {
        let mut spec = spec();
        spec.overrides =
            [("t".to_owned(), ToolOverride { name: Some(name.into()), description: None })].into();
        assert!(adapt_tools(&spec, &profile(), &[json!({"name": "t"})]).is_err(), "{name}");
        // The contract refuses it as well, or the list here would be too long.
        let mut surface = (*adapt(&self::spec(), json!([{"name": "t"}])).surface).clone();
        surface.actions[0].name = name.into();
        assert!(Contract::new(surface.into()).is_err(), "{name}");
    }
}

#[test]
fn texts_are_sanitised() {
    let server = ServerProfile {
        title: "S\u{1b}[31mX\u{202e}".into(),
        version: "1\n2".into(),
        description: None,
        instructions: Some("# Heading\n\nFirst\u{200b} part.\n\nSecond.".into()),
    };
    let adapted =
        adapt_tools(&spec(), &server, &[json!({"name": "t", "description": "a\u{e0041}b"})]).expect("a tool");
    let surface = &adapted.surface;
    assert_eq!(
        (surface.title.as_str(), surface.version.as_str(), surface.summary.as_str()),
        ("SX", "1 2", "First part.")
    );
    assert_eq!(surface.actions[0].summary, "ab");
}

/// JSON of keywords and odd values.
fn schemas() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "object",
        "string",
        "array",
        "null",
        "#",
        "#/$defs/a",
        "#/properties/a",
        "a",
        "action",
        "(?<x",
        "^a+$",
        "\u{200b}",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2..70_i64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.prop_map(Value::from),
    ];
    let keys = prop::sample::select(vec![
        "type",
        "properties",
        "required",
        "items",
        "additionalProperties",
        "anyOf",
        "allOf",
        "oneOf",
        "not",
        "if",
        "then",
        "$ref",
        "$defs",
        "$id",
        "$schema",
        "enum",
        "const",
        "default",
        "pattern",
        "patternProperties",
        "minimum",
        "exclusiveMinimum",
        "minLength",
        "description",
        "a",
        "action",
        "params",
        "b c",
        "arguments",
        "\u{7}",
    ]);
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec((keys.clone(), inner.clone()), 0..6).prop_map(|members| members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
            prop::collection::vec(inner, 0..4).prop_map(Value::Array),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever its schema, a tool is served, with a surface that the contract accepts.
    #[test]
    fn no_schema_loses_its_tool(input in schemas(), output in schemas()) {
        let mut tool = json!({"name": "t", "outputSchema": output});
        if input.is_object() {
            tool["inputSchema"] = input;
        }
        let adapted = adapt_tools(&spec(), &profile(), &[tool]);
        let adapted = adapted.map_err(TestCaseError::fail)?;
        prop_assert!(Contract::new(adapted.surface.clone()).is_ok());
        prop_assert_eq!(adapted.routes.len(), 1);
    }
}
