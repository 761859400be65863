//! A compiled component that fulfils the contract.

use std::{fs::File, os::fd::AsRawFd};

use wasmtime::component::types::ComponentItem;

use crate::{
    Artifact, Engine, LoadError,
    abi::v0_1::{self, PluginPre},
    compile, engine,
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
    /// Maps machine code that this host compiled, from the open file that was checked rather than from a path that may
    /// lead elsewhere by now.
    pub(crate) fn map(engine: &Engine, code: &File) -> Result<Self, LoadError> {
        let path = format!("/proc/self/fd/{}", code.as_raw_fd());
        #[allow(unsafe_code)]
        // SAFETY: the file is machine code, so this trusts whoever wrote it. Only the cache calls this, with files of
        // its own: owned by this user, writable by nobody else, renamed into place and never changed afterwards.
        let component =
            unsafe { wasmtime::component::Component::deserialize_file(&engine.inner.engine, path) };
        Self::check(engine, component.map_err(|e| LoadError::Code(format!("{e:#}")))?)
    }

    /// Compiles in this process what the child would compile, without the child's limits and without a cache: for
    /// fuzzing, where a panic of the compiler must show.
    ///
    /// # Errors
    ///
    /// If the bytes do not compile or do not fulfil the contract.
    pub fn in_process(engine: &Engine, artifact: &Artifact) -> Result<Self, LoadError> {
        let code = engine::compiler(engine.space())
            .and_then(|compiler| compile::machine_code(&compiler, &artifact.bytes));
        let code = code.map_err(|e| LoadError::Compile(format!("{e:#}")))?;
        #[allow(unsafe_code)]
        // SAFETY: the code was made by the line above.
        let component = unsafe { wasmtime::component::Component::deserialize(&engine.inner.engine, &code) };
        Self::check(engine, component.map_err(|e| LoadError::Code(format!("{e:#}")))?)
    }

    /// Checks what the component exports and imports, before anything of it runs.
    fn check(engine: &Engine, component: wasmtime::component::Component) -> Result<Self, LoadError> {
        let inner = &engine.inner;
        let facade = facade_name(&inner.engine, &component)?;
        let linked = inner.linker.instantiate_pre(&component).map_err(|e| unknown_import(&e))?;
        check_functions(&inner.engine, &component, &facade)?;
        let names = component.component_type();
        let imports = names.imports(&inner.engine).map(|(name, _)| name.to_owned()).collect();
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

/// The name, with its version, under which the component exports a facade that this host can bind.
fn facade_name(
    engine: &wasmtime::Engine,
    component: &wasmtime::component::Component,
) -> Result<String, LoadError> {
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

fn check_functions(
    engine: &wasmtime::Engine,
    component: &wasmtime::component::Component,
    facade: &str,
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

/// wasmtime names the import; the rest of its sentence is about linkers, which no author knows.
fn unknown_import(error: &wasmtime::Error) -> LoadError {
    let text = format!("{error:#}");
    let name = text.split('`').nth(1).unwrap_or(&text);
    LoadError::UnknownImport(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_in_process_is_checked_as_what_the_child_compiles() {
        let engine = Engine::new(crate::engine::STACK).unwrap();
        let check = |text: &str, expected: &str| {
            let artifact = Artifact::new(wat::parse_str(text).unwrap()).unwrap();
            let said = Component::in_process(&engine, &artifact).err().map(|e| e.to_string());
            assert!(said.as_deref().unwrap_or_default().starts_with(expected), "{text}: {said:?}");
        };
        check("(component)", "the component does not export the interface `loggia:plugin/facade`");
        check("(component (core module (func (result i32))))", "the component does not compile: ");
        check(
            "(component (import \"f\" (func)) (instance $i) (export \"loggia:plugin/facade@0.1.0\" (instance $i)))",
            "the component imports what this host does not offer: f",
        );
    }
}
