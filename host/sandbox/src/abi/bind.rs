//! Binding: the contract version that a component exports, and whether its functions are those of the contract.

use wasmtime::component::{Component, Linker, types::ComponentItem};

use super::{
    guard::GuardPre,
    plugin::PluginPre,
    version::{ContractVersion, ExportedInterface, GUARD, PLUGIN},
};
use crate::{LoadError, guest::GuestState, wasmtime_errors::missing_import};

/// Checks what a plugin exports and imports, before anything of it runs, and binds it.
pub(crate) fn bind(
    engine: &wasmtime::Engine,
    linker: &Linker<GuestState>,
    component: &Component,
) -> Result<PluginPre, LoadError> {
    bind_to(&PLUGIN, engine, linker, component)
}

/// Checks what a guard exports and imports, before anything of it runs, and binds it.
pub(crate) fn bind_guard(
    engine: &wasmtime::Engine,
    linker: &Linker<GuestState>,
    component: &Component,
) -> Result<GuardPre, LoadError> {
    bind_to(&GUARD, engine, linker, component)
}

fn bind_to<P>(
    interface: &ExportedInterface<P>,
    engine: &wasmtime::Engine,
    linker: &Linker<GuestState>,
    component: &Component,
) -> Result<P, LoadError> {
    let (version, export) = exported_version(interface, engine, component)?;
    let linked = linker
        .instantiate_pre(component)
        .map_err(|error| LoadError::UnknownImport(missing_import(&error)))?;
    check_functions(interface, engine, component, (version, &export))?;
    (version.bind)(linked)
        .map_err(|error| LoadError::WrongExport { function: interface.short, reason: format!("{error:#}") })
}

/// Finds the newest version under which the component exports an interface, and the name of the export.
fn exported_version<'a, P>(
    interface: &'a ExportedInterface<P>,
    engine: &wasmtime::Engine,
    component: &Component,
) -> Result<(&'a ContractVersion<P>, String), LoadError> {
    let ty = component.component_type();
    let exported: Vec<String> = ty.exports(engine).map(|(name, _)| name.to_owned()).collect();
    // Each export that is this interface, with its version.
    let found: Vec<(&str, &str)> = exported
        .iter()
        .filter_map(|name| match name.split_once('@') {
            Some((own, version)) if own == interface.name => Some((name.as_str(), version)),
            None if name == interface.name => Some((name.as_str(), "without a version")),
            _ => None,
        })
        .collect();
    let Some((_, first)) = found.first() else { return Err((interface.missing)(exported)) };
    let bindable = interface.versions.iter().find_map(|version| {
        let (name, _) = found.iter().find(|(_, found)| found.starts_with(version.track))?;
        // Versions of one track are interchangeable, and this look-up knows it.
        component.get_export_index(None, format!("{}@{}", interface.name, version.number).as_str())?;
        Some((version, (*name).to_owned()))
    });
    let unspoken = || LoadError::ContractVersion { found: (*first).to_owned(), spoken: interface.spoken };
    bindable.ok_or_else(unspoken)
}

fn check_functions<P>(
    interface: &ExportedInterface<P>,
    engine: &wasmtime::Engine,
    component: &Component,
    (version, export): (&ContractVersion<P>, &str),
) -> Result<(), LoadError> {
    let ty = component.component_type();
    let Some(ComponentItem::ComponentInstance(exported)) =
        ty.get_export(engine, export).map(|export| export.ty)
    else {
        return Err(LoadError::WrongExport {
            function: interface.short,
            reason: "it is not an interface".to_owned(),
        });
    };
    let instance = ty.instance_type();
    for function in version.functions {
        let wrong = |reason: String| LoadError::WrongExport { function: function.name, reason };
        match exported.get_export(engine, function.name).map(|export| export.ty) {
            Some(ComponentItem::ComponentFunc(found)) if function.matches(&found, &instance) => {}
            None => return Err(wrong("it is missing".to_owned())),
            Some(_) => return Err(wrong(format!("it must be `{}`", function.signature))),
        }
    }
    Ok(())
}
