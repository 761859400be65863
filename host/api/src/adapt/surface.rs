//! A whole API as the surface of a facade.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use loggia_facade::{Surface, Want};
use loggia_schema::sanitise_surface;

use super::{
    operation::{AdaptedOperation, adapt_operation},
    route::OperationRoute,
};
use crate::description::ApiDescription;

/// An API as a facade publishes it.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptedApi {
    /// The description from which it was made.
    pub description: Arc<ApiDescription>,
    /// The surface. The host checks it against the contract, since an edited file may hold anything.
    pub surface: Arc<Surface>,
    /// Where the calls of each action go, by its name.
    pub routes: BTreeMap<String, OperationRoute>,
}

/// Servers that are named as wishes. An API has one or two.
const WANTED_SERVERS: usize = 8;

/// Adapts a description: every operation becomes an action.
pub fn adapt_api(description: Arc<ApiDescription>) -> AdaptedApi {
    let mut taken: BTreeSet<String> =
        description.operations.iter().map(|operation| operation.action.to_ascii_lowercase()).collect();
    let mut actions = Vec::with_capacity(description.operations.len());
    let mut routes = BTreeMap::new();
    for operation in &description.operations {
        let AdaptedOperation { mut action, route } = adapt_operation(operation);
        // Names go before aliases, and the first alias before the second.
        action.aliases.retain(|alias| taken.insert(alias.to_ascii_lowercase()));
        routes.insert(action.name.clone(), route);
        actions.push(action);
    }
    let surface = sanitise_surface(Surface {
        name: description.name.clone(),
        title: description.title.clone(),
        version: description.version.clone(),
        summary: description.summary.clone(),
        instructions: None,
        default_action: None,
        actions,
        views: Vec::new(),
        wants: wants(&description),
    });
    AdaptedApi { description, surface: Arc::new(surface), routes }
}

/// What the API needs of a policy, so that a draft of one names it.
fn wants(description: &ApiDescription) -> Vec<Want> {
    let mut wants: Vec<Want> = description
        .servers()
        .into_iter()
        .take(WANTED_SERVERS)
        .filter_map(|server| {
            let origin = url::Url::parse(server).ok()?.origin().ascii_serialization();
            let reason = "the API's own server".to_owned();
            Some(Want { grant: format!("http: {origin}"), reason, needed: false })
        })
        .collect();
    wants.dedup();
    if description.security.iter().any(|scheme| scheme.header.is_some()) {
        let reason = "most operations need a credential".to_owned();
        let grant = format!("secrets: {}", description.token_variable());
        wants.push(Want { grant, reason, needed: false });
    }
    wants
}
