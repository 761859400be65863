//! Actions as prompts.

use std::{collections::BTreeMap, sync::Arc};

use loggia_facade::{Call, Reply, Surface};
use loggia_policy::{
    clients::client_table,
    model::{Exposed, FacadeRules},
};
use loggia_schema::SchemaForm;

use crate::{
    access::{CallerRights, ListId},
    catalog::{Catalog, CatalogEntry, CatalogSlot, CatalogSnapshot, FacadeExposure, ListPlan, ToolPublisher},
    testing::{PuppetFacade, entry, puppet},
};

fn works(name: &str) -> PuppetFacade {
    puppet(name, async |call: Call| Ok(Reply::data(call.action)))
}

fn prompting(name: &str, form: SchemaForm, edit: impl Fn(&mut Surface)) -> CatalogSlot {
    let puppet = works(name);
    let mut surface = (*puppet.surface).clone();
    edit(&mut surface);
    let puppet = PuppetFacade { surface: Arc::new(surface), ..puppet };
    let exposed = Exposed { form: Some(form), ..Exposed::default() };
    let exposure = FacadeExposure::new(&exposed).with_own_names().with_prompts();
    let entry = CatalogEntry { exposure, ..entry(puppet, FacadeRules::default()) };
    CatalogSlot::Serving(Arc::new(entry))
}

fn plain(name: &str) -> CatalogSlot {
    CatalogSlot::Serving(Arc::new(entry(works(name), FacadeRules::default())))
}

fn slots(all: Vec<(&str, CatalogSlot)>) -> BTreeMap<String, CatalogSlot> {
    all.into_iter().map(|(name, slot)| (name.to_owned(), slot)).collect()
}

fn names(snapshot: &CatalogSnapshot, list: ListId, scopes: &str) -> Vec<String> {
    let rights = CallerRights::from_scopes(scopes.split_whitespace().map(|scope| scope.parse().unwrap()));
    snapshot.prompts(list, &rights).into_iter().map(|prompt| prompt.name).collect()
}

fn keep(action: &'static str) -> impl Fn(&mut Surface) {
    move |surface| surface.actions.retain(|own| own.name == action)
}

#[test]
fn a_caller_sees_prompts_of_the_actions_that_it_may_call() {
    let all = slots(vec![
        ("a", prompting("a", SchemaForm::Flat, |_| ())),
        ("b", prompting("b", SchemaForm::Granular, keep("look"))),
        ("c", plain("c")),
    ]);
    let snapshot = CatalogSnapshot::from_slots(all);
    let own: Vec<String> = snapshot.lookup("a", "look").map(|action| vec![action.name]).unwrap();
    assert_eq!(own, ["look"]);
    let seen = |scopes: &str| names(&snapshot, ListId::default(), scopes);
    let all = seen("*");
    assert!(all.contains(&"a_look".to_owned()) && all.contains(&"b_look".to_owned()), "{all:?}");
    assert!(
        all.is_sorted() && !all.contains(&"look".to_owned()) && !all.iter().any(|name| name.starts_with('c'))
    );
    // Who sees one of them alone learns nothing of the other.
    assert_eq!(seen("b:*"), ["look"]);
    assert_eq!(seen("a:look c:*"), ["look"]);
    assert_eq!(seen("c:*"), [""; 0]);
}

#[test]
fn a_list_has_prompts_of_what_it_shows() {
    let scope = CallerRights::from_scopes(["b:look".parse().unwrap()]);
    let mut plan = ListPlan::new(ToolPublisher::default());
    let part = ToolPublisher { scope: Some(scope), ..ToolPublisher::default() };
    let list = plan.add(&part, false).list_of(&client_table().unknown);
    let hidden =
        ToolPublisher { listed: Some(Arc::new(["c".to_owned()].into())), ..ToolPublisher::default() };
    let none = plan.add(&hidden, false).list_of(&client_table().unknown);
    let catalog = Catalog::with_lists(plan);
    let both = || {
        vec![("a", prompting("a", SchemaForm::Flat, |_| ())), ("b", prompting("b", SchemaForm::Flat, |_| ()))]
    };
    catalog.swap(slots(both()));
    assert_eq!(names(&catalog.snapshot(), list, "*"), ["look"]);
    assert_eq!(names(&catalog.snapshot(), none, "*"), [""; 0]);
}

#[test]
fn a_changed_prompt_is_announced_even_if_no_tool_changes() {
    let with = |summary: &'static str| {
        let edit = move |surface: &mut Surface| surface.actions[0].summary = summary.to_owned();
        slots(vec![("a", prompting("a", SchemaForm::Names, edit))])
    };
    let catalog = Catalog::default();
    catalog.swap(with("Does one thing."));
    let (tools, before) = (catalog.snapshot().default_list().tools.clone(), catalog.snapshot().generation);
    catalog.swap(with("Does one thing."));
    assert_eq!(catalog.snapshot().generation, before);
    catalog.swap(with("Does another thing."));
    assert_eq!(catalog.snapshot().default_list().tools, tools, "names show no summaries");
    assert_eq!(catalog.snapshot().generation, before + 1);
}
