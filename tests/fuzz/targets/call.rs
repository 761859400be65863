//! Any request to a rich facade is answered: by parameters that fit the action's schema, or by a short refusal without
//! hidden characters and secrets.
#![no_main]

use std::sync::{Arc, LazyLock};

use jsonschema::{Draft, Validator};
use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target};
use loggia_facade::{Failure, Object, code};
use loggia_fuzz::{json, surface, told};
use loggia_schema::{Contract, ExposeOptions, SchemaForm, ToolSplit, CallTarget, ToolView, sanitise_surface};
use serde_json::Value;

/// Placeholder for a secret, which must not be echoed if it was sent as one.
const SECRET: &str = "hunter2-hunter2";

const WORDS: &str = r##"action cmd params detail wait confirm of run_id items mode include_trace stop continue describe batch
run_status run_cancel minimal full hunter2-hunter2 {"a":1} [1,2] "[1]" "5" "{\"a\":1}" 2026-01-31
2026-01-31T09:00:00Z n_1 high "high" 5.0 "true" ADD set fill plan token keys window rows schedule filter
shape limit text tags priority due extra"##;

struct Rich {
    contract: Contract,
    /// Validators of the author's own schemas.
    validators: Vec<Validator>,
    views: Vec<ToolView>,
}

static RICH: LazyLock<Rich> = LazyLock::new(|| {
    let said: Value = serde_json::from_str(include_str!("../seeds/schema/rich.json")).expect("JSON");
    let contract =
        Contract::new(Arc::new(sanitise_surface(surface::surface(&said)))).unwrap_or_else(|e| panic!("{e}"));
    let contract = contract.with_policy(surface::terms(&said)).expect("its own terms");
    let validators = contract.surface().actions.iter().map(|action| {
        let schema = Value::Object((*action.params).clone());
        let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
        options.offline().build(&schema).expect("a schema")
    });
    let validators = validators.collect();
    let mut views = vec![ToolView::all_actions()];
    for (form, split) in [(SchemaForm::Flat, ToolSplit::Effect), (SchemaForm::Granular, ToolSplit::None)] {
        let tools = contract.publish(&ExposeOptions { form, split, ..ExposeOptions::default() });
        views.extend(tools.into_iter().map(|tool| tool.view));
    }
    Rich { contract, validators, views }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    json::mutate(data, size, max_size, seed, WORDS)
});

fuzz_target!(|data: &[u8]| -> Corpus {
    let Ok(Value::Object(arguments)) = serde_json::from_slice(data) else { return Corpus::Reject };
    for view in &RICH.views {
        answer(arguments.clone(), view);
    }
    Corpus::Keep
});

fn answer(arguments: Object, view: &ToolView) {
    let Rich { contract, validators, .. } = &*RICH;
    let routed = match contract.route(arguments.clone(), view) {
        Ok(routed) => routed,
        Err(refusal) => {
            told::line("a command", &refusal.command.name.clone().unwrap_or_default(), 400);
            return refused(&refusal.failure, Some(&arguments));
        }
    };
    assert_eq!(contract.route(arguments.clone(), view).as_ref(), Ok(&routed), "routed twice");
    let (index, params) = match routed.target {
        CallTarget::Action { action, params } => (action, params),
        CallTarget::Describe(request) => {
            if let Err(failure) = contract.describe_page(&request, routed.detail, view) {
                refused(&failure, Some(&arguments));
            }
            return;
        }
        CallTarget::Batch { items, .. } => return assert!(items.len() <= loggia_schema::limits::BATCH),
        _ => return,
    };
    let action = &contract.surface().actions[index];
    // Unnamed parameters of an action are not secrets.
    let sent = Some(&params).filter(|_| action.name != "open");
    match contract.prepare(action, params.clone()) {
        Ok(prepared) => {
            let complete = Value::Object(prepared.params.clone());
            assert!(validators[index].is_valid(&complete), "{} does not take {complete}", action.name);
            let again = contract.prepare(action, prepared.params.clone()).expect("what is valid stays valid");
            assert_eq!(again.params, prepared.params, "prepared twice");
            let shown = Value::Object(prepared.resolved).to_string();
            let all = Value::Object(contract.resolved_inputs(action, &prepared.params)).to_string();
            assert!(all.len() < 256 << 10, "{} bytes", all.len());
            hides(&shown, sent);
            hides(&all, sent);
        }
        Err(failure) => refused(&failure, sent),
    }
}

/// Checks that a refusal is readable for models, people and terminals.
fn refused(failure: &Failure, sent: Option<&Object>) {
    let Failure { code, message, hint, expected, example, .. } = failure;
    assert!([code::INVALID_PARAMS, code::DENIED].contains(&code.as_str()), "{code}: {message}");
    assert!(!message.is_empty());
    let example = example.as_ref().map(ToString::to_string);
    let texts = [Some(message), hint.as_ref(), expected.as_ref(), example.as_ref()];
    for text in texts.into_iter().flatten() {
        told::line("a refusal", text, 5000);
        hides(text, sent);
    }
    let bytes: usize = texts.into_iter().flatten().map(String::len).sum();
    assert!(bytes < 8 << 10, "{bytes} bytes: {failure:?}");
}

/// Checks that a text does not contain the secret, if it was only sent as one.
fn hides(text: &str, sent: Option<&Object>) {
    assert!(!text.contains(SECRET) || sent.is_none_or(elsewhere), "a secret is shown: {text}");
}

/// Tests whether the secret was sent in any other place.
fn elsewhere(sent: &Object) -> bool {
    sent.iter().any(|(name, value)| match (name.as_str(), value) {
        (name, _) if name.contains(SECRET) => true,
        ("token" | "keys", Value::String(_)) => false,
        ("keys", Value::Array(keys)) => {
            keys.iter().any(|key| !key.is_string() && key.to_string().contains(SECRET))
        }
        ("params", Value::Object(params)) => elsewhere(params),
        (_, value) => value.to_string().contains(SECRET),
    })
}
