//! MCP clients of others: where their configuration is, how a server stands in it, and why one does not see the tools.
//!
//! | file | concept |
//! |---|---|
//! | `facts.rs`, `table.rs` | what is known of each client, as data with its sources |
//! | `places.rs` | where its configuration is |
//! | `entry.rs`, `reading.rs` | the entry of a server: written, and read |
//! | `edit/` | an entry in the text of a file |
//! | `snippet.rs` | an entry as text to paste |
//! | [`doctor`] | why a client does not see the tools |

pub mod doctor;
mod edit;
mod entry;
mod facts;
mod places;
mod reading;
mod snippet;
mod table;

pub use self::{
    edit::{EditFault, SyntaxFault, put_entry, read_config, remove_entry},
    entry::{ServerTarget, TokenOrigin, render_entry},
    facts::{
        ClientRow, EntryKeys, FileSyntax, FixedMember, FixedValue, HttpForm, NameCeiling, PathBase,
        SystemPath, TokenForm, UserFile,
    },
    places::{ConfigScope, SystemFolders},
    reading::{AddressEntry, EntryKind, ProgramEntry},
    snippet::render_snippet,
    table::{CLIENTS, find_client},
};
