//! Mistakes in `#[facade(…)]` and in what it stands on.
#![allow(unused_variables)]
use loggia_sdk::prelude::*;

struct Unknown;
/// Notes.
#[facade(titel = "Notes")]
impl Unknown {
    /// List.
    #[action(read)]
    fn list(&self) -> Result<()> {
        Ok(())
    }
}

struct Twice;
/// Notes.
#[facade(name = "a", name = "b")]
impl Twice {
    /// List.
    #[action(read)]
    fn list(&self) -> Result<()> {
        Ok(())
    }
}

struct BadName;
/// Notes.
#[facade(name = "My Notes")]
impl BadName {
    /// List.
    #[action(read)]
    fn list(&self) -> Result<()> {
        Ok(())
    }
}

struct NoReason;
/// Notes.
#[facade(wants("dirs"))]
impl NoReason {
    /// List.
    #[action(read)]
    fn list(&self) -> Result<()> {
        Ok(())
    }
}

struct NoSuchDefault;
/// Notes.
#[facade(default = "lsit")]
impl NoSuchDefault {
    /// List.
    #[action(read)]
    fn list(&self) -> Result<()> {
        Ok(())
    }
}

struct NoDocs;
#[facade]
impl NoDocs {
    /// List.
    #[action(read)]
    fn list(&self) -> Result<()> {
        Ok(())
    }
}

struct NoActions;
/// Notes.
#[facade]
impl NoActions {
    fn list(&self) {}
}

struct Generic<T>(T);
/// Notes.
#[facade]
impl<T> Generic<T> {
    /// List.
    #[action(read)]
    fn list(&self) -> Result<()> {
        Ok(())
    }
}

struct OfATrait;
/// Notes.
#[facade]
impl Default for OfATrait {
    fn default() -> Self {
        Self
    }
}

/// Notes.
#[facade]
struct NotABlock;

loggia_sdk::export!(NotABlock);

fn main() {}
