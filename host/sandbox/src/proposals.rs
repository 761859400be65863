//! The WebAssembly proposals that a guest may use.
//!
//! An allow-list, so a proposal that a new wasmtime or wasmparser enables stays off here. It is enforced twice: [`check`]
//! validates the component in the compiling child, and the engines are configured with it. Machine code that was compiled with
//! another list has another name in the cache and is refused by the engine.

use wasmparser::{Validator, WasmFeatures};

/// Proposals that the supported toolchains emit: Rust's `wasm32-wasip2` and wasi-sdk (LLVM's `generic` and `lime1` targets, and
/// SIMD where a crate asks for it), CPython, SpiderMonkey and QuickJS, which wasi-sdk builds.
///
/// `REFERENCE_TYPES` includes the long encoding of `call_indirect`, `BULK_MEMORY` the two instructions of `lime1`.
pub(crate) const ALLOWED: WasmFeatures = WasmFeatures::MUTABLE_GLOBAL
    .union(WasmFeatures::SATURATING_FLOAT_TO_INT)
    .union(WasmFeatures::SIGN_EXTENSION)
    .union(WasmFeatures::REFERENCE_TYPES)
    .union(WasmFeatures::MULTI_VALUE)
    .union(WasmFeatures::BULK_MEMORY)
    .union(WasmFeatures::SIMD)
    .union(WasmFeatures::FLOATS)
    .union(WasmFeatures::EXTENDED_CONST)
    .union(WasmFeatures::COMPONENT_MODEL);

/// Proposals that the engines enable. If one component inside a plugin calls another, wasmtime generates an adapter that
/// accesses both memories, and validates it by the same list. A guest's own module never has two: [`check`] refuses it.
pub(crate) const ENGINE: WasmFeatures = ALLOWED.union(WasmFeatures::MULTI_MEMORY);

/// Refused proposals, in the terms of toolchains, and how to build without each.
const REFUSED: &[(WasmFeatures, &str, &str)] = &[
    // First, since its types imply other proposals.
    (WasmFeatures::GC, "garbage-collected types or subtypes", "compile without the target feature `gc`"),
    (WasmFeatures::GC_TYPES, "`externref` or garbage-collected references", FOR_WASIP2),
    (WasmFeatures::FUNCTION_REFERENCES, "typed function references", FOR_WASIP2),
    (WasmFeatures::TAIL_CALL, "tail calls", "compile without the target feature `tail-call`"),
    (WasmFeatures::RELAXED_SIMD, "relaxed SIMD", "compile without the target feature `relaxed-simd`"),
    (
        WasmFeatures::MULTI_MEMORY,
        "several memories in one module",
        "compile without the target feature `multimemory`",
    ),
    (WasmFeatures::THREADS, "threads or atomics", "compile without the target feature `atomics`"),
    (WasmFeatures::SHARED_EVERYTHING_THREADS, "shared-everything threads", FOR_WASIP2),
    (WasmFeatures::MEMORY64, "64-bit memories or tables", "compile for wasm32, not wasm64"),
    (WasmFeatures::EXCEPTIONS, "exceptions", "compile without the target feature `exception-handling`"),
    (
        WasmFeatures::LEGACY_EXCEPTIONS,
        "legacy exceptions",
        "compile without the target feature `exception-handling`",
    ),
    (WasmFeatures::CUSTOM_PAGE_SIZES, "custom page sizes", FOR_WASIP2),
    (
        WasmFeatures::WIDE_ARITHMETIC,
        "wide arithmetic",
        "compile without the target feature `wide-arithmetic`",
    ),
    (WasmFeatures::STACK_SWITCHING, "stack switching", FOR_WASIP2),
    (
        WasmFeatures::CM_ASYNC,
        "asynchronous component functions",
        "generate synchronous bindings (`--sync` where the tool has it)",
    ),
    (WasmFeatures::CM_THREADING, "threads of the component model", FOR_WASIP2),
    (WasmFeatures::CM_ERROR_CONTEXT, "error contexts of the component model", FOR_WASIP2),
];
const FOR_WASIP2: &str = "compile for wasm32-wasip2 with its default target features";

/// Validates a component by [`ALLOWED`].
///
/// # Errors
///
/// A text for the plugin's author: which proposal it uses, or why it is invalid, and where.
pub(crate) fn check(wasm: &[u8]) -> Result<(), String> {
    let Err(error) = Validator::new_with_features(ALLOWED).validate_all(wasm) else { return Ok(()) };
    let (message, offset) = (error.message(), error.offset());
    let proposal = error.missing_wasm_feature().or_else(|| implied_proposal(message));
    let Some(proposal) = proposal else { return Err(format!("{message} (at offset {offset:#x})")) };
    let known = REFUSED.iter().find(|(feature, ..)| proposal.intersects(*feature));
    let (words, advice) =
        known.map_or(("a WebAssembly proposal", FOR_WASIP2), |(_, words, advice)| (words, advice));
    Err(format!("it uses {words}, which Loggia does not run: {advice} ({message}, at offset {offset:#x})"))
}

/// Derives the proposal from an error of wasmparser that does not name it.
fn implied_proposal(message: &str) -> Option<WasmFeatures> {
    message.starts_with("multiple memories").then_some(WasmFeatures::MULTI_MEMORY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_proposal_is_named_with_what_to_do() {
        let error_of = |module: &str| {
            let text = format!("(component (core module {module}))");
            check(&wat::parse_str(text).unwrap()).err().unwrap_or_default()
        };
        for (module, expected) in [
            (
                "(func (return_call 0))",
                "it uses tail calls, which Loggia does not run: compile without the target feature `tail-call` (",
            ),
            (
                "(memory 1) (memory 1)",
                "it uses several memories in one module, which Loggia does not run: compile without",
            ),
            ("(type (sub (func)))", "it uses garbage-collected types or subtypes, which"),
            ("(func (result i32))", "type mismatch: "),
        ] {
            assert!(error_of(module).starts_with(expected), "{module}: {}", error_of(module));
        }
        assert_eq!(
            error_of("(func (param v128)) (table 1 funcref) (func (result i32 i32) i32.const 1 i32.const 2)"),
            ""
        );
    }
}
