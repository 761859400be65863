//! `[service.NAME]`.

use std::collections::BTreeMap;

use super::{
    auth::scopes,
    table::table,
    upstream::{HiddenText, is_name},
    value::{SettingValue, SettingsReader, text},
};
use crate::{
    document::{field::Field, tree::Text},
    model::AccessScope,
};

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

fn secret(text: &Text) -> Result<HiddenText, String> {
    match text.value.len() >= MIN_SECRET {
        true => Ok(HiddenText(text.value.clone())),
        false => Err(format!("has fewer than {MIN_SECRET} characters")),
    }
}

/// Reads `[service]`.
pub(super) fn services(
    field: &Field<'_>,
    reader: &mut SettingsReader<'_>,
) -> Option<BTreeMap<String, Service>> {
    let mut services = BTreeMap::new();
    for (name, field) in field.entries(&mut reader.problems) {
        if is_name(name) {
            services.extend(Service::read(&field, reader).map(|service| (name.to_owned(), service)));
        } else {
            reader
                .report::<()>(&field, "has a name that is not up to 32 of a-z, 0-9, _ and -, a letter first");
        }
    }
    Some(services)
}
