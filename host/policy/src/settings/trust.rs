//! `[trust.NAME]`.

use std::path::PathBuf;

use super::{
    table::table,
    upstream::not_empty,
    value::{SettingsReader, list, text},
};
use crate::document::field::Field;

table! {
    /// The signer NAME of plugins in registries: `loggia add` and `loggia update` accept from these repositories only what the signer
    /// signed, and nothing from repositories that no such table names. Without any such table, each artifact must be named by its
    /// digest.
    pub struct Trust {
        /// Repositories, as in `ghcr.io/acme/notes`; `ghcr.io/acme/*` for all below.
        from: Vec<String>, repositories;
        /// File of the public key in PEM, as `cosign public-key` prints it: ECDSA on P-256.
        key: PathBuf;
    }
}

fn repositories(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<Vec<String>> {
    if field.is_empty_list() {
        return reader.report(field, "is empty, so that the signer could sign nothing");
    }
    list(text(not_empty))(field, reader)
}
