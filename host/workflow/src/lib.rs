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
//! | `facade` | the facade: the engine's effects, carried out through a session |
//! | `graph` | a workflow as a picture |

mod check;
pub mod definition;
pub mod engine;
pub mod graph;
pub mod problem;
pub mod template;
pub mod yaml;

pub use definition::{Definition, Workflow};
pub use problem::{Problem, Problems};
