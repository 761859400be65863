//! Why an engine could not start, or a component could not be loaded.

use std::io;

/// The engine could not be set up: nothing can be sandboxed on this machine.
#[derive(Debug, thiserror::Error)]
#[error("failed to set up the sandbox engine: {0}")]
pub struct EngineError(pub String);

/// Why a plugin's bytes do not become a facade, in words for its author.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The bytes are not WebAssembly.
    #[error("not a WebAssembly component: the file does not begin with the WebAssembly magic number")]
    NotWasm,
    /// A core module, as targets other than `wasm32-wasip2` make it.
    #[error(
        "a core WebAssembly module, not a component: build it for the target wasm32-wasip2, or wrap it with \
         `wasm-tools component new`"
    )]
    CoreModule,
    /// Machine code compiled ahead of time, which nobody but the host itself may supply.
    #[error("compiled machine code, not a WebAssembly component: give the .wasm file itself")]
    Precompiled,
    /// The component exports no facade.
    #[error(
        "the component does not export the interface `loggia:plugin/facade`{}: implement the world `plugin` of \
         loggia:plugin (in Rust: `loggia_sdk::export!(…)`)", exports(.0)
    )]
    NoFacade(Vec<String>),
    /// The component was built for a contract that this host does not speak.
    #[error(
        "the component speaks contract {found}, this host speaks {spoken}: rebuild it with a matching SDK"
    )]
    ContractVersion {
        /// What the component exports.
        found: String,
        /// What this host can bind.
        spoken: &'static str,
    },
    /// A function of the facade is missing or has another type.
    #[error("the component's export `{function}` does not match the contract: {reason}")]
    WrongExport {
        /// Which function.
        function: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The component needs something this host does not offer.
    #[error("the component imports what this host does not offer: {0}")]
    UnknownImport(String),
    /// The compiler refused the bytes.
    #[error("the component does not compile: {0}")]
    Compile(String),
    /// The compiler used more than it may.
    #[error("compiling was stopped: {0}")]
    CompileLimit(String),
    /// The compiler could not be run, or the cache not be written.
    #[error("failed to {0}: {1}")]
    Io(&'static str, #[source] io::Error),
    /// `describe` or `schema` failed.
    #[error("`{function}` failed: {reason}")]
    Describe {
        /// `describe` or `schema("add")`.
        function: String,
        /// The fault, in a sentence.
        reason: String,
    },
    /// `describe` or `schema` did not answer in time, which may be the machine's doing.
    #[error("`{function}` timed out after {wall} (`limits.describe-wall`)")]
    DescribeTime {
        /// `describe` or `schema("add")`.
        function: String,
        /// How long it was given.
        wall: String,
    },
    /// `describe` or `schema` said something else the second time.
    #[error(
        "`{0}` gave two different answers in two calls: it must depend on nothing but the plugin itself (no clock, \
         no random numbers, no hash map order)"
    )]
    Unstable(String),
    /// `schema` gave something that is not a JSON Schema object.
    #[error("`schema(\"{action}\")` is not usable: {reason}")]
    Schema {
        /// Of which action.
        action: String,
        /// What is wrong.
        reason: String,
    },
    /// The engine refused the compiled code.
    #[error("the compiled component could not be loaded: {0}")]
    Code(String),
    /// A granted directory cannot be opened.
    #[error("the granted directory `{path}` cannot be opened: {error}")]
    Directory {
        /// As the policy names it.
        path: String,
        /// Why.
        error: io::Error,
    },
}

impl LoadError {
    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io(what, error)
    }
}

fn exports(names: &[String]) -> String {
    if names.is_empty() {
        return " (it exports nothing)".to_owned();
    }
    format!(" (it exports {})", names.join(", "))
}
