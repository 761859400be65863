//! `[guards.NAME]`.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::Value as Json;

use super::{
    kind::ValueKind,
    named_tables::named_tables,
    quantity::{Size, Span, within},
    table::table,
    upstream::{is_name, not_empty},
    value::{SettingsReader, list, text, values},
};
use crate::{
    document::{field::Field, json::read_json_table, tree::Text},
    model::ceilings::MEMORY_CEILING,
};

/// All facades.
pub const ALL_FACADES: &str = "*";
const MIN_MEMORY: Size = Size(1 << 20);
const MAX_MEMORY: Size = Size(MEMORY_CEILING as u64);
const MIN_TIME: Span = Span(std::time::Duration::from_millis(10));
const MAX_TIME: Span = Span::seconds(60);
const MIN_SIZE: Size = Size(1 << 10);
const MAX_SIZE: Size = Size(64 << 20);

table! {
    /// The guard NAME: a component that looks at calls of facades before they run, and at their results before anyone sees them, and
    /// allows, refuses or replaces them. If it fails or is missing, nothing passes.
    pub struct Guard {
        /// The component, a .wasm file.
        component: PathBuf;
        /// Names of the facades whose calls it looks at, as they are served; `*` for all.
        facades: Vec<String>, facades;
        /// Guards look at a call in the order of these numbers, and of their names.
        order: usize = 0, within(0usize, 1000usize);
        /// Whether it looks at calls before they run.
        before: bool = true;
        /// Whether it looks at results.
        after: bool = true;
        /// Settings of the guard: any values.
        config: GuardConfig = GuardConfig::default();
        /// Whether it may know callers, by opaque ids.
        caller: bool = false;
        /// CPU time of one look, 10ms to 60s.
        time: Span = Span::seconds(2), within(MIN_TIME, MAX_TIME);
        /// Memory of one look, 1MiB to 1GiB.
        memory: Size = Size(64 << 20), within(MIN_MEMORY, MAX_MEMORY);
        /// Size of what it puts in place of a call or a result, 1KiB to 64MiB.
        size: Size = Size(4 << 20), within(MIN_SIZE, MAX_SIZE);
    }
}

/// Settings that the operator gives to a guard.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GuardConfig(pub BTreeMap<String, Json>);

values! {
    GuardConfig, ValueKind::Any, config;
}

fn config(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<GuardConfig> {
    if !field.is_table() {
        return reader.report(field, "must be a table");
    }
    Some(GuardConfig(read_json_table(field, &mut reader.problems)))
}

/// Reads names of facades. A guard without any would look at nothing, which is never meant.
fn facades(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<Vec<String>> {
    if field.is_empty_list() {
        return reader
            .report(field, "is empty, so that the guard would look at nothing; \"*\" names all facades");
    }
    list(text(facade))(field, reader)
}

fn facade(text: &Text) -> Result<String, String> {
    let name = not_empty(text)?;
    match name == ALL_FACADES || is_name(&name) {
        true => Ok(name),
        false => Err(format!("is neither a facade's name nor \"*\" (got {})", text.quoted())),
    }
}

/// Reads `[guards]`.
pub(super) fn guards(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<BTreeMap<String, Guard>> {
    let guards: BTreeMap<String, Guard> = named_tables(field, reader)?;
    for name in guards.iter().filter(|(_, guard)| !guard.before && !guard.after).map(|(name, _)| name) {
        if let Some(field) = field.table().and_then(|table| table.get(name)) {
            reader.report_key(
                &field,
                "after",
                "is false like `before`, so that the guard would look at nothing",
            );
        }
    }
    Some(guards)
}
