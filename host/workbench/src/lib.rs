//! What commands do with plugins beside serving them: new plugins, rebuilds on save, runs of cases, profiles, replays. The commands
//! themselves are in `loggia`, test cases and recordings as data in `loggia-cases`, and builds in `loggia-builder`.
//!
//! | module | concept |
//! |---|---|
//! | [`loaded`] | loads plugins without serving them |
//! | [`scaffold`] | the folder of a new plugin |
//! | [`dev`] | builds on save, and a log line for each call |
//! | [`case_run`] | runs cases, and reports them |
//! | [`profile`] | stacks of guests, summed up |
//! | [`replay`] | one call from its recording |
//! | `followed_files.rs` | files outside a watched folder that are followed, too |

pub mod case_run;
pub mod dev;
mod followed_files;
pub mod loaded;
pub mod profile;
pub mod replay;
pub mod scaffold;
