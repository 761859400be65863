//! Listed and unlisted facades.

use std::collections::BTreeSet;

use loggia_schema::ToolSplit;

use super::*;
use crate::catalog::{ToolPublisher, list_tools};

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
        let names: Vec<String> = list_tools(&snapshot, &rights).into_iter().map(|tool| tool.name).collect();
        assert_eq!(names, expected, "{listed:?} {scopes}");
        let text = if expected.is_empty() { "none".to_owned() } else { expected.join(", ") };
        assert_eq!(snapshot.tool_names(&rights), text, "{listed:?} {scopes}");
        for name in ["a", "b", "c"] {
            assert_eq!(snapshot.is_listed(name), listed.contains(&name), "{listed:?} {name}");
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
    assert!(gate.catalog().snapshot().tools.contains_key("b"));
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
    let exposure =
        FacadeExposure::new(Some(loggia_schema::SchemaForm::Granular), None, false).with_own_names();
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
