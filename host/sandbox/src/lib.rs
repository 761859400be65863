//! A WebAssembly component as a facade: sandboxed on every side, open only at its facade.
//!
//! ```text
//! bytes ─▶ artifact ─▶ compile (in a child) ─▶ cache ─▶ component ─▶ describe (twice) ─▶ facade
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`engine`] | the one place that configures wasmtime |
//! | [`artifact`] | the plugin's bytes: digest, and what kind of file they are |
//! | [`compile`] | machine code, made by a child process under limits |
//! | `confine` | what the child takes from itself before it reads a plugin's bytes |
//! | [`cache`] | machine code, kept on disk |
//! | `private_folder` | the folder of the cache: writable by its owner alone, held by descriptor |
//! | [`component`] | a compiled component that fulfils the contract |
//! | [`describe`] | its surface, read in a store that can do nothing |
//! | [`facade`] | the component as a [`Facade`](loggia_facade::Facade): a fresh instance per call |
//! | [`limits`] | what a call may use |
//! | [`capability`] | what a policy may grant |
//! | `proposals` | what a guest may be made of: the WebAssembly proposals that are allowed |
//! | `abi` | one module per version of the contract, converting up to today's types |
//!
//! This is the only crate that names wasmtime. WASI's bindings are generic over the store's data, so they are
//! compiled here once, and editing the host does not compile them again.

#![warn(unreachable_pub)]

mod abi;
pub mod artifact;
pub mod cache;
mod call_log;
pub mod capability;
pub mod compile;
pub mod component;
mod confine;
mod contract;
pub mod describe;
pub mod engine;
mod error;
pub mod facade;
mod fault;
mod guest;
pub mod limits;
mod log_rate;
mod meter;
mod private_folder;
mod proposals;
mod store;
mod ticker;
mod usage;
mod wasmtime_errors;

pub use artifact::{Artifact, Digest};
pub use cache::Cache;
pub use capability::{DirGrant, Grants};
pub use component::Component;
pub use engine::{Engine, Space};
pub use error::{EngineError, LoadError};
pub use facade::{Confines, WasmFacade};
pub use limits::{Budget, Compile, Limits};
