//! A compiled component that fulfils the contract.

use std::path::Path;

use wasmtime::component::types::ComponentItem;

use crate::{
    Engine, LoadError,
    abi::v0_1::{self, PluginPre},
    guest::Guest,
};

/// A component whose exports and imports were checked, linked and ready to be instantiated.
#[derive(Clone)]
pub struct Component {
    pub(crate) engine: Engine,
    pub(crate) pre: PluginPre<Guest>,
    imports: Vec<String>,
}

impl Component {
    /// Maps machine code that this host compiled.
    pub(crate) fn map(engine: &Engine, path: &Path) -> Result<Self, LoadError> {
        #[allow(unsafe_code)]
        // SAFETY: the file is machine code, so this trusts whoever wrote it. Only the cache calls this, with files of
        // its own: owned by this user, writable by nobody else, renamed into place and never changed afterwards.
        let component =
            unsafe { wasmtime::component::Component::deserialize_file(&engine.inner.engine, path) };
        Self::check(engine, component.map_err(|e| LoadError::Code(format!("{e:#}")))?)
    }

    /// Compiles in this process and checks. For tests: the host compiles in a child.
    #[doc(hidden)]
    pub fn compile_here(engine: &Engine, wasm: &[u8]) -> Result<Self, LoadError> {
        let component = wasmtime::component::Component::from_binary(&engine.inner.engine, wasm);
        Self::check(engine, component.map_err(|e| LoadError::Compile(format!("{e:#}")))?)
    }

    /// Checks what the component exports and imports, before anything of it runs.
    fn check(engine: &Engine, component: wasmtime::component::Component) -> Result<Self, LoadError> {
        let inner = &engine.inner;
        check_exports(&inner.engine, &component)?;
        let names = component.component_type();
        let imports = names.imports(&inner.engine).map(|(name, _)| name.to_owned()).collect();
        let linked = inner.linker.instantiate_pre(&component).map_err(|e| unknown_import(&e))?;
        let pre = PluginPre::new(linked)
            .map_err(|error| LoadError::WrongExport { function: "facade", reason: format!("{error:#}") })?;
        // Otherwise the first call pays for it.
        component.initialize_copy_on_write_image().map_err(|e| LoadError::Code(format!("{e:#}")))?;
        Ok(Self { engine: engine.clone(), pre, imports })
    }

    /// The interfaces that the component imports, by their full names.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }
}

fn check_exports(
    engine: &wasmtime::Engine,
    component: &wasmtime::component::Component,
) -> Result<(), LoadError> {
    let ty = component.component_type();
    let exported: Vec<String> = ty.exports(engine).map(|(name, _)| name.to_owned()).collect();
    let is_facade = |name: &str| name.split('@').next() == Some(v0_1::FACADE);
    let Some(found) = exported.iter().find(|name| is_facade(name)) else {
        return Err(LoadError::NoFacade(exported));
    };
    // Versions of one track are interchangeable, and this look-up knows it.
    let wanted = format!("{}@{}", v0_1::FACADE, v0_1::VERSION);
    if component.get_export_index(None, &wanted).is_none() {
        let found = found.split_once('@').map_or("without a version", |(_, version)| version).to_owned();
        return Err(LoadError::ContractVersion { found, spoken: v0_1::VERSION });
    }
    let Some(ComponentItem::ComponentInstance(facade)) = ty.get_export(engine, found).map(|export| export.ty)
    else {
        return Err(LoadError::WrongExport {
            function: "facade",
            reason: "it is not an interface".to_owned(),
        });
    };
    for (function, signature) in v0_1::FUNCTIONS {
        let wrong = |reason: String| LoadError::WrongExport { function, reason };
        match facade.get_export(engine, function).map(|export| export.ty) {
            None => return Err(wrong("it is missing".to_owned())),
            Some(ComponentItem::ComponentFunc(found)) => {
                let takes = usize::from(function != "describe");
                if found.params().len() != takes || found.results().len() != 1 {
                    return Err(wrong(format!("it must be `{signature}`")));
                }
            }
            Some(_) => return Err(wrong("it is not a function".to_owned())),
        }
    }
    Ok(())
}

/// wasmtime names the import; the rest of its sentence is about linkers, which no author knows.
fn unknown_import(error: &wasmtime::Error) -> LoadError {
    let text = format!("{error:#}");
    let name = text.split('`').nth(1).unwrap_or(&text);
    LoadError::UnknownImport(name.to_owned())
}
