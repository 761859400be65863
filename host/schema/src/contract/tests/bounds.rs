//! Every way in which a surface can be refused, as its author reads it.

use std::{fmt::Write as _, sync::Arc};

use loggia_facade::Want;
use loggia_text::is_clean;
use serde_json::json;

use crate::{contract::build::Contract, tests::fixture};
use loggia_facade::{Object, Surface};
use serde_json::Value;

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
fn what_is_wrong_with_names_and_texts_is_said() {
    let mut out = String::new();
    let mut say = |text: String| {
        let _ = writeln!(out, "{text}\n");
    };
    say(problems(|s| s.name = "Notes!".into()));
    say(problems(|s| s.name = String::new()));
    say(problems(|s| s.name = "a".repeat(33)));
    say(problems(|s| s.title = "t".repeat(129)));
    say(problems(|s| s.summary = "  ".into()));
    say(problems(|s| s.summary = "s".repeat(801)));
    say(problems(|s| s.instructions = Some("i".repeat(5000))));
    say(problems(|s| s.actions.clear()));
    say(problems(|s| {
        s.actions = (0..65).map(|i| fixture::action(&format!("a{i}"), json!({"type": "object"}))).collect()
    }));
    say(problems(|s| s.actions[0].name = "add note".into()));
    say(problems(|s| s.actions[0].name = "describe".into()));
    say(problems(|s| s.actions[0].name = "list".into()));
    say(problems(|s| s.actions[0].summary = String::new()));
    say(problems(|s| s.actions[0].aliases = vec!["Batch".into()]));
    say(problems(|s| s.actions[0].aliases = vec!["a b".into()]));
    say(problems(|s| s.actions[0].aliases = vec!["LIST".into()]));
    say(problems(|s| s.default_action = Some("none".into())));
    say(problems(|s| s.wants = vec![Want { grant: String::new(), reason: String::new(), needed: true }]));
    insta::assert_snapshot!("problems_of_names_and_texts", out);
}

/// H42.
#[test]
fn what_is_wrong_with_a_schema_is_said() {
    let mut out = String::new();
    let mut say = |text: String| {
        let _ = writeln!(out, "{text}\n");
    };
    say(of_params(json!({})));
    say(of_params(json!({"type": "array"})));
    say(of_params(json!({"type": "object", "properties": {"action": {}, "wait": {}, "$x": {}}})));
    say(of_params(json!({"type": "object", "anyOf": [{"properties": {"cmd": {}}}]})));
    say(of_params(json!({"type": "object", "properties": 5})));
    say(of_parameter(json!({"type": "text"})));
    say(of_parameter(json!({"pattern": "(?=x)"})));
    say(of_parameter(json!({"pattern": "("})));
    say(of_parameter(json!({"pattern": "x".repeat(257)})));
    say(of_parameter(json!({"pattern": "(((a{99}){99}){99}){99}"})));
    say(of_parameter(json!({"enum": (0..257).collect::<Vec<_>>()})));
    say(of_parameter(json!({"enum": ["a\u{202e}b"]})));
    say(of_parameter(json!({"type": "integer", "default": "ten"})));
    say(of_parameter(json!({"type": "object", "properties": {"q": {"maximum": 1, "default": 2}}})));
    say(of_parameter(json!({"$ref": "https://example.com/x.json"})));
    say(of_parameter(json!({"$ref": "#/properties/p"})));
    say(of_parameter(json!({"$dynamicRef": "#x"})));
    say(of_parameter(json!({"items": {"$id": "https://example.com/x", "type": "string"}})));
    say(of_parameter(json!({"description": "d".repeat(33_000)})));
    let mut deep = json!({"type": "string"});
    for _ in 0..17 {
        deep = json!({"items": deep});
    }
    say(of_parameter(deep.clone()));
    for _ in 0..60 {
        deep = json!({"items": deep});
    }
    say(of_parameter(deep));
    say(of_parameter(json!({"anyOf": vec![json!({}); 1000]})));
    say(problems(|s| {
        s.actions[1].examples = vec![json!({"query": "", "limit": 99}).as_object().unwrap().clone()]
    }));
    say(problems(|s| {
        s.actions[1].examples = vec![json!({"query": "a\u{200b}"}).as_object().unwrap().clone()]
    }));
    insta::assert_snapshot!("problems_of_schemas", out);
}

/// H42.
#[test]
fn a_surface_that_cannot_be_read_is_refused_even_where_it_is_known() {
    let mut deep = json!({});
    for _ in 0..100 {
        deep = json!({"items": deep});
    }
    for schema in [json!({"type": "object", "properties": {"p": deep}}), json!({"$ref": "#/x"})] {
        let mut surface = fixture::notes();
        surface.actions[1].params = Arc::new(schema.as_object().unwrap().clone());
        let problems = Contract::known(Arc::new(surface)).unwrap_err();
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
fn a_facade_that_publishes_too_much_is_refused() {
    let text = problems(|surface| {
        let big = json!({"type": "object", "description": "d".repeat(32_000)});
        surface.actions = (0..10).map(|i| fixture::action(&format!("a{i}"), big.clone())).collect();
    });
    assert!(text.contains("at most 262144 are allowed"), "{text}");
}

#[test]
fn of_very_many_problems_some_are_told_and_the_rest_counted() {
    let said = problems(|s| s.actions[0].aliases = vec!["a b".into(); 100]);
    assert_eq!(said.lines().count(), 65, "{said}");
    assert!(said.ends_with("\nand 37 more"), "{said}");
}

#[test]
fn a_value_that_is_no_schema_is_told_without_what_cannot_be_seen() {
    let said = of_parameter(json!("T\u{200b}T\u{202e}\u{1b}[1m"));
    assert!(said.contains("cannot be used: \"TT"), "{said}");
    assert!(is_clean(&said), "{said:?}");
}

#[test]
fn a_schema_is_one_in_the_parts_too_that_nothing_refers_to() {
    let said = of_params(json!({"type": "object", "$defs": {"Unused": {"description": null}}}));
    assert!(said.contains("cannot be used: ") && said.contains("/$defs/Unused/description"), "{said}");
}

#[test]
fn no_part_of_a_schema_hides_anything_whoever_reads_it() {
    for schema in [
        json!({"type": "object", "addit\u{200b}ional": 1}),
        json!({"type": "object", "$defs": {"U\u{e0041}": true}}),
        json!({"type": "object", "unknown": ["\u{202e}"]}),
    ] {
        let said = of_params(schema);
        assert!(said.contains("holds control or invisible characters"), "{said}");
    }
}
