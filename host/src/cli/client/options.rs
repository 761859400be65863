//! Options of several commands.

use clap::builder::PossibleValuesParser;
use loggia_clients::{CLIENTS, ClientRow, find_client};

/// The client that a command is about.
#[derive(clap::Args)]
pub struct ClientName {
    /// The client
    #[arg(value_name = "CLIENT", value_parser = client_names())]
    client: String,
}

/// The entry that a command is about.
#[derive(clap::Args)]
pub struct EntryOptions {
    /// Name of the entry
    #[arg(long, value_name = "NAME", default_value = "loggia", value_parser = parse_name)]
    pub name: String,
}

impl ClientName {
    /// The client's facts.
    pub fn row(&self) -> &'static ClientRow {
        // The parser lets no other name through.
        find_client(&self.client).unwrap_or(&CLIENTS[0])
    }
}

/// Parses the name of a client.
pub fn client_names() -> PossibleValuesParser {
    PossibleValuesParser::new(CLIENTS.iter().map(|client| client.name))
}

/// Names of entries that all clients accept: they become part of the names of tools.
fn parse_name(text: &str) -> Result<String, String> {
    let is_name = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.len() <= 32
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if is_name {
        Ok(text.to_owned())
    } else {
        Err("must be a letter, then letters, digits, - and _, 32 at most".into())
    }
}
