use loggia_sdk::{prelude::*, state::Collection};

/// A note.
#[data]
struct Note {
    id: String,
    text: String,
}

/// Stored by the host. Nothing else outlives a call.
static NOTES: Collection<Note> = Collection::new("notes");

struct Plugin;

/// Short notes kept between conversations.
#[facade(needs("store", "to keep the notes"))]
impl Plugin {
    /// Add a note.
    #[action(write)]
    fn add(
        &self,
        /// What the note says.
        #[param(length = 1..=4000)]
        text: String,
    ) -> Result<Note> {
        NOTES.create("n_", |id| Note { id: id.into(), text: text.clone() })
    }

    /// List the notes.
    #[action(read)]
    fn list(
        &self,
        #[param(default = 20, range = 1..=100)] limit: u32,
        /// From the last answer, for the next part.
        cursor: Option<String>,
    ) -> Result<Reply<Vec<Note>>> {
        Ok(NOTES.page(cursor.as_deref(), limit)?.reply())
    }
}

loggia_sdk::export!(Plugin);
