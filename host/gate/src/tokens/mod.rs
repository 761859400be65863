//! Token cost of tool lists, which a model reads on every turn. Pure, and without a network: the vocabulary is part of
//! the binary.
//!
//! | file | concept |
//! |---|---|
//! | `footprint.rs` | the cost of one tool |
//! | `figures.rs` | the cost of the list in every form, per facade and in total |
//! | `difference.rs` | the difference of two such figures |

mod difference;
mod figures;
mod footprint;

pub use difference::{Change, SERVED, changes};
pub use figures::{Figures, Forms, ServedFacade, ServedList, figures, measured, saved};
pub use footprint::{Footprint, measure_tool};
