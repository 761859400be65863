//! Commands for plugins in registries.
//!
//! | file | concept |
//! |---|---|
//! | `origins.rs` | `origins.json` in a plugin folder: where its plugins came from |
//! | `trust.rs` | `[trust]` of the settings as rules |
//! | `fetch.rs` | pulls an artifact as the rules allow |
//! | `trial.rs` | loads a component apart from other plugins |
//! | `install.rs` | puts a component that loads into a plugin folder |
//! | `add.rs` | `loggia add` |
//! | `update.rs` | `loggia update` |
//! | `push.rs` | `loggia push` |

mod add;
mod fetch;
mod install;
mod origins;
mod push;
mod trial;
mod trust;
mod update;

pub use self::{add::AddCommand, push::PushCommand, trial::LoadRefusal, update::UpdateCommand};
