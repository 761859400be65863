//! Server cards: who a server is and how to connect, for clients that know only its domain (SEP-2127), and the entry of the same
//! server in the MCP registry.
//!
//! Everything is made of the settings, at the start: nothing that a plugin, a caller or a request says appears.
//!
//! | file | concept |
//! |---|---|
//! | `server_cards.rs` | the cards of a server and of its profiles |
//! | `subject.rs` | what one card describes: name, addresses, texts |
//! | `remote.rs` | how to connect: address, header, revisions of MCP |
//! | `catalog.rs` | the list of cards on a domain |
//! | `registry.rs` | the entry for the MCP registry, `server.json` |
//! | `document.rs` | what is served at which path |
//!
//! Sources: the schema `schema.ts` and `docs/discovery.md` of github.com/modelcontextprotocol/experimental-ext-server-card at
//! 8924e08; for the registry, `schemas/2025-12-11/server.schema.json` of github.com/modelcontextprotocol/static, and what
//! `internal/validators` of github.com/modelcontextprotocol/registry checks beyond it.

mod catalog;
mod document;
mod registry;
mod remote;
mod server_cards;
mod subject;
#[cfg(test)]
mod tests;

pub use self::{document::PublicDocument, registry::RegistryProblem, server_cards::ServerCards};
