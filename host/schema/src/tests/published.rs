//! Nothing that a first call needs is left out of a published form: reading a tool gives what the contract says.

use loggia_facade::Surface;

use crate::{
    contract::build::Contract,
    model::action_policy::ActionPolicy,
    publish::expose::{ExposeOptions, SchemaForm, ToolSplit},
    tests::{
        fixture,
        forms::contract,
        published_reader::{ReadActions, ReadParameter, ReadType, read_flat, read_signatures},
        surfaces,
    },
};

/// The actions of a contract with their parameters.
fn expected(contract: &Contract) -> ReadActions {
    let actions = contract.with_rules().map(|(_, action, rules)| {
        let parameters = rules.parameters().iter().map(|member| {
            let kind = ReadType::of_shape(&member.shape);
            (member.name.clone(), ReadParameter { required: member.required, kind })
        });
        (action.name.clone(), parameters.collect())
    });
    actions.collect()
}

fn published(contract: &Contract, form: SchemaForm, split: ToolSplit) -> ReadActions {
    let tools = contract.publish(&ExposeOptions { form, split, ..ExposeOptions::default() });
    let read = if form == SchemaForm::Flat { read_flat } else { read_signatures };
    tools.iter().flat_map(read).collect()
}

/// Fails if a form leaves out an action, a parameter, a requirement, a type or a value.
pub(crate) fn is_complete(contract: &Contract) {
    let expected = expected(contract);
    for split in [ToolSplit::None, ToolSplit::Effect] {
        assert_eq!(published(contract, SchemaForm::Flat, split), expected);
        let mut signatures = published(contract, SchemaForm::Signatures, split);
        signatures.retain(|name, _| contract.surface().action(name).is_some());
        assert!(signatures.keys().eq(expected.keys()));
        for (action, parameters) in &expected {
            let read = &signatures[action];
            assert!(read.keys().eq(parameters.keys()), "{action}");
            for (name, parameter) in parameters {
                let ReadParameter { required, kind } = &read[name];
                assert_eq!(*required, parameter.required, "{action} {name}");
                assert!(
                    kind.abbreviates(&parameter.kind),
                    "{action} {name}: {kind:?} for {:?}",
                    parameter.kind
                );
            }
        }
    }
}

#[test]
fn every_fixture_is_read_back() {
    let surfaces: [Surface; 7] = [
        fixture::notes(),
        fixture::settings(),
        fixture::large(40),
        fixture::one(serde_json::json!({}), serde_json::json!([])),
        surfaces::projects(),
        surfaces::issues(),
        surfaces::tasks(),
    ];
    for surface in surfaces {
        let confirm = surface.actions.iter().map(|action| action.name.clone()).collect();
        is_complete(&contract(surface, ActionPolicy { confirm, batch: true, ..ActionPolicy::default() }));
    }
}

#[test]
fn what_nests_is_read_back() {
    let spec = serde_json::json!({"type": "object", "required": ["how"], "properties": {
        "how": {"type": "string", "description": "How it is done. Later."},
        "limit": {"type": "string"},
        "checks": {"type": "array", "items": {"type": "object", "properties": {
            "kind": {"enum": ["string", "a b", "c"]}, "at": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "deep": {"type": "object", "additionalProperties": {"type": "object", "properties": {"n": {"type": "number"}}}}}}},
        "bag": {"type": "object", "additionalProperties": true, "description": "{anything}"}}});
    let steps = serde_json::json!({"type": "array", "items": {"type": "object", "properties": {
        "spec": spec, "tasks": {"type": "array", "items": {"type": "object", "properties": {"spec": spec}}}}}});
    let action = |name: &str, properties| {
        fixture::action(
            name,
            serde_json::json!({"type": "object", "properties": properties, "required": ["p"]}),
        )
    };
    let surface = fixture::surface(
        "nested",
        vec![
            action("plan", serde_json::json!({"p": {"enum": ["a", "b"]}, "steps": steps, "spec": spec})),
            action(
                "other",
                serde_json::json!({"p": {"enum": ["b", "c"]}, "spec": spec, "steps": {"type": "string"}}),
            ),
            action(
                "change",
                serde_json::json!({"p": {"enum": ["b"]}, "steps": steps, "archived": {"type": "string"}}),
            ),
        ],
    );
    let contract = contract(surface, ActionPolicy::default());
    is_complete(&contract);
    let tool = contract.publish(&ExposeOptions::default()).remove(0);
    insta::assert_snapshot!(
        "nested_flat",
        format!("{}\n{}", tool.description, serde_json::to_string_pretty(&*tool.input_schema).unwrap())
    );
}
