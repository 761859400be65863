//! Errors of starting an engine and of loading a component.

use loggia_policy::model::limit_names::DESCRIBE_WALL;
use std::io;

use loggia_text::{printable, shorten_bytes};

/// The engine could not be set up: nothing can be sandboxed on this machine.
#[derive(Debug, thiserror::Error)]
#[error("failed to set up the sandbox engine: {0}")]
pub struct EngineError(pub String);

/// Error of loading a plugin, in words for its author.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The bytes are not WebAssembly.
    #[error("not a WebAssembly component: the file does not begin with the WebAssembly magic number")]
    NotWasm,
    /// A core module, as compiled for targets other than `wasm32-wasip2`.
    #[error(
        "a core WebAssembly module, not a component: build it for the target wasm32-wasip2, or wrap it with \
         `wasm-tools component new`"
    )]
    CoreModule,
    /// Machine code compiled ahead of time, which only the host itself may supply.
    #[error("compiled machine code, not a WebAssembly component: give the .wasm file itself")]
    Precompiled,
    /// The component exports no facade.
    #[error(
        "the component does not export the interface `loggia:plugin/facade`{}: implement the world `plugin` of \
         loggia:plugin (in Rust: `loggia_sdk::export!(…)`)", exports(.0)
    )]
    NoFacade(Vec<String>),
    /// The component is a guard, which is no plugin.
    #[error("the component is a guard, not a plugin: name it in `[guards]` of loggia.toml")]
    IsGuard,
    /// The component exports no guard.
    #[error(
        "the component does not export the interface `loggia:plugin/guarding`{}: implement the world `guard` of \
         loggia:plugin (in Rust: `loggia_sdk::export_guard!(…)`)", exports(.0)
    )]
    NoGuard(Vec<String>),
    /// The component was built for a contract that this host does not speak.
    #[error(
        "the component speaks contract {}, this host speaks {spoken}: rebuild it with a matching SDK",
        one_line(.found, NAME)
    )]
    ContractVersion {
        /// Version that the component exports.
        found: String,
        /// Version that this host binds.
        spoken: &'static str,
    },
    /// A function of the facade is missing or has another type.
    #[error("the component's export `{function}` does not match the contract: {}", one_line(.reason, REASON))]
    WrongExport {
        /// Name of the function.
        function: &'static str,
        /// Reason.
        reason: String,
    },
    /// The component needs something this host does not offer.
    #[error("the component imports interfaces this host lacks: {}", one_line(.0, NAME))]
    UnknownImport(String),
    /// The compiler refused the bytes.
    #[error("the component does not compile: {}", one_line(.0, REASON))]
    Compile(String),
    /// The compiler exceeded a limit.
    #[error("compiling was stopped: {0}")]
    CompileLimit(String),
    /// The compiler could not be run, or the cache could not be written.
    #[error("failed to {0}: {1}")]
    Io(&'static str, #[source] io::Error),
    /// `describe` or `schema` failed.
    #[error("`{}` failed: {}", one_line(.function, NAME), one_line(.reason, REASON))]
    Describe {
        /// `describe` or `schema("add")`.
        function: String,
        /// The fault, in one sentence.
        reason: String,
    },
    /// `describe` or `schema` timed out, maybe because the machine is busy.
    #[error("`{}` timed out after {wall} (`{DESCRIBE_WALL}`)", one_line(.function, NAME))]
    DescribeTime {
        /// `describe` or `schema("add")`.
        function: String,
        /// The timeout.
        wall: String,
    },
    /// `describe` or `schema` gave another answer the second time.
    #[error(
        "`{}` gave two different answers in two calls: it must depend on nothing but the plugin itself (no clock, \
         no random numbers, no hash map order)", one_line(.0, NAME)
    )]
    Unstable(String),
    /// `schema` gave something that is not a JSON Schema object.
    #[error("`schema(\"{}\")` is not usable: {}", one_line(.action, NAME), one_line(.reason, REASON))]
    Schema {
        /// Name of the action.
        action: String,
        /// Reason.
        reason: String,
    },
    /// The component needs more than the engine has for one call: memories, tables, or room for its instances.
    #[error("the component is made of more than a call may have: {}", one_line(.0, REASON))]
    TooMuch(String),
    /// The engine refused the compiled code.
    #[error("the compiled component could not be loaded: {}", one_line(.0, REASON))]
    Code(String),
    /// A granted directory cannot be opened.
    #[error("the granted directory `{path}` cannot be opened: {error}{}", remedy(.path, .error))]
    Directory {
        /// Path in the policy.
        path: String,
        /// Reason.
        error: io::Error,
    },
}

impl LoadError {
    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io(what, error)
    }
}

/// Suggests what the operator can do about a directory that cannot be opened.
fn remedy(path: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("; make it (mkdir -p {path}), or grant another one"),
        _ => String::new(),
    }
}

/// Bytes of a plugin's name in a message, at most.
const NAME: usize = 200;
/// Bytes of a reason in a message, at most; it may contain such names.
const REASON: usize = 2000;
/// Exported interfaces in a message, at most.
const EXPORTS: usize = 16;

fn exports(names: &[String]) -> String {
    if names.is_empty() {
        return " (it exports nothing)".to_owned();
    }
    let listed: Vec<String> = names.iter().take(EXPORTS).map(|name| one_line(name, NAME)).collect();
    let more = names.len() - listed.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(" (it exports {}{more})", listed.join(", "))
}

/// Formats a text with a plugin's words on one line of at most `max` bytes, with hidden and control characters escaped.
fn one_line(text: &str, max: usize) -> String {
    let beginning = &text[..text.floor_char_boundary(max + 1)];
    let mut out = printable(&beginning.replace('\n', " ")).into_owned();
    shorten_bytes(&mut out, max);
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
                LoadError::NoGuard(vec![again(); 1000]),
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
                let message = error.to_string();
                assert!(message.len() < 4096, "{} bytes", message.len());
                assert!(!message.contains(['\u{1b}', '\u{202e}', '\u{e0041}', '\n']), "{message:?}");
            }
        }
        assert_eq!(one_line("`a\"b\\c'`: é\u{7}", 100), "`a\"b\\c'`: é\\u{7}");
        assert!(LoadError::NoFacade(vec!["a:b/c".into(); 20]).to_string().contains("a:b/c and 4 more)"));
    }
}
