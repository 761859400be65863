//! Which facade answers for which URI.

use std::{collections::BTreeMap, sync::Arc};

use loggia_facade::{ActionResource, Call, Object, Reply, Surface, SurfaceView};
use loggia_policy::model::FacadeRules;
use serde_json::json;

use crate::{
    access::{CallerRights, ListId},
    catalog::{Catalog, CatalogEntry, CatalogSlot},
    testing::{PuppetFacade, entry, puppet},
};

/// A facade whose first action is a resource with this URI.
fn offering(name: &str, uri: &str) -> (String, CatalogSlot) {
    let works = puppet(name, async |call: Call| Ok(Reply::data(call.action)));
    let mut surface: Surface = (*works.surface).clone();
    let params = json!({"type": "object", "properties": {"id": {"type": "string"}}});
    surface.actions[0].params = Arc::new(params.as_object().unwrap().clone());
    surface.actions[0].resource = Some(ActionResource {
        uri: uri.to_owned(),
        mime_type: None,
        items: None,
        state: Some("rows/{id}".into()),
    });
    let works = PuppetFacade { surface: Arc::new(surface), ..works };
    let entry: CatalogEntry = entry(works, FacadeRules::default());
    (name.to_owned(), CatalogSlot::Serving(Arc::new(entry)))
}

#[test]
fn a_scheme_belongs_to_one_facade() {
    let catalog = Catalog::default();
    let find = |uri: &str| {
        let snapshot = catalog.snapshot();
        let found = snapshot.find_resource(uri, ListId::default(), &CallerRights::all());
        found.map(|(resource, params)| (resource.entry.surface().name.clone(), params))
    };
    let serve = |facades: &[(&str, &str)]| {
        catalog.swap(facades.iter().map(|(name, uri)| offering(name, uri)).collect::<BTreeMap<_, _>>());
    };
    let id = |id: &str| Object::from_iter([("id".to_owned(), json!(id))]);
    // The first by name, unless a facade has the name.
    serve(&[("b", "x://{id}"), ("c", "x://{id}")]);
    assert_eq!(find("x://1"), Some(("b".to_owned(), id("1"))));
    serve(&[("a", "notes://{id}"), ("notes", "notes://note/{id}")]);
    assert_eq!(find("notes://note/1"), Some(("notes".to_owned(), id("1"))));
    assert_eq!(find("notes://1"), None, "it is not the other one's");
    let snapshot = catalog.snapshot();
    let all = snapshot.resources(ListId::default(), &CallerRights::all());
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].state_prefix(&id("7")).as_deref(), Some("rows/7"));
    assert_eq!(snapshot.foreign_schemes(), [("a", "notes")]);
}

#[test]
fn changed_resources_change_the_lists() {
    let catalog = Catalog::default();
    let changes = catalog.subscribe();
    let generation = || *changes.borrow();
    let serve = |uri: &str| catalog.swap(BTreeMap::from([offering("a", uri)]));
    serve("a://{id}");
    let first = generation();
    serve("a://{id}");
    assert_eq!(generation(), first);
    serve("a://other/{id}");
    assert_eq!(generation(), first + 1);
}

#[test]
fn changed_views_change_the_lists() {
    let catalog = Catalog::default();
    let changes = catalog.subscribe();
    let generation = || *changes.borrow();
    let serve_with = |views: bool, view: Option<&str>, html: &str| {
        let works = puppet("a", async |call: Call| Ok(Reply::data(call.action)));
        let mut surface: Surface = (*works.surface).clone();
        surface.views = vec![SurfaceView { name: "v".to_owned(), html: html.to_owned() }];
        surface.actions[0].view = view.map(str::to_owned);
        let works = PuppetFacade { surface: Arc::new(surface), ..works };
        let mut entry: CatalogEntry = entry(works, FacadeRules::default());
        entry.exposure.views = views;
        catalog.swap(BTreeMap::from([("a".to_owned(), CatalogSlot::Serving(Arc::new(entry)))]));
    };
    let serve = |view, html| serve_with(true, view, html);
    serve(None, "x");
    let first = generation();
    serve(None, "not shown");
    assert_eq!(generation(), first);
    serve(Some("v"), "x");
    assert_eq!(generation(), first + 1);
    serve(Some("v"), "y");
    assert_eq!(generation(), first + 2);
    serve(Some("v"), "y");
    assert_eq!(generation(), first + 2);
    serve_with(false, Some("v"), "y");
    assert_eq!(generation(), first + 3);
    serve_with(false, Some("v"), "z");
    assert_eq!(generation(), first + 3, "the policy shows none");
}
