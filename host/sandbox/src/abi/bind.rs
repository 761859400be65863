//! Binding: the contract version that a component exports, and whether its functions are those of the contract.

use wasmtime::component::{Component, Linker, types::ComponentItem};

use super::{plugin::PluginPre, v0_1};
use crate::{LoadError, guest::GuestState, wasmtime_errors::missing_import};

/// Checks what a component exports and imports, before anything of it runs, and binds it.
pub(crate) fn bind(
    engine: &wasmtime::Engine,
    linker: &Linker<GuestState>,
    component: &Component,
) -> Result<PluginPre, LoadError> {
    let facade = exported_facade(engine, component)?;
    let linked = linker
        .instantiate_pre(component)
        .map_err(|error| LoadError::UnknownImport(missing_import(&error)))?;
    check_functions(engine, component, &facade)?;
    let pre = v0_1::PluginPre::new(linked)
        .map_err(|error| LoadError::WrongExport { function: "facade", reason: format!("{error:#}") })?;
    Ok(PluginPre::V0_1(pre))
}

/// The name, with its version, under which the component exports a facade that this host can bind.
fn exported_facade(engine: &wasmtime::Engine, component: &Component) -> Result<String, LoadError> {
    let ty = component.component_type();
    let mut exported: Vec<String> = ty.exports(engine).map(|(name, _)| name.to_owned()).collect();
    let facade = |name: &&String| name.split('@').next() == Some(v0_1::FACADE);
    // Of several versions the one of our track, which is what counts before 1.0: the minor version.
    let track =
        |name: &&String| name.split_once('@').is_some_and(|(_, version)| version.starts_with(v0_1::TRACK));
    let best = exported.iter().filter(facade).find(track).or_else(|| exported.iter().find(facade));
    let Some(at) = best.and_then(|best| exported.iter().position(|name| name == best)) else {
        return Err(LoadError::NoFacade(exported));
    };
    let found = exported.swap_remove(at);
    // Versions of one track are interchangeable, and this look-up knows it.
    let wanted = format!("{}@{}", v0_1::FACADE, v0_1::VERSION);
    if component.get_export_index(None, &wanted).is_none() {
        let found = found.split_once('@').map_or("without a version", |(_, version)| version).to_owned();
        return Err(LoadError::ContractVersion { found, spoken: v0_1::VERSION });
    }
    Ok(found)
}

fn check_functions(engine: &wasmtime::Engine, component: &Component, facade: &str) -> Result<(), LoadError> {
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
    for function in v0_1::FUNCTIONS {
        let wrong = |reason: String| LoadError::WrongExport { function: function.name, reason };
        match facade.get_export(engine, function.name).map(|export| export.ty) {
            Some(ComponentItem::ComponentFunc(found)) if function.matches(&found, &instance) => {}
            None => return Err(wrong("it is missing".to_owned())),
            Some(_) => return Err(wrong(format!("it must be `{}`", function.signature))),
        }
    }
    Ok(())
}
