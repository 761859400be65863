//! Facades as callers with fewer rights see them.

use std::sync::Arc;

use loggia_facade::{Action, Detail, Effect, Object, Surface};
use serde_json::{Value, json};

use crate::{
    contract::{build::Contract, routed::CallTarget},
    model::{action_policy::ActionPolicy, view::ToolView},
    publish::{
        expose::{ExposeOptions, SchemaForm, ToolSplit},
        tool::PublishedTool,
    },
    tests::fixture,
};

/// Names that occur in no other text. Each action has a parameter of its own.
const NAMES: [&str; 4] = ["peruse", "scribble", "obliterate", "excavate"];

fn surface() -> Surface {
    let effects = [Effect::Read, Effect::Write, Effect::Destructive, Effect::Write];
    let action = |(name, effect): (&&str, Effect)| {
        let params = json!({"type": "object", "additionalProperties": false,
            "properties": {format!("{name}_what"): {"type": "string"}}});
        Action {
            effect,
            long_running: *name == "excavate",
            summary: "Does.".into(),
            ..fixture::action(name, params)
        }
    };
    fixture::surface("shed", NAMES.iter().zip(effects).map(action).collect())
}

fn contract(terms: ActionPolicy) -> Contract {
    Contract::new(Arc::new(surface())).unwrap().with_policy(terms).unwrap()
}

fn forms() -> impl Iterator<Item = ExposeOptions> {
    let expose = |form, split| ExposeOptions { form, split, ..ExposeOptions::default() };
    let splits = [ToolSplit::None, ToolSplit::Effect];
    SchemaForm::ALL.into_iter().flat_map(move |form| splits.map(|split| expose(form, split)))
}

fn names(tools: &[PublishedTool]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_str()).collect()
}

#[test]
fn withheld_actions_are_never_disclosed() {
    for terms in [ActionPolicy::default(), ActionPolicy { batch: true, ..ActionPolicy::default() }] {
        let contract = contract(terms);
        for allowed in 0..16u32 {
            let may =
                |name: &str| NAMES.iter().zip(0..).any(|(own, bit)| *own == name && allowed >> bit & 1 == 1);
            for expose in forms() {
                let whole = contract.publish(&expose);
                let left = contract.publish_for(&expose, may);
                if allowed == 15 {
                    assert_eq!(left, whole);
                }
                assert!(left.iter().all(|tool| names(&whole).contains(&tool.name.as_str())), "{expose:?}");
                assert_eq!(left.is_empty(), allowed == 0, "{expose:?}");
                for tool in &left {
                    let known = whole.iter().find(|known| known.name == tool.name).unwrap();
                    assert_eq!(contract.narrow(&known.view, may).as_ref(), Some(&tool.view), "{expose:?}");
                    let text = disclosed(&contract, tool);
                    let of_others = |name: &&str| !may(name) && text.contains(*name);
                    assert_eq!(
                        NAMES.iter().find(|name| of_others(name)),
                        None,
                        "{expose:?} {allowed}: {text}"
                    );
                }
            }
        }
    }
}

/// Everything that a caller of this tool can learn without naming withheld actions.
fn disclosed(contract: &Contract, tool: &PublishedTool) -> String {
    let mut text = format!("{} {}", tool.description, json!(*tool.input_schema));
    for detail in Detail::ALL {
        text += &contract.describe(None, detail, &tool.view).unwrap().to_string();
    }
    for arguments in [
        json!({}),
        json!({"action": "nothing"}),
        json!({"action": "obliterat"}),
        json!({"action": "describe", "of": "nothing"}),
        json!({"action": "describe", "of": 5}),
        json!({"action": "batch", "items": 5}),
        json!({"action": "run_cancel"}),
    ] {
        let refused = contract.route(object(arguments), &tool.view);
        text += &refused.err().map_or_else(String::new, |refused| format!("{:?}", refused.failure));
    }
    for name in NAMES {
        let Ok(action) = contract.action_in_view(name, &tool.view) else { continue };
        let all: Object = NAMES.iter().map(|other| (format!("{other}_what"), json!(5))).collect();
        let failure = contract.prepare_in_view(action, all, &tool.view).unwrap_err();
        // The failure echoes what was sent.
        let message = NAMES
            .iter()
            .fold(failure.message, |message, other| message.replace(&format!("`{other}_what`"), ""));
        text += &format!("{message} {:?} {:?}", failure.hint, failure.expected);
    }
    text
}

fn object(value: Value) -> Object {
    value.as_object().cloned().unwrap_or_default()
}

#[test]
fn withheld_actions_are_denied_with_the_required_scope() {
    let contract = contract(ActionPolicy::default());
    let view = contract.narrow(&ToolView::all_actions(), |name| name == "peruse").unwrap();
    let asked = contract.route(object(json!({"action": "Scribble"})), &view).unwrap_err().failure;
    let described = contract.describe(Some("scribble"), Detail::Full, &view).unwrap_err();
    let looked_up = contract.action_in_view("scribble", &view).unwrap_err();
    for failure in [asked, described, looked_up] {
        assert_eq!(failure.code, "denied");
        assert_eq!(
            failure.message,
            "access denied: the caller's scopes do not hold `shed:scribble`. Available actions: peruse, describe."
        );
        assert_eq!(failure.hint.as_deref(), Some("the token needs the scope `shed:scribble`"));
        assert_eq!(failure.details, Some(json!({"scope": "shed:scribble"})));
    }
    assert!(contract.action_in_view("peruse", &view).is_ok());
}

#[test]
fn annotations_cover_only_the_callers_actions() {
    let contract = contract(ActionPolicy::default());
    let of = |allowed: &[&str]| {
        let tool = contract.publish_for(&ExposeOptions::default(), |name| allowed.contains(&name)).remove(0);
        (tool.read_only, tool.destructive)
    };
    assert_eq!(of(&["peruse"]), (true, false));
    assert_eq!(of(&["peruse", "scribble"]), (false, false));
    assert_eq!(of(&["obliterate"]), (false, true));
}

#[test]
fn tools_for_runs_exist_only_with_long_running_actions() {
    let contract = contract(ActionPolicy::default());
    let granular = ExposeOptions { form: SchemaForm::Granular, ..ExposeOptions::default() };
    let left = |allowed: &str| contract.publish_for(&granular, |name| name == allowed);
    assert_eq!(names(&left("peruse")), ["shed_peruse"]);
    assert_eq!(names(&left("excavate")), ["shed_excavate", "shed_run_status", "shed_run_cancel"]);
    // The same for a facade that is one tool.
    let host = |allowed: &str| {
        let view = contract.narrow(&ToolView::all_actions(), |name| name == allowed).unwrap();
        contract.route(object(json!({"action": "run_status"})), &view).is_ok()
    };
    assert_eq!((host("peruse"), host("excavate")), (false, true));
}

/// A call that worked before must not be answered by another action.
#[test]
fn narrowing_never_changes_the_default_action() {
    let mut surface = surface();
    surface.default_action = Some("peruse".into());
    let contract = Contract::new(Arc::new(surface)).unwrap();
    let default = |expose: ToolSplit, allowed: &str| {
        let expose = ExposeOptions { split: expose, ..ExposeOptions::default() };
        let tools = contract.publish_for(&expose, |name| name == allowed);
        let routed = contract.route(Object::new(), &tools[0].view);
        routed.ok().map(|routed| match routed.target {
            CallTarget::Action { action, .. } => NAMES[action],
            other => panic!("{other:?}"),
        })
    };
    for split in [ToolSplit::None, ToolSplit::Effect] {
        assert_eq!(default(split, "peruse"), Some("peruse"));
        assert_eq!(default(split, "obliterate"), None);
    }
}

#[test]
fn host_actions_are_accepted_beside_a_single_action() {
    let contract = contract(ActionPolicy::default());
    let tools = contract.publish(&ExposeOptions { split: ToolSplit::Effect, ..ExposeOptions::default() });
    let reads = &tools[0].view;
    assert_eq!(
        (contract.offers("peruse", reads), contract.offers("describe", reads)),
        (Some(true), Some(false))
    );
    assert_eq!(contract.offers("run_status", &tools[1].view), Some(false));
}
