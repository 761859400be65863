//! The actions that clients also read as resources, by URI.
//!
//! All URIs of a scheme belong to one facade, so that no plugin can answer for another: to the one whose name is the scheme,
//! else to the first by name.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use loggia_facade::{Action, ActionResource, Object};
use loggia_schema::{UriTemplate, expand_key_template};

use super::{
    entry::{CatalogEntry, CatalogSlot},
    entry_resource::EntryResource,
    snapshot::CatalogSnapshot,
};
use crate::access::{CallerRights, ListId};

/// Reason for a resource that is not published, for the operator. Follows the scheme.
pub const FOREIGN_SCHEME_REASON: &str =
    "is the scheme of another facade's resources; those of this facade are not published";

/// A resource that a client sees.
#[derive(Clone)]
pub struct CatalogResource {
    /// The facade of the action.
    pub entry: Arc<CatalogEntry>,
    resource: EntryResource,
}

impl CatalogResource {
    /// The action whose result it is.
    pub fn action(&self) -> &Action {
        &self.entry.surface().actions[self.resource.index]
    }

    /// The template of its URI.
    pub fn template(&self) -> &UriTemplate {
        &self.resource.template
    }

    /// What the plugin says of it.
    pub fn definition(&self) -> Option<&ActionResource> {
        self.action().resource.as_ref()
    }

    /// Prefix of the keys of state that a resource is made from whose URI has these values. `None` if the plugin does not say.
    pub fn state_prefix(&self, values: &Object) -> Option<String> {
        self.definition()?.state.as_ref().map(|template| expand_key_template(template, values))
    }
}

impl CatalogSnapshot {
    /// Lists the resources of a client by facade and action: results of actions that a tool of its list offers and its caller
    /// may call.
    pub fn resources(&self, list: ListId, rights: &CallerRights) -> Vec<CatalogResource> {
        let owners = self.scheme_owners();
        let entries = self.serving().filter(|entry| !entry.resources.is_empty());
        let seen = entries.flat_map(|entry| self.resources_of(entry, &owners, list, rights));
        seen.collect()
    }

    /// Lists the resources of a facade that a client sees.
    fn resources_of(
        &self,
        entry: &Arc<CatalogEntry>,
        owners: &HashMap<&str, &str>,
        list: ListId,
        rights: &CallerRights,
    ) -> Vec<CatalogResource> {
        let facade = entry.surface().name.as_str();
        let visible = self.visible_actions(entry, list, rights);
        let own = entry.resources.iter().filter(|resource| {
            visible.contains(&resource.index) && owners.get(resource.template.scheme()) == Some(&facade)
        });
        own.map(|resource| CatalogResource { entry: Arc::clone(entry), resource: resource.clone() }).collect()
    }

    /// Finds the resource of a URI, and the parameters that the URI gives its action.
    pub fn find_resource(
        &self,
        uri: &str,
        list: ListId,
        rights: &CallerRights,
    ) -> Option<(CatalogResource, Object)> {
        let owners = self.scheme_owners();
        let (scheme, _) = uri.split_once("://")?;
        let CatalogSlot::Serving(entry) = self.slots.get(*owners.get(scheme)?)? else { return None };
        let resources = self.resources_of(entry, &owners, list, rights);
        // A fixed URI comes before a template that it also matches.
        let (fixed, templates): (Vec<_>, Vec<_>) =
            resources.into_iter().partition(|resource| resource.template().is_fixed());
        fixed.into_iter().chain(templates).find_map(|resource| {
            let params = resource.template().matches(uri)?;
            Some((resource, params))
        })
    }

    /// The facade that each scheme belongs to.
    fn scheme_owners(&self) -> HashMap<&str, &str> {
        let mut owners = HashMap::new();
        for entry in self.serving() {
            for resource in &entry.resources {
                let (scheme, facade) = (resource.template.scheme(), entry.surface().name.as_str());
                if scheme == facade {
                    owners.insert(scheme, facade);
                } else {
                    owners.entry(scheme).or_insert(facade);
                }
            }
        }
        owners
    }

    /// Lists facades with the schemes of theirs that belong to others.
    pub(crate) fn foreign_schemes(&self) -> Vec<(&str, &str)> {
        let owners = self.scheme_owners();
        let mut foreign: Vec<(&str, &str)> = self
            .serving()
            .flat_map(|entry| entry.resources.iter().map(move |resource| (entry, resource)))
            .map(|(entry, resource)| (entry.surface().name.as_str(), resource.template.scheme()))
            .filter(|(facade, scheme)| owners.get(scheme) != Some(facade))
            .collect();
        foreign.dedup();
        foreign
    }
}

/// What is published of resources: the list of resources changes only with it, or with a published list of tools.
pub(super) fn resource_definitions(
    slots: &BTreeMap<String, CatalogSlot>,
) -> impl Iterator<Item = (&str, &ActionResource)> {
    let serving = slots.values().filter_map(|slot| match slot {
        CatalogSlot::Serving(entry) if !entry.resources.is_empty() => Some(entry),
        _ => None,
    });
    serving.flat_map(|entry| {
        let actions = entry.surface().actions.iter();
        actions.filter_map(|action| Some((action.summary.as_str(), action.resource.as_ref()?)))
    })
}
