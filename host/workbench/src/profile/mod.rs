//! Profiles of calls.
//!
//! | file | concept |
//! |---|---|
//! | `stacks.rs` | collects the stacks of running guests, and sums them up |
//! | `flame_graph.rs` | pure: sums of stacks as an image |

mod flame_graph;
mod stacks;

pub use self::{
    flame_graph::render_flame_graph,
    stacks::{FunctionSum, StackCollector, StackTree},
};
