//! Workflows: composite tools in YAML, as defined by ToolHive's vMCP, served as facades.
//!
//! ```text
//! text ─yaml─▶ nodes with lines ─definition─▶ Definition, checked, or problems
//!                                                 │
//!                                               bind ◀─ actions of the served facades
//!                                                 │
//!                     facade (async, through its Session) ◀─effects─ engine (pure) ◀─ events
//! ```
//!
//! | module | concept |
//! |---|---|
//! | `problem` | problems with line, path and hint |
//! | `yaml` | YAML as nodes with line numbers, within limits |
//! | `template` | Go's `text/template` |
//! | `definition` | workflow files: parsing and checks |
//! | `engine` | execution of a run, as a pure state machine |
//! | `bind` | binding of steps to actions |
//! | `surface` | the published surface of a file |
//! | `progress` | progress reports of a run |
//! | `facade` | the facade: carries out the engine's effects through a session |
//! | `graph` | rendering as a flowchart |

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
pub use definition::{Workflow, WorkflowFile};
pub use facade::WorkflowFacade;
pub use problem::{FileProblem, FileProblems};
