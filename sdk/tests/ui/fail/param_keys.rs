//! Mistakes in parameters and in `#[param(…)]`.
#![allow(unused_variables)]
use loggia_sdk::prelude::*;

struct Notes;

/// Notes.
#[facade]
impl Notes {
    /// A key that is nearly right.
    #[action(read)]
    fn near(&self, #[param(lenght = 1..=3)] text: String) -> Result<()> {
        Ok(())
    }

    /// A range that is none.
    #[action(read)]
    fn not_a_range(&self, #[param(range = 5)] n: u32) -> Result<()> {
        Ok(())
    }

    /// A range without ends.
    #[action(read)]
    fn endless(&self, #[param(range = ..)] n: u32) -> Result<()> {
        Ok(())
    }

    /// A format that is nearly right.
    #[action(read)]
    fn format(&self, #[param(format = "datetime")] when: String) -> Result<()> {
        Ok(())
    }

    /// An option with a default.
    #[action(read)]
    fn optional(&self, #[param(default)] text: Option<String>) -> Result<()> {
        Ok(())
    }

    /// Two attributes.
    #[action(read)]
    fn twice(&self, #[param(default)] #[param(length = 1..)] text: String) -> Result<()> {
        Ok(())
    }

    /// Another's attribute.
    #[action(read)]
    fn foreign(&self, #[serde(default)] text: String) -> Result<()> {
        Ok(())
    }

    /// A reserved name.
    #[action(read)]
    fn reserved(&self, detail: String, wait: bool, #[param(name = "cmd")] command: String) -> Result<()> {
        Ok(())
    }

    /// An internal name.
    #[action(read)]
    fn internal(&self, _unused: String) -> Result<()> {
        Ok(())
    }

    /// One name twice.
    #[action(read)]
    fn doubled(&self, text: String, #[param(name = "text")] other: String) -> Result<()> {
        Ok(())
    }

    /// An example that is no JSON.
    #[action(read, example = "{query: 1}")]
    fn no_json(&self, query: String) -> Result<()> {
        Ok(())
    }

    /// An example of something else.
    #[action(read, example = r#"{"qeury": "milk"}"#)]
    fn unknown(&self, query: String) -> Result<()> {
        Ok(())
    }

    /// An example that lacks something.
    #[action(read, example = r#"{"limit": 1}"#)]
    fn lacking(&self, query: String, #[param(default)] limit: u32) -> Result<()> {
        Ok(())
    }

    /// A secret with a value.
    #[action(read)]
    fn valued(&self, #[param(secret = true)] token: String) -> Result<()> {
        Ok(())
    }

    /// A secret that is published.
    #[action(read)]
    fn published(
        &self,
        #[param(secret, default = "hunter2")] token: String,
        #[param(secret, example = "hunter2")] other: String,
    ) -> Result<()> {
        Ok(())
    }
}

fn main() {}
