//! The entry of a server in the MCP registry, `server.json`.

use loggia_policy::settings::{CardRepository, CardSettings};
use serde_json::{Value, json};

use super::{
    remote::{RemoteAccess, RemoteEndpoint},
    subject::CardSubject,
};

/// Schema that the registry accepts.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// Why the registry would refuse an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryProblem {
    /// Nobody else could connect.
    #[error(
        "`card.url` is an address of this machine, and the registry accepts only servers that everyone can reach: set the https:// \
         URL by which clients reach this server"
    )]
    LocalUrl,
    /// The name of a profile may end so, that of an entry not.
    #[error(
        "the registry accepts only names that end with a letter or a digit, and this one is {0}: rename the profile"
    )]
    NameEnd(String),
}

/// Renders the entry. It has no `packages`: the server is the operator's plugins, which no package holds.
pub fn render(
    server: &CardSettings,
    subject: &CardSubject<'_>,
    access: &RemoteAccess<'_>,
) -> Result<Value, RegistryProblem> {
    if server.url.is_local() {
        return Err(RegistryProblem::LocalUrl);
    }
    let name = subject.name();
    if !name.ends_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err(RegistryProblem::NameEnd(name));
    }
    let mut entry = subject.identity(SCHEMA);
    if !server.repository.as_ref().is_some_and(CardRepository::is_registrable)
        && let Some(entry) = entry.as_object_mut()
    {
        entry.remove("repository");
    }
    // The registry's schema of remotes has no revisions.
    entry["remotes"] = json!([RemoteEndpoint { url: subject.url(), access }.describe()]);
    Ok(entry)
}
