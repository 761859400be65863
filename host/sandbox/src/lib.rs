//! A WebAssembly component as a facade: sandboxed on every side, open only at its facade.
//!
//! ```text
//! bytes ─▶ artifact ─▶ compile (in a child) ─▶ cache ─▶ component ─▶ describe (twice) ─▶ facade
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`engine`] | the one place that configures wasmtime |
//! | [`artifact`] | the plugin's bytes: digest and kind of file |
//! | [`compile`] | compilation in a child process under limits |
//! | `confine` | the sandbox of that child |
//! | [`cache`] | machine code on disk |
//! | `private_folder` | the folder of the cache: writable by its owner alone, held by descriptor |
//! | `code_file` | machine code from an open file |
//! | [`component`] | a compiled component that implements the contract |
//! | [`lazy`] | a component that is loaded at its first call |
//! | [`describe`] | its surface, read in a store without capabilities |
//! | [`facade`] | the component as a [`Facade`](loggia_facade::Facade): a fresh instance per call |
//! | [`guard`] | a component as a guard: a fresh instance for every look |
//! | `space` | spaces of a plugin's state |
//! | `store`, `guest` | a store for one call, and its data |
//! | `prepared`, `shelf` | instances that are made before the call that uses them |
//! | `after_response` | work that can wait until a response was sent |
//! | `meter`, `ticker` | CPU time of a call; the epochs by which guests yield |
//! | `call_log` | the log of a call, and the rate at which a plugin may log |
//! | `usage` | resources that a facade's calls have used |
//! | `fault` | faults of a guest, from wasmtime's errors (`wasmtime_errors`) |
//! | `probes` | what stands beside calls: tapes, and samplers of stacks |
//! | `limits` | limits of a surface, and the limiter of memory |
//! | [`capability`] | capabilities that a policy may grant |
//! | `proposals` | the WebAssembly proposals that are allowed |
//! | `contract` | version-free form of what passes between host and guest |
//! | `abi` | one module per version of the contract: bindings and conversions |
//!
//! This is the only crate that names wasmtime. WASI's bindings are generic over the store's data, so they are
//! compiled here once, and editing the host does not compile them again.

#![allow(
    clippy::duplicate_mod,
    reason = "each version of the contract compiles the shared conversions with its own types"
)]
#![warn(unreachable_pub)]

mod abi;
mod after_response;
pub mod artifact;
pub mod cache;
mod call_log;
pub mod capability;
mod code_file;
pub mod compile;
pub mod component;
mod confine;
mod contract;
pub mod describe;
pub mod engine;
mod error;
pub mod facade;
mod fault;
pub mod guard;
mod guest;
pub mod lazy;
mod limits;
mod meter;
mod prepared;
mod private_folder;
mod probes;
mod proposals;
mod shelf;
mod space;
mod store;
mod ticker;
mod usage;
mod wasmtime_errors;

pub use artifact::{ArtifactDigest, PluginArtifact};
pub use cache::CodeCache;
pub use capability::{FoundRoot, RootFence};
pub use component::{GuardComponent, PluginComponent};
pub use engine::{AddressSpace, BacktraceDetail, CodeTarget, EngineOptions, SandboxEngine};
pub use error::{EngineError, LoadError};
pub use facade::{SandboxConfig, WasmFacade};
pub use guard::{GuardSandbox, WasmGuard};
pub use lazy::{ComponentLoader, LazyComponent};
pub use probes::{CallProbes, GuestTape, GuestTapes, StackSampler};
pub use space::SpaceChoice;
