//! What one card describes: the server, or one of its profiles.

use loggia_policy::settings::{CardIcon, CardProfile, CardSettings};
use serde_json::{Value, json};

use crate::endpoint::{CARD_SUFFIX, PATH};

/// A server, or one of its profiles.
#[derive(Debug, Clone, Copy)]
pub struct CardSubject<'a> {
    pub server: &'a CardSettings,
    pub profile: Option<(&'a str, &'a CardProfile)>,
}

impl CardSubject<'_> {
    /// Its name. A dot cannot be part of a profile's name, so names never collide.
    pub fn name(&self) -> String {
        match self.profile {
            None => self.server.name.clone(),
            Some((profile, _)) => format!("{}.{profile}", self.server.name),
        }
    }

    /// URL of its MCP endpoint.
    pub fn url(&self) -> String {
        self.below(self.server.url.as_str())
    }

    /// URL of its card.
    pub fn card_url(&self) -> String {
        self.url() + CARD_SUFFIX
    }

    /// Path at which this server has its card, whatever the path of its URL: a proxy that maps the endpoint maps what is below it, too.
    pub fn path(&self) -> String {
        self.below(PATH) + CARD_SUFFIX
    }

    fn below(&self, endpoint: &str) -> String {
        match self.profile {
            None => endpoint.to_owned(),
            Some((profile, _)) => format!("{endpoint}/{profile}"),
        }
    }

    /// What cards and entries of the registry have in common.
    pub fn identity(&self, schema: &str) -> Value {
        let CardSettings { description, title, version, website, repository, icons, .. } = self.server;
        let own = self.profile.map(|(_, profile)| profile);
        let mut identity = json!({
            "$schema": schema,
            "name": self.name(),
            "description": own.map_or(description, |own| &own.description),
            // The default is what `serverInfo` says, which a card should not contradict (discovery.md, "Consistency").
            "version": version.as_deref().unwrap_or(env!("CARGO_PKG_VERSION")),
        });
        if let Some(title) = own.and_then(|own| own.title.as_ref()).or(title.as_ref()) {
            identity["title"] = json!(title);
        }
        if let Some(website) = website {
            identity["websiteUrl"] = json!(website);
        }
        if let Some(repository) = repository {
            identity["repository"] = json!({"url": repository.url, "source": repository.source});
        }
        if !icons.is_empty() {
            identity["icons"] = icons.iter().map(to_icon).collect();
        }
        identity
    }
}

fn to_icon(icon: &CardIcon) -> Value {
    let CardIcon { src, mime_type, sizes, theme } = icon;
    let mut json = json!({"src": src});
    if let Some(mime_type) = mime_type {
        json["mimeType"] = json!(mime_type.as_str());
    }
    if !sizes.is_empty() {
        json["sizes"] = json!(sizes);
    }
    if let Some(theme) = theme {
        json["theme"] = json!(theme.as_str());
    }
    json
}
