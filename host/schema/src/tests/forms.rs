//! Every form of the same surfaces, as a model sees them.

use std::{fmt::Write as _, sync::Arc};

use loggia_facade::Surface;

use crate::{
    contract::{build::Contract, routed::CallTarget},
    model::action_policy::{ActionPolicy, ConsentSource},
    publish::{
        expose::{ExposeOptions, SchemaForm, ToolSplit},
        tool::PublishedTool,
    },
    tests::{fixture, surfaces},
};

pub(crate) fn contract(surface: Surface, terms: ActionPolicy) -> Contract {
    Contract::new(Arc::new(surface)).unwrap().with_policy(terms).unwrap()
}

pub(crate) fn expose(form: SchemaForm) -> ExposeOptions {
    ExposeOptions { form, ..ExposeOptions::default() }
}

fn show(tools: &[PublishedTool]) -> String {
    let mut out = String::new();
    for tool in tools {
        let _ = writeln!(out, "# {} ({})", tool.name, tool.title);
        let flags = [
            ("read-only", tool.read_only),
            ("destructive", tool.destructive),
            ("idempotent", tool.idempotent),
            ("open-world", tool.open_world),
        ];
        let flags: Vec<&str> = flags.iter().filter(|(_, holds)| *holds).map(|(flag, _)| *flag).collect();
        let _ = writeln!(out, "{}: {}\n{}", tool.effect.as_str(), flags.join(", "), tool.description);
        let _ = writeln!(out, "{}\n", serde_json::to_string_pretty(&*tool.input_schema).unwrap());
    }
    out
}

/// A policy that adds every host parameter.
fn all_terms() -> ActionPolicy {
    ActionPolicy { confirm: vec!["delete".into()], batch: true, ..ActionPolicy::default() }
}

#[test]
fn every_form_of_a_facade() {
    let contract = contract(surfaces::projects(), all_terms());
    for form in SchemaForm::ALL {
        insta::assert_snapshot!(format!("form_{}", form.as_str()), show(&contract.publish(&expose(form))));
    }
}

#[test]
fn a_facade_split_by_effect() {
    let contract = contract(fixture::notes(), ActionPolicy::default());
    for form in [SchemaForm::Flat, SchemaForm::Signatures, SchemaForm::Names, SchemaForm::Union] {
        let tools = contract.publish(&ExposeOptions { split: ToolSplit::Effect, ..expose(form) });
        assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["notes", "notes_write"]);
        assert_eq!((tools[0].read_only, tools[1].read_only, tools[1].destructive), (true, false, true));
        insta::assert_snapshot!(format!("split_{}", form.as_str()), show(&tools));
    }
    // A facade with one effect is not split.
    let mut surface = fixture::notes();
    surface.actions.retain(|action| action.effect == loggia_facade::Effect::Read);
    let contract = self::contract(surface, ActionPolicy::default());
    assert_eq!(
        contract.publish(&ExposeOptions { split: ToolSplit::Effect, ..ExposeOptions::default() }).len(),
        1
    );
}

#[test]
fn a_facade_of_one_action_can_be_raw() {
    let surface =
        fixture::one(serde_json::json!({"path": {"$ref": "#/$defs/P"}}), serde_json::json!(["path"]));
    let mut surface = surface;
    let mut params = (*surface.actions[0].params).clone();
    params.insert("$defs".into(), serde_json::json!({"P": {"type": "string"}}));
    surface.actions[0].params = Arc::new(params);
    let given = Arc::clone(&surface.actions[0].params);
    let contract = contract(surface, ActionPolicy::default());
    let tools = contract.publish(&expose(SchemaForm::Raw));
    assert!(Arc::ptr_eq(&tools[0].input_schema, &given));
    let call = serde_json::json!({"path": "x"}).as_object().unwrap().clone();
    assert!(matches!(
        contract.route(call, &tools[0].view).unwrap().target,
        CallTarget::Action { action: 0, .. }
    ));
}

#[test]
fn each_granular_tool_accepts_only_its_action() {
    let contract = contract(surfaces::projects(), ActionPolicy::default());
    let tools = contract.publish(&expose(SchemaForm::Granular));
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names[names.len() - 2..], ["projects_run_status", "projects_run_cancel"]);
    let call = |json: serde_json::Value| json.as_object().unwrap().clone();
    for (index, tool) in tools.iter().enumerate().take(contract.surface().actions.len()) {
        let routed = contract.route(call(serde_json::json!({"id": "p_1"})), &tool.view).unwrap();
        assert!(
            matches!(routed.target, CallTarget::Action { action, .. } if action == index),
            "{}",
            tool.name
        );
    }
    let status = &tools[names.len() - 2].view;
    let routed = contract.route(call(serde_json::json!({"run_id": "r_1"})), status).unwrap();
    assert!(matches!(routed.target, CallTarget::RunStatus { .. }));
    for view in [&tools[0].view, status] {
        let refused = contract.route(call(serde_json::json!({"action": "delete"})), view).unwrap_err();
        assert!(refused.failure.message.contains("`projects_delete`"), "{}", refused.failure);
    }
}

#[test]
fn granular_names_are_short_enough_and_unique() {
    let facade = "f".repeat(32);
    let long = |end: char| {
        fixture::action(&format!("{}{end}", "a".repeat(31)), serde_json::json!({"type": "object"}))
    };
    let mut surface = fixture::surface(&facade, vec![long('a'), long('b'), long('c')]);
    let names = |surface: &Surface| -> Vec<String> {
        let tools = contract(surface.clone(), ActionPolicy::default()).publish(&expose(SchemaForm::Granular));
        tools.into_iter().map(|tool| tool.name).collect()
    };
    let all = names(&surface);
    assert!(all.iter().all(|name| name.len() == 64 && name.starts_with(&facade)), "{all:?}");
    assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2], "{all:?}");
    // Names are stable, whatever other actions the facade has.
    surface.actions.remove(0);
    assert_eq!(names(&surface), all[1..]);
}

#[test]
fn host_parameters_are_published_only_where_needed() {
    let names = |surface: Surface, terms: ActionPolicy, form: SchemaForm| -> Vec<String> {
        let contract = contract(surface, terms);
        let schema = contract.publish(&expose(form))[0].input_schema.clone();
        schema["properties"].as_object().unwrap().keys().cloned().collect()
    };
    let plain = || fixture::one(serde_json::json!({}), serde_json::json!([]));
    let with = |change: fn(&mut loggia_facade::Action)| {
        let mut surface = plain();
        change(&mut surface.actions[0]);
        surface
    };
    let confirm = ActionPolicy { confirm: vec!["go".into()], ..ActionPolicy::default() };
    let by_model = ActionPolicy { confirm_by: ConsentSource::Model, ..confirm.clone() };
    let batch = ActionPolicy { batch: true, ..ActionPolicy::default() };
    for (surface, terms, flat, nested) in [
        (plain(), ActionPolicy::default(), "action of", "action params"),
        (with(|a| a.details = true), ActionPolicy::default(), "action detail of", "action params detail"),
        (
            with(|a| a.long_running = true),
            ActionPolicy::default(),
            "action wait of run_id include_trace",
            "action params wait",
        ),
        // An operator's approval takes time, for which the call becomes a run.
        (plain(), confirm, "action wait of run_id include_trace", "action params wait"),
        (plain(), by_model, "action confirm of", "action params confirm"),
        (plain(), batch, "action wait of run_id include_trace items mode", "action params wait"),
    ] {
        assert_eq!(names(surface.clone(), terms.clone(), SchemaForm::Flat).join(" "), flat);
        assert_eq!(names(surface.clone(), terms.clone(), SchemaForm::Union).join(" "), nested);
        // Signatures and `describe` name the others.
        for form in [SchemaForm::Names, SchemaForm::Signatures] {
            let beside = nested.replace(" detail", "").replace(" wait", "");
            assert_eq!(names(surface.clone(), terms.clone(), form).join(" "), beside, "{}", form.as_str());
        }
    }
}

#[test]
fn publishing_is_deterministic() {
    let bytes = |contract: Contract, expose: &ExposeOptions| {
        let tools = contract.publish(expose);
        let results: Vec<_> =
            tools.iter().map(|tool| serde_json::to_string(&tool.output_schema.as_deref()).unwrap()).collect();
        (show(&tools), results)
    };
    for surface in [fixture::notes(), surfaces::projects(), fixture::large(40)] {
        for form in SchemaForm::ALL {
            for split in [ToolSplit::None, ToolSplit::Effect] {
                let expose = ExposeOptions { form, split, output_schema: true, ..ExposeOptions::default() };
                let fresh = bytes(Contract::new(Arc::new(surface.clone())).unwrap(), &expose);
                assert_eq!(fresh, bytes(Contract::from_checked(Arc::new(surface.clone())).unwrap(), &expose));
            }
        }
    }
}

#[test]
fn the_output_schema_is_published_on_request() {
    let contract = contract(fixture::notes(), ActionPolicy::default());
    assert!(contract.publish(&ExposeOptions::default())[0].output_schema.is_none());
    let schema = contract.publish(&ExposeOptions { output_schema: true, ..ExposeOptions::default() })[0]
        .output_schema
        .clone();
    insta::assert_snapshot!("output_schema", serde_json::to_string_pretty(&*schema.unwrap()).unwrap());
}

#[test]
fn the_baseline_has_no_host_parameters() {
    let contract = contract(surfaces::projects(), all_terms());
    let names = |tools: &[PublishedTool]| tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    let (bare, published) = (contract.baseline_tools(), contract.publish(&expose(SchemaForm::Granular)));
    assert_eq!(names(&bare), names(&published)[..bare.len()]);
    assert_eq!(bare.len(), contract.surface().actions.len());
    for tool in &bare {
        let parameters = tool.input_schema["properties"].as_object().unwrap();
        for reserved in ["detail", "wait", "confirm", "of", "action"] {
            assert!(!parameters.contains_key(reserved), "{} has `{reserved}`", tool.name);
        }
    }
}

/// Savings of the forms, in percent of the JSON of one tool per action.
///
/// Bytes, since a tokeniser is no dependency of this crate; `loggia tokens` counts tokens, and `tests/it/tokens.rs` says
/// what it finds. How much `flat` saves depends on how many actions share a parameter: two in `projects`, four in
/// `issues`.
#[test]
fn what_each_form_saves() {
    let saved = |surface: &Surface| -> Vec<(SchemaForm, usize)> {
        let contract = contract(surface.clone(), ActionPolicy::default());
        let bytes = |form: SchemaForm| -> usize {
            let tools = if form == SchemaForm::Granular {
                contract.baseline_tools()
            } else {
                contract.publish(&expose(form))
            };
            let json = |tool: &PublishedTool| {
                serde_json::json!({"name": tool.name, "description": tool.description,
                    "inputSchema": *tool.input_schema, "annotations": {"title": tool.title,
                    "readOnlyHint": tool.read_only, "destructiveHint": tool.destructive,
                    "idempotentHint": tool.idempotent, "openWorldHint": tool.open_world}})
            };
            tools.iter().map(|tool| json(tool).to_string().len()).sum()
        };
        let granular = bytes(SchemaForm::Granular);
        [SchemaForm::Flat, SchemaForm::Signatures, SchemaForm::Names]
            .map(|form| (form, 100 - 100 * bytes(form) / granular))
            .to_vec()
    };
    for (surface, least) in [
        (surfaces::projects(), [50, 82, 90]),
        (surfaces::issues(), [68, 85, 92]),
        (surfaces::tasks(), [49, 74, 79]),
    ] {
        for ((form, saved), least) in saved(&surface).into_iter().zip(least) {
            assert!(saved >= least, "{} as {}: {saved} percent", surface.name, form.as_str());
        }
    }
}

#[test]
fn examples_are_valid_in_every_form() {
    let mut tried = 0;
    for surface in
        [fixture::notes(), fixture::settings(), surfaces::projects(), surfaces::issues(), surfaces::tasks()]
    {
        let contract = contract(surface, ActionPolicy::default());
        for (index, action, rules) in contract.with_rules() {
            // No example can be generated for a pattern.
            let Some(flat) = rules.example(action).and_then(|call| call.as_object()).cloned() else {
                continue;
            };
            tried += 1;
            let mut params = flat.clone();
            params.shift_remove("action");
            let nested =
                serde_json::json!({"action": action.name, "params": params}).as_object().unwrap().clone();
            for form in SchemaForm::ALL {
                for split in [ToolSplit::None, ToolSplit::Effect] {
                    let tools = contract.publish(&ExposeOptions { split, ..expose(form) });
                    let shown: Vec<_> = tools.iter().filter(|tool| tool.view.shows(index)).collect();
                    let [tool] = shown.as_slice() else { panic!("{} in {} tools", action.name, shown.len()) };
                    let call = match form {
                        SchemaForm::Flat => &flat,
                        SchemaForm::Raw if contract.surface().actions.len() > 1 => &flat,
                        SchemaForm::Raw | SchemaForm::Granular => &params,
                        SchemaForm::Signatures | SchemaForm::Names | SchemaForm::Union => &nested,
                    };
                    let schema = crate::contract::rules::compile(&serde_json::Value::Object(
                        (*tool.input_schema).clone(),
                    ))
                    .unwrap();
                    let sent = serde_json::Value::Object(call.clone());
                    assert!(schema.is_valid(&sent), "{sent} as {}", form.as_str());
                    let CallTarget::Action { action, params: routed } =
                        contract.route(call.clone(), &tool.view).unwrap().target
                    else {
                        panic!("{sent}")
                    };
                    assert_eq!((action, &routed), (index, &params));
                }
            }
        }
    }
    assert!(tried > 30, "{tried}");
}
