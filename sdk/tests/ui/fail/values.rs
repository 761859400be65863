//! Mistakes of a newcomer that only values and types tell.
#![allow(unused_variables)]
use loggia_sdk::prelude::*;

struct Opaque;

struct Grants;
/// Grants.
#[facade(needs("stor", "to keep things"))]
impl Grants {
    /// List.
    #[action(read, needs = "confg: index")]
    fn list(&self) -> Result<()> {
        Ok(())
    }
}

struct Ranges;
/// Ranges.
#[facade]
impl Ranges {
    /// Nothing fits.
    #[action(read)]
    fn upside_down(&self, #[param(range = 50..=1)] n: u32, #[param(length = 5..5)] text: String) -> Result<()> {
        Ok(())
    }

    /// Nothing fits either.
    #[action(read)]
    fn lengths(&self, #[param(length = 5..5)] text: String) -> Result<()> {
        Ok(())
    }
}

struct Types;
/// Types.
#[facade]
impl Types {
    /// A text for a number.
    #[action(read)]
    fn number(&self, #[param(default = "ten")] n: u32) -> Result<()> {
        Ok(())
    }

    /// A text as an error.
    #[action(read)]
    fn failure(&self) -> Result<u32, String> {
        Ok(1)
    }

    /// Data within a reply.
    #[action(read)]
    fn replies(&self) -> Result<Reply<Opaque>> {
        Ok(Reply::new(Opaque))
    }

    /// A list without a schema.
    #[action(read)]
    fn lists(&self, what: Vec<Opaque>) -> Result<()> {
        Ok(())
    }
}

fn main() {}
