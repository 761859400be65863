//! `[grants]`: what a plugin may use. Anything that is not granted is denied.
//!
//! Each grant is one file, named like its key: documentation, parsing, comparison with a plugin's requests, explanation
//! and draft. `docs/design/adding-a-grant.md` lists the places that a new one changes.
//!
//! | file | concept |
//! |---|---|
//! | `grant.rs` | the trait, and requests of plugins |
//! | `lacking.rs` | what a plugin needs and its policy lacks |
//! | `destination.rs` | destinations, shared by `http` and `secrets` |
//! | `dirs.rs`, `http.rs`, `env.rs`, `config.rs`, `secrets.rs`, `store.rs`, `caller.rs`, `invoke.rs`, `elicit.rs` | the grants |

mod caller;
mod config;
mod destination;
mod dirs;
mod elicit;
mod env;
mod grant;
mod http;
mod invoke;
mod lacking;
mod secrets;
mod store;

use std::path::PathBuf;

use loggia_facade::{Effect, Surface};
use loggia_schema::UnmetNeed;

use self::{
    caller::CallerGrant, config::ConfigGrant, dirs::DirsGrant, elicit::ElicitGrant, env::EnvGrant,
    http::HttpGrant, invoke::InvokeGrant, secrets::SecretsGrant, store::StoreGrant,
};
pub use self::{
    grant::{Grant, GrantReading, GrantedSet, WantedGrant, WantedGrants},
    http::sends,
    lacking::LackingGrant,
};
use crate::{
    document::{PolicySetting, field::Field, problem::Problems},
    model::{DirGrant, Policy, PolicyPaths},
};

/// Name of the section.
pub const SECTION: &str = "grants";
/// Purpose of the section, for the reference page.
pub const MEANS: &str = "What the plugin may use. Anything not listed here is denied.";

/// All grants, in the order of the reference page. `secrets` must follow `http`, since it checks its hosts against the rules.
pub static GRANTS: [&dyn Grant; 9] = [
    &DirsGrant,
    &HttpGrant,
    &EnvGrant,
    &ConfigGrant,
    &SecretsGrant,
    &StoreGrant,
    &CallerGrant,
    &InvokeGrant,
    &ElicitGrant,
];

/// Reads the section.
pub fn read(field: &Field<'_>, setting: &PolicySetting<'_>, problems: &mut Problems) -> GrantedSet {
    let Some(fields) = field.fields(names(), problems) else { return GrantedSet::default() };
    let mut reading =
        GrantReading { granted: GrantedSet::default(), setting, problems, has_invalid_rules: false };
    for grant in GRANTS {
        if let Some(field) = fields.get(grant.key().name) {
            grant.read(&field, &mut reading);
        }
    }
    reading.granted
}

/// Iterates over the names of the keys.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    GRANTS.iter().map(|grant| grant.key().name)
}

/// Parses the text of a request. `None`: it names no grant of this host.
pub fn wanted(text: &str) -> Option<WantedGrant<'_>> {
    let (word, detail) = match text.split_once(':') {
        Some((word, detail)) => (word, Some(detail.trim()).filter(|detail| !detail.is_empty())),
        None => (text, None),
    };
    let grant = GRANTS.iter().find(|grant| grant.key().name == word.trim())?;
    Some(WantedGrant { grant: *grant, detail })
}

/// Collects the requests of a plugin.
pub fn wanted_by(surface: &Surface) -> WantedGrants<'_> {
    WantedGrants::new(surface.wants.iter().map(|want| (want, wanted(&want.grant))).collect())
}

/// Lists the actions that lack a grant that they need, each with the first one. A grant that this host does not have is
/// lacking.
pub fn unmet_needs(surface: &Surface, policy: &Policy) -> Vec<UnmetNeed> {
    let lacks = |need: &&String| wanted(need).is_none_or(|wanted| !wanted.is_granted(policy));
    let unmet = surface.actions.iter().filter_map(|action| {
        let grant = action.needs.iter().find(lacks)?;
        Some(UnmetNeed { action: action.name.clone(), grant: grant.clone() })
    });
    unmet.collect()
}

/// Lists the grants that a plugin needs as a whole and a policy lacks, in the plugin's order. [`unmet_needs`] lists those of single
/// actions.
pub fn lacking_grants(surface: &Surface, policy: &Policy) -> Vec<LackingGrant> {
    lacking::find_lacking(surface.wants.iter().map(|want| (want, wanted(&want.grant))), policy)
}

/// Returns the paths that the section names. Ignores all problems, so that it works for invalid policies.
pub fn paths(field: &Field<'_>, setting: &PolicySetting<'_>) -> PolicyPaths {
    let mut problems = Problems::default();
    let Some(fields) = field.fields(names(), &mut problems) else { return PolicyPaths::default() };
    let mut paths = |key: &str, inner: &str| -> Vec<PathBuf> {
        let items = fields.get(key).map(|field| field.items(&mut problems)).unwrap_or_default();
        let paths = items.iter().filter_map(|item| {
            let path = item.fields([inner].into_iter(), &mut problems)?.get(inner)?;
            setting.path(&path, &mut problems)
        });
        paths.collect()
    };
    PolicyPaths { secrets: paths("secrets", "from-file"), dirs: paths("dirs", "path") }
}

/// Lists the data that a plugin may read and that existed before the call.
pub fn reads(policy: &Policy) -> Vec<String> {
    let dirs = policy.grants.dirs.iter().map(DirGrant::described);
    dirs.chain(policy.grants.store.map(|_| "its state".to_owned())).collect()
}

/// Explains everything that a policy grants to actions up to this effect, each with its key. Contains no values of secrets,
/// variables or settings.
pub fn explain(policy: &Policy, worst: Effect) -> Vec<(&'static str, String)> {
    let explained = GRANTS
        .iter()
        .flat_map(|grant| grant.explain(policy, worst).into_iter().map(move |text| (grant.key().name, text)));
    explained.collect()
}

#[cfg(test)]
mod tests;
