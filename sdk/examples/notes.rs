//! A complete plugin, as shown in the README.

use loggia_sdk::prelude::*;

struct Notes;

#[derive(Serialize, JsonSchema)]
struct Note {
    id: String,
    text: String,
    tags: Vec<String>,
}

/// Short notes kept between conversations.
#[facade] // name, title and version from the crate, summary from the doc comment
impl Notes {
    /// Add a note.
    #[action(write)]
    fn add(
        &self,
        /// What the note says.
        #[param(length = 1..=4000)]
        text: String,
        #[param(default, hint = "reuse tags that `list` shows")] tags: Vec<String>,
    ) -> Result<Note> {
        Ok(Note { id: "n_0001".into(), text, tags })
    }

    /// Find notes that hold all the words.
    #[action(read, example = r#"{"query": "milk"}"#)]
    fn search(&self, query: String, #[param(default = 10, range = 1..=50)] limit: u32) -> Result<Vec<Note>> {
        Ok((0..limit).map(|n| Note { id: format!("n_{n}"), text: query.clone(), tags: Vec::new() }).collect())
    }

    /// Delete a note for good.
    #[action(destructive, alias = "rm")]
    fn delete(&self, id: String) -> Result<()> {
        Err(Failure::not_found(format!("not found: there is no note `{id}`")))
    }
}

loggia_sdk::export!(Notes);
