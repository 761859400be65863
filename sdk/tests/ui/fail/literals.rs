//! Defaults and examples that break the bounds of their parameter, and patterns that the host refuses.
#![allow(unused_variables)]
use loggia_sdk::prelude::*;

struct Defaults;
/// Defaults.
#[facade]
impl Defaults {
    /// Above.
    #[action(read)]
    fn above(&self, #[param(default = 90, range = -1..=5)] n: i32) -> Result<()> {
        Ok(())
    }

    /// Below.
    #[action(read)]
    fn below(&self, #[param(default = 0.5, range = 1.0..)] share: f64) -> Result<()> {
        Ok(())
    }

    /// Too long.
    #[action(read)]
    fn long(&self, #[param(default = "abcde", length = 1..5)] text: String) -> Result<()> {
        Ok(())
    }

    /// Does not match.
    #[action(read)]
    fn unlike(&self, #[param(default = "Not A Slug", pattern = "^[a-z-]+$")] slug: String) -> Result<()> {
        Ok(())
    }

    /// An example of a parameter.
    #[action(read)]
    fn example(&self, #[param(range = 1..=50, example = 10, example = 51)] n: u32) -> Result<()> {
        Ok(())
    }
}

struct Examples;
/// Examples.
#[facade]
impl Examples {
    /// Another type.
    #[action(read, example = r#"{"n": "ten"}"#)]
    fn other_type(&self, n: u32) -> Result<()> {
        Ok(())
    }

    /// A fraction.
    #[action(read, example = r#"{"n": 1.5}"#)]
    fn fraction(&self, n: u32) -> Result<()> {
        Ok(())
    }

    /// Outside.
    #[action(read, example = r#"{"n": 0}"#)]
    fn outside(&self, #[param(range = 1..=50)] n: u32) -> Result<()> {
        Ok(())
    }

    /// Too few.
    #[action(read, example = r#"{"ids": []}"#)]
    fn few(&self, #[param(length = 1..)] ids: Vec<String>) -> Result<()> {
        Ok(())
    }
}

struct Patterns;
/// Patterns.
#[facade]
impl Patterns {
    /// Not closed.
    #[action(read)]
    fn open(&self, #[param(pattern = "[a-")] text: String) -> Result<()> {
        Ok(())
    }

    /// Looks ahead.
    #[action(read)]
    fn ahead(&self, #[param(pattern = "^(?!x)")] text: String) -> Result<()> {
        Ok(())
    }

    /// Refers back.
    #[action(read)]
    fn back(&self, #[param(pattern = r"^(.)\1$")] text: String) -> Result<()> {
        Ok(())
    }

    /// Too large.
    #[action(read)]
    fn large(&self, #[param(pattern = "(a{0,400}){0,400}")] text: String) -> Result<()> {
        Ok(())
    }
}

fn main() {}
