//! The database of the settings file.

use std::path::PathBuf;

use loggia_policy::settings::StateStorage;
use loggia_postgres::{DatabaseOptions, DatabasePassword};

/// Returns the database that the settings name, if they name one.
pub fn to_database(storage: &StateStorage) -> Option<DatabaseOptions> {
    let url = storage.url.as_ref()?.0.clone();
    let text = storage.password.clone().map(|password| DatabasePassword::Text(password.0));
    let password = text.or_else(|| storage.password_file.clone().map(DatabasePassword::File));
    Some(DatabaseOptions { url, schema: storage.schema.clone(), password })
}

/// Returns the file with the password of the database, which the fence protects from plugins.
pub fn password_file(storage: &StateStorage) -> Option<PathBuf> {
    storage.url.as_ref().and(storage.password_file.clone())
}
