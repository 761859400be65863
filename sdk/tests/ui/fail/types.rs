//! What only the types tell.
#![allow(unused_variables)]
use loggia_sdk::prelude::*;

struct Opaque;

struct Notes;

/// Notes.
#[facade]
impl Notes {
    /// A range on a text.
    #[action(read)]
    fn range(&self, #[param(range = 1..=3)] text: String) -> Result<()> {
        Ok(())
    }

    /// A length on a number.
    #[action(read)]
    fn length(&self, #[param(length = 1..=3)] n: Option<u32>) -> Result<()> {
        Ok(())
    }

    /// A pattern on a flag.
    #[action(read)]
    fn pattern(&self, #[param(pattern = "^a")] flag: bool) -> Result<()> {
        Ok(())
    }

    /// A default of another type.
    #[action(read)]
    fn default(&self, #[param(default = 1.5)] n: u32) -> Result<()> {
        Ok(())
    }

    /// No result.
    #[action(read)]
    fn bare(&self) -> u32 {
        1
    }

    /// Data without a schema.
    #[action(read)]
    fn opaque(&self) -> Result<Opaque> {
        Ok(Opaque)
    }

    /// A parameter without a schema.
    #[action(read)]
    fn takes(&self, what: Opaque) -> Result<()> {
        Ok(())
    }
}

fn main() {}
