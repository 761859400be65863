//! Write a Loggia plugin as one `impl` block.
//!
//! ```
//! use loggia_sdk::prelude::*;
//!
//! struct Notes;
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Note {
//!     id: String,
//!     text: String,
//! }
//!
//! /// Short notes kept between conversations.
//! #[facade]
//! impl Notes {
//!     /// Add a note.
//!     #[action(write)]
//!     fn add(&self, /// What the note says.
//!                   #[param(length = 1..=4000)] text: String) -> Result<Note> {
//!         Ok(Note { id: "n_0001".into(), text })
//!     }
//! }
//!
//! loggia_sdk::export!(Notes);
//! ```
//!
//! | | |
//! |---|---|
//! | [`facade`], [`action`], [`param`] | the attributes, with all their keys |
//! | [`export!`] | makes the crate a component |
//! | [`Result`], [`Reply`], [`Content`], [`Failure`] | results of actions |
//! | [`data`] | derives what types of parameters, results and state need |
//! | [`detail`](macro@detail) | marks fields of a result for detail levels |
//! | [`Call`] | context of a call: detail level, time left, progress |
//! | [`host`] | services of the host: log, configuration, questions to the person, calls to other facades |
//! | [`state`] | persistent data: collections, cells, counters, transactions |
//! | [`http`] | requests, with the feature `http` |
//! | [`guard`](mod@guard), [`export_guard!`] | components that look at calls and results of facades |
//! | [`testing`] | calls a facade natively, with the host's own checks |
//!
//! A plugin's only persistent memory is its [`state`]: each call runs in a new instance, with a new value of the
//! expression in [`export!`].

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

// The macros write `::loggia_sdk`, in this crate too.
extern crate self as loggia_sdk;

pub mod bounds;
mod call;
mod content;
#[doc(hidden)]
pub mod detail;
pub mod failure;
pub mod guard;
pub mod host;
#[cfg(any(feature = "http", not(target_family = "wasm")))]
pub mod http;
mod incoming;
mod json_text;
mod list;
pub mod prelude;
mod reply;
mod shape;
pub mod state;
#[doc(hidden)]
pub mod table;
#[cfg(not(target_family = "wasm"))]
pub mod testing;

#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub mod abi;
#[cfg(target_family = "wasm")]
#[doc(hidden)]
#[allow(missing_docs, unsafe_code, clippy::all)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "wit",
        world: "plugin",
        pub_export_macro: true,
        export_macro_name: "__export_plugin",
        default_bindings_module: "loggia_sdk::bindings",
    });
}

#[cfg(target_family = "wasm")]
#[doc(hidden)]
#[allow(missing_docs, unsafe_code, clippy::all)]
pub mod guard_bindings {
    wit_bindgen::generate!({
        path: "wit",
        world: "guard",
        with: {
            "loggia:plugin/types@0.2.0": crate::bindings::loggia::plugin::types,
            "loggia:plugin/host@0.2.0": crate::bindings::loggia::plugin::host,
        },
        pub_export_macro: true,
        export_macro_name: "__export_guard",
        default_bindings_module: "loggia_sdk::guard_bindings",
    });
}

pub use call::{Call, Detail, Effect};
pub use content::{Audience, Block, Body, Content};
pub use failure::Failure;
pub use host::{Answer, AnswerForm, Level};
/// ```
/// # use loggia_sdk::{prelude::*, testing::Host};
/// #[detail]
/// #[derive(Serialize, JsonSchema)]
/// struct Note {
///     #[detail(minimal)]
///     id: String,
///     text: String,
///     #[detail(full)]
///     history: Vec<String>,
/// }
/// # struct Notes;
/// # /// Notes.
/// # #[facade]
/// # impl Notes {
/// #     /// Get one.
/// #     #[action(read)]
/// #     fn get(&self) -> Result<Note> {
/// #         Ok(Note { id: "n_0001".into(), text: "Milk.".into(), history: Vec::new() })
/// #     }
/// # }
/// # let data = Host::new().detail(Detail::Minimal).call(&Notes, "get", json!({})).unwrap().data;
/// # assert_eq!(data, json!({"id": "n_0001"}));
/// ```
///
pub use loggia_sdk_macros::detail;
pub use loggia_sdk_macros::{action, data, facade, param};
pub use reply::{Next, Page, Reply};
pub use table::Facade;

#[doc(no_inline)]
pub use schemars::{self, JsonSchema};
#[doc(no_inline)]
pub use serde::{self, Deserialize, Serialize};
#[doc(no_inline)]
pub use serde_json::{self, Value, json};

/// Result of an action: `Result<T>`, `Result<Reply<T>>` or `Result<()>`.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// A JSON object.
pub type Object = serde_json::Map<String, Value>;

/// Defines what every `#[facade]` refers to: without `export!`, a component does not link, and the linker names the remedy. The
/// text is the same as in `abi::exported`.
#[cfg(target_family = "wasm")]
#[doc(hidden)]
#[macro_export]
macro_rules! __mark_exported {
    () => {
        #[unsafe(export_name = "no facade is exported: write loggia_sdk::export!(NAME); below the block with #[facade]")]
        extern "C" fn exported() {}
    };
}

/// Makes the crate a Loggia component that exports this facade.
///
/// Takes an expression for the facade, evaluated once for each call: the name of a unit struct, `Notes::default()`, or
/// any other.
///
/// ```
/// # use loggia_sdk::prelude::*;
/// # #[derive(Default)]
/// # struct Notes { limit: usize }
/// # /// Notes.
/// # #[facade]
/// # impl Notes {
/// #     /// Counts.
/// #     #[action(read)]
/// #     fn count(&self) -> Result<usize> { Ok(self.limit) }
/// # }
/// loggia_sdk::export!(Notes { limit: 20 });
/// ```
///
/// Natively it does nothing but check the type, so that the same crate runs its unit tests.
#[cfg(target_family = "wasm")]
#[macro_export]
macro_rules! export {
    ($facade:expr $(,)?) => {
        #[allow(unsafe_code, clippy::all)]
        const _: () = {
            struct Exported;
            impl $crate::abi::Guest for Exported {
                fn describe() -> $crate::abi::Description {
                    $crate::abi::describe(&$facade)
                }
                fn schema(
                    action: ::std::string::String,
                ) -> ::core::result::Result<$crate::abi::ActionSchema, $crate::abi::Failure> {
                    $crate::abi::schema(&$facade, &action)
                }
                fn dispatch(
                    call: $crate::abi::Call,
                ) -> ::core::result::Result<$crate::abi::Reply, $crate::abi::Failure> {
                    $crate::abi::dispatch(&$facade, call)
                }
            }
    $crate::bindings::__export_plugin!(Exported with_types_in $crate::bindings);
            $crate::__mark_exported!();
        };
    };
}

/// Makes the crate a Loggia component that exports this facade.
///
/// Takes an expression for the facade, evaluated once for each call: the name of a unit struct, `Notes::default()`, or
/// any other.
///
/// ```
/// # use loggia_sdk::prelude::*;
/// # #[derive(Default)]
/// # struct Notes { limit: usize }
/// # /// Notes.
/// # #[facade]
/// # impl Notes {
/// #     /// Counts.
/// #     #[action(read)]
/// #     fn count(&self) -> Result<usize> { Ok(self.limit) }
/// # }
/// loggia_sdk::export!(Notes { limit: 20 });
/// ```
///
/// Natively it does nothing but check the type, so that the same crate runs its unit tests.
#[cfg(not(target_family = "wasm"))]
#[macro_export]
macro_rules! export {
    ($facade:expr $(,)?) => {
        const _: fn() = || $crate::table::require(&$facade);
    };
}
