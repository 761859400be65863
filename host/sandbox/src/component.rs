//! A compiled component that implements the contract.

use std::fs::File;

use crate::{
    LoadError, PluginArtifact, SandboxEngine,
    abi::{self, GuardPre, PluginPre},
    code_file, compile, engine,
};

/// A component whose exports and imports were checked: linked and ready to be instantiated.
#[derive(Clone)]
pub struct PluginComponent {
    pub(crate) engine: SandboxEngine,
    pub(crate) pre: PluginPre,
    imports: Vec<String>,
}

/// A guard whose exports and imports were checked: linked and ready to be instantiated.
#[derive(Clone)]
pub struct GuardComponent {
    pub(crate) engine: SandboxEngine,
    pub(crate) pre: GuardPre,
}

/// A component that is bound to the contract of its kind.
pub trait BoundComponent: Sized {
    /// Checks what the component exports and imports, before anything of it runs.
    ///
    /// # Errors
    ///
    /// If it is not of this kind.
    #[doc(hidden)]
    fn check(engine: &SandboxEngine, component: wasmtime::component::Component) -> Result<Self, LoadError>;
}

/// Maps machine code that this host compiled, from the open file that was checked: a path may lead elsewhere by now.
pub(crate) fn map_code<C: BoundComponent>(engine: &SandboxEngine, code: &File) -> Result<C, LoadError> {
    #[allow(unsafe_code)]
    // SAFETY: the file is trusted machine code. Only the cache calls this, with files of its own: owned by this user,
    // writable by nobody else, renamed into place and never changed afterwards.
    let component = unsafe { code_file::load(&engine.state.engine, code) };
    C::check(engine, component.map_err(|e| LoadError::Code(format!("{e:#}")))?)
}

impl PluginComponent {
    /// Compiles in this process as the child would, without the child's limits and without a cache: for
    /// fuzzing, where a panic of the compiler must show.
    ///
    /// # Errors
    ///
    /// If the bytes do not compile or do not implement the contract.
    pub fn in_process(engine: &SandboxEngine, artifact: &PluginArtifact) -> Result<Self, LoadError> {
        compile_in_process(engine, artifact)
    }

    /// Returns the full names of the interfaces that the component imports.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }
}

/// Compiles a component of any kind in this process.
fn compile_in_process<C: BoundComponent>(
    engine: &SandboxEngine,
    artifact: &PluginArtifact,
) -> Result<C, LoadError> {
    let code = engine::compiler(engine.target())
        .and_then(|compiler| compile::machine_code(&compiler, &artifact.bytes));
    let code = code.map_err(|e| LoadError::Compile(format!("{e:#}")))?;
    #[allow(unsafe_code)]
    // SAFETY: the line above compiled this code.
    let component = unsafe { wasmtime::component::Component::deserialize(&engine.state.engine, &code) };
    C::check(engine, component.map_err(|e| LoadError::Code(format!("{e:#}")))?)
}

impl BoundComponent for PluginComponent {
    fn check(engine: &SandboxEngine, component: wasmtime::component::Component) -> Result<Self, LoadError> {
        let pre = abi::bind(&engine.state.engine, &engine.state.linker, &component)?;
        let imported = component.component_type();
        let imports = imported.imports(&engine.state.engine).map(|(name, _)| name.to_owned()).collect();
        // Otherwise the first call would pay for it.
        component.initialize_copy_on_write_image().map_err(|e| LoadError::Code(format!("{e:#}")))?;
        Ok(Self { engine: engine.clone(), pre, imports })
    }
}

impl BoundComponent for GuardComponent {
    fn check(engine: &SandboxEngine, component: wasmtime::component::Component) -> Result<Self, LoadError> {
        let pre = abi::bind_guard(&engine.state.engine, &engine.state.linker, &component)?;
        component.initialize_copy_on_write_image().map_err(|e| LoadError::Code(format!("{e:#}")))?;
        Ok(Self { engine: engine.clone(), pre })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_in_process_is_checked_as_what_the_child_compiles() {
        let engine = SandboxEngine::new(crate::EngineOptions::default()).unwrap();
        let check = |text: &str, expected: &str| {
            let artifact = PluginArtifact::new(wat::parse_str(text).unwrap()).unwrap();
            let message = PluginComponent::in_process(&engine, &artifact).err().map(|e| e.to_string());
            assert!(message.as_deref().unwrap_or_default().starts_with(expected), "{text}: {message:?}");
        };
        check("(component)", "the component does not export the interface `loggia:plugin/facade`");
        check("(component (core module (func (result i32))))", "the component does not compile: ");
        check(
            "(component (import \"f\" (func)) (instance $i) (export \"loggia:plugin/facade@0.1.0\" (instance $i)))",
            "the component imports interfaces this host lacks: f",
        );
        check(
            "(component (instance $i) (export \"loggia:plugin/guarding@0.2.0\" (instance $i)))",
            "the component is a guard, not a plugin: name it in `[guards]`",
        );
    }

    #[test]
    fn a_guard_exports_the_functions_of_guards() {
        let engine = SandboxEngine::new(crate::EngineOptions::default()).unwrap();
        let check = |text: &str, expected: &str| {
            let artifact = PluginArtifact::new(wat::parse_str(text).unwrap()).unwrap();
            let message =
                compile_in_process::<GuardComponent>(&engine, &artifact).err().map(|e| e.to_string());
            assert!(message.as_deref().unwrap_or_default().starts_with(expected), "{text}: {message:?}");
        };
        let exporting =
            |name: &str| format!("(component (instance $i) (export \"loggia:plugin/{name}\" (instance $i)))");
        check("(component)", "the component does not export the interface `loggia:plugin/guarding`");
        check(
            &exporting("facade@0.2.0"),
            "the component does not export the interface `loggia:plugin/guarding`",
        );
        check(
            &exporting("guarding@0.2.0"),
            "the component's export `before` does not match the contract: it is missing",
        );
        check(&exporting("guarding@0.3.0"), "the component speaks contract 0.3.0, this host speaks 0.2");
    }
}
