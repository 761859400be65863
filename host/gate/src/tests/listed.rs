//! Listed and unlisted facades.

use std::collections::BTreeSet;

use loggia_schema::ToolSplit;

use loggia_policy::{clients::client_table, model::Exposed};

use super::*;
use crate::{
    access::{CallerRights, ListId},
    catalog::{ListPlan, ToolPublisher, list_tools},
};

fn works(name: &str) -> PuppetFacade {
    puppet(name, async |call: Call| Ok(Reply::data(call.action)))
}

fn slots(names: &[&str]) -> BTreeMap<String, CatalogSlot> {
    let slot = |name: &&str| {
        let entry = entry(works(name), FacadeRules::default());
        ((*name).to_owned(), CatalogSlot::Serving(Arc::new(entry)))
    };
    names.iter().map(slot).collect()
}

fn publisher(listed: &[&str]) -> ToolPublisher {
    let listed: BTreeSet<String> = listed.iter().map(|name| (*name).to_owned()).collect();
    ToolPublisher { listed: Some(Arc::new(listed)), ..ToolPublisher::default() }
}

fn gate_listing(publisher: ToolPublisher, names: &[&str]) -> Gate {
    let catalog = Arc::new(Catalog::new(publisher));
    catalog.swap(slots(names));
    catalog.mark_admitted();
    Gate::new(catalog, Executor::new(lanes(), InlinePolicy::Slots(4)))
}

fn some_rights(scopes: &str) -> CallerRights {
    CallerRights::from_scopes(scopes.split_whitespace().map(|scope| scope.parse().unwrap()))
}

#[tokio::test]
async fn only_listed_facades_are_shown() {
    for (listed, scopes, expected) in [
        (&["a", "c"][..], "*", &["a", "c"][..]),
        (&["a", "c"], "b:* c:look", &["c"]),
        (&["nothing"], "*", &[]),
        (&[], "*", &[]),
    ] {
        let gate = gate_listing(publisher(listed), &["a", "b", "c"]);
        let (snapshot, rights) = (gate.catalog().snapshot(), some_rights(scopes));
        let names: Vec<String> = list_tools(&snapshot, ListId::default(), &rights)
            .into_iter()
            .map(|(_, tool)| tool.name.clone())
            .collect();
        assert_eq!(names, expected, "{listed:?} {scopes}");
        let text = if expected.is_empty() { "none".to_owned() } else { expected.join(", ") };
        assert_eq!(snapshot.tool_names(ListId::default(), &rights), text, "{listed:?} {scopes}");
        for name in ["a", "b", "c"] {
            assert_eq!(snapshot.default_list().shows(name), listed.contains(&name), "{listed:?} {name}");
        }
    }
}

#[tokio::test]
async fn unlisted_facades_are_called_by_name() {
    for (split, tools) in [(ToolSplit::None, &["b"][..]), (ToolSplit::Effect, &["b", "b_write"])] {
        let gate = gate_listing(ToolPublisher { split, ..publisher(&["a"]) }, &["a", "b"]);
        for name in tools {
            let action = if *name == "b" { "look" } else { "smash" };
            let reply = finish(tool(&gate, name, json!({"action": action}))).await;
            assert_eq!(reply["data"], action, "{name}: {reply}");
        }
        assert!(gate.call_tool(CallOrigin::local(), "nothing", Object::new()).is_none());
    }
    let forwards = puppet("a", async |call: Call| call.session.invoke(request("b", "smash")).await);
    let gate = gate_listing(publisher(&["a"]), &["b"]);
    let mut slots = gate.catalog().snapshot().slots.clone();
    let entry = Arc::new(entry(forwards, invoking(&["*"])));
    slots.insert("a".to_owned(), CatalogSlot::Serving(entry));
    gate.catalog().swap(slots);
    assert_eq!(finish(tool(&gate, "a", json!({"action": "smash"}))).await["data"], "smash");
}

#[tokio::test]
async fn unlisted_changes_are_not_announced() {
    let gate = gate_listing(publisher(&["a"]), &["a"]);
    let before = gate.catalog().snapshot().generation;
    gate.catalog().swap(slots(&["a", "b"]));
    assert_eq!(gate.catalog().snapshot().generation, before);
    assert!(gate.catalog().snapshot().default_list().tools.contains_key("b"));
    gate.catalog().swap(slots(&["b"]));
    assert_eq!(gate.catalog().snapshot().generation, before + 1);
}

#[test]
fn only_listed_facades_count_against_the_budget() {
    let all = slots(&["a", "b", "c"]);
    let forms = |listed: Option<&[&str]>, budget: usize| -> Vec<&str> {
        let publisher = listed.map_or_else(ToolPublisher::default, publisher);
        let shown = ToolPublisher { budget: Some(budget), ..publisher }.publish(&all);
        shown.iter().map(|shown| shown.expose.form.as_str()).collect()
    };
    let single = ToolPublisher { budget: Some(1), ..publisher(&["a"]) };
    let roomy = single.publish(&all);
    let tokens = crate::tokens::measure_tools(roomy[1].tools.iter().map(|tool| &**tool)).tokens;
    let fresh = slots(&["a", "b", "c"]);
    let shown = ToolPublisher { budget: Some(tokens), ..publisher(&["a"]) }.publish(&fresh);
    let shown: Vec<&str> = shown.iter().map(|shown| shown.expose.form.as_str()).collect();
    assert_eq!(shown, ["flat", "flat", "flat"]);
    assert_ne!(forms(None, tokens), ["flat", "flat", "flat"]);
    assert_eq!(forms(Some(&["a"]), 1)[1..], ["flat", "flat"]);
}

#[test]
fn listed_tools_take_their_names_first() {
    // `a` splits into `a` and `a_write`, which is the name of another facade's tool.
    let mut all = slots(&["a"]);
    let other = works("b");
    let mut surface = (*other.surface).clone();
    surface.actions.retain(|action| action.name == "look");
    surface.actions[0].name = "a_write".to_owned();
    let other = PuppetFacade { surface: Arc::new(surface), ..other };
    let exposure = FacadeExposure::new(&Exposed {
        form: Some(loggia_schema::SchemaForm::Granular),
        ..Exposed::default()
    })
    .with_own_names();
    let other = CatalogEntry { exposure, ..entry(other, FacadeRules::default()) };
    all.insert("b".to_owned(), CatalogSlot::Serving(Arc::new(other)));
    for (listed, hidden) in [(["a"], ["", "a_write"]), (["b"], ["a_write", ""])] {
        let shown = ToolPublisher { split: ToolSplit::Effect, ..publisher(&listed) }.publish(&all);
        let names: Vec<String> = shown.iter().map(|shown| shown.hidden.join(" ")).collect();
        assert_eq!(names, hidden, "{listed:?}");
    }
}

#[test]
fn listed_names_without_a_facade_are_found() {
    let mut all = slots(&["a"]);
    all.insert("broken".to_owned(), CatalogSlot::Unavailable("it does not load".to_owned()));
    let publisher = publisher(&["a", "broken", "nothing"]);
    assert_eq!(publisher.unserved_names(&all).collect::<Vec<_>>(), ["broken", "nothing"]);
    assert_eq!(ToolPublisher::default().unserved_names(&all).count(), 0);
}

#[test]
fn a_change_is_announced_if_a_list_that_a_client_asked_for_changes() {
    let mut plan = ListPlan::new(publisher(&["a"]));
    let all = plan.add(&ToolPublisher::default(), false).list_of(client_table().named("zed").unwrap());
    let catalog = Catalog::with_lists(plan);
    catalog.swap(slots(&["a"]));
    let generation = || catalog.snapshot().generation;
    let before = generation();
    catalog.swap(slots(&["a", "b"]));
    assert_eq!(generation(), before, "no client has asked for the list that shows `b`");
    assert_eq!(catalog.snapshot().list(all).tools.len(), 2);
    assert_eq!(catalog.snapshot().list(ListId(9)).listed().count(), 1, "an unknown list is the default one");
    catalog.swap(slots(&["a"]));
    assert_eq!(generation(), before + 1);
    catalog.swap(slots(&["a"]));
    assert_eq!(generation(), before + 1);
}

#[tokio::test]
async fn a_list_of_some_actions_hides_the_others() {
    let scope = CallerRights::from_scopes(["b:look".parse().unwrap()]);
    let part = ToolPublisher { scope: Some(scope), ..ToolPublisher::default() };
    let mut plan = ListPlan::new(ToolPublisher::default());
    let list = plan.add(&part, false).list_of(&client_table().unknown);
    let catalog = Arc::new(Catalog::with_lists(plan));
    catalog.swap(slots(&["a", "b"]));
    let gate = Gate::new(Arc::clone(&catalog), Executor::new(lanes(), InlinePolicy::Slots(1)));
    let origin = CallOrigin::local().with_list(list, None);
    let call = |tool: &str, action: &str| {
        let Value::Object(arguments) = json!({"action": action}) else { unreachable!() };
        gate.call_tool(origin.clone(), tool, arguments)
    };
    assert!(call("a", "look").is_none());
    assert_eq!(finish(call("b", "look").unwrap()).await["data"], "look");
    let hidden = finish(call("b", "smash").unwrap()).await;
    assert_eq!(hidden["code"], "invalid_params", "{hidden}");
    assert_eq!(hidden["error"], "Unknown action: \"smash\". Available actions: look, describe.", "{hidden}");
    let narrowed = list_tools(
        &catalog.snapshot(),
        list,
        &CallerRights::from_scopes(["*:x".parse(), "b:smash".parse()].into_iter().flatten()),
    );
    assert!(narrowed.is_empty(), "rights do not widen what a list shows");
}
