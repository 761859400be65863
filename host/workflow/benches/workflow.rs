//! What the engine costs per step: at most 50 µs.
//!
//! `cargo bench -p loggia-workflow --bench workflow`

fn main() {}
