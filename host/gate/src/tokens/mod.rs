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

pub use difference::{FootprintChange, SERVED, compare_figures};
pub use figures::{
    FormFootprints, ServedFacade, ServedList, TokenFigures, measure_facades, measure_tools, savings_percent,
};
pub use footprint::{TokenFootprint, measure_tool};
