//! Every problem of a surface, as its author reads it.

use std::{fmt::Write as _, sync::Arc};

use loggia_facade::{Object, Surface, Want};
use loggia_text::is_clean;
use serde_json::{Value, json};

use crate::{contract::build::Contract, tests::fixture};

fn problems(change: impl FnOnce(&mut Surface)) -> String {
    let mut surface = fixture::notes();
    change(&mut surface);
    match Contract::new(Arc::new(surface)) {
        Err(problems) => problems.to_string(),
        Ok(_) => panic!("the surface was accepted"),
    }
}

/// The problems of one parameter.
fn of_parameter(schema: Value) -> String {
    problems(|surface| {
        let schema = json!({"type": "object", "properties": {"p": schema}});
        surface.actions[1].params = Arc::new(schema.as_object().unwrap().clone());
    })
}

fn of_params(schema: Value) -> String {
    problems(|surface| surface.actions[1].params = Arc::new(schema.as_object().unwrap().clone()))
}

/// H37.
#[test]
fn problems_of_names_and_texts_are_reported() {
    let mut out = String::new();
    let mut add = |text: String| {
        let _ = writeln!(out, "{text}\n");
    };
    add(problems(|s| s.name = "Notes!".into()));
    add(problems(|s| s.name = String::new()));
    add(problems(|s| s.name = "a".repeat(33)));
    add(problems(|s| s.title = "t".repeat(129)));
    add(problems(|s| s.summary = "  ".into()));
    add(problems(|s| s.summary = "s".repeat(801)));
    add(problems(|s| s.instructions = Some("i".repeat(5000))));
    add(problems(|s| s.actions.clear()));
    add(problems(|s| {
        s.actions = (0..65).map(|i| fixture::action(&format!("a{i}"), json!({"type": "object"}))).collect()
    }));
    add(problems(|s| s.actions[0].name = "add note".into()));
    add(problems(|s| s.actions[0].name = "describe".into()));
    add(problems(|s| s.actions[0].name = "list".into()));
    add(problems(|s| s.actions[0].summary = String::new()));
    add(problems(|s| s.actions[0].aliases = vec!["Batch".into()]));
    add(problems(|s| s.actions[0].aliases = vec!["a b".into()]));
    add(problems(|s| s.actions[0].aliases = vec!["LIST".into()]));
    add(problems(|s| s.default_action = Some("none".into())));
    add(problems(|s| s.wants = vec![Want { grant: String::new(), reason: String::new(), needed: true }]));
    insta::assert_snapshot!("problems_of_names_and_texts", out);
}

/// H42.
#[test]
fn problems_of_schemas_are_reported() {
    let mut out = String::new();
    let mut add = |text: String| {
        let _ = writeln!(out, "{text}\n");
    };
    add(of_params(json!({})));
    add(of_params(json!({"type": "array"})));
    add(of_params(json!({"type": "object", "properties": {"action": {}, "wait": {}, "$x": {}}})));
    add(of_params(json!({"type": "object", "anyOf": [{"properties": {"cmd": {}}}]})));
    add(of_params(json!({"type": "object", "properties": 5})));
    add(of_parameter(json!({"type": "text"})));
    add(of_parameter(json!({"pattern": "(?=x)"})));
    add(of_parameter(json!({"pattern": "("})));
    add(of_parameter(json!({"pattern": "x".repeat(257)})));
    add(of_parameter(json!({"pattern": "(((a{99}){99}){99}){99}"})));
    add(of_parameter(json!({"enum": (0..257).collect::<Vec<_>>()})));
    add(of_parameter(json!({"enum": ["a\u{202e}b"]})));
    add(of_parameter(json!({"type": "integer", "default": "ten"})));
    add(of_parameter(json!({"type": "object", "properties": {"q": {"maximum": 1, "default": 2}}})));
    add(of_parameter(json!({"$ref": "https://example.com/x.json"})));
    add(of_parameter(json!({"$ref": "#/properties/p"})));
    add(of_parameter(json!({"$dynamicRef": "#x"})));
    add(of_parameter(json!({"items": {"$id": "https://example.com/x", "type": "string"}})));
    add(of_parameter(json!({"description": "d".repeat(33_000)})));
    let mut deep = json!({"type": "string"});
    for _ in 0..17 {
        deep = json!({"items": deep});
    }
    add(of_parameter(deep.clone()));
    for _ in 0..60 {
        deep = json!({"items": deep});
    }
    add(of_parameter(deep));
    add(of_parameter(json!({"anyOf": vec![json!({}); 1000]})));
    add(problems(|s| {
        s.actions[1].examples = vec![json!({"query": "", "limit": 99}).as_object().unwrap().clone()]
    }));
    add(problems(|s| {
        s.actions[1].examples = vec![json!({"query": "a\u{200b}"}).as_object().unwrap().clone()]
    }));
    insta::assert_snapshot!("problems_of_schemas", out);
}

/// H42.
#[test]
fn an_unreadable_surface_is_refused_even_if_known() {
    let mut deep = json!({});
    for _ in 0..100 {
        deep = json!({"items": deep});
    }
    for schema in [json!({"type": "object", "properties": {"p": deep}}), json!({"$ref": "#/x"})] {
        let mut surface = fixture::notes();
        surface.actions[1].params = Arc::new(schema.as_object().unwrap().clone());
        let problems = Contract::from_checked(Arc::new(surface)).unwrap_err();
        assert!(problems.0.len() == 1 && problems.0[0].starts_with("action `search`: "), "{problems}");
    }
}

#[test]
fn every_problem_is_reported_at_once() {
    let text = problems(|surface| {
        surface.title = "t".repeat(200);
        surface.actions[0].summary = String::new();
        surface.actions[1].params = Arc::new(Object::new());
        surface.actions[2].params = Arc::new(
            json!({"type": "object", "properties": {"p": {"$ref": "#/x"}}}).as_object().unwrap().clone(),
        );
    });
    assert_eq!(text.lines().count(), 4, "{text}");
}

#[test]
fn a_facade_that_is_too_large_is_refused() {
    let text = problems(|surface| {
        let big = json!({"type": "object", "description": "d".repeat(32_000)});
        surface.actions = (0..10).map(|i| fixture::action(&format!("a{i}"), big.clone())).collect();
    });
    assert!(text.contains("at most 262144 are allowed"), "{text}");
}

#[test]
fn many_problems_are_counted() {
    let reported = problems(|s| s.actions[0].aliases = vec!["a b".into(); 100]);
    assert_eq!(reported.lines().count(), 65, "{reported}");
    assert!(reported.ends_with("\nand 37 more"), "{reported}");
}

#[test]
fn invalid_schemas_are_reported_without_hidden_characters() {
    let problems = of_parameter(json!("T\u{200b}T\u{202e}\u{1b}[1m"));
    assert!(problems.contains("cannot be used: \"TT"), "{problems}");
    assert!(is_clean(&problems), "{problems:?}");
}

#[test]
fn unused_definitions_are_checked_too() {
    let problems = of_params(json!({"type": "object", "$defs": {"Unused": {"description": null}}}));
    assert!(
        problems.contains("cannot be used: ") && problems.contains("/$defs/Unused/description"),
        "{problems}"
    );
}

#[test]
fn no_part_of_a_schema_has_hidden_characters() {
    for schema in [
        json!({"type": "object", "addit\u{200b}ional": 1}),
        json!({"type": "object", "$defs": {"U\u{e0041}": true}}),
        json!({"type": "object", "unknown": ["\u{202e}"]}),
    ] {
        let problems = of_params(schema);
        assert!(problems.contains("holds control or invisible characters"), "{problems}");
    }
}
