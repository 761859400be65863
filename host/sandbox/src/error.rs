//! Why an engine could not start, or a component could not be loaded.

use std::io;

use loggia_text::{printable, shorten_bytes};

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
        "the component speaks contract {}, this host speaks {spoken}: rebuild it with a matching SDK",
        shown(.found, NAME)
    )]
    ContractVersion {
        /// What the component exports.
        found: String,
        /// What this host can bind.
        spoken: &'static str,
    },
    /// A function of the facade is missing or has another type.
    #[error("the component's export `{function}` does not match the contract: {}", shown(.reason, REASON))]
    WrongExport {
        /// Which function.
        function: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The component needs something this host does not offer.
    #[error("the component imports what this host does not offer: {}", shown(.0, NAME))]
    UnknownImport(String),
    /// The compiler refused the bytes.
    #[error("the component does not compile: {}", shown(.0, REASON))]
    Compile(String),
    /// The compiler used more than it may.
    #[error("compiling was stopped: {0}")]
    CompileLimit(String),
    /// The compiler could not be run, or the cache not be written.
    #[error("failed to {0}: {1}")]
    Io(&'static str, #[source] io::Error),
    /// `describe` or `schema` failed.
    #[error("`{}` failed: {}", shown(.function, NAME), shown(.reason, REASON))]
    Describe {
        /// `describe` or `schema("add")`.
        function: String,
        /// The fault, in a sentence.
        reason: String,
    },
    /// `describe` or `schema` did not answer in time, which may be the machine's doing.
    #[error("`{}` timed out after {wall} (`limits.describe-wall`)", shown(.function, NAME))]
    DescribeTime {
        /// `describe` or `schema("add")`.
        function: String,
        /// How long it was given.
        wall: String,
    },
    /// `describe` or `schema` said something else the second time.
    #[error(
        "`{}` gave two different answers in two calls: it must depend on nothing but the plugin itself (no clock, \
         no random numbers, no hash map order)", shown(.0, NAME)
    )]
    Unstable(String),
    /// `schema` gave something that is not a JSON Schema object.
    #[error("`schema(\"{}\")` is not usable: {}", shown(.action, NAME), shown(.reason, REASON))]
    Schema {
        /// Of which action.
        action: String,
        /// What is wrong.
        reason: String,
    },
    /// The component needs more than the engine has for one call: memories, tables, or room for its instances.
    #[error("the component is made of more than a call may have: {}", shown(.0, REASON))]
    TooMuch(String),
    /// The engine refused the compiled code.
    #[error("the compiled component could not be loaded: {}", shown(.0, REASON))]
    Code(String),
    /// A granted directory cannot be opened.
    #[error("the granted directory `{path}` cannot be opened: {error}{}", remedy(.path, .error))]
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

/// What the operator can do about a directory that cannot be opened.
fn remedy(path: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("; make it (mkdir -p {path}), or grant another one"),
        _ => String::new(),
    }
}

/// Bytes of a name that a plugin chose, as far as it is told.
const NAME: usize = 200;
/// The same of a reason, in which such names may stand.
const REASON: usize = 2000;
/// Exported interfaces that are told.
const EXPORTS: usize = 16;

fn exports(names: &[String]) -> String {
    if names.is_empty() {
        return " (it exports nothing)".to_owned();
    }
    let told: Vec<String> = names.iter().take(EXPORTS).map(|name| shown(name, NAME)).collect();
    let more = names.len() - told.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(" (it exports {}{more})", told.join(", "))
}

/// A text with a plugin's words in it, on one line of so many bytes: what nobody would see, or a terminal would act on, is
/// escaped.
fn shown(text: &str, most: usize) -> String {
    let beginning = &text[..text.floor_char_boundary(most + 1)];
    let mut out = printable(&beginning.replace('\n', " ")).into_owned();
    shorten_bytes(&mut out, most);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_plugin_chose_is_told_on_one_line_and_not_at_any_length() {
        let (hostile, long) = ("\u{1b}[31m\u{202e}\u{e0041}\n".to_owned(), "x".repeat(100_000));
        for text in [hostile, long] {
            let again = || text.clone();
            for error in [
                LoadError::NoFacade(vec![again(); 1000]),
                LoadError::ContractVersion { found: again(), spoken: "0.1.0" },
                LoadError::WrongExport { function: "describe", reason: again() },
                LoadError::UnknownImport(again()),
                LoadError::Compile(again()),
                LoadError::Describe { function: again(), reason: again() },
                LoadError::DescribeTime { function: again(), wall: "5s".to_owned() },
                LoadError::TooMuch(again()),
                LoadError::Unstable(again()),
                LoadError::Schema { action: again(), reason: again() },
                LoadError::Code(again()),
            ] {
                let said = error.to_string();
                assert!(said.len() < 4096, "{} bytes", said.len());
                assert!(!said.contains(['\u{1b}', '\u{202e}', '\u{e0041}', '\n']), "{said:?}");
            }
        }
        assert_eq!(shown("`a\"b\\c'`: é\u{7}", 100), "`a\"b\\c'`: é\\u{7}");
        assert!(LoadError::NoFacade(vec!["a:b/c".into(); 20]).to_string().contains("a:b/c and 4 more)"));
    }
}
