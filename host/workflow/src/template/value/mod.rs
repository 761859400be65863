//! Values during evaluation.
//!
//! | file | concept |
//! |---|---|
//! | `number.rs` | exact numbers and their texts |
//! | `borrowed.rs` | values borrowed from data, source or arena |
//! | `compare.rs` | equality and order |

mod borrowed;
pub(super) mod compare;
pub(super) mod number;

pub(super) use self::{
    borrowed::{TemplateMap, TemplateValue},
    number::ExactNumber,
};
