//! Benchmarks routing, validation and the envelope for one call of 200 bytes: at most 10 µs together.
//!
//! `cargo bench -p loggia-schema --bench gate`

use std::{hint::black_box, sync::Arc};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use loggia_facade::{Action, Command, Effect, Envelope, Failure, Object, Page, Reply, Surface};
use loggia_schema::{CallTarget, Contract, PreparedParams, RoutedCall, ToolView};
use serde_json::{Value, json};

fn object(value: Value) -> Object {
    value.as_object().cloned().unwrap_or_default()
}

fn action(name: &str, params: Value) -> Action {
    Action {
        name: name.into(),
        summary: format!("Does {name}."),
        effect: Effect::Read,
        idempotent: true,
        open_world: false,
        long_running: false,
        details: true,
        aliases: vec![],
        needs: Vec::new(),
        group: None,
        resource: None,
        view: None,
        params: Arc::new(object(params)),
        data: None,
        examples: vec![],
    }
}

/// Notes with the usual actions, of which `search` has the usual parameters.
fn contract() -> Contract {
    let text = json!({"type": "string", "minLength": 1, "maxLength": 4000});
    let id = json!({"type": "object", "properties": {"id": {"type": "string", "pattern": "^n_[0-9]+$"}}, "required": ["id"]});
    let search = json!({"type": "object", "required": ["query"], "properties": {
        "query": {"type": "string", "minLength": 1, "maxLength": 500},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 40}, "maxItems": 20},
        "since": {"type": ["string", "null"], "format": "date"},
        "depth": {"type": "string", "enum": ["xs", "s", "m", "l"], "default": "s"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
        "archived": {"type": "boolean", "default": false}}});
    let add = json!({"type": "object", "required": ["text"], "properties": {"text": text}});
    let surface = Surface {
        name: "notes".into(),
        title: "Notes".into(),
        version: "1.0.0".into(),
        summary: "Short notes kept between conversations.".into(),
        instructions: None,
        default_action: None,
        actions: vec![
            action("add", add),
            action("search", search),
            action("get", id.clone()),
            action("delete", id),
        ],
        views: Vec::new(),
        wants: vec![],
    };
    match Contract::new(Arc::new(surface)) {
        Ok(contract) => contract,
        Err(problems) => panic!("{problems}"),
    }
}

/// Two hundred bytes.
fn call() -> Object {
    object(
        json!({"action": "search", "query": "minutes of the meeting about the new loggia and what was decided there",
        "tags": ["meeting", "house", "decisions"], "since": "2026-01-31", "depth": "m", "archived": false, "limit": 25}),
    )
}

fn reply() -> Reply {
    Reply {
        data: json!([{"id": "n_17", "text": "The loggia faces south.", "tags": ["house"], "at": "2026-02-01T09:00:00Z"},
            {"id": "n_21", "text": "Tiles, not wood.", "tags": ["house", "decisions"], "at": "2026-02-03T10:30:00Z"}])
        .into(),
        page: Some(Page { count: Some(2), total: Some(2), cursor: None }),
        ..Reply::default()
    }
}

fn prepare(
    contract: &Contract,
    arguments: Object,
    view: &ToolView,
) -> (Command, Result<PreparedParams, Failure>) {
    match contract.route(arguments, view) {
        Ok(RoutedCall { command, target: CallTarget::Action { action, params }, .. }) => {
            (command, contract.prepare(&contract.surface().actions[action], params))
        }
        Ok(RoutedCall { command, .. }) => panic!("{command:?} is no action"),
        Err(refused) => (refused.command, Err(refused.failure)),
    }
}

fn render(command: Command, outcome: Result<Reply, Failure>, resolved_inputs: Object) -> String {
    let (envelope, _) = Envelope { resolved_inputs, ..Envelope::new(command, outcome) }.into_parts();
    serde_json::to_string(&envelope).unwrap_or_default()
}

fn gate(c: &mut Criterion) {
    let contract = contract();
    let view = ToolView::all_actions();
    let sent = serde_json::to_string(&call()).unwrap_or_default();
    assert!((195..=225).contains(&sent.len()), "the call takes {} bytes", sent.len());
    let mut group = c.benchmark_group("gate");
    let mut run = |name: &str, make: &dyn Fn() -> Object| {
        group.bench_function(name, |b| {
            b.iter_batched(
                || (make(), reply()),
                |(arguments, reply)| {
                    let (command, prepared) = prepare(&contract, arguments, &view);
                    let rendered = match prepared {
                        Ok(prepared) => {
                            black_box(&prepared.params);
                            render(command, Ok(reply), prepared.resolved)
                        }
                        Err(failure) => render(command, Err(failure), Object::new()),
                    };
                    black_box(rendered)
                },
                BatchSize::SmallInput,
            );
        });
    };
    run("whole", &call);
    run("whole, defaults filled in", &|| object(json!({"action": "search", "query": "x"})));
    run("whole, slips fixed", &|| {
        let mut call = call();
        call.insert("limit".into(), "25".into());
        call.insert("tags".into(), "[\"meeting\"]".into());
        call
    });
    run("refused: a value", &|| {
        let mut call = call();
        call.insert("depth".into(), "standard".into());
        call
    });
    run("refused: five violations", &|| {
        object(
            json!({"action": "search", "qurey": "x", "limit": 99, "depth": "xl", "since": "now", "tags": "a"}),
        )
    });
    run("refused: an unknown action", &|| object(json!({"action": "serach", "query": "x"})));
    group.bench_function("route", |b| {
        b.iter_batched(call, |arguments| contract.route(arguments, &view), BatchSize::SmallInput);
    });
    let mut params = call();
    params.shift_remove("action");
    let search = &contract.surface().actions[1];
    group.bench_function("prepare", |b| {
        b.iter_batched(|| params.clone(), |params| contract.prepare(search, params), BatchSize::SmallInput);
    });
    group.bench_function("envelope", |b| {
        b.iter_batched(
            reply,
            |reply| render(Command::action("search"), Ok(reply), Object::new()),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, gate);
criterion_main!(benches);
