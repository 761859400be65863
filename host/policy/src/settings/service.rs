//! `[service.NAME]`.

use super::{auth::scopes, table::table, upstream::HiddenText, value::text};
use crate::{document::tree::Text, model::AccessScope};

/// Minimum length of a secret, in bytes.
const MIN_SECRET: usize = 24;

table! {
    /// The identity NAME, under which workflows start by themselves: those whose file says `runAs: NAME`, and which its scopes
    /// allow. In the log and in the list of runs it is `service:NAME`.
    pub struct Service {
        /// What it allows: `facade:action`, `facade:*`, or `*`. They must cover the workflow and all that its steps call.
        scopes: Vec<AccessScope>, scopes;
        /// Secret with which requests to hooks are signed, at least 24 characters. Without it, its workflows have no hooks.
        hook_secret: Option<HiddenText> = None, text(secret);
    }
}

/// Checks the length of a secret.
pub(super) fn secret(text: &Text) -> Result<HiddenText, String> {
    match text.value.len() >= MIN_SECRET {
        true => Ok(HiddenText(text.value.clone())),
        false => Err(format!("has fewer than {MIN_SECRET} characters")),
    }
}
