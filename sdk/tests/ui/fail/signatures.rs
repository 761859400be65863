//! Methods that cannot be actions.
#![allow(unused_variables)]
use loggia_sdk::prelude::*;

struct Notes;

/// Notes.
#[facade]
impl Notes {
    /// Changes itself.
    #[action(read)]
    fn mutable(&mut self) -> Result<()> {
        Ok(())
    }

    /// Consumes itself.
    #[action(read)]
    fn owned(self) -> Result<()> {
        Ok(())
    }

    /// Has no receiver.
    #[action(read)]
    fn none() -> Result<()> {
        Ok(())
    }

    /// Has another first.
    #[action(read)]
    fn other(id: String) -> Result<()> {
        Ok(())
    }

    /// Is asynchronous.
    #[action(read)]
    async fn asynchronous(&self) -> Result<()> {
        Ok(())
    }

    /// Is generic.
    #[action(read)]
    fn generic<T: Serialize>(&self, value: T) -> Result<()> {
        Ok(())
    }

    /// Takes a pattern.
    #[action(read)]
    fn pattern(&self, (x, y): (u32, u32)) -> Result<()> {
        Ok(())
    }

    /// Borrows a text.
    #[action(read)]
    fn borrowed(&self, id: &str) -> Result<()> {
        Ok(())
    }

    /// Takes any type.
    #[action(read)]
    fn any(&self, id: impl Serialize) -> Result<()> {
        Ok(())
    }

    /// Owns its call.
    #[action(read)]
    fn call(&self, call: Call) -> Result<()> {
        Ok(())
    }

    /// Returns nothing.
    #[action(read)]
    fn nothing(&self) {}
}

fn main() {}
