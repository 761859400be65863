//! How each MCP client is served best.
//!
//! Clients differ in what they load, accept and show to their model. `clients.toml` is the one place where these facts
//! stand, each with its source.

mod content;
mod table;
mod traits;

pub use content::ContentTraits;
pub use table::{ClientTable, client_table};
pub use traits::{ClientTraits, ResultForm};
