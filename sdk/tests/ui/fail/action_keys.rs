//! Mistakes in `#[action(…)]`, and in names.
#![allow(unused_variables)]
use loggia_sdk::prelude::*;

struct Notes;

/// Notes.
#[facade]
impl Notes {
    /// No effect.
    #[action]
    fn no_effect(&self) -> Result<()> {
        Ok(())
    }

    /// No effect beside others.
    #[action(idempotent)]
    fn no_effect_either(&self) -> Result<()> {
        Ok(())
    }

    /// Two effects.
    #[action(read, write)]
    fn two_effects(&self) -> Result<()> {
        Ok(())
    }

    /// A key that is nearly right.
    #[action(read, idempotant)]
    fn near(&self) -> Result<()> {
        Ok(())
    }

    /// A key that is not.
    #[action(read, cached)]
    fn far(&self) -> Result<()> {
        Ok(())
    }

    /// A flag with a value.
    #[action(read, idempotent = true)]
    fn flag(&self) -> Result<()> {
        Ok(())
    }

    /// A key without its value.
    #[action(read, alias)]
    fn valueless(&self) -> Result<()> {
        Ok(())
    }

    #[action(read)]
    fn no_docs(&self) -> Result<()> {
        Ok(())
    }

    /// Reserved.
    #[action(read)]
    fn describe(&self) -> Result<()> {
        Ok(())
    }

    /// Reserved by name.
    #[action(read, name = "run_status")]
    fn status(&self) -> Result<()> {
        Ok(())
    }

    /// Reserved by alias.
    #[action(read, alias = "batch")]
    fn many(&self) -> Result<()> {
        Ok(())
    }

    /// Not a name.
    #[action(read, name = "Fancy Name")]
    fn fancy(&self) -> Result<()> {
        Ok(())
    }

    /// A name of another case.
    #[action(read)]
    fn addNote(&self) -> Result<()> {
        Ok(())
    }
}

struct Blind;

/// Blind.
#[facade]
impl Blind {
    /// Details that nobody looks at.
    #[action(read, details)]
    fn list(&self) -> Result<()> {
        Ok(())
    }
}

struct Doubles;

/// Doubles.
#[facade]
impl Doubles {
    /// First.
    #[action(read)]
    fn list(&self) -> Result<()> {
        Ok(())
    }

    /// Again.
    #[action(read, name = "list")]
    fn list_again(&self) -> Result<()> {
        Ok(())
    }

    /// By alias.
    #[action(read, alias = "list")]
    fn all(&self) -> Result<()> {
        Ok(())
    }
}

struct Resources;

/// Resources.
#[facade(view("hits", "<p></p>"))]
impl Resources {
    /// Not read.
    #[action(write, resource("notes://all"))]
    fn written(&self) -> Result<()> {
        Ok(())
    }

    /// Not a parameter.
    #[action(read, resource("notes://note/{key}"))]
    fn unknown(&self, id: Option<String>) -> Result<()> {
        Ok(())
    }

    /// Not in the URI.
    #[action(read, resource("notes://note/{id}"))]
    fn lacking(&self, id: String, other: String) -> Result<()> {
        Ok(())
    }

    /// Keys.
    #[action(read, resource("notes://all", type = "text/plain"))]
    fn keys(&self) -> Result<()> {
        Ok(())
    }

    /// Not a view.
    #[action(read, view = "hit")]
    fn view(&self) -> Result<()> {
        Ok(())
    }
}

#[action(read)]
fn misplaced() {}

fn main() {}
