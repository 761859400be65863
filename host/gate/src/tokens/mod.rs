//! What a tool list costs a model that reads it on every turn. Pure, and without a network: the vocabulary is part of
//! the binary.
//!
//! | file | concept |
//! |---|---|
//! | `footprint.rs` | what one tool costs |
//! | `figures.rs` | the list in every form, per facade and in all |
//! | `difference.rs` | two such figures compared |

mod difference;
mod figures;
mod footprint;

pub use difference::{Change, SERVED, changes};
pub use figures::{Figures, Forms, ServedFacade, ServedList, figures, measured, saved};
pub use footprint::{Footprint, measure_tool};
