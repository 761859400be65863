//! Tries each row of the tables in `docs/integrators/input.md`.

use std::sync::Arc;

use loggia_facade::{Envelope, Failure, Next, Object};
use serde_json::{Value, json};

use crate::{
    contract::{
        build::Contract,
        routed::{CallTarget, RoutedCall},
    },
    model::{bounds, host_action::HOST_ACTIONS, view::ToolView},
    tests::fixture,
};

const PAGE: &str = include_str!("../../../../docs/integrators/input.md");

/// The rows of the tables with this header; each cell without enclosing backticks.
fn rows(head: &str) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    let mut within = false;
    for line in PAGE.lines() {
        match line {
            line if line == head => within = true,
            line if within && line.starts_with('|') => {
                let cells = line
                    .trim_matches('|')
                    .split(" | ")
                    .map(|cell| bare(cell.trim().trim_matches('|').trim()));
                out.push(cells.collect());
            }
            _ => within = false,
        }
    }
    out.retain(|row: &Vec<String>| !row.iter().all(|cell| cell.starts_with("---")));
    assert!(out.len() > 2, "no table begins with {head}");
    out
}

/// Removes backticks that enclose the whole cell.
fn bare(cell: &str) -> String {
    let inner = cell.strip_prefix('`').and_then(|cell| cell.strip_suffix('`'));
    inner.filter(|inner| !inner.contains('`')).unwrap_or(cell).to_owned()
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn object(text: &str) -> Object {
    parse(text).as_object().unwrap().clone()
}

fn notes() -> Contract {
    let mut surface = fixture::notes();
    surface.actions[0].aliases = vec!["create".into()];
    Contract::new(Arc::new(surface)).unwrap()
}

/// Sends parameters to an action with one parameter, `p`, of this schema.
fn send(schema: &str, params: Object) -> Result<(Object, Object), Failure> {
    let contract = Contract::new(Arc::new(fixture::one(json!({"p": parse(schema)}), json!([])))).unwrap();
    let prepared = contract.prepare(contract.action("go").unwrap(), params)?;
    Ok((prepared.params, prepared.resolved))
}

fn p(value: &str) -> Object {
    json!({"p": parse(value)}).as_object().unwrap().clone()
}

#[test]
fn documented_shapes_are_equivalent() {
    for row in rows("| sent | echoed as |") {
        let RoutedCall { command, target, .. } =
            notes().route(object(&row[0]), &ToolView::all_actions()).unwrap();
        let CallTarget::Action { action: 0, params } = target else { panic!("{row:?}") };
        assert_eq!(Value::Object(params), json!({"text": "Buy milk", "tags": ["home"]}), "{row:?}");
        assert_eq!((command.key, command.name.as_deref()), (row[1].as_str(), Some("add")), "{row:?}");
    }
}

#[test]
fn documented_conflicts_are_refused() {
    for row in rows("| sent | error |") {
        let refused = notes().route(object(&row[0]), &ToolView::all_actions()).unwrap_err();
        assert_eq!(refused.failure.message, row[1], "{row:?}");
    }
}

#[test]
fn documented_names_are_complete() {
    let names = |head| rows(head).into_iter().map(|row| row[0].clone()).collect::<Vec<_>>();
    assert_eq!(names("| name | what it holds |"), bounds::RESERVED_NAMES);
    assert_eq!(names("| action | what it does |"), HOST_ACTIONS);
    for name in bounds::RESERVED_NAMES {
        let schema =
            json!({"type": "object", "anyOf": [{"properties": {"x": {}}}, {"properties": {name: {}}}]});
        let refused = Contract::new(Arc::new(fixture::surface("one", vec![fixture::action("go", schema)])));
        assert!(refused.unwrap_err().to_string().contains(&format!("`{name}` is the host's own")));
    }
    for name in HOST_ACTIONS {
        let mut alias = fixture::action("go", json!({"type": "object"}));
        alias.aliases = vec![name.to_uppercase()];
        for action in [alias, fixture::action(name, json!({"type": "object"}))] {
            let refused = Contract::new(Arc::new(fixture::surface("one", vec![action]))).unwrap_err();
            assert!(refused.to_string().contains("is the host's own; choose another"), "{refused}");
        }
    }
}

#[test]
fn documented_slips_are_fixed() {
    for row in rows("| the parameter's schema | sent | used |") {
        let (params, _) = send(&row[0], p(&row[1])).unwrap_or_else(|failure| panic!("{row:?}: {failure}"));
        let expected = if row[2] == "nothing" { Object::new() } else { p(&row[2]) };
        assert_eq!(params, expected, "{row:?}");
    }
    for row in rows("| the parameter's schema | sent | error |") {
        assert_eq!(send(&row[0], p(&row[1])).unwrap_err().message, row[2], "{row:?}");
    }
}

#[test]
fn documented_resolved_inputs_are_correct() {
    for row in rows("| the parameter's schema | sent | `resolved_inputs` |") {
        let (_, resolved) =
            send(&row[0], object(&row[1])).unwrap_or_else(|failure| panic!("{row:?}: {failure}"));
        assert_eq!(resolved, object(&row[2]), "{row:?}");
    }
}

#[test]
fn documented_errors_are_literal() {
    for row in rows("| the parameter's schema | sent | error | hint |") {
        let failure = send(&row[0], object(&row[1])).unwrap_err();
        assert_eq!(failure.message, row[2], "{row:?}");
        let hint = row.get(3).cloned().unwrap_or_default();
        assert_eq!(failure.hint.unwrap_or_default(), hint, "{row:?}");
    }
}

#[test]
fn documented_error_fields_are_complete() {
    let call = notes().prepare(&fixture::notes().actions[0], Object::new()).unwrap_err();
    let next = Next { facade: "notes".into(), action: "list".into(), params: Object::new(), reason: None };
    let failure = Failure {
        hint: Some("Say it.".into()),
        details: Some(json!(1)),
        retry_after_ms: Some(1),
        next: Some(next),
        ..call
    };
    let command = loggia_facade::Command::action("add");
    let (envelope, _) = Envelope::new(command, Err(failure)).into_parts();
    let listed: Vec<_> = rows("| field | what it holds |").into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(envelope.keys().cloned().collect::<Vec<_>>(), listed);
}
