//! Errors of wasmtime that have no type and are recognised by their texts.
//!
//! Each text has a test that makes wasmtime produce the error: a failure after an upgrade means that the text has
//! changed.

/// A guest held more handles than the store allows.
pub(crate) fn is_handle_limit(error: &wasmtime::Error) -> bool {
    root_contains(error, "handle limit exceeded")
}

/// A guest passed more data to the host at once than the store allows.
pub(crate) fn is_data_limit(error: &wasmtime::Error) -> bool {
    root_contains(error, "fuel allocated for hostcalls has been exhausted")
}

/// A guest asked for more random bytes at once than the context allows.
pub(crate) fn is_random_limit(error: &wasmtime::Error) -> bool {
    root_contains(error, "requested len") && root_contains(error, "exceeds limit")
}

/// A component has more instances, memories or tables than the store's limiter allows.
pub(crate) fn is_parts_limit(error: &wasmtime::Error) -> bool {
    root_contains(error, "resource limit exceeded")
}

/// Tests whether the text of an error says that code needs more than a slot of the instance pool has. A text, since
/// [`LoadError`](crate::LoadError) keeps no more of it.
pub(crate) fn is_pool_limit(reason: &str) -> bool {
    reason.contains("exceeds the")
}

/// Removes wasmtime's prefix from the text of a trap.
pub(crate) fn trap_text(trap: wasmtime::Trap) -> String {
    let text = trap.to_string();
    text.strip_prefix("wasm trap: ").unwrap_or(&text).to_owned()
}

/// Extracts the name of a missing import; the rest of the text is about linkers, which authors do not know.
pub(crate) fn missing_import(error: &wasmtime::Error) -> String {
    let text = format!("{error:#}");
    text.split('`').nth(1).unwrap_or(&text).to_owned()
}

fn root_contains(error: &wasmtime::Error, text: &str) -> bool {
    // The root alone: the backtrace around it holds names that the guest chose.
    error.root_cause().to_string().contains(text)
}

#[cfg(test)]
mod tests;
