//! Loggia: a folder of WebAssembly components, served as action-routed MCP tools.
//!
//! ```text
//!  stdio ─┐                                            ┌─ wasm      a component in a sandbox
//!  http  ─┼─▶ mcp ─▶ gate ─▶ catalog ─▶ dyn Facade ────┼─ workflow  steps over other facades
//!  cli   ─┘                                            └─ (upstream: to come)
//!  folder ─▶ reload ─▶ compile, check, admit ─▶ catalog (swapped atomically)
//! ```
//!
//! | module | what it holds | may not name |
//! |---|---|---|
//! | [`catalog`] | the snapshot of the facades now served | rmcp, wasmtime, files |
//! | [`publish`] | which tools the facades are shown as | rmcp, wasmtime, files |
//! | [`lint`] | what clients would make of them, for the log | rmcp, wasmtime, files |
//! | [`tokens`] | what a tool list costs a model | rmcp, wasmtime, files |
//! | [`gate`] | the only way to run anything | rmcp, wasmtime, files |
//! | [`config`] | the operator's files as validated settings | rmcp, wasmtime |
//! | [`reload`] | from a folder to the catalog | rmcp, wasmtime |
//! | [`mcp`] | the gate as an MCP server | wasmtime, files |
//! | [`serve`] | transports, shutdown, what is told to who runs it | wasmtime |
//! | [`telemetry`] | logs and figures | rmcp, wasmtime, axum |
//! | [`build`] | plugin sources to components, by cargo | rmcp, wasmtime |
//! | [`cli`] | one file per command | rmcp, wasmtime |
//!
//! Around it stand the crates `loggia-facade` (the trait and its data), `loggia-schema` (what is done with JSON
//! Schema) and `loggia-sandbox` (the only crate that names wasmtime).

pub mod build;
pub mod cli;
pub mod config;
pub mod load;
pub mod mcp;
pub mod serve;
pub mod telemetry;
