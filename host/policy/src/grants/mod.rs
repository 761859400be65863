//! `[grants]`: what a plugin may use. Anything that is not named here is denied.
//!
//! Each grant is one file, named like its key: the key, how it is read, whether it covers what a plugin wants, how it is
//! explained, and what a first policy suggests. `docs/design/adding-a-grant.md` shows all that a new one touches.
//!
//! | file | concept |
//! |---|---|
//! | `grant.rs` | the trait, and what plugins want |
//! | `destination.rs` | what `http` and `secrets` share |
//! | `table.rs` | all grants, in the order of the reference |
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
mod secrets;
mod store;
mod table;

use std::path::PathBuf;

use loggia_facade::Effect;

pub use self::{
    grant::{Grant, GrantReading, GrantedSet, WantedGrant, WantedGrants},
    http::sends,
    table::{GRANTS, names, wanted, wanted_by},
};
use crate::{
    document::{PolicySetting, field::Field, problem::Problems},
    model::{Policy, PolicyPaths},
};

/// The section's name.
pub const SECTION: &str = "grants";
/// What the section is for.
pub const MEANS: &str = "What the plugin may use. Anything not listed here is denied.";

/// Reads the section.
pub fn read(field: &Field<'_>, setting: &PolicySetting<'_>, problems: &mut Problems) -> GrantedSet {
    let Some(fields) = field.fields(names(), problems) else { return GrantedSet::default() };
    let mut reading =
        GrantReading { granted: GrantedSet::default(), setting, problems, has_unread_rules: false };
    for grant in GRANTS {
        if let Some(field) = fields.get(grant.key().name) {
            grant.read(&field, &mut reading);
        }
    }
    reading.granted
}

/// The paths that the section names, whatever else is wrong with it.
pub fn paths(field: &Field<'_>, setting: &PolicySetting<'_>) -> PolicyPaths {
    let mut problems = Problems::default();
    let Some(fields) = field.fields(names(), &mut problems) else { return PolicyPaths::default() };
    let mut all = |key: &str, inner: &str| -> Vec<PathBuf> {
        let items = fields.get(key).map(|field| field.items(&mut problems)).unwrap_or_default();
        let paths = items.iter().filter_map(|item| {
            let path = item.fields([inner].into_iter(), &mut problems)?.get(inner)?;
            setting.path(&path, &mut problems)
        });
        paths.collect()
    };
    PolicyPaths { secrets: all("secrets", "from-file"), dirs: all("dirs", "path") }
}

/// The first grant of a policy that means nothing to workflows.
pub fn needless_for_workflows(policy: &Policy) -> Option<&'static str> {
    let needless = GRANTS.iter().find(|grant| !grant.applies_to_workflows() && grant.is_given(policy));
    needless.map(|grant| grant.key().name)
}

/// What a policy lets a plugin read that was there before the call.
pub fn reads(policy: &Policy) -> Vec<String> {
    let dirs = policy.grants.dirs.iter().map(|dir| dir.path.display().to_string());
    dirs.chain(policy.grants.store.map(|_| "its state".to_owned())).collect()
}

/// Everything that a policy grants, each with its key, as far as actions of this effect and below can use it. No value of a
/// secret, of the environment or of the configuration is in it.
pub fn explain(policy: &Policy, worst: Effect) -> Vec<(&'static str, String)> {
    let explained = GRANTS
        .iter()
        .flat_map(|grant| grant.explain(policy, worst).into_iter().map(move |says| (grant.key().name, says)));
    explained.collect()
}
