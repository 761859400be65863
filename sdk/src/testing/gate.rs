//! The host's own checks, before an action runs. Waits for `loggia-schema`: the facade's own checks stand in.

use std::sync::Arc;

use loggia_facade as host;

use crate::{Object, Result};

pub(super) fn contract(_: &Arc<host::Surface>) {}

pub(super) fn admit(surface: &Arc<host::Surface>, action: &str, params: Object) -> Result<(String, Object)> {
    let found = surface.actions.iter().find(|a| a.aliases.iter().any(|alias| alias == action));
    Ok((found.map_or(action, |a| &a.name).to_owned(), params))
}
