//! Binding: the contract version that a component exports, and whether its functions are those of the contract.

use wasmtime::component::{Component, Linker, types::ComponentItem};

use super::{
    plugin::PluginPre,
    version::{ContractVersion, FACADE, SPOKEN, VERSIONS},
};
use crate::{LoadError, guest::GuestState, wasmtime_errors::missing_import};

/// Checks what a component exports and imports, before anything of it runs, and binds it.
pub(crate) fn bind(
    engine: &wasmtime::Engine,
    linker: &Linker<GuestState>,
    component: &Component,
) -> Result<PluginPre, LoadError> {
    let (version, facade) = exported_facade(engine, component)?;
    let linked = linker
        .instantiate_pre(component)
        .map_err(|error| LoadError::UnknownImport(missing_import(&error)))?;
    check_functions(engine, component, (version, &facade))?;
    (version.bind)(linked)
        .map_err(|error| LoadError::WrongExport { function: "facade", reason: format!("{error:#}") })
}

/// Finds the newest version under which the component exports a facade, and the name of the export.
fn exported_facade(
    engine: &wasmtime::Engine,
    component: &Component,
) -> Result<(&'static ContractVersion, String), LoadError> {
    let ty = component.component_type();
    let exported: Vec<String> = ty.exports(engine).map(|(name, _)| name.to_owned()).collect();
    // Each export that is a facade, with its version.
    let facades: Vec<(&str, &str)> = exported
        .iter()
        .filter_map(|name| match name.split_once('@') {
            Some((FACADE, version)) => Some((name.as_str(), version)),
            None if name == FACADE => Some((name.as_str(), "without a version")),
            _ => None,
        })
        .collect();
    let Some((_, found)) = facades.first() else { return Err(LoadError::NoFacade(exported)) };
    let bindable = VERSIONS.iter().find_map(|version| {
        let (name, _) = facades.iter().find(|(_, found)| found.starts_with(version.track))?;
        // Versions of one track are interchangeable, and this look-up knows it.
        component.get_export_index(None, format!("{FACADE}@{}", version.number).as_str())?;
        Some((version, (*name).to_owned()))
    });
    bindable.ok_or_else(|| LoadError::ContractVersion { found: (*found).to_owned(), spoken: SPOKEN })
}

fn check_functions(
    engine: &wasmtime::Engine,
    component: &Component,
    (version, facade): (&ContractVersion, &str),
) -> Result<(), LoadError> {
    let ty = component.component_type();
    let Some(ComponentItem::ComponentInstance(facade)) =
        ty.get_export(engine, facade).map(|export| export.ty)
    else {
        return Err(LoadError::WrongExport {
            function: "facade",
            reason: "it is not an interface".to_owned(),
        });
    };
    let instance = ty.instance_type();
    for function in version.functions {
        let wrong = |reason: String| LoadError::WrongExport { function: function.name, reason };
        match facade.get_export(engine, function.name).map(|export| export.ty) {
            Some(ComponentItem::ComponentFunc(found)) if function.matches(&found, &instance) => {}
            None => return Err(wrong("it is missing".to_owned())),
            Some(_) => return Err(wrong(format!("it must be `{}`", function.signature))),
        }
    }
    Ok(())
}
