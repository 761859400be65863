//! Requests of grants that no policy could grant, and what is declared twice.
#![allow(unused_variables)]
use loggia_sdk::prelude::*;

struct Parts;
/// Parts.
#[facade(needs("http: api.example.com", "to look things up"))]
impl Parts {
    /// A path.
    #[action(read, needs = "http: https://api.example.com/v1")]
    fn path(&self) -> Result<()> {
        Ok(())
    }

    /// No part.
    #[action(read, needs = "config:")]
    fn empty(&self) -> Result<()> {
        Ok(())
    }

    /// A part of what has none.
    #[action(read, needs = "elicit: questions")]
    fn whole(&self) -> Result<()> {
        Ok(())
    }

    /// No action.
    #[action(read, needs = "invoke: files")]
    fn facade(&self) -> Result<()> {
        Ok(())
    }
}

struct Reasons;
/// Reasons.
#[facade(needs("store", " "))]
impl Reasons {
    /// List.
    #[action(read)]
    fn list(&self) -> Result<()> {
        Ok(())
    }
}

struct Twice;
/// Twice.
#[facade(needs("store", "to keep them"), wants("store", "for more"), view("hits", "<p></p>"), view("hits", "<b></b>"))]
impl Twice {
    /// List.
    #[action(read, needs = "store", needs = "store")]
    fn list(&self) -> Result<()> {
        Ok(())
    }
}

fn main() {}
