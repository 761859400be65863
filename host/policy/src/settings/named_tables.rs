//! Tables whose names the operator chooses: `[service.NAME]`, `[profile.NAME]`, `[guards.NAME]`, `[trust.NAME]`.

use std::collections::BTreeMap;

use super::{
    upstream::is_name,
    value::{SettingValue, SettingsReader},
};
use crate::document::field::Field;

/// Reads tables by their names.
pub(super) fn named_tables<T: SettingValue>(
    field: &Field<'_>,
    reader: &mut SettingsReader<'_>,
) -> Option<BTreeMap<String, T>> {
    let mut tables = BTreeMap::new();
    for (name, field) in field.entries(&mut reader.problems) {
        if is_name(name) {
            tables.extend(T::read(&field, reader).map(|table| (name.to_owned(), table)));
        } else {
            reader
                .report::<()>(&field, "has a name that is not up to 32 of a-z, 0-9, _ and -, a letter first");
        }
    }
    Some(tables)
}
