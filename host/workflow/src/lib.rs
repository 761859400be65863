//! Workflows: composite tools in YAML, as ToolHive's vMCP defines them, served as facades.
//!
//! ```text
//! text ─yaml─▶ nodes with lines ─definition─▶ Definition ─check─▶ all that is wrong with it
//!                                                 │
//!                                               bind ◀─ what the facades that it calls take
//!                                                 │
//!                     facade (async, through its Session) ◀─effects─ engine (pure) ◀─ events
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | `yaml` | YAML as nodes that know their lines, within limits |
//! | `definition` | what a file says, as data; and how it is read |
//! | `check` | what is wrong with a definition, before anything runs |
//! | `template` | Go's `text/template` |
//! | `bind` | which actions the steps call, and what these take |
//! | `engine` | a run of a workflow as a pure state machine |
//! | `surface` | what a file's workflows publish |
//! | `facade` | the facade: the engine's effects, carried out through a session |
//! | `progress` | what is told of a run's steps while it runs |
//! | `graph` | a workflow as a picture |

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests read their own sources")
)]

pub mod bind;
pub mod definition;
pub mod engine;
pub mod facade;
pub mod graph;
pub mod problem;
mod progress;
pub mod surface;
pub mod template;
pub mod yaml;

pub use bind::{ActionLookup, BoundWorkflow, bind};
pub use definition::{Definition, Workflow};
pub use facade::WorkflowFacade;
pub use problem::{Problem, Problems};
