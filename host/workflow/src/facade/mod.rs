//! Facade that runs workflows: carries out the engine's effects through the call's session.
//!
//! | file | concept |
//! |---|---|
//! | `tasks.rs` | active calls and questions of a run |
//! | `driver.rs` | the loop between engine and session |
//! | `journal_entry.rs` | what a run records |
//! | `replay.rs` | pure: the state of a run from its journal |
//! | `history.rs` | pure: recorded runs, for operators |
//! | `failure.rs` | failures of workflows, for their callers |
//! | `workflow_facade.rs` | the facade |

mod driver;
mod failure;
mod history;
mod journal_entry;
mod replay;
mod tasks;
mod workflow_facade;

pub use self::{
    driver::StepObserver,
    history::{StepSummary, retry_history, summarize_steps},
    workflow_facade::WorkflowFacade,
};
