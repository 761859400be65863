//! The cards of a server and of its profiles.

use std::iter::once;

use loggia_policy::settings::{CardSettings, Settings};
use serde_json::{Value, json};

use super::{
    catalog,
    document::PublicDocument,
    registry,
    registry::RegistryProblem,
    remote::{RemoteAccess, RemoteEndpoint},
    subject::CardSubject,
};

/// Schema that a card names, required by it.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";

/// The cards of a server: its own, and those of the profiles that the settings name.
#[derive(Debug)]
pub struct ServerCards<'a> {
    settings: &'a CardSettings,
    access: RemoteAccess<'a>,
}

impl<'a> ServerCards<'a> {
    /// Returns the cards of a server with these settings; `None` without `[card]`.
    pub fn new(settings: &'a Settings) -> Option<Self> {
        let access = RemoteAccess { auth: settings.auth(), newest: settings.max_protocol_version };
        Some(Self { settings: settings.card.as_ref()?, access })
    }

    /// Returns the card of the server, or of one of its profiles; `None` if that profile has no card.
    pub fn card(&self, profile: Option<&str>) -> Option<Value> {
        Some(self.render(&self.subject(profile)?))
    }

    /// Returns the entry for the MCP registry, `server.json`; `None` if that profile has no card.
    ///
    /// # Errors
    ///
    /// If the registry would refuse it.
    pub fn registry_entry(&self, profile: Option<&str>) -> Result<Option<Value>, RegistryProblem> {
        self.subject(profile)
            .map(|subject| registry::render(self.settings, &subject, &self.access))
            .transpose()
    }

    /// Returns everything that is served.
    pub fn documents(&self) -> Vec<PublicDocument> {
        let cards =
            self.subjects().map(|subject| PublicDocument::card(subject.path(), &self.render(&subject)));
        cards.chain([PublicDocument::catalog(&catalog::render(self.subjects()))]).collect()
    }

    fn subject(&self, profile: Option<&str>) -> Option<CardSubject<'a>> {
        self.subjects().find(|subject| subject.profile.map(|(name, _)| name) == profile)
    }

    fn subjects(&self) -> impl Iterator<Item = CardSubject<'a>> {
        let server = self.settings;
        let profiles = server.profile.iter().map(|(name, profile)| Some((name.as_str(), profile)));
        once(None).chain(profiles).map(move |profile| CardSubject { server, profile })
    }

    fn render(&self, subject: &CardSubject<'_>) -> Value {
        let endpoint = RemoteEndpoint { url: subject.url(), access: &self.access };
        let mut card = subject.identity(SCHEMA);
        card["remotes"] = json!([endpoint.with_revisions()]);
        card
    }
}
