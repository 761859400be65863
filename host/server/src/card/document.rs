//! What is served at which path.

use serde_json::Value;

use crate::endpoint::CATALOG_PATH;

/// Media type of a card.
pub const CARD_TYPE: &str = "application/mcp-server-card+json";
/// Media type of the list of cards.
const CATALOG_TYPE: &str = "application/ai-catalog+json";

/// A document that everyone may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicDocument {
    /// Path on this server.
    pub path: String,
    /// Its content type.
    pub media_type: &'static str,
    /// JSON.
    pub body: String,
}

impl PublicDocument {
    pub(super) fn card(path: String, card: &Value) -> Self {
        Self { path, media_type: CARD_TYPE, body: card.to_string() }
    }

    pub(super) fn catalog(catalog: &Value) -> Self {
        Self { path: CATALOG_PATH.to_owned(), media_type: CATALOG_TYPE, body: catalog.to_string() }
    }
}
