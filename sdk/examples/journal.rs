//! A plugin with state: the README's section on state as a complete program.

use loggia_sdk::{prelude::*, state::Collection};

struct Journal;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Entry {
    id: String,
    title: String,
    text: String,
}

static ENTRIES: Collection<Entry> = Collection::new("entries");

/// A journal kept between conversations.
#[facade(name = "journal", needs("store", "to keep it"))]
impl Journal {
    /// Write an entry; no two have the same title.
    #[action(write)]
    fn write(
        &self,
        #[param(length = 1..=200)] title: String,
        #[param(length = 1..=20_000)] text: String,
    ) -> Result<Entry> {
        state::transaction(|tx| {
            let entries = ENTRIES.of(tx);
            if entries.list()?.iter().any(|entry| entry.value.title == title) {
                return Err(Failure::conflict(format!("already exists: there is an entry `{title}`")));
            }
            entries.create("e_", |id| Entry { id: id.into(), title: title.clone(), text: text.clone() })
        })
    }

    /// Read the entries, the oldest first.
    #[action(read)]
    fn list(
        &self,
        #[param(default = 20, range = 1..=100)] limit: u32,
        cursor: Option<String>,
    ) -> Result<Reply<Vec<Entry>>> {
        Ok(ENTRIES.page(cursor.as_deref(), limit)?.reply())
    }

    /// Change an entry's text.
    #[action(write)]
    fn correct(&self, id: String, #[param(length = 1..=20_000)] text: String) -> Result<Entry> {
        ENTRIES.update(&id, |entry| entry.text.clone_from(&text))
    }

    /// Tear an entry out, for good.
    #[action(destructive)]
    fn remove(&self, id: String) -> Result<()> {
        if ENTRIES.remove(&id)? { Ok(()) } else { Err(Failure::not_found("not found").about(id)) }
    }
}

loggia_sdk::export!(Journal);
